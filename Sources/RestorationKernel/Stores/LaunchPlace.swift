package import ArchiveCodec

/// The place of the record of a launch, which need not survive a power cut.
package protocol LaunchPlace: Sendable {
  /// The bytes of the record and of what follows, which end with the note; nil if there are none.
  func read() throws(ArchiveError) -> [UInt8]?

  /// Writes the record with its note, in place of another one.
  func write(_ record: [UInt8], note: [UInt8]) throws(ArchiveError)

  /// Writes another note beside the record that was written last.
  func write(note: [UInt8]) throws(ArchiveError)

  /// Removes the record.
  func clear() throws(ArchiveError)
}

/// The record in the file that locks the state, so that a launch has one file to open beside it.
///
/// The bytes are written in one call, and take no room on a full disk once the file is there.
package struct LockedLaunch: LaunchPlace {
  private let path: String
  private static let byteCount = LockFile.byteCount - LockFile.recordOffset
  private static let noteOffset = byteCount - LaunchNote.byteCount

  /// - Parameter state: The path of the state, which is locked.
  package init(besideState state: String) { path = LockFile.path(of: state) }

  private func file() throws(ArchiveError) -> OpenLockFile {
    guard let file = OpenLockFile.locked(path) else { throw ArchiveError(.outdated) }
    return file
  }

  package func read() throws(ArchiveError) -> [UInt8]? {
    let file = try file()
    return file.hasRecord ? try file.record() : nil
  }

  package func write(_ record: [UInt8], note: [UInt8]) throws(ArchiveError) {
    let room = Self.noteOffset - record.count
    guard room >= 0 else { throw ArchiveError(.limitExceeded, subject: "record of a launch") }
    let bytes = record + [UInt8](repeating: 0, count: room) + note
    let file = try file()
    if file.hasRecord {
      try file.write(bytes, at: LockFile.recordOffset)
    } else {
      try file.makeRecord(bytes)
    }
  }

  package func write(note: [UInt8]) throws(ArchiveError) {
    try file().write(note, at: LockFile.recordOffset + Self.noteOffset)
  }

  package func clear() throws(ArchiveError) {
    // Without a record the file goes with the lock.
    try file().cutRecord()
  }
}

/// The record in a storage of its own, for a state that is no file.
package struct StoredLaunch: LaunchPlace {
  private let storage: any ArchiveStorage

  package init(_ storage: any ArchiveStorage) { self.storage = storage }

  package func read() throws(ArchiveError) -> [UInt8]? {
    guard let file = try storage.open() else { return nil }
    let bytes = try file.read(at: 0, count: min(file.byteCount, LockFile.byteCount))
    return SealedRecord.isBeginning(bytes) ? bytes : nil
  }

  package func write(_ record: [UInt8], note: [UInt8]) throws(ArchiveError) {
    if try read() == nil, hasArchive { throw ArchiveError(.notAFile) }
    try storage.replace { sink throws(ArchiveError) in try sink.write(record + note) }
  }

  /// Whether a state is there, which stays: a directory may have one place for every name.
  private var hasArchive: Bool {
    do throws(ArchiveError) {
      return try Archive.slots(of: storage) != nil
    } catch {
      return !error.isAboutContent
    }
  }

  package func write(note: [UInt8]) throws(ArchiveError) {
    guard let file = try storage.openForAppending(), file.byteCount > note.count else {
      throw ArchiveError(.outdated)
    }
    try file.write(note, at: file.byteCount - note.count)
  }

  package func clear() throws(ArchiveError) {
    if try read() != nil { try storage.remove() }
  }
}
