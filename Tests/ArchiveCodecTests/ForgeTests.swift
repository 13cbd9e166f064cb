import ArchiveCodec
import ArchiveForge
import TestSupport
import XCTest

/// Two writers of one specification, which share libsodium and nothing else.
final class ForgeTests: XCTestCase {
  private let keyBytes = [UInt8](0..<32)
  private let contextFields = ["org.example.test", "", "main"]

  private struct Written {
    var bytes: [UInt8]
    var snapshot: [UInt8]
    var change: [UInt8]
    var symbols: [[UInt8]]
    var replaced: ArchiveVersion
  }

  /// A snapshot that follows another, and a change of it.
  private func library() throws -> Written {
    let context = ArchiveContext(contextFields)
    let key = try ArchiveKey.known(keyBytes)
    let storage = MemoryStorage()
    let replaced = try Archive.write(
      RecordBuilder().finish(), to: storage, key: key, context: context
    ).version
    let random = RandomSource.fixed(seed: 1)
    let builder = RecordBuilder()
    try builder.append(record: 7) { $0.encode(String(repeating: "x", count: 20_000), forKey: "a") }
    let snapshot = try builder.finish()
    _ = try Archive.write(
      snapshot, to: storage, slots: [.key(key)], context: context, replacing: replaced, schema: 3,
      random: random, moment: Archive.Moment(witness: [9, 9]))
    let writer = try ArchiveWriter(storage, with: .key(key), context: context, random: random)
    let changing = writer.builder()
    try changing.append(record: 8) { $0.encode(1, forKey: "b") }
    let change = try changing.finish()
    try writer.append(change, removing: [7, 1 << 40], schema: 4)
    return Written(
      bytes: try XCTUnwrap(storage.bytes), snapshot: snapshot.unsealed.maps[0],
      change: change.unsealed.maps[0],
      symbols: [snapshot.unsealed.symbols, change.unsealed.symbols], replaced: replaced)
  }

  func testTheLibraryWritesTheBytesThatAnotherWriterMakesOfTheSpecification() throws {
    let written = try library()
    var snapshot = HostileContent { content in
      (content.records, content.symbols) = ([(7, written.snapshot)], written.symbols[0])
      content.editFooter = { $0[0] = 3 }
    }.commit()
    snapshot.witness = [9, 9]
    var change = HostileContent { content in
      (content.records, content.symbols) = ([(8, written.change)], written.symbols[1])
      content.removed = [7, 1 << 40]
      content.editFooter = { $0[0] = 4 }
    }.commit(flags: 2)
    let payload = HostileContent.integer(8, byteCount: 8) + written.change
    let frame = [1] + HostileContent.varint(UInt64(payload.count)) + payload
    let parts: [[UInt8]] = [
      HostileContent.integer(4, byteCount: 4),
      HostileContent.integer(UInt64(frame.count), byteCount: 8), frame,
      HostileContent.integer(UInt64(written.symbols[1].count), byteCount: 8), written.symbols[1],
      HostileContent.integer(2, byteCount: 8),
      HostileContent.integer(7, byteCount: 8), HostileContent.integer(1 << 40, byteCount: 8),
    ]
    change.witness = Array(parts.joined())
    var archive = UncheckedArchive([snapshot, change])
    archive.replacing = written.replaced
    XCTAssertEqual(
      archive.sealed(key: keyBytes, context: contextFields, random: .fixed(seed: 1)),
      written.bytes)
  }
}
