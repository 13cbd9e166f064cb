import ArchiveCodec
import TestSupport
import XCTest

/// Keys for which the symbol table had no room.
final class InlineKeyTests: XCTestCase {
  private static let composed = "\u{E9}"
  private static let decomposed = "e\u{301}"

  private func record(
    symbolCount: Int, _ body: (KeyedEncoder) throws -> Void
  ) throws -> KeyedDecoder {
    let builder = RecordBuilder(limits: ArchiveLimits(symbolCount: symbolCount))
    try builder.append(record: 1, body)
    let (maps, symbols) = try builder.finish().unsealed
    return try KeyedDecoder(unsealed: maps[0], symbols: symbols)
  }

  func testTheLastSpellingOfAKeyStaysWhereverItIsStored() throws {
    for symbolCount in 0...4 {
      for (first, second) in [
        (Self.composed, Self.decomposed), (Self.decomposed, Self.composed), ("K", "\u{212A}"),
        ("\u{212A}", "K"),
      ] {
        let record = try record(symbolCount: symbolCount) { encoder in
          encoder.encode(1, forKey: "z")
          encoder.encode(2, forKey: first)
          encoder.encode(3, forKey: "\u{FFFD}")
          encoder.encode(4, forKey: second)
          encoder.encodeContainer(forKey: "inner") { encoder in
            encoder.encode(5, forKey: second)
            encoder.encode(6, forKey: first)
          }
        }
        XCTAssertEqual(Set(record.keys), ["z", first, "\u{FFFD}", "inner"])
        XCTAssertEqual(record.keys.count, 4)
        XCTAssertEqual(try record.decode(Int.self, forKey: first), 4)
        XCTAssertEqual(try record.decode(Int.self, forKey: second), 4)
        XCTAssertEqual(
          try record.container(forKey: "inner")?.decode(Int.self, forKey: first), 6)
      }
    }
  }

  private struct TwoSpellings: Encodable {
    private struct Name: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }

      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: Name.self)
      try fields.encode(1, forKey: Name(stringValue: InlineKeyTests.composed))
      try fields.encode(2, forKey: Name(stringValue: "f"))
      try fields.encode(3, forKey: Name(stringValue: InlineKeyTests.decomposed))
    }
  }

  func testTheLastSpellingOfACodingKeyStays() throws {
    for symbolCount in 0...4 {
      let record = try record(symbolCount: symbolCount) {
        try $0.encode(TwoSpellings(), forKey: "value")
      }
      let fields = try XCTUnwrap(try record.container(forKey: "value"))
      XCTAssertEqual(fields.keys.count, 2)
      XCTAssertEqual(try fields.decode(Int.self, forKey: Self.composed), 3)
    }
  }

  private struct Spelling: Hashable, Codable, CodingKeyRepresentable {
    struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }

      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    let number: Int
    let name: String
    var codingKey: any CodingKey { Key(stringValue: name) }

    init(_ number: Int, _ name: String) { (self.number, self.name) = (number, name) }
    init?(codingKey: some CodingKey) { self.init(0, codingKey.stringValue) }
  }

  func testADictionaryWithTwoSpellingsOfOneNameIsNotEncoded() {
    let value = [
      Spelling(1, Self.composed): 1, Spelling(2, "f"): 2, Spelling(3, Self.decomposed): 3,
    ]
    XCTAssertThrowsError(
      try record(symbolCount: 4) { try $0.encode(value, forKey: "value") }
    ) { error in
      guard case EncodingError.invalidValue = error else { return XCTFail("\(error)") }
    }
  }
}
