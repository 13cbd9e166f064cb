import ArchiveCodec
import TestSupport
import XCTest

/// A batch is a value: it can be sealed as often as wanted, and the builder can
/// go on.
final class RecordBatchTests: JournalTestCase {
  private func batch(_ builder: RecordBuilder, _ records: ClosedRange<UInt64>) throws -> RecordBatch
  {
    for record in records {
      try builder.append(record: record) {
        $0.encode(String(repeating: "text \(record) ", count: 100), forKey: "text")
      }
    }
    return try builder.finish()
  }

  private func sealed(_ batch: RecordBatch) throws -> [UInt8] {
    let storage = MemoryStorage()
    _ = try Archive.write(
      batch, to: storage, slots: [.key(VectorSealing.key)], context: VectorSealing.context,
      replacing: nil, schema: 0, random: .fixed(seed: 1), moment: VectorSealing.moment)
    return try XCTUnwrap(storage.bytes)
  }

  func testABatchThatIsSealedAgainHasTheSameBytes() throws {
    let batch = try batch(RecordBuilder(), 1...300)
    let first = try sealed(batch)
    XCTAssert(try sealed(batch) == first)
    XCTAssertGreaterThan(first.count, batch.byteCount)
  }

  func testABuilderThatGoesOnLeavesTheBatchAsItWas() throws {
    let builder = RecordBuilder()
    let first = try batch(builder, 1...100)
    let bytes = try sealed(first)
    let second = try batch(builder, 101...300)
    XCTAssertEqual(first.count, 100)
    XCTAssert(try sealed(first) == bytes)
    XCTAssertEqual(second.count, 300)
    XCTAssert(try sealed(second) == sealed(try batch(RecordBuilder(), 1...300)))
  }

  func testOfABatchWithoutSomeRecordsNothingElseIsLeftOut() throws {
    let dropped = Set((1...300).filter { $0 % 3 == 0 }.map(UInt64.init))
    let builder = RecordBuilder()
    let whole = try batch(builder, 1...300)
    let part = try builder.finish(without: dropped)
    XCTAssertEqual(part.fingerprints.map(\.record), (1...300).filter { !dropped.contains($0) })
    let all = Dictionary(
      uniqueKeysWithValues: whole.fingerprints.map { ($0.record, $0.fingerprint) })
    XCTAssert(part.fingerprints.allSatisfy { all[$0.record] == $0.fingerprint })
    XCTAssert(try sealed(builder.finish()) == sealed(part))
  }

  func testABatchIsAppendedAndWritesAFileOfItsOwn() throws {
    let storage = MemoryStorage()
    let writer = try writer(storage)
    try write(writer, [1: "one", 2: "two"])
    let batch = try batch(writer.builder(), 2...200)
    try writer.append(batch)
    let appended = try texts(try open(try XCTUnwrap(storage.bytes)))
    XCTAssertEqual(appended.count, 200)
    XCTAssertEqual(try texts(try XCTUnwrap(writer.archive)), appended)
    try writer.append(batch)
    XCTAssertEqual(try texts(try open(try XCTUnwrap(storage.bytes))), appended)
    try writer.rewrite(batch)
    let rewritten = try texts(try open(try XCTUnwrap(storage.bytes)))
    XCTAssertEqual(rewritten, appended.filter { $0.key != 1 })
  }
}
