package import ArchiveCodec

/// Where a launch is, in 24 bytes beside its record, which are written in place again and again.
///
/// ```text
/// 0   1   the stage
/// 1   8   the element or value, little-endian; 0 for none
/// 9   8   the window; 0 for none
/// 17  3   zeros
/// 20  4   the tag, whose key is sealed in the record
/// ```
///
/// A note that somebody without the key writes counts as none: its author can neither choose what
/// is left out nor make a keeper give up a state as soon as noted crashes would. An attacker can
/// still put back a note that stood there since the record was written, or remove all files.
package struct LaunchNote: Hashable, Sendable {
  package enum Stage: UInt8, Sendable {
    case restoring = 1
    /// Only values and late elements may still be decoded.
    case restored
    /// The app has ended by itself.
    case ended
  }

  package var stage = Stage.restoring
  package var subject: LaunchSubject?
  package var window: LaunchSubject?

  package static let byteCount = 24

  package init(_ stage: Stage = .restoring) { self.stage = stage }

  package func bytes(_ tag: NumberTag) -> [UInt8] {
    let numbers = [subject?.number ?? 0, window?.number ?? 0]
    let proof = tag.tag(of: "\(stage) \(numbers)")
    func bytes(of number: UInt64) -> [UInt8] {
      (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    return [stage.rawValue] + numbers.flatMap(bytes) + [0, 0, 0]
      + bytes(of: UInt64(proof)).prefix(4)
  }

  /// Reads the note at the end of a record; nil if it is none of the record with this key.
  package init?(endOf record: [UInt8], _ tag: NumberTag) {
    let bytes = Array(record.suffix(Self.byteCount))
    guard bytes.count == Self.byteCount, let stage = Stage(rawValue: bytes[0]) else { return nil }
    func subject(at offset: Int) -> LaunchSubject? {
      let number = bytes[offset..<offset + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return number == 0 ? nil : LaunchSubject(number: number)
    }
    (self.stage, self.subject, self.window) = (stage, subject(at: 1), subject(at: 9))
    guard self.bytes(tag) == bytes else { return nil }
  }
}
