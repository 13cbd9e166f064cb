package import ArchiveCodec
import ArchiveForge
import XCTest

/// An archive whose data key the test knows, so that it can make any header
/// authentic: what somebody who has the key can do.
///
/// The library writes it. All of its random bytes are 7.
package struct ForgedArchive {
  private static let contextFields = ["org.example.test", "main"]
  package static let context = ArchiveContext(contextFields)

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
    header.withFittingMAC(dataKey: [UInt8](repeating: 7, count: 32), context: contextFields)
  }
}
