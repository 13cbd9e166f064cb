package import ArchiveCodec

/// An element or a value that a launch makes or decodes.
package struct LaunchSubject: Hashable, Codable, Sendable {
  package let number: UInt64

  init(number: UInt64) { self.number = number }

  /// Names an element of the state by its identifier.
  package init(element id: UInt64) { number = id &+ 1 }

  /// Names a value by the tag of its key.
  package init(valueTag tag: UInt32) { number = Self.valueMark | UInt64(tag) }

  private static let valueMark: UInt64 = 1 << 63

  /// The identifier of the element; nil for a value.
  package var element: UInt64? { number & Self.valueMark == 0 ? number &- 1 : nil }
}

/// Where a launch is, in 16 bytes beside its record, which are written in place again and again.
///
/// ```text
/// 0   1   the stage
/// 1   8   the element or value, little-endian; 0 for none
/// 9   4   the tag, whose key is sealed in the record
/// 13  3   zeros
/// ```
///
/// A note that somebody without the key writes counts as none: its author can neither choose what
/// is left out nor make a keeper give up a state as soon as noted crashes would. An attacker can
/// still put back a note or a record that stood there before, or remove all files.
package struct LaunchNote: Hashable, Sendable {
  package enum Stage: UInt8, Sendable {
    case restoring = 1
    /// Only values and late elements may still be decoded.
    case restored
    /// The app has ended by itself.
    case ended
  }

  package let stage: Stage
  package let subject: LaunchSubject?

  package static let byteCount = 16

  package init(_ stage: Stage, _ subject: LaunchSubject? = nil) {
    (self.stage, self.subject) = (stage, subject)
  }

  package func bytes(_ tag: NumberTag) -> [UInt8] {
    let number = subject?.number ?? 0
    let proof = tag.tag(of: "note \(stage.rawValue) \(number)")
    let start = number << 8 | UInt64(stage.rawValue)
    let end = UInt64(proof) << 8 | number >> 56
    return [start, end].flatMap { unsafe withUnsafeBytes(of: $0.littleEndian, Array.init) }
  }

  /// Reads the note at the end of a record; nil if it is none of the record with this key.
  package init?(endOf record: [UInt8], _ tag: NumberTag) {
    let bytes = Array(record.suffix(Self.byteCount))
    guard bytes.count == Self.byteCount, let stage = Stage(rawValue: bytes[0]) else { return nil }
    let number = bytes[1..<9].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    self.init(stage, number == 0 ? nil : LaunchSubject(number: number))
    guard self.bytes(tag) == bytes else { return nil }
  }
}

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
extension OpenLockFile: LaunchPlace {
  private static let noteOffset = LockFile.byteCount - LaunchNote.byteCount

  package func read() throws(ArchiveError) -> [UInt8]? { hasRecord ? try record() : nil }

  package func write(_ record: [UInt8], note: [UInt8]) throws(ArchiveError) {
    let room = Self.noteOffset - LockFile.recordOffset - record.count
    guard room >= 0 else { throw ArchiveError(.limitExceeded, subject: "record of a launch") }
    let bytes = record + [UInt8](repeating: 0, count: room) + note
    if hasRecord { try write(bytes, at: LockFile.recordOffset) } else { try makeRecord(bytes) }
  }

  package func write(note: [UInt8]) throws(ArchiveError) { try write(note, at: Self.noteOffset) }

  // Without a record the file goes with the lock.
  package func clear() throws(ArchiveError) { try cutRecord() }
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
