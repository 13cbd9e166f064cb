package import ArchiveCodec
internal import RestorationLibc
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The place of the moments of one state.
package protocol MomentStore: Sendable {
  /// All moments, the oldest first.
  func all() throws(ArchiveError) -> [Moment]

  /// Keeps the bytes that are stored now; they are there for good when the call returns.
  ///
  /// - Returns: The moment, which may be an earlier one of the same bytes and reason; nil if
  ///   nothing is stored.
  /// - Throws: Why they cannot be kept; never `notDurable`.
  func keep(_ reason: Moment.Reason, at date: Date) throws(ArchiveError) -> Moment?

  /// The bytes of a moment, or as many of them as are there; nil if it is gone.
  ///
  /// A name may say any number of bytes, so they are read as an archive is.
  func file(of moment: Moment) throws(ArchiveError) -> (any ArchiveFile)?

  /// Removes moments; one that is not there is not an error.
  func remove(_ moments: [Moment]) throws(ArchiveError)
}

/// Moments as second names of the file of a state, in a directory beside it.
///
/// A name says how many bytes the file had, and only these are read. So a moment takes no space
/// until the file is replaced, though saves go on appending to it.
package struct LinkedMoments: MomentStore {
  private let main: String
  private let directory: Directory
  private let linking: @Sendable (_ path: String, _ name: String) -> CInt

  /// - Parameters:
  ///   - main: The path of the file of the state.
  ///   - directory: The path of the directory of its moments, on the same file system.
  ///   - synchronize: The system's call for an open directory; a test gives one that fails.
  ///   - linking: The system's call that gives a file a second name; a test gives one that fails.
  package init(
    of main: String, in directory: String,
    synchronizingDirectory synchronize: @escaping Directory.Synchronize = { fsync($0) },
    linking: @escaping @Sendable (String, String) -> CInt = { unsafe link($0, $1) }
  ) {
    self.main = main
    self.directory = Directory(directory, synchronize: synchronize)
    self.linking = linking
  }

  package func all() throws(ArchiveError) -> [Moment] {
    try located { () throws(ArchiveError) in
      var found: [Moment] = []
      var stored: stat?
      try directory.forEachName(beginningWith: "") { name throws(ArchiveError) in
        guard var moment = Moment(id: name),
          let status = try Directory.status(of: directory.child(name)), status.isRegularFile
        else { return }
        // Most launches have no history, and do not ask for it.
        if stored == nil { stored = try Directory.status(of: main) }
        moment.isOfMain = stored?.st_dev == status.st_dev && stored?.st_ino == status.st_ino
        found.append(moment)
      }
      return found.sorted { $0.id < $1.id }
    }
  }

  package func keep(_ reason: Moment.Reason, at date: Date) throws(ArchiveError) -> Moment? {
    try located { () throws(ArchiveError) in
      guard let status = try Directory.status(of: main), status.st_size > 0 else { return nil }
      guard status.isRegularFile else { throw ArchiveError(.notAFile) }
      let (known, byteCount) = (try all(), Int(status.st_size))
      if let same = known.last(where: { $0.isSame(reason, byteCount) }) { return same }
      var moment = Moment(reason, at: date, after: known.last, byteCount: byteCount)
      let handle = try directory.created(directory.open)
      let path = directory.child(moment.id)
      moment.isOfMain = linking(main, path) == 0
      if !moment.isOfMain { try copy(to: path, byteCount: byteCount) }
      do throws(ArchiveError) {
        try handle.synchronize()
      } catch {
        _ = unsafe unlink(path)
        // The other code would say that something has taken the place of the state.
        throw ArchiveError(.inputOutput, systemError: error.systemError)
      }
      return moment
    }
  }

  /// Copies the file, where the file system has no links.
  private func copy(to path: String, byteCount: Int) throws(ArchiveError) {
    guard try Directory.status(of: path) == nil, let file = try FileStorage(path: main).open()
    else { throw ArchiveError(.inputOutput) }
    try FileStorage(path: path).keep(BeginningOfFile(file, byteCount: byteCount))
  }

  package func file(of moment: Moment) throws(ArchiveError) -> (any ArchiveFile)? {
    // The identifier is a part of a path, and comes from outside.
    guard Moment(id: moment.id) != nil else { return nil }
    return try FileStorage(path: directory.child(moment.id)).open().map {
      BeginningOfFile($0, byteCount: moment.byteCount)
    }
  }

  package func remove(_ moments: [Moment]) throws(ArchiveError) {
    guard !moments.isEmpty else { return }
    try located { () throws(ArchiveError) in
      let names = Set(moments.map(\.id).filter { Moment(id: $0) != nil })
      try directory.sweepTemporaries { names.contains($0) }
      guard try Directory.status(of: directory.path, following: true) != nil else { return }
      let handle = try directory.open()
      var failure: ArchiveError?
      for name in names.sorted() where unsafe unlink(directory.child(name)) != 0 {
        if errno != ENOENT { failure = failure ?? ArchiveError(systemError: errno) }
      }
      if let failure { throw failure }
      try handle.synchronize()
      // The directory goes with the last one.
      _ = unsafe rmdir(directory.path)
    }
  }

  private func located<Value>(
    _ body: () throws(ArchiveError) -> Value
  ) throws(ArchiveError) -> Value {
    do throws(ArchiveError) { return try body() } catch { throw error.located(at: directory.path) }
  }
}

/// Moments as copies in storages of their own, for a directory whose states are no files.
package struct CopiedMoments: MomentStore {
  private let directory: any StateDirectory
  private let main: any ArchiveStorage
  private let prefix: String

  package init(of name: String, in directory: any StateDirectory) {
    self.directory = directory
    main = directory.storage(named: name)
    prefix = "\(name).history-"
  }

  package func all() throws(ArchiveError) -> [Moment] {
    let header = try start(of: main)
    var found: [Moment] = []
    for name in try directory.names() where name.hasPrefix(prefix) {
      guard var moment = Moment(id: String(name.dropFirst(prefix.count))) else { continue }
      let own = try start(of: storage(of: moment))
      moment.isOfMain = header != nil && own == header
      found.append(moment)
    }
    return found.sorted { $0.id < $1.id }
  }

  /// The beginning of an archive, which has random bytes that only copies share.
  private func start(of storage: any ArchiveStorage) throws(ArchiveError) -> [UInt8]? {
    guard let file = try storage.open() else { return nil }
    return try file.read(at: 0, count: min(file.byteCount, 128))
  }

  private func storage(of moment: Moment) -> any ArchiveStorage {
    directory.storage(named: prefix + moment.id)
  }

  package func keep(_ reason: Moment.Reason, at date: Date) throws(ArchiveError) -> Moment? {
    guard let file = try main.open(), file.byteCount > 0 else { return nil }
    let (known, count) = (try all(), file.byteCount)
    // Two files that went on from one moment may have as many bytes, and others.
    if let same = known.last(where: { $0.isSame(reason, count) }),
      try self.file(of: same)?.read(at: 0, count: count) == file.read(at: 0, count: count)
    {
      return same
    }
    var moment = Moment(reason, at: date, after: known.last, byteCount: count)
    moment.isOfMain = true
    try storage(of: moment).keep(file)
    return moment
  }

  package func file(of moment: Moment) throws(ArchiveError) -> (any ArchiveFile)? {
    try storage(of: moment).open().map { BeginningOfFile($0, byteCount: moment.byteCount) }
  }

  package func remove(_ moments: [Moment]) throws(ArchiveError) {
    for moment in moments { try storage(of: moment).remove() }
  }
}

extension Moment {
  /// Whether the moment has what is stored now, for the same reason.
  fileprivate func isSame(_ reason: Reason, _ byteCount: Int) -> Bool {
    isOfMain && self.reason == reason && self.byteCount == byteCount
  }
}

extension ArchiveStorage {
  /// Puts the bytes of a file here for good.
  ///
  /// - Throws: Never `notDurable`, which would say that something has taken the place of the state.
  fileprivate func keep(_ file: any ArchiveFile) throws(ArchiveError) {
    do throws(ArchiveError) {
      try replace { sink throws(ArchiveError) in try sink.write(file) }
    } catch {
      throw error.code == .notDurable
        ? ArchiveError(.inputOutput, systemError: error.systemError) : error
    }
  }
}

extension ArchiveSink {
  /// Writes a file in pieces, so that it need not fit into memory.
  func write(_ file: any ArchiveFile) throws(ArchiveError) {
    var offset = 0
    while offset < file.byteCount {
      let count = min(1 << 16, file.byteCount - offset)
      try write(try file.read(at: offset, count: count))
      offset += count
    }
  }
}

/// The first bytes of a file, which somebody may have continued.
package struct BeginningOfFile: ArchiveFile {
  private let file: any ArchiveFile
  package let byteCount: Int

  package init(_ file: any ArchiveFile, byteCount: Int) {
    self.file = file
    self.byteCount = min(file.byteCount, byteCount)
  }

  package func read(at offset: Int, count: Int) throws(ArchiveError) -> [UInt8] {
    guard offset >= 0, offset <= byteCount, count <= byteCount - offset else {
      throw ArchiveError(.truncated, offset: byteCount)
    }
    return try file.read(at: offset, count: count)
  }
}

/// An open file in the place of a storage, to be read alone.
struct OpenedStorage: ArchiveStorage {
  let file: any ArchiveFile
  let location: String

  func open() throws(ArchiveError) -> (any ArchiveFile)? { file }
  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? { nil }
  func isLocked() throws(ArchiveError) -> Bool { false }
  func lock() throws(ArchiveError) -> any ArchiveLock { throw ArchiveError(.permissionDenied) }
  func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    throw ArchiveError(.permissionDenied)
  }
  func remove() throws(ArchiveError) { throw ArchiveError(.permissionDenied) }
  func setAside() throws(ArchiveError) -> String? { nil }
}
