import ArchiveCodec
import TestSupport
import XCTest

final class ForEachRecordTests: JournalTestCase {
  func testItGivesWhatReadAllReturnsAlsoOfTheJournal() throws {
    let storage = MemoryStorage()
    let writer = try writer(storage)
    try write(
      writer,
      Dictionary(uniqueKeysWithValues: (1...500).map { ($0, String(repeating: "x", count: 99)) }))
    try write(writer, [7: "changed", 900: "new"], removing: [8])
    let archive = try open(try XCTUnwrap(storage.bytes))
    var texts: [String] = []
    var identifiers: [UInt64] = []
    try archive.forEachRecord { record in
      identifiers.append(record.identifier)
      texts.append(try record.content.get().decode(forKey: "text"))
    }
    let all = try archive.readAll()
    XCTAssertEqual(identifiers, all.map(\.identifier))
    XCTAssertEqual(texts, try all.map { try $0.content.get().decode(forKey: "text") })
  }

  func testADecoderThatIsKeptKeepsItsValues() throws {
    let storage = MemoryStorage()
    try write(
      try writer(storage),
      Dictionary(
        uniqueKeysWithValues: (1...2000).map { ($0, String(repeating: "\($0) ", count: 9)) }))
    var kept: [UInt64: KeyedDecoder] = [:]
    try open(try XCTUnwrap(storage.bytes)).forEachRecord { record in
      if record.identifier.isMultiple(of: 3) { kept[record.identifier] = try record.content.get() }
    }
    XCTAssertEqual(kept.count, 666)
    for (identifier, decoder) in kept {
      XCTAssertEqual(
        try decoder.decode(String.self, forKey: "text"),
        String(repeating: "\(identifier) ", count: 9)
      )
    }
  }

  func testWhatTheBodyThrowsEndsTheReading() throws {
    struct Enough: Error {}
    let (bytes, _, _) = try history()
    var count = 0
    XCTAssertThrowsError(
      try open(bytes).forEachRecord { _ in
        count += 1
        throw Enough()
      }
    ) { XCTAssert($0 is Enough, "\($0)") }
    XCTAssertEqual(count, 1)
  }

  func testADamagedChunkIsThrownAfterTheRecordsBeforeIt() throws {
    let storage = MemoryStorage()
    let text = String(repeating: "x", count: 1000)
    try write(
      try writer(storage), Dictionary(uniqueKeysWithValues: (1...100).map { ($0, text) }))
    var bytes = try XCTUnwrap(storage.bytes)
    bytes[bytes.count / 2] ^= 1
    let archive = try open(bytes)
    var count = 0
    XCTAssertEqual(
      archiveError {
        try archive.forEachRecord { _ in count += 1 }
      }, ArchiveError(.damaged, offset: 49532, subject: "chunk 3"))
    XCTAssertGreaterThan(count, 10)
    XCTAssertLessThan(count, 100)
  }
}
