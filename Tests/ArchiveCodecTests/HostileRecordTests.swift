import ArchiveCodec
import TestSupport
import XCTest

/// Records of somebody who has the key: authentic, but not as we write them.
final class HostileRecordTests: XCTestCase {
  /// Opens a record that consists of these bytes.
  private func open(_ map: [UInt8], symbols: [UInt8]? = nil) throws -> KeyedDecoder? {
    let archives = try TestArchives()
    let content = HostileContent { content in
      (content.records, content.symbols) = ([(1, map)], symbols ?? table(["a", "b"]))
    }
    let bytes = archives.bytes(sealing: [content.commit()])
    return try Archive.open(MemoryStorage(bytes), key: archives.key, context: archives.context)?
      .record(1)
  }

  /// The payload of a symbols frame.
  private func table(_ names: [String]) -> [UInt8] {
    [short(UInt8(names.count))] + names.flatMap { [short(UInt8($0.utf8.count))] + Array($0.utf8) }
  }

  private func code(
    _ map: [UInt8], file: StaticString = #filePath, line: UInt = #line
  ) -> ArchiveError.Code? {
    archiveError("\(map)", file: file, line: line) { _ = try open(map) }?.code
  }

  /// A prefix varint of one byte.
  private func short(_ value: UInt8) -> UInt8 { value << 1 | 1 }

  /// A map with one entry, whose key is the symbol 0.
  private func map(_ value: [UInt8]) -> [UInt8] {
    [0x91, short(UInt8(value.count + 1)), short(0)] + value
  }

  func testWhatTheEncoderWritesIsWhatTheTableSays() throws {
    XCTAssertEqual(try open(map([0x2A]))?.decode(Int.self, forKey: "a"), 42)
    XCTAssertEqual(try open([0x90, short(0)])?.keys, [])
  }

  func testEveryKindOfEmptyArrayHasOneForm() throws {
    // An array, and packed integers, floats and doubles: four different values.
    let forms: [[UInt8]] = [
      [0x80, short(0)], [0xAE, 1, short(0)], [0xAE, 6, short(0)], [0xAE, 7, short(0)],
    ]
    let archives = try TestArchives()
    let content = HostileContent { content in
      content.records = forms.enumerated().map { (UInt64($0 + 1), map($1)) }
    }
    XCTAssertNoThrow(try archives.verified(archives.bytes(sealing: [content.commit()])))
    let refused: [[UInt8]] =
      [[0x80, short(1), 0], [0xAC, short(0), short(0)], [0xAD, short(0), short(0)]]
      + (2...5).map { [0xAE, $0, short(0)] }
    for value in refused { XCTAssertEqual(code(map(value)), .malformed, "\(value)") }
    let written = try archives.record { encoder in
      encoder.encode([] as [String], forKey: "0")
      encoder.encode([] as [Int], forKey: "1")
      encoder.encode([] as [Float], forKey: "2")
      encoder.encode([] as [Double], forKey: "3")
    }
    // The frame before the map: kind, length, identifier; the map: tag, length.
    XCTAssertEqual(
      Array(written.unsealed.frame[12...]),
      forms.enumerated().flatMap { [short(UInt8($0 * 2))] + $1 })
  }

  func testARecordThatIsNotAMapIsRefused() {
    for tag in 0...255 as ClosedRange<UInt8> where !(0x90...0x9F).contains(tag) {
      XCTAssertEqual(code([tag, short(0)]), .malformed, "tag \(tag)")
    }
  }

  func testEveryTagWithoutMeaningIsRefused() {
    for tag in 0xB0...0xFF as ClosedRange<UInt8> {
      XCTAssertEqual(code(map([tag, 1, 1, 1])), .malformed, "tag \(tag)")
    }
  }

  func testALongerFormOfAShortValueIsRefused() {
    XCTAssertEqual(code(map([0xA3, short(63)])), .malformed)
    XCTAssertEqual(code(map([0xA4, short(15)])), .malformed)
    XCTAssertEqual(code(map([0xAA, short(1), 0x61])), .malformed)
    XCTAssertEqual(code(map([0xAC, short(1), short(1), 0x00])), .malformed)
    XCTAssertEqual(code(map([0xAE, 2, short(2), 1, 0])), .malformed)
    XCTAssertEqual(code(map([0xAE, 4, short(0)])), .malformed)
  }

  /// The same number in more bytes than it needs.
  private func long(_ value: UInt64, byteCount: Int) -> [UInt8] {
    guard byteCount < 9 else {
      return [0] + (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let word = (value << 1 | 1) << UInt64(byteCount - 1)
    return (0..<byteCount).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) }
  }

  func testAVarintThatIsNotTheShortestIsRefusedAtEveryLength() throws {
    for byteCount in 1...9 {
      let smallest: UInt64 = byteCount == 1 ? 0 : 1 << UInt64(7 * (byteCount - 1))
      if byteCount > 1 {
        XCTAssertEqual(
          code(map([0xA3] + long(smallest - 1, byteCount: byteCount))), .malformed,
          "\(byteCount) bytes")
        let decoder = try open(map([0xA3] + long(smallest, byteCount: byteCount)))
        XCTAssertEqual(try decoder?.decode(UInt64.self, forKey: "a"), smallest)
      }
    }
  }

  func testAnIntegerBelowTheLeastIsRefused() {
    XCTAssertEqual(code(map([0xA4] + long(1 << 63, byteCount: 9))), .malformed)
    XCTAssertEqual(code(map([0xA4] + long(.max, byteCount: 9))), .malformed)
  }

  func testKeysOutOfOrderOrTwiceAreRefused() {
    func pair(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
      let entries = first + [0x01] + second + [0x02]
      return [0x92, short(UInt8(entries.count))] + entries
    }
    let (a, b) = ([short(0)], [short(2)])
    // An inline key: its length, odd, and its bytes.
    let (inlineC, inlineD) = ([short(3), 0x63], [short(3), 0x64])
    XCTAssertNoThrow(try open(pair(a, b)))
    XCTAssertNoThrow(try open(pair(a, inlineC)))
    XCTAssertNoThrow(try open(pair(inlineC, inlineD)))
    XCTAssertEqual(code(pair(b, a)), .malformed)
    XCTAssertEqual(code(pair(a, a)), .malformed)
    XCTAssertEqual(code(pair(inlineC, a)), .malformed)
    XCTAssertEqual(code(pair(inlineD, inlineC)), .malformed)
    XCTAssertEqual(code(pair(inlineC, inlineC)), .malformed)
    XCTAssertEqual(code(pair(a, [short(3), 0x61])), .malformed, "symbol a and inline a")
  }

  func testASymbolThatIsNotThereIsRefused() {
    XCTAssertEqual(code([0x91, short(2), short(4), 0x01]), .malformed)
    XCTAssertEqual(code([0x91, short(10)] + long(1 << 63 - 2, byteCount: 9) + [1]), .malformed)
  }

  func testInvalidUTF8IsRefusedInStringsAndKeys() {
    let invalid: [[UInt8]] = [
      [0x80], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0xFF],
    ]
    for bytes in invalid {
      XCTAssertEqual(
        code(map([0x50 + UInt8(bytes.count)] + bytes)), .malformed, "string \(bytes)")
      let entry = [short(UInt8(bytes.count) << 1 | 1)] + bytes + [0x01]
      XCTAssertEqual(
        code([0x91, short(UInt8(entry.count))] + entry), .malformed, "key \(bytes)")
    }
  }

  func testLengthsThatLieAreRefused() {
    for length in [1 << 20, 1 << 31, 1 << 32, 1 << 62, UInt64.max] {
      for tag in [0xA9, 0xAA, 0xAB, 0xAC, 0xAD] as [UInt8] {
        XCTAssertEqual(
          code(map([tag] + varint(length))), .malformed, "tag \(tag)")
      }
      XCTAssertEqual(
        code(map([0xAE, 1] + varint(length))), .malformed, "packed")
    }
    XCTAssertEqual(code(map([0x81, short(2), 0x01, 0x01])), .malformed, "two of one")
    XCTAssertEqual(code(map([0x82, short(1), 0x01])), .malformed, "one of two")
    XCTAssertEqual(code(map([0x81, short(9), 0x01])), .malformed, "past the end")
    XCTAssertEqual(code(map([0x2A]) + [0x00]), .malformed, "trailing byte")
    XCTAssertEqual(code(map([0x81, short(2), 0x51])), .malformed, "string past its array")
  }

  func testEveryPrefixOfARichRecordIsRefused() throws {
    let uuid = [0xA8] + [UInt8](repeating: 9, count: 16)
    let packed: [UInt8] = [0xAE, 2, short(2), 0, 1]
    let entries = [short(0)] + uuid + [short(2)] + packed
    let double = [0xA6] + [UInt8](repeating: 7, count: 8)
    let elements: [UInt8] =
      [0x00, 0xA0, 0xA1, 0x52, 0x61, 0x62] + double + [0x92, short(UInt8(entries.count))] + entries
    let rich = map([0x86, short(UInt8(elements.count))] + elements)
    XCTAssertNoThrow(try open(rich))
    for count in 0..<rich.count {
      XCTAssertEqual(code(Array(rich[..<count])), .malformed, "\(count) bytes")
    }
  }

  func testContainersTooDeepAreRefusedWithoutRecursion() {
    let limit = ArchiveLimits.standard.depth
    func nested(_ depth: Int) -> [UInt8] {
      var bytes: [UInt8] = [0x00]
      for _ in 0..<depth {
        bytes = [0x81] + varint(UInt64(bytes.count)) + bytes
      }
      return [0x91] + varint(UInt64(bytes.count + 1)) + [short(0)] + bytes
    }
    XCTAssertNoThrow(try open(nested(limit - 1)))
    XCTAssertEqual(code(nested(limit)), .limitExceeded)
    XCTAssertEqual(code(nested(10_000)), .limitExceeded)
  }

  private func varint(_ value: UInt64) -> [UInt8] {
    let bits = UInt64.bitWidth - value.leadingZeroBitCount
    return long(value, byteCount: bits > 56 ? 9 : max(1, (bits + 6) / 7))
  }

  func testSymbolTablesThatBreakTheRulesAreRefused() throws {
    XCTAssertNoThrow(try open(map([0x01]), symbols: table(["a", ""])))
    XCTAssertNoThrow(try open(map([0x01]), symbols: table(["e\u{301}", "\u{e9}"])))
    let refused: [(String, [UInt8])] = [
      ("twice", table(["a", "a"])),
      ("invalid UTF-8", [short(1), short(1), 0xFF]),
      ("fewer than promised", [short(2), short(1), 0x61]),
      ("more than promised", table(["a"]) + [0x00]),
      ("a name past the end", [short(1), short(9), 0x61]),
      ("too many", varint(1 << 40)),
      ("empty", []),
    ]
    for (name, symbols) in refused {
      XCTAssertEqual(
        archiveError(name) { _ = try open(map([0x01]), symbols: symbols) }?.code,
        .malformed, name)
    }
    let longName = varint(1) + varint(1025) + [UInt8](repeating: 0x61, count: 1025)
    XCTAssertEqual(
      archiveError { _ = try open(map([0x01]), symbols: longName) },
      ArchiveError(.limitExceeded, offset: 1, subject: "bytes of a key", location: "memory"))
  }

  func testARecordThatBreaksTheRulesDoesNotStopTheOthers() throws {
    let archives = try TestArchives()
    let content = HostileContent { content in
      content.records = [(1, map([0x01])), (2, [0xFF]), (3, map([0x03]))]
      content.symbols = table(["a"])
    }
    let bytes = archives.bytes(sealing: [content.commit()])
    let archive = try XCTUnwrap(
      try Archive.open(MemoryStorage(bytes), key: archives.key, context: archives.context))
    let records = try archive.readAll()
    XCTAssertEqual(records.map(\.identifier), [1, 2, 3])
    XCTAssertEqual(try records[2].content.get().decode(Int.self, forKey: "a"), 3)
    XCTAssertEqual(
      archiveError { _ = try records[1].content.get() }, ArchiveError(.malformed, offset: 10))
    XCTAssertEqual(archiveError { try archive.verifyAll() }, ArchiveError(.malformed, offset: 10))
  }

  func testRandomRecordsNeverTrap() throws {
    var generator = SeededGenerator()
    let archives = try TestArchives()
    for _ in 0..<200 {
      let maps = (1...100 as ClosedRange<UInt64>).map { identifier in
        let count = Int.random(in: 0..<40, using: &generator)
        let body = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return (identifier, Bool.random(using: &generator) ? map(body) : body)
      }
      let content = HostileContent { content in
        (content.records, content.symbols) = (maps, table(["a", "b", "c"]))
      }
      let bytes = archives.bytes(sealing: [content.commit()])
      let archive = try XCTUnwrap(
        try Archive.open(MemoryStorage(bytes), key: archives.key, context: archives.context))
      for record in try archive.readAll() {
        guard let decoder = try? record.content.get() else { continue }
        for key in decoder.keys {
          _ = try? decoder.decode(Int.self, forKey: key)
          _ = try? decoder.decode(String.self, forKey: key)
          _ = try? decoder.decode([Int].self, forKey: key)
          _ = try? decoder.decode([String: Int].self, forKey: key)
          _ = try? decoder.container(forKey: key)
        }
      }
    }
  }
}
