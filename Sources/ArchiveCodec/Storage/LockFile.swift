internal import RestorationLibc
internal import Synchronization

/// The file of a lock, which may have a record behind the text of the holder.
///
/// The lock's owner writes the record in place, and cuts it off when it is not needed any more. A file
/// with a record stays when the lock goes: to make a file and remove it takes longer than anything else
/// in a launch. An older version of this library, which knows no record, cuts it off, too.
package enum LockFile {
  /// The room for the text of the holder, which is padded with spaces.
  static let recordOffset = 128
  /// The size of a file with a record: one block of most file systems.
  package static let byteCount = 4096
  static let padding = UInt8(ascii: " ")
  static let longestHolder = 100

  static let recordByteCount = byteCount - recordOffset

  static func hasRecord(_ status: stat) -> Bool { status.st_size == byteCount }

  /// The path of the file that locks the archive at a path.
  package static func path(of archive: String) -> String {
    Directory(parentOf: archive).child(".\(Directory.name(of: archive)).lock")
  }

  /// The name of the archive that a file of this name locks; nil if it is no file of a lock.
  static func archive(lockedBy name: String) -> String? {
    guard name.hasPrefix("."), name.hasSuffix(".lock") else { return nil }
    return String(name.dropFirst().dropLast(".lock".count))
  }
}

/// The open file of a lock, with the record in it.
package final class OpenLockFile: Sendable {
  struct Locked {
    weak var file: OpenLockFile?
    let identity: FileIdentity
  }

  /// The files that this process has locked, by their paths.
  static let locked = Mutex([String: Locked]())

  /// Whether this process has locked a file.
  ///
  /// The text in the file does not tell: a process of another container may have the
  /// same number and name.
  static func isLockedHere(_ identity: FileIdentity) -> Bool {
    locked.withLock { $0.values.contains { $0.identity == identity } }
  }

  /// The open file that has a lock, so that whoever keeps it keeps the lock; nil if there is none.
  package static func of(_ lock: any ArchiveLock) -> OpenLockFile? { (lock as? FileLock)?.file }

  private let file: OpenFile
  private let byteCount: Atomic<Int>

  /// Takes the open file that has the lock.
  init(locked file: consuming OpenFile, byteCount: Int) {
    self.file = file
    self.byteCount = Atomic(byteCount)
  }

  /// Lets the number of each locked file lead nowhere, in a fork of the process that has the locks.
  static func letGoInFork() {
    let nowhere = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    // Another thread may have had the table in the moment of the fork, and never gives it back.
    locked.withLockIfAvailable { locked in
      for locked in locked.values {
        guard let descriptor = locked.file?.file.descriptor else { continue }
        // The number stays taken, since its owner may close it.
        if nowhere < 0 || dup2(nowhere, descriptor) < 0 { _ = close(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      }
    }
    if nowhere >= 0 { _ = close(nowhere) }
  }

  /// Opens the file for reading; nil if there is none.
  package init?(_ path: String) throws(ArchiveError) {
    guard let file = try OpenFile.existing(path) else { return nil }
    byteCount = Atomic(Int(try file.status().st_size))
    self.file = file
  }

  /// Writes who has the lock.
  ///
  /// Errors are ignored: an app that wants to free a full disk needs the lock more than the text.
  func write(holder: String) {
    var text = Array(holder.utf8.prefix(LockFile.longestHolder))
    if hasRecord {
      text += repeatElement(LockFile.padding, count: LockFile.longestHolder - text.count)
    } else {
      if byteCount.load(ordering: .relaxed) > 0 { _ = ftruncate(file.descriptor, 0) }
      byteCount.store(text.count, ordering: .relaxed)
    }
    try? write(text, at: 0)
  }

  /// Whether there is a record.
  package var hasRecord: Bool { byteCount.load(ordering: .relaxed) == LockFile.byteCount }

  /// The bytes of the record.
  package func record() throws(ArchiveError) -> [UInt8] {
    try file.bytes(at: LockFile.recordOffset, count: LockFile.recordByteCount)
  }

  /// Adds a record.
  private func makeRecord(_ bytes: [UInt8]) throws(ArchiveError) {
    if byteCount.load(ordering: .relaxed) > LockFile.byteCount { try cutRecord() }
    let holder = try file.bytes(at: 0, count: LockFile.recordOffset)
    let padding = [UInt8](repeating: LockFile.padding, count: LockFile.recordOffset - holder.count)
    try write(padding + bytes, at: holder.count)
    byteCount.store(LockFile.byteCount, ordering: .relaxed)
  }

  /// Writes a record, zeros, and bytes at the end, in one call; adds the record if there is none.
  ///
  /// All is put into one array, since each sum of arrays copies them (benchmark: restore small states).
  package func write(record: [UInt8], endingWith end: [UInt8]) throws(ArchiveError) {
    let endStart = LockFile.recordByteCount - end.count
    guard record.count <= endStart else {
      throw ArchiveError(.limitExceeded, subject: "record of a launch")
    }
    var bytes = [UInt8](zeros: LockFile.recordByteCount)
    bytes.replaceSubrange(..<record.count, with: record)
    bytes.replaceSubrange(endStart..., with: end)
    if hasRecord { try write(bytes, at: LockFile.recordOffset) } else { try makeRecord(bytes) }
  }

  /// Cuts the record off.
  package func cutRecord() throws(ArchiveError) {
    guard byteCount.load(ordering: .relaxed) > LockFile.recordOffset else { return }
    try SystemCall.check { ftruncate(file.descriptor, off_t(LockFile.recordOffset)) }
    byteCount.store(LockFile.recordOffset, ordering: .relaxed)
  }

  package func write(_ bytes: [UInt8], at offset: Int) throws(ArchiveError) {
    try file.write(bytes, at: offset)
  }
}
