import ArchiveCodec
import ArchiveForge
import TestSupport
import XCTest

/// Reading over several cores gives what reading in order gives.
final class VerifiedRecordsTests: XCTestCase {
  private let archives = Result { try TestArchives() }

  private struct Nothing: Error {}

  private func open(_ bytes: [UInt8], limits: ArchiveLimits = .standard) throws -> Archive {
    let archives = try archives.get()
    let archive = try Archive.open(
      MemoryStorage(bytes), key: archives.key, context: archives.context, limits: limits)
    guard let archive else { throw Nothing() }
    return archive
  }

  /// What is read of every record: its bytes, or why it cannot be used.
  private func inOrder(_ archive: Archive) throws -> [String] {
    var lines: [String] = []
    try archive.forEachRecord { record in
      lines.append(line(record.identifier, record.content))
    }
    return lines
  }

  private func inParts(_ archive: Archive, _ workerCount: Int) throws -> [String] {
    let records = try archive.verifiedRecords(workerCount: workerCount)
    return (0..<records.count).map { place in
      line(
        records.identifier(at: place),
        Result { () throws(ArchiveError) in try records.record(at: place) })
    }
  }

  private func line(_ identifier: UInt64, _ content: Result<KeyedDecoder, ArchiveError>) -> String {
    switch content {
    case .success(let decoder): "\(identifier) \(decoder.unsealed.frame.hashValue) \(decoder.keys)"
    case .failure(let error): "\(identifier) \(error)"
    }
  }

  private func assertSame(_ archive: Archive, _ what: String, line: UInt = #line) {
    var expected: [String] = []
    var failure: ArchiveError?
    do {
      expected = try inOrder(archive)
    } catch {
      failure = error as? ArchiveError
    }
    for workerCount in [1, 2, 3, 8] {
      do {
        let found = try inParts(archive, workerCount)
        XCTAssertEqual(found, expected, "\(what), \(workerCount)", line: line)
        XCTAssertNil(failure, "\(what), \(workerCount)", line: line)
      } catch {
        XCTAssertEqual(error as? ArchiveError, failure, "\(what), \(workerCount)", line: line)
      }
    }
  }

  private func record(_ byteCount: Int) -> [UInt8] {
    let bytes = [UInt8](repeating: 7, count: byteCount)
    return HostileContent.map([0xAB] + HostileContent.varint(UInt64(byteCount)) + bytes)
  }

  /// Records of many sizes, some longer than a chunk or than a part, of which every
  /// eleventh is malformed.
  private func content(_ sizes: [Int]) -> HostileContent {
    HostileContent { content in
      content.symbols = HostileContent.table(["a"])
      content.records = sizes.enumerated().map { place, size in
        (UInt64(place + 1), place % 11 == 10 ? [0xFF] + record(size) : record(size))
      }
    }
  }

  func testItGivesWhatReadingInOrderGives() throws {
    let archives = try archives.get()
    var generator = SeededGenerator()
    for count in [0, 1, 2, 50, 400] {
      let sizes = (0..<count).map { _ in
        Int.random(in: 0...1 << Int.random(in: 4...16, using: &generator), using: &generator)
      }
      let bytes = archives.bytes(sealing: [content(sizes).commit()])
      let archive = try open(bytes)
      XCTAssertEqual(try inOrder(archive).count, count)
      assertSame(archive, "\(count) records, \(generator.seed)")
    }
  }

  func testARecordThatCannotBeUsedHasAnUnknownFingerprint() throws {
    let archives = try archives.get()
    let archive = try open(
      archives.bytes(sealing: [content((0..<50).map { $0 * 7 }).commit()]))
    for workerCount in [1, 2] {
      let records = try archive.verifiedRecords(workerCount: workerCount)
      let unknown = (0..<records.count).filter { records.fingerprint(at: $0) == .unknown }
      XCTAssertEqual(unknown, [10, 21, 32, 43], "\(workerCount)")
    }
  }

  func testALongRecordLiesInManyParts() throws {
    let archives = try archives.get()
    let sizes = [100, 3 << 20, 100, 1 << 16, 1 << 16, 5]
    assertSame(try open(archives.bytes(sealing: [content(sizes).commit()])), "long")
  }

  func testItLeavesOutWhatTheJournalSuperseded() throws {
    let storage = MemoryStorage()
    let archives = try archives.get()
    let writer = try ArchiveWriter.open(storage, key: archives.key, context: archives.context)
    func write(_ numbers: some Sequence<Int>, _ text: String, removing: [UInt64] = []) throws {
      let builder = writer.builder()
      for number in numbers {
        try builder.append(record: UInt64(number)) { encoder in
          encoder.encode(text, forKey: "text")
        }
      }
      try writer.append(builder.finish(), removing: removing)
    }
    try write(1...2000, String(repeating: "first ", count: 30))
    try write([3, 700, 2000], "second")
    try write(stride(from: 5000, to: 4000, by: -100), "third", removing: [1, 4, 900])
    let archive = try open(try XCTUnwrap(storage.bytes))
    assertSame(archive, "journal")
    XCTAssertEqual(
      try inParts(archive, 2).count, try archive.recordIdentifiers().count)
  }

  func testNothingIsGivenOutOfADamagedArchive() throws {
    let archives = try archives.get()
    let bytes = archives.bytes(
      sealing: [content((0..<300).map { $0 * 37 % 1500 }).commit()])
    let chunk = 1 << 14 + 20
    var failures: [String] = []
    for start in stride(from: bytes.count % chunk, to: bytes.count, by: chunk / 2) {
      var damaged = bytes
      damaged[start] ^= 1
      guard let archive = try? open(damaged) else { continue }
      assertSame(archive, "damaged at \(start)")
      for workerCount in [1, 4] {
        let error = archiveError("\(start)") {
          _ = try archive.verifiedRecords(workerCount: workerCount)
        }
        XCTAssertEqual(error?.code, .damaged, "\(start)")
        failures.append(error?.subject ?? "")
      }
    }
    XCTAssertGreaterThan(Set(failures).count, 8)
  }

  func testOfTwoDamagedChunksItIsTheFirstThatIsNamed() throws {
    let archives = try archives.get()
    var bytes = archives.bytes(
      sealing: [content([Int](repeating: 999, count: 900)).commit()])
    bytes[bytes.count / 4] ^= 1
    bytes[bytes.count / 2] ^= 1
    let archive = try open(bytes)
    let first = archiveError { try archive.forEachRecord { _ in } }
    XCTAssertEqual(first?.code, .damaged)
    for _ in 0..<10 {
      XCTAssertEqual(archiveError { _ = try archive.verifiedRecords(workerCount: 4) }, first)
    }
  }

  func testAnIndexThatLiesIsRefusedAsInOrder() throws {
    let archives = try archives.get()
    typealias Entries = [HostileContent.Entry]
    let edits: [(String, (inout Entries) -> Void)] = [
      ("overlapping", { $0[150].offset = $0[149].offset + 1 }),
      ("swapped", { ($0[7].offset, $0[8].offset) = ($0[8].offset, $0[7].offset) }),
      ("one offset twice", { $0[8].offset = $0[7].offset }),
      ("beyond the end", { $0[299].offset += 1 << 30 }),
      (
        "longer",
        { ($0[10].byteCount, $0[11].byteCount) = ($0[10].byteCount + 1, $0[11].byteCount - 1) }
      ),
      ("another identifier", { $0[299].record += 1 }),
      ("all at once", { entries in for place in entries.indices { entries[place].offset = 0 } }),
    ]
    for (what, edit) in edits {
      var content = content([Int](repeating: 500, count: 300))
      content.editIndex = edit
      assertSame(try open(archives.bytes(sealing: [content.commit()])), what)
    }
    var scattered = content([Int](repeating: 500, count: 300))
    scattered.order = [.raw([2, 7, 1, 2, 3]), .records, .raw([4, 1]), .symbols, .index, .footer]
    let archive = try open(archives.bytes(sealing: [scattered.commit()]))
    assertSame(archive, "unknown frames")
    XCTAssertEqual(try inParts(archive, 4).count, 300)
    scattered.order = [.records, .raw([9, 1]), .symbols, .index, .footer]
    assertSame(try open(archives.bytes(sealing: [scattered.commit()])), "a frame of odd kind")
  }

  func testARecordOverTheLimitStopsNoOtherAndHidesNoDamage() throws {
    let archives = try archives.get()
    let bytes = archives.bytes(sealing: [content([10, 90_000, 20]).commit()])
    let limits = ArchiveLimits(recordByteCount: 1000)
    let archive = try open(bytes, limits: limits)
    assertSame(archive, "limit")
    let records = try archive.verifiedRecords(workerCount: 2)
    XCTAssertEqual(archiveError { _ = try records.record(at: 1) }?.code, .limitExceeded)
    XCTAssertEqual(try records.record(at: 2).keys, ["a"])
    var damaged = bytes
    damaged[bytes.count / 2] ^= 1
    let unsafe = try open(damaged, limits: limits)
    assertSame(unsafe, "limit and damage")
    XCTAssertEqual(archiveError { _ = try unsafe.verifiedRecords() }?.code, .damaged)
  }
}
