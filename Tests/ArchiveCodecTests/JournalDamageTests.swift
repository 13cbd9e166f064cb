import ArchiveCodec
import TestSupport
import XCTest

/// Journals that were changed, cut or put together anew.
final class JournalDamageTests: JournalTestCase {
  func testEveryBitFlipIsRefusedOrLeavesAnOlderState() throws {
    let (bytes, ends, states) = try history()
    for position in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[position] ^= 1 << bit
        XCTAssertNotNil(
          archiveError("byte \(position) bit \(bit)") { try open(changed).verifyAll() })
        guard let archive = try? open(changed, .recover) else { continue }
        guard (try? archive.verifyAll()) != nil else {
          XCTAssertLessThan(position, ends[0])
          continue
        }
        // The commits before the one that was hit.
        let intact = try XCTUnwrap(ends.firstIndex { position < $0 })
        XCTAssertEqual(try texts(archive), states[intact - 1])
        XCTAssertNotNil(archive.dropped)
      }
    }
  }

  func testEveryTruncationIsRefusedOrLeavesTheLastWholeChange() throws {
    let (bytes, ends, states) = try history()
    for count in bytes.indices {
      let cut = Array(bytes[..<count])
      let whole = ends.lastIndex { $0 <= count }
      if let whole, ends[whole] == count {
        XCTAssertEqual(try open(cut).version.generation, UInt64(whole) + 1)
      } else {
        XCTAssertEqual(
          archiveError { _ = try open(cut) },
          ArchiveError(.truncated, offset: count, location: "memory"), "\(count) bytes")
      }
      if let whole {
        let archive = try open(cut, .recover)
        XCTAssertEqual(try texts(archive), states[whole])
        XCTAssertEqual(archive.dropped?.code, ends[whole] == count ? nil : .truncated)
      } else {
        XCTAssertEqual(
          archiveError { _ = try open(cut, .recover) },
          ArchiveError(.truncated, offset: count, location: "memory"))
      }
    }
  }

  func testChangesThatAreRemovedSwappedOrRepeatedAreRefused() throws {
    let (bytes, ends, states) = try history()
    let parts = zip([0] + ends, ends).map { Array(bytes[$0..<$1]) }
    for (order, intact) in [
      ([0, 2, 3], 0), ([0, 1, 3], 1), ([0, 2, 1, 3], 0), ([0, 1, 1, 2], 1), ([0, 3, 2, 1], 0),
      ([0, 1, 2, 3, 3], 3), ([0, 0, 1], 0),
    ] {
      let mixed = order.flatMap { parts[$0] }
      XCTAssertNotNil(archiveError("\(order)") { _ = try open(mixed) })
      XCTAssertEqual(try texts(try open(mixed, .recover)), states[intact], "\(order)")
    }
  }

  func testGarbageAfterTheEndIsRefusedOrLeftOut() throws {
    let (bytes, ends, states) = try history()
    var lyingTrailer = Array(bytes[(ends[2] - 64)..<ends[2]])
    lyingTrailer.replaceSubrange(
      16..<24, with: (0..<8).map { UInt8(truncatingIfNeeded: (ends[3] - 288 + 64) >> ($0 * 8)) })
    let tails: [[UInt8]] = [
      [0], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 7, count: 4096),
      Array(bytes.suffix(64)), lyingTrailer, Array(bytes.prefix(288)),
    ]
    for tail in tails {
      XCTAssertNotNil(archiveError { _ = try open(bytes + tail) })
      let archive = try open(bytes + tail, .recover)
      XCTAssertEqual(try texts(archive), states.last)
      XCTAssertNotNil(archive.dropped)
    }
  }

  func testASiblingOfAChangeIsRefused() throws {
    let (bytes, ends, states) = try history()
    let archives = try archives.get()
    func fork(_ text: String) throws -> [UInt8] {
      let storage = MemoryStorage(Array(bytes[..<ends[1]]))
      let writer = try ArchiveWriter.open(
        storage, key: archives.key, context: archives.context)
      try write(writer, [5: text])
      try write(writer, [6: text])
      return Array(try XCTUnwrap(storage.bytes)[ends[1]...])
    }
    let (one, other) = (try fork("a"), try fork("b"))
    XCTAssertEqual(one.count, other.count)
    let half = one.count / 2
    let spliced = Array(bytes[..<ends[1]] + one[..<half] + other[half...])
    XCTAssertNotNil(archiveError { _ = try open(spliced) })
    XCTAssertEqual(try texts(try open(spliced, .recover))[5], "a")
    XCTAssertNil(try texts(try open(spliced, .recover))[6])
    XCTAssertEqual(try texts(try open(Array(bytes[..<ends[1]]))), states[1])
  }

  func testATornEndIsCutOffBeforeTheNextChange() throws {
    let (bytes, ends, states) = try history()
    for count in [ends[3] - 1, ends[2] + 1, ends[2] + 100] {
      let storage = MemoryStorage(Array(bytes[..<count]))
      do {
        let writer = try writer(storage)
        XCTAssertEqual(writer.archive?.dropped?.code, .truncated)
        try write(writer, [7: "seven"])
        XCTAssertNil(writer.archive?.dropped)
      }
      let archive = try open(try XCTUnwrap(storage.bytes))
      XCTAssertEqual(try texts(archive), states[2].merging([7: "seven"]) { $1 })
    }
  }

  func testAReaderChangesNothing() throws {
    let (bytes, ends, _) = try history()
    let storage = MemoryStorage(Array(bytes[..<(ends[3] - 5)]))
    let archives = try archives.get()
    _ = try Archive.open(
      storage, key: archives.key, context: archives.context, recovery: .recover)
    XCTAssertEqual(storage.bytes?.count, ends[3] - 5)
  }
}
