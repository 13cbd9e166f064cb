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

  func testSpellingsOfOneNameAreKeysOfTheirOwnWhereverTheyAreStored() throws {
    for symbolCount in 0...4 {
      for (first, second) in [
        (Self.composed, Self.decomposed), (Self.decomposed, Self.composed), ("K", "\u{212A}"),
        ("\u{212A}", "K"), ("a\u{301}\u{323}", "a\u{323}\u{301}"),
      ] {
        let record = try record(symbolCount: symbolCount) { encoder in
          encoder.encode(1, forKey: "z")
          encoder.encode(2, forKey: first)
          encoder.encode(3, forKey: "\u{FFFD}")
          encoder.encode(4, forKey: second)
          encoder.encode(5, forKey: first)
          encoder.encodeContainer(forKey: "inner") { encoder in
            encoder.encode(6, forKey: second)
            encoder.encode(7, forKey: first)
          }
          encoder.encode(name: first, forKey: "first")
          encoder.encode(name: second, forKey: "second")
        }
        let keys = ["z", first, "\u{FFFD}", second, "inner", "first", "second"]
        XCTAssertEqual(
          Set(record.keys.map { Array($0.utf8) }), Set(keys.map { Array($0.utf8) }))
        XCTAssertEqual(record.keys.count, keys.count)
        XCTAssertEqual(try record.decode(Int.self, forKey: first), 5)
        XCTAssertEqual(try record.decode(Int.self, forKey: second), 4)
        let inner = try XCTUnwrap(try record.container(forKey: "inner"))
        XCTAssertEqual(try inner.decode(Int.self, forKey: second), 6)
        XCTAssertEqual(try inner.decode(Int.self, forKey: first), 7)
        for (key, name) in [("first", first), ("second", second)] {
          let stored = try XCTUnwrap(try record.name(forKey: key))
          XCTAssertEqual(Array(stored.utf8), Array(name.utf8))
        }
      }
    }
  }

  func testAKeyIsNotFoundUnderAnotherSpelling() throws {
    for symbolCount in [0, 4] {
      let record = try record(symbolCount: symbolCount) { encoder in
        encoder.encode(1, forKey: Self.composed)
        encoder.encode(2, forKey: "\u{212A}")
      }
      for key in [Self.decomposed, "K"] {
        XCTAssertFalse(record.contains(key))
        XCTAssertNil(try record.decodeIfPresent(Int.self, forKey: key))
      }
    }
  }

  func testEveryKeyOfALargeMapIsFoundAndNoOther() throws {
    let names = (0..<300).map { "key \($0 * 7919 % 300)" } + ["", "k", "key", "key 10\u{E9}"]
    for symbolCount in [0, 1, 150, 1000] {
      let record = try record(symbolCount: symbolCount) { encoder in
        for (number, name) in names.enumerated() { encoder.encode(number, forKey: name) }
        encoder.encodeContainer(forKey: "container") { encoder in
          for (number, name) in names.enumerated() { encoder.encode(-number, forKey: name) }
        }
        encoder.encode(
          Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }), forKey: "dictionary")
      }
      let container = try XCTUnwrap(try record.container(forKey: "container"))
      let dictionary = try XCTUnwrap(try record.container(forKey: "dictionary"))
      XCTAssertEqual(record.keys.count, names.count + 2)
      XCTAssertEqual(Set(container.keys), Set(names))
      XCTAssertEqual(
        dictionary.keys, names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
      for (number, name) in names.enumerated() {
        XCTAssertEqual(try record.decode(Int.self, forKey: name), number)
        XCTAssertEqual(try container.decode(Int.self, forKey: name), -number)
        XCTAssertEqual(try dictionary.decode(Int.self, forKey: name), 1)
        for other in [name + "\0", name + "a", "a" + name] {
          XCTAssertFalse(record.contains(other) || container.contains(other), other)
        }
      }
    }
  }

  func testAnInlineKeyMayHaveASymbolThatItsMapHasNotAsAKey() throws {
    // The names "a" and "b".
    let symbols: [UInt8] = [5, 3, 0x61, 3, 0x62]
    func map(_ entries: [UInt8]...) -> [UInt8] {
      let payload = entries.flatMap(\.self)
      return [0x90 + UInt8(entries.count), UInt8(payload.count << 1 | 1)] + payload
    }
    let (symbolA, symbolB): ([UInt8], [UInt8]) = ([0x01], [0x05])
    let inlineB: [UInt8] = [0x07, 0x62]
    let record = try KeyedDecoder(
      unsealed: map(symbolA + [0x01], inlineB + [0x02]), symbols: symbols)
    XCTAssertEqual(record.keys, ["a", "b"])
    XCTAssertEqual(try record.decode(Int.self, forKey: "a"), 1)
    // What the map around it has as a key is not in its way.
    let inner = map(symbolA + [0x01], inlineB + [0x02])
    XCTAssertNoThrow(
      try KeyedDecoder(unsealed: map(symbolA + inner, symbolB + [0x03]), symbols: symbols))
    // What it has itself is.
    XCTAssertEqual(
      archiveError {
        _ = try KeyedDecoder(
          unsealed: map(symbolA + [0x01], symbolB + [0x03], inlineB + [0x02]), symbols: symbols)
      }, ArchiveError(.malformed, offset: 6))
  }

  private struct TwoSpellings: Encodable {
    struct Name: CodingKey {
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

  private struct ReadSpellings: Decodable {
    let numbers: [Int]

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: TwoSpellings.Name.self)
      numbers = try [InlineKeyTests.decomposed, InlineKeyTests.composed].map {
        try fields.decode(Int.self, forKey: TwoSpellings.Name(stringValue: $0))
      }
      XCTAssertEqual(fields.allKeys.count, 3)
      XCTAssertFalse(fields.contains(TwoSpellings.Name(stringValue: "f\u{301}")))
    }
  }

  func testSpellingsOfACodingKeyAreFieldsOfTheirOwn() throws {
    for symbolCount in 0...4 {
      let record = try record(symbolCount: symbolCount) {
        try $0.encode(TwoSpellings(), forKey: "value")
      }
      let fields = try XCTUnwrap(try record.container(forKey: "value"))
      XCTAssertEqual(fields.keys.count, 3)
      XCTAssertEqual(try fields.decode(Int.self, forKey: Self.composed), 1)
      XCTAssertEqual(try fields.decode(Int.self, forKey: Self.decomposed), 3)
      XCTAssertEqual(try record.decode(ReadSpellings.self, forKey: "value").numbers, [3, 1])
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

  func testADictionaryWithTwoKeysOfOneNameIsNotEncoded() {
    let value = [Spelling(1, "e"): 1, Spelling(2, "f"): 2, Spelling(3, "e"): 3]
    XCTAssertThrowsError(
      try record(symbolCount: 4) { try $0.encode(value, forKey: "value") }
    ) { error in
      guard case EncodingError.invalidValue = error else { return XCTFail("\(error)") }
    }
  }

  func testADictionaryWithTwoSpellingsOfOneNameKeepsBoth() throws {
    let value = [
      Spelling(1, Self.composed): 1, Spelling(2, "f"): 2, Spelling(3, Self.decomposed): 3,
    ]
    let record = try record(symbolCount: 4) { try $0.encode(value, forKey: "value") }
    let stored = try XCTUnwrap(try record.container(forKey: "value"))
    XCTAssertEqual(try stored.decode(Int.self, forKey: Self.composed), 1)
    XCTAssertEqual(try stored.decode(Int.self, forKey: Self.decomposed), 3)
  }
}

/// Keys that become those of a Swift Dictionary.
final class DictionaryKeyTests: XCTestCase {
  private typealias Names = [String: Int]

  private struct Wrapped: Codable, Equatable {
    let number: Int

    init(_ number: Int) { self.number = number }
    init(from decoder: any Decoder) throws {
      number = try decoder.singleValueContainer().decode(Int.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(number)
    }
  }

  private func record(_ body: (KeyedEncoder) throws -> Void) throws -> KeyedDecoder {
    let builder = RecordBuilder()
    try builder.append(record: 1, body)
    let (maps, symbols) = try builder.finish().unsealed
    return try KeyedDecoder(unsealed: maps[0], symbols: symbols)
  }

  /// A map under "map", which may have any keys.
  private func map(_ keys: [String]) throws -> KeyedDecoder {
    try record { encoder in
      encoder.encodeContainer(forKey: "map") { encoder in
        for (number, key) in keys.enumerated() { encoder.encode(number, forKey: key) }
      }
    }
  }

  private func underlying(_ body: () throws -> some Any) -> ArchiveError? {
    do {
      _ = try body()
      return nil
    } catch let error as ArchiveError {
      return error
    } catch DecodingError.typeMismatch(_, let context) {
      return context.underlyingError as? ArchiveError
    } catch DecodingError.dataCorrupted(let context) {
      return context.underlyingError as? ArchiveError
    } catch EncodingError.invalidValue(_, let context) {
      return context.underlyingError as? ArchiveError
    } catch {
      XCTFail("\(error)")
      return nil
    }
  }

  func testKeysThatAreOneInSwiftAreNotDecodedAsADictionary() throws {
    let pairs = [["e\u{301}", "\u{E9}"], ["K", "\u{212A}"], ["a", ";", "\u{37E}"]]
    for keys in pairs {
      let record = try map(keys)
      XCTAssertEqual(
        underlying { try record.decode([String: Wrapped].self, forKey: "map") },
        ArchiveError(
          .typeMismatch, subject: "found map, expected map of keys that are different in Swift"),
        "\(keys)")
      XCTAssertEqual(try record.container(forKey: "map")?.keys.count, keys.count)
      XCTAssertEqual(
        archiveError { _ = try record.container(forKey: "map")?.dictionaryKeys },
        ArchiveError(.typeMismatch, subject: "keys that are not different in Swift"))
    }
    let numbers = try map(["1", "+1"])
    XCTAssertEqual(
      underlying { try numbers.decode([Int: Int].self, forKey: "map") },
      ArchiveError(
        .typeMismatch, subject: "found map, expected map of keys that are different in Swift")
    )
  }

  func testStoredDictionariesWithKeysThatAreOneInSwiftAreRefused() throws {
    // {"value": {"é" decomposed: 1, "é" composed: 2}}
    let inner: [UInt8] = [0x0F, 0x65, 0xCC, 0x81, 0x01, 0x0B, 0xC3, 0xA9, 0x02]
    let map: [UInt8] = [0x91, 25, 0x01, 0x92, 19] + inner
    let record = try KeyedDecoder(unsealed: map, symbols: [3, 11] + Array("value".utf8))
    let error = archiveError { _ = try record.decode(Names.self, forKey: "value") }
    XCTAssertEqual(
      error,
      ArchiveError(
        .typeMismatch, offset: 5, path: ["value"],
        subject: "found map, expected map of keys that are different in Swift"))
    XCTAssertEqual(error?.path, ["value"])
    XCTAssertEqual(
      underlying { try record.decode([String: Wrapped].self, forKey: "value") },
      ArchiveError(
        .typeMismatch, subject: "found map, expected map of keys that are different in Swift"))
    let container = try XCTUnwrap(try record.container(forKey: "value"))
    XCTAssertEqual(try container.decode(Int.self, forKey: "e\u{301}"), 1)
    XCTAssertEqual(try container.decode(Int.self, forKey: "\u{E9}"), 2)
  }

  func testOnlyKeysThatSwiftHashesInTimeBecomeKeysOfADictionary() throws {
    func key(_ marks: Int) -> String { "a" + String(repeating: "\u{301}\u{323}", count: marks / 2) }
    let allowed = key(30) + "b" + key(30)
    let refused = "\u{E9}" + key(30) + "\u{302}"
    let record = try map([allowed])
    XCTAssertEqual(try record.decode([String: Wrapped].self, forKey: "map"), [allowed: Wrapped(0)])
    XCTAssertEqual(try record.container(forKey: "map")?.dictionaryKeys, [allowed])
    let other = try map([refused])
    XCTAssertEqual(
      underlying { try other.decode([String: Wrapped].self, forKey: "map") },
      ArchiveError(.limitExceeded, offset: 6, subject: "combining marks in a row"))
    XCTAssertEqual(
      archiveError { _ = try other.container(forKey: "map")?.dictionaryKeys },
      ArchiveError(.limitExceeded, subject: "combining marks in a row"))
    XCTAssertEqual(try other.container(forKey: "map")?.decode(Int.self, forKey: refused), 0)
    XCTAssertEqual(
      try self.record { $0.encode([allowed: 1], forKey: "a") }.decode(Names.self, forKey: "a"),
      [allowed: 1])
    // What could not be read is not written.
    for encode in [
      { (encoder: KeyedEncoder) in encoder.encode([refused: 1], forKey: "a") },
      { try $0.encode([refused: Wrapped(1)], forKey: "a") },
      { try $0.encode(Set([refused]), forKey: "a") },
    ] as [(KeyedEncoder) throws -> Void] {
      XCTAssertEqual(underlying { try self.record(encode) }?.code, .limitExceeded)
    }
  }

  private enum Word: Hashable, Codable {
    case text(String)
    case words([String: Word])
  }

  private struct Named: Hashable, Codable, CodingKeyRepresentable {
    let name: String

    init(_ name: String) { self.name = name }

    init?<Key: CodingKey>(codingKey: Key) { name = codingKey.stringValue }

    var codingKey: any CodingKey { Name(stringValue: name) }

    private struct Name: CodingKey {
      let stringValue: String
      let intValue: Int? = nil
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
  }

  func testTextsAreLookedAtWhereverTheyAreInWhatIsHashed() throws {
    let text = "a" + String(repeating: "\u{301}", count: 31)
    let refused: [(KeyedEncoder) throws -> Void] = [
      { try $0.encode(Set([text, nil]), forKey: "a") },
      { try $0.encode(Set([["b", text]]), forKey: "a") },
      { try $0.encode(Set([Word.words(["b": .text(text)])]), forKey: "a") },
      { try $0.encode([[text]: 1], forKey: "a") },
      { try $0.encode([Word.text(text): 1], forKey: "a") },
      { try $0.encode([Named(text): 1], forKey: "a") },
    ]
    for encode in refused {
      XCTAssertEqual(underlying { try self.record(encode) }?.code, .limitExceeded)
    }
    // The same without the types that refuse it.
    let record = try self.record {
      try $0.encode([text, nil], forKey: "optionals")
      $0.encode([["b", text]], forKey: "arrays")
      try $0.encode([Word.words(["b": .text(text)])], forKey: "words")
      $0.encode([["b"], [text]], forKey: "values")
    }
    func code<Value: Decodable>(_ type: Value.Type, _ key: String) -> ArchiveError.Code? {
      underlying { try record.decode(type, forKey: key) }?.code
    }
    XCTAssertEqual(code(Set<String?>.self, "optionals"), .limitExceeded)
    XCTAssertEqual(code(Set<[String]>.self, "arrays"), .limitExceeded)
    XCTAssertEqual(code(Set<Word>.self, "words"), .limitExceeded)
    // Values are not hashed.
    XCTAssertEqual(
      try record.decode([[String]: [String]].self, forKey: "values"), [["b"]: [text]])
  }

  func testStoredTextsThatSwiftDoesNotHashInTimeAreRefused() throws {
    let marks = String(repeating: "\u{301}", count: 31)
    let key = Array(("a" + marks).utf8)
    let entry = [UInt8(key.count << 1 | 1) << 1 | 1] + key + [1]
    let map =
      [0x91, UInt8((entry.count + 3) << 1 | 1), 0x01, 0x91, UInt8(entry.count << 1 | 1)] + entry
    let record = try KeyedDecoder(unsealed: map, symbols: [3, 3, 0x61])
    XCTAssertEqual(
      archiveError { _ = try record.decode(Names.self, forKey: "a") },
      ArchiveError(.limitExceeded, offset: 6, path: ["a"], subject: "combining marks in a row"))
    XCTAssertEqual(
      underlying { try record.decode([String: Wrapped].self, forKey: "a") },
      ArchiveError(.limitExceeded, offset: 69, subject: "combining marks in a row"))
    let list = try self.record { $0.encode(["a", "b" + marks], forKey: "a") }
    XCTAssertEqual(
      underlying { try list.decode(Set<String>.self, forKey: "a") },
      ArchiveError(.limitExceeded, offset: 7, subject: "combining marks in a row"))
    XCTAssertEqual(try list.decode([String].self, forKey: "a").count, 2)
  }
}
