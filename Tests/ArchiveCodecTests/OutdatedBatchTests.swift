import ArchiveCodec
import TestSupport
import XCTest

/// Records that were built for another state of an archive.
final class OutdatedBatchTests: JournalTestCase {
  private func batch(
    _ builder: RecordBuilder, _ record: UInt64, _ value: String, _ key: String
  ) throws -> RecordBatch {
    try builder.append(record: record) { $0.encode(value, forKey: key) }
    return try builder.finish()
  }

  func testABatchBuiltForOtherKeysIsOutdatedAlsoIfThereAreAsMany() throws {
    let storage = MemoryStorage()
    let writer = try writer(storage)
    try writer.append(try batch(RecordBuilder(), 1, "public", "title"))
    let late = try batch(writer.builder(), 2, "s3cret", "title")
    try writer.rewrite(try batch(RecordBuilder(), 1, "public", "password hint"))
    XCTAssertEqual(
      archiveError { try writer.append(late) }, ArchiveError(.outdated, location: "memory"))
    let record = try writer.archive?.record(2)
    XCTAssertNil(try record?.decodeIfPresent(String.self, forKey: "password hint"))
  }

  func testNoBatchThatIsTakenMakesTheArchiveUnreadable() throws {
    let storage = MemoryStorage()
    let writer = try writer(storage)
    try writer.append(try batch(RecordBuilder(), 1, "one", "b"))
    let late = try batch(writer.builder(), 2, "two", "a")
    try writer.rewrite(try batch(RecordBuilder(), 1, "one", "a"))
    let before = storage.bytes
    XCTAssertEqual(
      archiveError { try writer.append(late) }, ArchiveError(.outdated, location: "memory"))
    XCTAssertEqual(storage.bytes, before)
    XCTAssertNoThrow(try open(try XCTUnwrap(storage.bytes), .recover))
  }

  func testAChangeAfterABatchThatWasRefusedCanBeRead() throws {
    let storage = MemoryStorage()
    let writer = try writer(storage)
    try writer.append(try batch(RecordBuilder(), 1, "one", "b"))
    let builder = writer.builder()
    try builder.append(record: 2) { encoder in
      encoder.encode("new", forKey: "x")
      encoder.encode("known by then", forKey: "a")
    }
    let late = try builder.finish()
    try writer.rewrite(try batch(RecordBuilder(), 1, "one", "a"))
    XCTAssertNotNil(archiveError { try writer.append(late) })
    try writer.append(try batch(writer.builder(), 3, "acknowledged", "x"))
    let archive = try open(try XCTUnwrap(storage.bytes), .recover)
    XCTAssertEqual(try archive.record(3)?.decode(String.self, forKey: "x"), "acknowledged")
  }

  func testARewriteWithABatchForOtherKeysIsOutdated() throws {
    let writer = try writer(MemoryStorage())
    try writer.append(try batch(RecordBuilder(), 1, "public", "title"))
    let late = try batch(writer.builder(), 2, "s3cret", "title")
    try writer.rewrite(try batch(RecordBuilder(), 1, "public", "password hint"))
    XCTAssertEqual(
      archiveError { try writer.rewrite(late) }, ArchiveError(.outdated, location: "memory"))
  }

  func testTheFirstChangeRefusesARecordThatIsChangedAndRemovedAsALaterOneDoes() throws {
    let storage = MemoryStorage()
    let writer = try writer(storage)
    let first = try batch(writer.builder(), 1, "one", "text")
    XCTAssertEqual(
      archiveError { try writer.append(first, removing: [1]) },
      ArchiveError(.malformed, subject: "record 1 is not unique", location: "memory"))
    XCTAssertNil(storage.bytes)
  }

  func testABatchOfBeforeACompactionOrANewSlotIsTaken() throws {
    let storage = MemoryStorage()
    let writer = try writer(storage)
    try writer.append(try batch(RecordBuilder(), 1, "one", "text"))
    let first = try batch(writer.builder(), 2, "two", "text")
    try writer.compact()
    try writer.append(first)
    let second = try batch(writer.builder(), 3, "three", "text")
    try writer.addSlot(.key(try ArchiveKey()))
    try writer.append(second)
    XCTAssertEqual(
      try texts(try open(try XCTUnwrap(storage.bytes))), [1: "one", 2: "two", 3: "three"])
  }
}
