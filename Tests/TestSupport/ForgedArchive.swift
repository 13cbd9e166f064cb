package import ArchiveCodec
import XCTest

/// An archive whose data key the test knows, so that it can make any header
/// authentic: what somebody who has the key can do.
///
/// All of its random bytes are 7.
package struct ForgedArchive {
  package static let context = ArchiveContext(["org.example.test", "main"])
  private static let dataKey = [UInt8](repeating: 7, count: 32)
  private static let contextHash = KeyDerivation.context.hash(
    [16 << 1 | 1] + Array("org.example.test".utf8) + [4 << 1 | 1] + Array("main".utf8))

  package let bytes: [UInt8]

  package init(_ slots: [NewSlot]) throws {
    let builder = RecordBuilder()
    try builder.append(record: 1) { $0.encode("kept", forKey: "text") }
    let stuck = RandomSource { bytes, count in
      bytes.initializeMemory(as: UInt8.self, repeating: 7, count: count)
    }
    let storage = MemoryStorage()
    _ = try Archive.write(
      try builder.finish(), to: storage, slots: slots, context: Self.context, replacing: nil,
      schema: 0, random: stuck, moment: Archive.Moment(witness: [1]))
    bytes = try XCTUnwrap(storage.bytes)
  }

  /// The bytes with other slots, and with a MAC that fits.
  package func with(slots: [[UInt8]]) -> [UInt8] {
    Self.authentic(bytes.withSlots(slots))
  }

  /// Makes the MAC of a changed header fit, as only the data key can.
  package static func authentic(_ header: [UInt8]) -> [UInt8] {
    let head =
      Array(header[40..<112]) + [header[8], header[24], header[25]] + Array(header[12..<16])
    let headerKey = Array(
      KeyDerivation.fileKeys.hash(
        head + contextHash, key: dataKey, salt: Array(header[56..<72]), count: 64)[..<32])
    let authenticated = header.replacing(32..<40, with: [UInt8](repeating: 0, count: 8))
    let end = header.headerByteCount - 32
    let mac = KeyDerivation.headerMAC.hash(Array(authenticated[..<end]), key: headerKey)
    return header.replacing(end..<end + 32, with: mac).withFittingChecksum()
  }
}

extension [UInt8] {
  package var headerByteCount: Int { Int(self[10]) | Int(self[11]) << 8 }

  package var body: [UInt8] { Array(self[headerByteCount...]) }

  /// The slots of a header, 128 bytes each.
  package var slots: [[UInt8]] {
    (0..<Int(self[26])).map { Array(self[128 + $0 * 128..<256 + $0 * 128]) }
  }

  package func replacing(_ range: Range<Int>, with new: [UInt8]) -> [UInt8] {
    var changed = self
    changed.replaceSubrange(range, with: new)
    return changed
  }

  /// Puts other slots into the header; everything but its MAC fits again.
  package func withSlots(_ slots: [[UInt8]]) -> [UInt8] {
    let byteCount = 160 + 128 * slots.count
    return replacing(128..<headerByteCount - 32, with: Array(slots.joined()))
      .replacing(10..<12, with: [UInt8(byteCount & 255), UInt8(byteCount >> 8)])
      .replacing(26..<27, with: [UInt8(slots.count)])
      .withFittingChecksum()
  }

  /// Makes the checksum of a changed header fit, as anybody can.
  package func withFittingChecksum() -> [UInt8] {
    let cleared = replacing(32..<40, with: [UInt8](repeating: 0, count: 8))
    let checksum = KeyDerivation.checksum.hash(Array(cleared[..<headerByteCount]))
    return replacing(32..<40, with: Array(checksum[..<8]))
  }
}
