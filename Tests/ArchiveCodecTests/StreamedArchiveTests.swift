import ArchiveCodec
import TestSupport
import XCTest

final class StreamedArchiveTests: JournalTestCase {
  func testAStreamedArchiveIsTheSameAsOneThatWasBuiltWhole() throws {
    let archives = try archives.get()
    let storage = MemoryStorage()
    let summary = try Archive.write(
      to: storage, key: archives.key, context: archives.context, schema: 3
    ) { records in
      for record in (1...20_000 as ClosedRange<UInt64>).reversed() {
        try records.append(record: record) { $0.encode("text \(record)", forKey: "text") }
      }
    }
    XCTAssertEqual(summary.recordCount, 20_000)
    let archive = try archives.verified(try XCTUnwrap(storage.bytes))
    XCTAssertEqual(archive.schema, 3)
    XCTAssertEqual(try archive.recordIdentifiers().count, 20_000)
    XCTAssertEqual(try archive.record(77)?.decode(String.self, forKey: "text"), "text 77")
  }

  func testAStreamThatThrowsLeavesTheOldArchive() throws {
    struct Failure: Error {}
    let archives = try archives.get()
    let storage = MemoryStorage([1, 2, 3])
    XCTAssertThrowsError(
      try Archive.write(to: storage, key: archives.key, context: archives.context) { _ in
        throw Failure()
      }
    ) { XCTAssertTrue($0 is Failure) }
    XCTAssertEqual(storage.bytes, [1, 2, 3])
  }
}
