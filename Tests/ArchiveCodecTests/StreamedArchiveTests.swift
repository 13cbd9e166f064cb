import ArchiveCodec
import Synchronization
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

  func testNothingOfAStreamStaysInMemory() throws {
    let archives = try archives.get()
    weak var builder: RecordBuilder?
    _ = try Archive.write(to: MemoryStorage(), key: archives.key, context: archives.context) {
      builder = $0
      try $0.append(record: 1) { $0.encode("text", forKey: "text") }
    }
    XCTAssertNil(builder)
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

  func testAStreamThatGoesOnAfterASinkWasFullOnceLeavesTheOldArchive() throws {
    let archives = try archives.get()
    let storage = OnceFullStorage()
    let error = archiveError {
      _ = try Archive.write(to: storage, key: archives.key, context: archives.context) { records in
        let text = String(repeating: "long ", count: 40)
        for record in 1...20_000 as ClosedRange<UInt64> {
          try? records.append(record: record) { $0.encode(text, forKey: "text") }
        }
      }
    }
    XCTAssertEqual(error, ArchiveError(.inputOutput, systemError: ENOSPC))
    XCTAssertTrue(storage.stored.bytes == [1, 2, 3])
  }
}

/// A storage whose first sink has no room for the second part that it is given, and has some again after that.
private final class OnceFullStorage: ArchiveStorage {
  let stored = MemoryStorage([1, 2, 3])
  let location = "full once"

  private final class Sink: ArchiveSink {
    let stored: any ArchiveSink
    private let count = Mutex(0)

    init(_ stored: any ArchiveSink) { self.stored = stored }

    func write(_ bytes: [UInt8]) throws(ArchiveError) {
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 2 { throw ArchiveError(.inputOutput, systemError: ENOSPC) }
      try stored.write(bytes)
    }
  }

  func open() throws(ArchiveError) -> (any ArchiveFile)? { try stored.open() }
  func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
    try stored.openForAppending()
  }
  func isLocked() throws(ArchiveError) -> Bool { try stored.isLocked() }
  func lock() throws(ArchiveError) -> any ArchiveLock { try stored.lock() }
  func remove() throws(ArchiveError) { try stored.remove() }

  func replace(
    _ body: (any ArchiveSink) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try stored.replace { sink throws(ArchiveError) in try body(Sink(sink)) }
  }
}
