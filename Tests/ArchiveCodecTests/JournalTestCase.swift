import ArchiveCodec
import TestSupport
import XCTest

/// Writes journals and reads them, for tests of several sorts.
class JournalTestCase: XCTestCase {
  let archives = Result { try TestArchives() }

  func writer(_ storage: any ArchiveStorage) throws -> ArchiveWriter {
    let archives = try archives.get()
    return try ArchiveWriter.open(storage, key: archives.key, context: archives.context)
  }

  func open(
    _ bytes: [UInt8], _ recovery: ArchiveRecovery = .strict
  ) throws -> Archive {
    let archives = try archives.get()
    let archive = try Archive.open(
      MemoryStorage(bytes), key: archives.key, context: archives.context, recovery: recovery)
    guard let archive else { throw Nothing() }
    return archive
  }

  private struct Nothing: Error {}

  func write(
    _ writer: ArchiveWriter, _ texts: [UInt64: String], removing removed: [UInt64] = []
  ) throws {
    let builder = writer.builder()
    for (record, text) in texts.sorted(by: { $0.key < $1.key }) {
      try builder.append(record: record) { $0.encode(text, forKey: "text") }
    }
    try writer.append(builder.finish(), removing: removed)
  }

  func texts(_ archive: Archive) throws -> [UInt64: String] {
    var texts: [UInt64: String] = [:]
    for record in try archive.readAll() {
      let decoder = try record.content.get()
      texts[record.identifier] = try decoder.decode(forKey: "text")
    }
    for (record, text) in texts {
      XCTAssertEqual(try archive.record(record)?.decode(String.self, forKey: "text"), text)
    }
    XCTAssertEqual(try archive.recordIdentifiers(), texts.keys.sorted())
    return texts
  }

  /// A file with a snapshot and three changes, and the state after each.
  func history() throws -> (bytes: [UInt8], ends: [Int], states: [[UInt64: String]]) {
    let storage = MemoryStorage()
    let writer = try writer(storage)
    var ends: [Int] = []
    var states: [[UInt64: String]] = []
    func note() throws {
      ends.append(try XCTUnwrap(storage.bytes).count)
      states.append(try texts(try XCTUnwrap(writer.archive)))
    }
    try write(writer, [1: "one", 2: "two", 3: "three"])
    try note()
    try write(writer, [2: "two changed"])
    try note()
    try write(writer, [4: "four"], removing: [1])
    try note()
    try write(writer, [1: "one again", 2: "two again"], removing: [9])
    try note()
    return (try XCTUnwrap(storage.bytes), ends, states)
  }
}
