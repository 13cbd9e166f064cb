internal import ArchiveCodec
internal import RestorationFoundation
internal import RestorationLibc

/// What the system says of a file: a write changes one of these.
///
/// The number of the device is left out, since it is another one after a restart.
struct FileFacts: Hashable, Sendable {
  let inode: UInt64
  let byteCount: Int64
  /// When the content, and when the content, name, owner or mode were changed last: seconds since 1970, and
  /// nanoseconds.
  let modified: [Int64]
  let changed: [Int64]

  init(inode: UInt64, byteCount: Int64, modified: [Int64], changed: [Int64]) {
    (self.inode, self.byteCount) = (inode, byteCount)
    (self.modified, self.changed) = (modified, changed)
  }

  fileprivate init(_ status: stat) {
    let (content, all) = (status.modificationTime, status.changeTime)
    self.init(
      inode: UInt64(truncatingIfNeeded: status.st_ino),
      byteCount: Int64(truncatingIfNeeded: status.st_size),
      modified: [Int64(content.tv_sec), Int64(content.tv_nsec)],
      changed: [Int64(all.tv_sec), Int64(all.tv_nsec)])
  }

  /// Whether both times are so old that a write from now on has others.
  func isSettled(at seconds: Int) -> Bool {
    let latest = Int64(seconds) - Self.coarsestClock
    return modified.first.map { $0 < latest } == true && changed.first.map { $0 < latest } == true
  }

  /// In seconds: FAT counts in two.
  private static let coarsestClock: Int64 = 2

  /// The seconds since 1970 by the clock of the system.
  static func now() -> Int { time(nil) }
}

/// A regular file that is there, and may be read.
struct FileReading {
  private let path: String
  let facts: FileFacts

  private static let partByteCount = 1 << 18
  /// More often than a program that saves by itself writes in a row.
  private static let largestTryCount = 3

  /// Finds a file, and does not open it.
  init(of url: URL) throws(DraftError) {
    let path = url.isFileURL ? url.path(percentEncoded: false) : ""
    // The system would take the name before a zero.
    guard !path.isEmpty, !path.utf8.contains(0) else { throw .notAFile("“\(url.absoluteString)”") }
    self.path = path
    facts = try Self.facts(of: path) { () throws(ArchiveError) in
      try Directory.status(of: path, following: true)
    }
  }

  private static func facts(
    of path: String, _ status: () throws(ArchiveError) -> stat?
  ) throws(DraftError) -> FileFacts {
    do throws(ArchiveError) {
      if let status = try status() {
        guard status.st_mode & S_IFMT == S_IFREG else { throw ArchiveError(.notAFile) }
        return FileFacts(status)
      }
    } catch {
      // A part of the path is a file now, so nothing can be behind it.
      guard error.systemError == ENOTDIR else { throw DraftError(error, at: path) }
    }
    throw .gone(path)
  }

  /// Reads the file until nobody has written it meanwhile.
  func stamp(now: () -> Int) throws(DraftError) -> FileStamp {
    var bytes: Data?
    return try stamp(now: now, collecting: &bytes)
  }

  /// Reads the file until nobody has written it meanwhile.
  ///
  /// - Parameters:
  ///   - now: The seconds since 1970 by the clock of the system.
  ///   - bytes: The bytes that have the stamp afterwards; nil if nobody wants them.
  /// - Returns: The stamp.
  /// - Throws: ``DraftError`` as ``FileStamp/init(of:)``.
  func stamp(now: () -> Int, collecting bytes: inout Data?) throws(DraftError) -> FileStamp {
    for _ in 0..<Self.largestTryCount {
      let start = now()
      bytes?.removeAll()
      if let (content, facts) = try read(collecting: &bytes) {
        return FileStamp(content: content, facts: facts, isSettled: facts.isSettled(at: start))
      }
    }
    throw .changing(path)
  }

  /// Reads the file once; nil if somebody has written it meanwhile.
  private func read(
    collecting bytes: inout Data?
  ) throws(DraftError) -> (ContentStamp, FileFacts)? {
    let file = try opened()
    let hash = try asked { () throws(ArchiveError) in try ContentHash() }
    let before = try Self.facts(of: path) { () throws(ArchiveError) in try file.status() }
    let part = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Self.partByteCount, alignment: 1)
    defer { unsafe part.deallocate() }
    var offset = 0
    // A file that grows is not followed.
    while offset <= before.byteCount {
      let count = try asked { () throws(ArchiveError) in
        try unsafe file.read(into: part, at: offset)
      }
      unsafe hash.append(UnsafeRawBufferPointer(rebasing: part[..<count]))
      unsafe bytes?.append(contentsOf: part[..<count])
      offset += count
      if count < part.count { break }
    }
    let after = try Self.facts(of: path) { () throws(ArchiveError) in try file.status() }
    guard before == after, Int64(offset) == before.byteCount else { return nil }
    return (ContentStamp(.hash(Data(hash.finish()), byteCount: offset)), after)
  }

  private func opened() throws(DraftError) -> OpenFile {
    do throws(ArchiveError) {
      return try OpenFile(path, O_RDONLY, following: true)
    } catch {
      guard error.systemError != ENOENT else { throw .gone(path) }
      throw DraftError(error, at: path)
    }
  }

  private func asked<Value>(
    _ body: () throws(ArchiveError) -> Value
  ) throws(DraftError) -> Value {
    do throws(ArchiveError) { return try body() } catch { throw DraftError(error, at: path) }
  }
}
