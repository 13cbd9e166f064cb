internal import RestorationLibc
internal import Synchronization

/// A lock that a file carries, with its holder in plain text.
///
/// The lock belongs to the open file and not to the process. So two writers of one
/// process keep each other out, and anybody can ask whether the lock is taken without
/// taking it. However the holder ends, the system lets the lock go when the last
/// process that has the file open ends. A fork of the holder lets go of it at once.
final class FileLock: ArchiveLock {
  let file: OpenLockFile
  private let path: String
  private let identity: FileIdentity
  private let process = SystemCall.processIdentifier

  /// Opens and locks the file, and makes it if there is none.
  init(_ path: String) throws(ArchiveError) {
    for _ in 0..<Self.largestTryCount {
      guard let file = try Self.open(path) else { continue }
      guard try Self.attempt(file) else {
        let holder = FileIdentity(try file.status())
        let isOwn = OpenLockFile.isLockedHere(holder)
        throw ArchiveError(
          .locked, subject: isOwn ? ArchiveError.thisProcess : try Self.holder(in: file))
      }
      let status = try file.status()
      guard status.isRegularFile else { throw ArchiveError(.notAFile) }
      let identity = FileIdentity(status)
      // The last holder may have removed the file after it was opened here. Then nobody
      // would find this lock.
      guard try Self.names(path, identity) else { continue }
      guard status.st_nlink <= 1 else {
        // A file with a second name may be one of the user's own, or the lock of a copy of the
        // directory, so nothing is written to it.
        try Self.replaceFileWithOtherNames(at: path, file, status)
        continue
      }
      try file.openToOwnerAlone(status)
      self.file = OpenLockFile(locked: file, byteCount: Int(status.st_size))
      self.file.write(holder: "process \(process), \(Self.program)")
      self.path = path
      self.identity = identity
      OpenLockFile.locked.withLock {
        $0[path] = OpenLockFile.Locked(file: self.file, identity: identity)
      }
      _ = Self.isLetGoInForks
      return
    }
    throw ArchiveError(.locked)
  }

  /// Lets the locks of this process go in each fork of it: a fork that outlives the process would
  /// keep its state from the next launch.
  private static let isLetGoInForks =
    pthread_atfork(nil, nil) { OpenLockFile.letGoInFork() } == 0

  /// Each try that fails has met another writer that came and went.
  private static let largestTryCount = 100

  deinit {
    OpenLockFile.locked.withLock { locked in
      if locked[path]?.file === file { locked[path] = nil }
    }
    // The file is removed while it is locked, so nobody else can have the lock now. A
    // fork leaves the removal to the process that took the lock. One with a record stays.
    guard !file.hasRecord, process == SystemCall.processIdentifier else { return }
    guard let status = try? Directory.status(of: path), FileIdentity(status) == identity,
      !LockFile.hasRecord(status)
    else { return }
    _ = unsafe unlink(path)
  }

  func isHeld() throws(ArchiveError) -> Bool {
    try Self.names(path, identity)
  }

  /// Whether anybody has the lock; asking does not take it.
  static func isHeld(_ path: String) throws(ArchiveError) -> Bool {
    guard let file = try OpenFile.existing(path) else { return false }
    var region = wholeFile
    try SystemCall.check { unsafe fcntl(file.descriptor, getLock, &region) }
    return region.l_type != unlocked
  }

  /// Whether a path still names the file.
  static func names(
    _ path: String, _ identity: FileIdentity
  ) throws(ArchiveError) -> Bool {
    try Directory.status(of: path).map(FileIdentity.init) == identity
  }

  // MARK: Other locks

  /// Locks a file that is open for writing, until the file is closed; never waits.
  ///
  /// - Returns: False if another open file has the lock.
  /// - Throws: The error of a file system that has no such locks.
  static func attempt(_ file: borrowing OpenFile) throws(ArchiveError) -> Bool {
    do throws(ArchiveError) {
      try SystemCall.check {
        var region = wholeFile
        return unsafe fcntl(file.descriptor, setLock, &region)
      }
      return true
    } catch {
      guard [EAGAIN, EACCES].contains(error.systemError) else { throw error }
      return false
    }
  }

  // MARK: The holder

  /// Containers count their processes each from 1, so the name stands there, too.
  private static let program = Directory.name(of: CommandLine.arguments.first ?? "")

  /// The holder in the text of a lock file; nil if it was not written yet.
  private static func holder(in file: borrowing OpenFile) throws(ArchiveError) -> String? {
    let text = try file.bytes(at: 0, count: LockFile.longestHolder)
    let end = text.lastIndex { $0 != LockFile.padding }
    return end.map { String(decoding: text[...$0], as: UTF8.self) }
  }

  // MARK: The system's names

  private static var wholeFile: flock {
    var region = flock()
    region.l_type = Int16(F_WRLCK)
    region.l_whence = Int16(SEEK_SET)
    return region
  }

  private static let unlocked = Int16(F_UNLCK)

  // Locks of open files: the headers that Swift imports do not have these names.
  #if canImport(Darwin)
  private static let setLock: CInt = 90
  private static let getLock: CInt = 92
  #else
  private static let setLock: CInt = 37
  private static let getLock: CInt = 36
  #endif
}

/// The identity of a file under any name; no other file gets it while this one is open.
struct FileIdentity: Equatable {
  private let device: dev_t
  private let inode: ino_t

  /// A number that few files share.
  var number: UInt64 { UInt64(truncatingIfNeeded: inode) }

  init(_ status: stat) {
    device = status.st_dev
    inode = status.st_ino
  }
}
