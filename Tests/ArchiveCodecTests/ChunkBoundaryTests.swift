import ArchiveCodec
import ArchiveForge
import TestSupport
import XCTest

/// Where records lie among chunks, and who seals them, is nothing that a reader
/// of the format can see.
final class ChunkBoundaryTests: XCTestCase {
  private static let chunkByteCount = 1 << 14
  /// The bytes of a frame and a map with one string around the string itself.
  private static let overhead = 24

  /// What the library seals, and what another writer makes of the same records.
  private func assertSame(
    _ records: [(record: UInt64, text: String)], _ message: String, line: UInt = #line
  ) throws {
    let builder = RecordBuilder()
    for (record, text) in records {
      try builder.append(record: record) { $0.encode(text, forKey: "a") }
    }
    let storage = MemoryStorage()
    _ = try Archive.write(
      builder.finish(), to: storage, slots: [.key(VectorSealing.key)],
      context: VectorSealing.context, replacing: nil, schema: 0, random: .fixed(seed: 1),
      moment: VectorSealing.moment)
    let content = HostileContent { content in
      content.symbols = HostileContent.table(["a"])
      content.records = records.map { ($0.record, HostileContent.map(value($0.text))) }
    }
    var commit = content.commit()
    commit.witness = VectorSealing.moment.witness
    // Not compared as arrays: the difference would be printed.
    XCTAssert(
      storage.bytes == VectorSealing.bytes(sealing: [commit]), message, line: line)
  }

  private func value(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    return bytes.count < 48
      ? [0x50 + UInt8(bytes.count)] + bytes
      : [0xAA] + HostileContent.varint(UInt64(bytes.count)) + bytes
  }

  private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  func testARecordBeginsAtEveryPlaceBesideTheEndOfAChunk() throws {
    for byteCount in Self.chunkByteCount - 2 * Self.overhead...Self.chunkByteCount {
      for next in [0, Self.chunkByteCount] {
        try assertSame(
          [(1, text(byteCount)), (2, text(next)), (3, "last")], "\(byteCount), then \(next)")
      }
    }
  }

  func testTheContentEndsAtEveryPlaceBesideTheEndOfAChunk() throws {
    // Symbols, index and footer follow the record.
    for byteCount in Self.chunkByteCount - 100...Self.chunkByteCount {
      try assertSame([(1, text(byteCount))], "\(byteCount)")
    }
  }

  func testMemoryOfTheBuilderEndsAtEveryPlaceBesideTheEndOfAChunk() throws {
    for byteCount in 4 * Self.chunkByteCount - 2 * Self.overhead...4 * Self.chunkByteCount + 1 {
      try assertSame(
        [(1, text(byteCount)), (2, text(20_000)), (3, text(50_000)), (4, text(70_000)), (5, "")],
        "\(byteCount)")
    }
  }

  func testARecordThatIsLargerThanAllMemoryOfTheBuilder() throws {
    for byteCount in [100_000, 1 << 20, 3 << 20] {
      try assertSame([(1, "first"), (2, text(byteCount)), (3, "last")], "\(byteCount)")
    }
  }

  func testRecordsInAnyOrderHaveAnIndexInOrder() throws {
    var generator = SeededGenerator()
    for count in [2, 3, 10, 500] {
      let records = (1...UInt64(count)).map { $0 * 1_000_003 }.shuffled(using: &generator)
      try assertSame(
        records.map { ($0, "record \($0)") }, "\(count) records, seed \(generator.seed)")
    }
  }

  func testFewChunksAndManyThatProcessorsShareAreSealedAlike() throws {
    for chunkCount in [1, 7, 8, 9, 70] {
      let records = (1...UInt64(chunkCount)).map { ($0, text(Self.chunkByteCount)) }
      try assertSame(records, "\(chunkCount) chunks")
    }
  }
}
