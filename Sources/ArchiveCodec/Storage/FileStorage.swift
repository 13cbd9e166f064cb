internal import RestorationLibc
internal import Synchronization

/// An archive in a file.
///
/// A new archive is written to a temporary file in the same directory, put on
/// stable storage and renamed into place, so that at any moment the whole old
/// or the whole new archive is there. A temporary file is locked while it is
/// written; one that a killed process has left is removed with the next change.
/// Files have the mode 0600. A directory, FIFO, device or symbolic link in
/// place of the file is refused.
public struct FileStorage: ArchiveStorage {
  /// The path of the file.
  public let path: String

  /// Whether a change is on stable storage when the call returns.
  public let isDurable: Bool

  /// Creates a storage for a path; the file need not exist.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - isDurable: Whether a change is on stable storage when the call returns. If
  ///     false, a change takes much less time, and a power cut may leave the old file,
  ///     the new one, a part of it, or none. A crash of the process does no harm in
  ///     either case.
  public init(path: String, isDurable: Bool = true) {
    self.path = path
    self.isDurable = isDurable
    directory = Directory(parentOf: path)
  }

  /// The directory of the file; a test gives one that fails.
  package var directory: Directory

  private var name: String { Directory.name(of: path) }

  /// The path.
  public var location: String { path }

  /// Opens the file, nil if there is none.
  public func open() throws(ArchiveError) -> (any ArchiveFile)? {
    try located { () throws(ArchiveError) in try StoredFile(path) }
  }

  /// Opens the file for appending, nil if there is none.
  public func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try located { () throws(ArchiveError) in
      try StoredFile(path, O_RDWR, namedIn: isDurable ? directory : nil)
    }
  }

  /// Locks the file `.NAME.lock` beside the archive, and makes its directory if needed.
  ///
  /// The file is removed with the lock, unless it has a record beside the lock. A file that a
  /// killed process leaves behind locks nothing.
  ///
  /// The archive's own file cannot carry the lock, because it is replaced.
  public func lock() throws(ArchiveError) -> any ArchiveLock {
    try located { () throws(ArchiveError) in
      try directory.created { () throws(ArchiveError) in
        do throws(ArchiveError) {
          return try FileLock(lockPath)
        } catch {
          throw error.code == .locked ? error : error.located(at: lockPath)
        }
      }
    }
  }

  /// Whether a writer has the lock; asking does not take it, so that a reader
  /// is in no writer's way.
  ///
  /// False if this user may not ask.
  public func isLocked() throws(ArchiveError) -> Bool {
    do throws(ArchiveError) {
      return try FileLock.isHeld(lockPath)
    } catch {
      guard error.code != .permissionDenied else { return false }
      throw error.located(at: lockPath)
    }
  }

  private var lockPath: String { LockFile.path(of: path) }

  /// Writes a new file, makes its directory if needed, and renames it into place.
  public func replace(
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try located { () throws(ArchiveError) in
      _ = try isStored()
      try directory.place(
        name, durably: isDurable,
        { file throws(ArchiveError) in
          let sink = FileSink(file.descriptor)
          defer { sink.close() }
          try body(sink)
        }, publish: { unsafe rename($0, $1) })
    }
  }

  /// Removes the file, and the temporary files that killed writers have left.
  public func remove() throws(ArchiveError) {
    try located { () throws(ArchiveError) in
      try directory.sweepTemporaries(of: name)
      let isStored = try isStored()
      if !isStored, try Directory.status(of: directory.child(".")) == nil { return }
      let handle = isDurable ? try directory.open() : nil
      if isStored { try SystemCall.check { unsafe unlink(path) } }
      try handle?.synchronize()
    }
  }

  private func located<Result>(
    _ body: () throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    do {
      return try body()
    } catch {
      throw error.located(at: path)
    }
  }

  /// Whether a regular file is there; throws if another kind of file is.
  private func isStored() throws(ArchiveError) -> Bool {
    guard let status = try Directory.status(of: path) else { return false }
    guard status.isRegularFile else { throw ArchiveError(.notAFile) }
    return true
  }
}

private final class StoredFile: AppendableArchiveFile {
  private let file: OpenFile
  private let path: String
  private let identity: FileIdentity
  /// The directory of the name, until the name is known to be on stable storage.
  private let unsynchronized: Mutex<Directory?>
  /// The bytes of a small file, from the first read on.
  private let content = Mutex<[UInt8]?>(nil)
  let byteCount: Int

  /// An archive is read in many pieces, and a small one takes a call for each of a hundred bytes; the
  /// states of most apps are smaller.
  private static let largestContent = 1 << 16

  init?(
    _ path: String, _ access: CInt = O_RDONLY, namedIn directory: Directory? = nil
  ) throws(ArchiveError) {
    unsynchronized = Mutex(directory)
    var opened = stat()
    guard let file = try OpenFile.existing(path, access, checking: { opened = $0 }) else {
      return nil
    }
    byteCount = Int(opened.st_size)
    identity = FileIdentity(opened)
    self.path = path
    self.file = file
  }

  func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    guard offset >= 0, count >= 0, offset <= byteCount, count <= byteCount - offset else {
      throw ArchiveError(.truncated, offset: byteCount)
    }
    guard byteCount <= Self.largestContent else {
      let bytes = try file.bytes(at: offset, count: count)
      guard bytes.count == count else { throw .init(.truncated, offset: offset + bytes.count) }
      return bytes
    }
    return try content.withLock { (content) throws(ArchiveError) in
      let all = if let content { content } else { try file.bytes(at: 0, count: byteCount) }
      guard offset + count <= all.count else { throw ArchiveError(.truncated, offset: all.count) }
      if all.count == byteCount { content = all }
      return Array(all[offset..<offset + count])
    }
  }

  /// Notes that bytes from an offset on are changed; those of an append were never read.
  private func noteChange(from offset: Int) {
    if offset < byteCount { content.withLock { $0 = nil } }
  }
}

extension StoredFile {
  func storedByteCount() throws(ArchiveError) -> Int? {
    guard let status = try Directory.status(of: path), FileIdentity(status) == identity else {
      return nil
    }
    return Int(status.st_size)
  }

  /// True if that cannot be found out.
  var hasOtherNames: Bool {
    do throws(ArchiveError) { return try file.status().st_nlink > 1 } catch { return true }
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    noteChange(from: offset)
    try file.write(bytes, at: offset)
  }

  func truncate(to byteCount: Int) throws(ArchiveError) {
    noteChange(from: byteCount)
    try SystemCall.check { ftruncate(file.descriptor, off_t(byteCount)) }
  }

  /// The first sync also puts the name on stable storage: the process that put the file in its
  /// place may have been killed before its sync, and a power cut would take the file away.
  func synchronize() throws(ArchiveError) {
    try file.synchronizeData()
    try unsynchronized.withLock { (directory) throws(ArchiveError) in
      guard let named = directory else { return }
      do throws(ArchiveError) {
        try named.open().synchronize()
      } catch {
        throw ArchiveError(.inputOutput, systemError: error.systemError)
      }
      directory = nil
    }
  }
}

/// Writes to a descriptor that another object owns and keeps open.
private final class FileSink: ArchiveSink {
  private var descriptor: CInt
  private var byteCount = 0

  init(_ descriptor: CInt) {
    self.descriptor = descriptor
  }

  /// The number may soon stand for another file, so a sink that is kept must not write any more.
  func close() {
    descriptor = -1
  }

  func write(_ bytes: [UInt8]) throws(ArchiveError) {
    try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(ArchiveError) in
      try unsafe OpenFile.write(UnsafeRawBufferPointer(buffer), at: byteCount, of: descriptor)
    }
    byteCount += bytes.count
  }
}
