import ArchiveCodec
import XCTest

final class HostileObjectTests: XCTestCase {
  /// A map of no entries, and what follows it in the record.
  private func open(_ bytes: [UInt8], names: [String] = []) throws -> KeyedDecoder {
    var symbols: [UInt8] = [UInt8(names.count << 1 | 1)]
    for name in names { symbols += [UInt8(name.utf8.count << 1 | 1)] + Array(name.utf8) }
    return try KeyedDecoder(unsealed: bytes, symbols: symbols)
  }

  private func assertRefused(
    _ bytes: [UInt8], _ code: ArchiveError.Code, names: [String] = [],
    file: StaticString = #filePath, line: UInt = #line
  ) {
    XCTAssertThrowsError(try open(bytes, names: names), file: file, line: line) { error in
      XCTAssertEqual((error as? ArchiveError)?.code, code, file: file, line: line)
    }
  }

  /// An inline key or name of one byte.
  private let a: [UInt8] = [0x07, 0x61]
  private let emptyMap: [UInt8] = [0x90, 0x01]

  private func object(version: [UInt8] = [0x03], map: [UInt8] = [0x90, 0x01]) -> [UInt8] {
    [0xB0] + a + version + map
  }

  func testAnObjectIsReadWhereItBelongs() throws {
    XCTAssertEqual(a, [0x07, 0x61], "1 << 1 | 1 as a varint")
    let record = try open([0x91, 0x09] + a + [0xB1, 0x01] + object())
    XCTAssertEqual(record.keys, ["a"])
  }

  func testAReferenceMustNameAnObjectOfItsRecord() throws {
    let one = object()
    for (number, count) in [(0, 0), (1, 1), (2, 1), (63, 2)] as [(UInt8, Int)] {
      let map = [0x91, 0x09] + a + [0xB1, number << 1 | 1]
      assertRefused(map + Array(repeating: one, count: count).joined(), .malformed)
    }
    let largest: [UInt8] = [0x00] + Array(repeating: 0xFF, count: 8)
    assertRefused([0x91, 0x19] + a + [0xB1] + largest + one, .malformed)
  }

  func testAnObjectIsNoValueAndAValueNoObject() {
    assertRefused([0x91, 0x0F] + a + object(), .malformed)
    assertRefused(emptyMap + [0x01], .malformed)
    assertRefused(emptyMap + [0x90, 0x01], .malformed)
    assertRefused(emptyMap + object(map: [0x80, 0x01]), .malformed)
    assertRefused(emptyMap + object() + [0xB0], .malformed)
  }

  func testClassNamesAreCheckedAsKeysAre() {
    // A symbol that does not exist, no UTF-8, and a name that has a symbol.
    assertRefused(emptyMap + [0xB0, 0x01, 0x03] + emptyMap, .malformed)
    assertRefused(emptyMap + [0xB0, 0x07, 0xFF, 0x03] + emptyMap, .malformed)
    assertRefused(emptyMap + object(), .malformed, names: ["a"])
    let long = String(repeating: "n", count: 256)
    let header: [UInt8] = [0x06, 0x08]
    XCTAssertEqual(UInt16(header[0]) | UInt16(header[1]) << 8, UInt16(256 * 2 + 1) << 2 | 2)
    assertRefused(emptyMap + [0xB0] + header + Array(long.utf8) + [0x03] + emptyMap, .limitExceeded)
  }

  func testAVersionBeyondThirtyTwoBitsIsRefused() throws {
    // 2^32 - 1 and 2^32 as prefix varints of five bytes.
    let largest: [UInt8] = [0xF0, 0xFF, 0xFF, 0xFF, 0x1F]
    _ = try open(emptyMap + object(version: largest))
    let tooLarge: [UInt8] = [0x10, 0x00, 0x00, 0x00, 0x20]
    assertRefused(emptyMap + object(version: tooLarge), .malformed)
  }

  func testAnUnknownExtensionIsSkippedUnlessItIsCritical() throws {
    let extensionValue: [UInt8] = [0xB2, 0x09, 0x05, 0xAA, 0xBB]
    let record = try open([0x91, 0x0F] + a + extensionValue)
    XCTAssertTrue(record.contains("a"))
    XCTAssertThrowsError(try record.decode(Int.self, forKey: "a")) { error in
      XCTAssertEqual(
        error as? ArchiveError,
        ArchiveError(
          .typeMismatch, offset: 7, path: ["a"], subject: "found extension, expected integer"))
    }
    assertRefused([0x91, 0x0F] + a + [0xB2, 0x0B, 0x05, 0xAA, 0xBB], .unsupportedFeature)
    assertRefused([0x91, 0x0F] + a + [0xB2, 0x09, 0x07, 0xAA, 0xBB], .malformed)
  }

  func testANameThatHasASymbolMustNotBeInline() throws {
    let name: [UInt8] = [0x91, 0x0B] + a + [0xB3] + [0x07, 0x62]
    XCTAssertEqual(try open(name).name(forKey: "a"), "b")
    assertRefused(name, .malformed, names: ["b"])
    assertRefused([0x91, 0x09] + a + [0xB3, 0x01], .malformed)
  }

  func testNamesTakeFewBytesAndComeBack() throws {
    let builder = RecordBuilder()
    let name = String(repeating: "ProductDetailScreen", count: 4)
    for record in 1...100 as ClosedRange<UInt64> {
      try builder.append(record: record) { encoder in
        encoder.encode(name: record.isMultiple(of: 2) ? name : "Other", forKey: "class")
        encoder.encode(name: nil, forKey: "absent")
      }
    }
    let (maps, symbols) = try builder.finish().unsealed
    for (place, map) in maps.enumerated() {
      XCTAssertEqual(map.count, 5)
      let record = try KeyedDecoder(unsealed: map, symbols: symbols)
      XCTAssertEqual(try record.name(forKey: "class"), place.isMultiple(of: 2) ? "Other" : name)
      XCTAssertNil(try record.name(forKey: "absent"))
    }
  }

  func testEveryTruncationAndEveryBitOfARecordWithObjectsIsReadOrRefused() throws {
    let ada = Person("Ada")
    let bob = Student("Bob")
    (ada.friend, bob.friends, bob.label) = (bob, [ada, bob], Label("tag", owner: ada))
    let builder = RecordBuilder()
    builder.classes = try .all()
    try builder.append(record: 1) { encoder in
      encoder.encodeObject(ada, forKey: "ada")
      encoder.encodeObjects(["b": bob], forKey: "named")
    }
    let (maps, symbols) = try builder.finish().unsealed
    for count in 0..<maps[0].count {
      XCTAssertThrowsError(
        try KeyedDecoder(unsealed: Array(maps[0].prefix(count)), symbols: symbols))
    }
    var accepted = 0
    for bit in 0..<maps[0].count * 8 {
      var bytes = maps[0]
      bytes[bit / 8] ^= 1 << (bit % 8)
      guard let record = try? KeyedDecoder(unsealed: bytes, symbols: symbols) else { continue }
      accepted += 1
      let objects = try record.objects(of: .all())
      for key in record.keys {
        _ = try? objects.object(Person.self, forKey: key)
        _ = try? objects.objectDictionary(Person.self, forKey: key)
        _ = try? objects.objects(Label.self, forKey: key)
      }
    }
    // Other names, numbers and references are values like any.
    XCTAssertGreaterThan(accepted, 0)
  }

  func testNoObjectIsMadeOfARecordThatIsRefused() throws {
    let builder = RecordBuilder()
    builder.classes = try .all()
    try builder.append(record: 1) { $0.encodeObject(Label("tag"), forKey: "label") }
    let (maps, symbols) = try builder.finish().unsealed
    Label.count = 0
    XCTAssertThrowsError(try KeyedDecoder(unsealed: maps[0] + [0xB0], symbols: symbols))
    XCTAssertEqual(Label.count, 0)
  }
}
