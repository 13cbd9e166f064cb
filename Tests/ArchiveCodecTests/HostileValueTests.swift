import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// Values of somebody who has the key, in all forms where there are few.
///
/// The record is not sealed, so that many can be tried.
final class HostileValueTests: XCTestCase {
  private static let symbols: [UInt8] = [5, 3, 0x61, 3, 0x62]

  private func varint(_ value: UInt64) -> [UInt8] {
    let bits = UInt64.bitWidth - value.leadingZeroBitCount
    let count = max(1, (bits + 6) / 7)
    return count > 8
      ? [0] + little(value, 8) : little((value << 1 | 1) << UInt64(count - 1), count)
  }

  private func little(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  /// A map with one entry, whose key is `a`.
  private func map(_ value: [UInt8]) -> [UInt8] {
    [0x91] + varint(UInt64(value.count + 1)) + [1] + value
  }

  private func open(_ map: [UInt8]) throws(ArchiveError) -> KeyedDecoder {
    try KeyedDecoder(unsealed: map, symbols: Self.symbols)
  }

  private func decode<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, _ value: [UInt8]
  ) throws -> Value {
    try open(map(value)).decode(type, forKey: "a")
  }

  private func code(_ value: [UInt8], line: UInt = #line) -> ArchiveError.Code? {
    archiveError("\(value.prefix(40))", line: line) { _ = try open(map(value)) }?.code
  }

  private func code<Value: ArchiveValue>(
    _ value: [UInt8], as type: Value.Type, line: UInt = #line
  ) -> ArchiveError.Code? {
    archiveError("\(value.prefix(40))", line: line) { _ = try decode(type, value) }?.code
  }

  /// One value of every form, by tag.
  private var everyForm: [[UInt8]] {
    let text = [UInt8](repeating: 0x61, count: 48)
    let long = [UInt8](repeating: 0, count: 16)
    let entries = (0..<16).flatMap { varint(UInt64($0 == 0 ? 3 : 5)) + entry($0) }
    return [
      [0x00], [0x3F], [0x40], [0x4F], [0x50], [0x51, 0x61], [0x7F] + text.dropLast(),
      [0x80, 1], [0x81, 3, 0xA0], [0x90, 1], [0x91, 5, 1, 0xA0], [0xA0], [0xA1], [0xA2],
      [0xA3] + varint(64), [0xA3] + varint(1 << 40), [0xA3] + varint(.max),
      [0xA4] + varint(16), [0xA4] + varint(1 << 63 - 1), [0xA5] + little(1, 4),
      [0xA6] + little(1, 8), [0xA7] + little(1, 8), [0xA8] + little(1, 8) + little(2, 8),
      [0xA9, 5, 0x61, 0x3A], [0xAA] + varint(48) + text, [0xAB, 1], [0xAB, 5, 1, 2],
      [0xAC] + varint(16) + varint(16) + long,
      [0xAD] + varint(16) + varint(UInt64(entries.count)) + entries,
      [0xAE, 1, 1], [0xAE, 1, 3, 0xFF], [0xAE, 2] + varint(4) + little(1 << 8 | 1 << 31, 4),
      [0xAE, 3] + varint(4) + little(1 << 20, 4), [0xAE, 4] + varint(8) + little(1 << 40, 8),
      [0xAE, 5] + varint(8) + little(.max, 8), [0xAE, 6] + varint(4) + little(1, 4),
      [0xAE, 7] + varint(8) + little(1, 8), [0xAF, 1], [0xAF] + varint(.max),
    ]
  }

  private func entry(_ number: Int) -> [UInt8] {
    number == 0 ? [0xA0] : [0x40 + UInt8(number), 0xA0]
  }

  func testOneValueOfEveryFormIsRead() throws {
    for value in everyForm {
      guard value[0] != 0xAD else { continue }
      XCTAssertNoThrow(try open(map(value)), "\(value)")
    }
  }

  /// With the lengths around it repaired.
  func testEveryPrefixOfAValueOfEveryFormIsRefused() {
    for value in everyForm {
      for count in 0..<value.count {
        XCTAssertEqual(code(Array(value[..<count])), .malformed, "\(count) of \(value)")
      }
    }
  }

  func testEveryByteAfterAValueOfEveryFormIsRefused() {
    for value in everyForm {
      for byte in 0...255 as ClosedRange<UInt8> {
        XCTAssertEqual(code(value + [byte]), .malformed, "\(value) and \(byte)")
      }
    }
  }

  /// All maps with a value of up to two bytes.
  func testAllValuesOfTwoBytesAreReadOrRefused() throws {
    var accepted = 0
    for first in 0...255 as ClosedRange<UInt8> {
      if (try? open(map([first]))) != nil { accepted += 1 }
      for second in 0...255 as ClosedRange<UInt8> {
        if (try? open(map([first, second]))) != nil { accepted += 1 }
      }
    }
    // One byte: small integers, the empty string, null and two bools. Two: a
    // letter, larger integers, the empty array, map, bytes and URL, references,
    // and names: two symbols and the empty one.
    let single = 64 + 16 + 1 + 3
    let double = 128 + 64 + 112 + 4 + 128 + 3
    XCTAssertEqual(accepted, single + double)
  }

  func testIntegersAtTheEdgesHaveOneForm() throws {
    for (value, bytes) in [
      (63, [0x3F]), (64, [0xA3] + varint(64)), (-16, [0x4F]), (-17, [0xA4] + varint(16)),
      (.max, [0xA3] + varint(1 << 63 - 1)), (.min, [0xA4] + varint(1 << 63 - 1)),
    ] as [(Int64, [UInt8])] {
      XCTAssertEqual(try decode(Int64.self, bytes), value)
    }
    XCTAssertEqual(try decode(UInt64.self, [0xA3] + varint(.max)), .max)
    XCTAssertEqual(code([0xA3] + varint(.max), as: Int64.self), .numberOutOfRange)
    for value in 0...63 as ClosedRange<UInt64> {
      XCTAssertEqual(code([0xA3] + varint(value)), .malformed)
    }
    for value in 0...15 as ClosedRange<UInt64> {
      XCTAssertEqual(code([0xA4] + varint(value)), .malformed)
    }
    for value in [1 << 63, 1 << 63 + 1, .max] as [UInt64] {
      XCTAssertEqual(code([0xA4] + varint(value)), .malformed)
    }
  }

  private static let unusualDoubles: [UInt64] = [
    0x7FF8_0000_0000_0000, 0x7FF0_0000_0000_0001, 0xFFF8_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000, 0xFFF0_0000_0000_0000, 0x8000_0000_0000_0000, 1, 0x000F_FFFF_FFFF_FFFF,
    (1e308).bitPattern, (-1e308).bitPattern, Double.greatestFiniteMagnitude.bitPattern,
  ]

  func testEveryFloatingPointPatternIsTakenAsItIs() throws {
    for bits in Self.unusualDoubles {
      XCTAssertEqual(try decode(Double.self, [0xA6] + little(bits, 8)).bitPattern, bits)
      XCTAssertEqual(
        try decode([Double].self, [0xAE, 7] + varint(8) + little(bits, 8)).map(\.bitPattern),
        [bits])
    }
    for bits in [0x7FC0_0000, 0x7F80_0001, 0xFFC0_0000, 0x7F80_0000, 0x8000_0000, 1] as [UInt32] {
      XCTAssertEqual(
        try decode(Float.self, [0xA5] + little(UInt64(bits), 4)).bitPattern, bits)
      XCTAssertEqual(
        try decode([Float].self, [0xAE, 6] + varint(4) + little(UInt64(bits), 4))
          .map(\.bitPattern), [bits])
    }
  }

  /// A date is a number, and every number is one.
  func testEveryDateIsTakenAsItIs() throws {
    for bits in Self.unusualDoubles {
      XCTAssertEqual(
        try decode(Date.self, [0xA7] + little(bits, 8)).timeIntervalSinceReferenceDate.bitPattern,
        bits)
    }
  }

  /// All sequences of one and two bytes, and the edges of longer ones.
  func testInvalidUTF8IsRefusedInEverySequenceOfTwoBytes() throws {
    for first in 0...255 as ClosedRange<UInt8> {
      XCTAssertEqual((try? open(map([0x51, first]))) != nil, first < 0x80, "\(first)")
      for second in 0...255 as ClosedRange<UInt8> {
        let isValid =
          first < 0x80 && second < 0x80
          || (0xC2...0xDF).contains(first) && (0x80...0xBF).contains(second)
        XCTAssertEqual(
          (try? open(map([0x52, first, second]))) != nil, isValid, "\(first) \(second)")
      }
    }
    let valid: [[UInt8]] = [
      [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF],
      [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0x00], [0x61, 0x00, 0x62],
    ]
    for text in valid {
      XCTAssertEqual(
        Array(try decode(String.self, [0x50 + UInt8(text.count)] + text).utf8), text)
    }
    let invalid: [[UInt8]] = [
      [0xE0, 0x9F, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
      [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
      [0xF8, 0x88, 0x80, 0x80, 0x80], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xE2, 0x28, 0xA1],
    ]
    for text in invalid {
      XCTAssertEqual(code([0x50 + UInt8(text.count)] + text), .malformed, "\(text)")
      XCTAssertEqual(code([0xA9] + varint(UInt64(text.count)) + text), .malformed, "\(text)")
    }
  }

  func testEveryLengthAndCountThatLiesIsRefused() {
    let lengths: [UInt64] = [2, 100, 1 << 31, 1 << 32, 1 << 62, 1 << 63 - 1, 1 << 63, .max]
    for length in lengths {
      for tag in [0xA9, 0xAA, 0xAB] as [UInt8] {
        XCTAssertEqual(code([tag] + varint(length) + [0x61]), .malformed, "\(tag) \(length)")
      }
      for element in 1...7 as ClosedRange<UInt8> {
        XCTAssertEqual(code([0xAE, element] + varint(length) + [0]), .malformed)
      }
      for tag in [0xAC, 0xAD] as [UInt8] {
        XCTAssertEqual(code([tag] + varint(length) + varint(16)), .malformed, "\(tag) \(length)")
        XCTAssertEqual(
          code([tag] + varint(16) + varint(length)), .malformed, "\(tag) bytes \(length)")
        XCTAssertEqual(
          code([tag] + varint(length) + varint(16) + [UInt8](repeating: 0, count: 16)),
          .malformed, "\(tag) \(length)")
      }
    }
    for count in 0...15 as ClosedRange<UInt8> {
      for byteCount in 0...16 as ClosedRange<UInt64> where byteCount != UInt64(count) {
        let elements = [UInt8](repeating: 0xA0, count: Int(count))
        XCTAssertEqual(
          code([0x80 + count] + varint(byteCount) + elements), .malformed, "\(count) \(byteCount)")
      }
    }
  }

  func testDictionariesWithKeysOutOfOrderOrTwiceAreRefused() throws {
    func dictionary(_ names: [String]) -> [UInt8] {
      let entries = names.flatMap { name in
        varint(UInt64(name.utf8.count) << 1 | 1) + Array(name.utf8) + [0xA2]
      }
      return [0x90 + UInt8(names.count)] + varint(UInt64(entries.count)) + entries
    }
    let spellings = dictionary(["e\u{301}", "\u{E9}"])
    XCTAssertEqual(code(spellings, as: [String: Bool].self), .typeMismatch)
    XCTAssertEqual(try open(map(spellings)).container(forKey: "a")?.keys.count, 2)
    XCTAssertEqual(try open(spellings).keys.count, 2)
    XCTAssertEqual(code(dictionary(["\u{E9}", "e\u{301}"])), .malformed)
    XCTAssertEqual(try decode([String: Bool].self, dictionary([""])), ["": true])
    XCTAssertEqual(code(dictionary(["", ""])), .malformed)
    XCTAssertEqual(code(dictionary(["b", "a"])), .malformed)
    let longest = String(repeating: "x", count: 1024)
    XCTAssertEqual(try decode([String: Bool].self, dictionary([longest])), [longest: true])
    XCTAssertEqual(code(dictionary([longest + "x"])), .limitExceeded)
  }

  func testEverySymbolThatIsNotThereIsRefused() {
    for number in [2, 3, 127, 1 << 16, 1 << 32, 1 << 62, 1 << 63 - 1] as [UInt64] {
      let entry = varint(number << 1) + [0xA0]
      XCTAssertEqual(
        code([0x91] + varint(UInt64(entry.count)) + entry), .malformed, "symbol \(number)")
    }
  }

  func testAnExtensionIsNoValueAndRefusedIfItIsNeededOrTooLong() throws {
    let record = try open(map([0xB2, 0x09, 0x05, 0xAA, 0xBB]))
    XCTAssertTrue(record.contains("a"))
    XCTAssertEqual(
      archiveError { _ = try record.decode(Int.self, forKey: "a") },
      ArchiveError(
        .typeMismatch, offset: 6, path: ["a"], subject: "found extension, expected integer"))
    XCTAssertEqual(code([0xB2, 0x0B, 0x05, 0xAA, 0xBB]), .unsupportedFeature)
    XCTAssertEqual(code([0xB2, 0x09, 0x07, 0xAA, 0xBB]), .malformed)
  }

  func testANameThatHasASymbolMustNotBeInline() throws {
    XCTAssertEqual(try open(map([0xB3, 0x07, 0x63])).name(forKey: "a"), "c")
    XCTAssertEqual(code([0xB3, 0x07, 0x62]), .malformed)
    XCTAssertEqual(try open(map([0xB3] + varint(1 << 1))).name(forKey: "a"), "b")
    XCTAssertEqual(code([0xB3] + varint(2 << 1)), .malformed)
  }

  func testPackedArraysOfEveryElementAreReadOrRefused() throws {
    let sizes: [UInt8: Int] = [1: 1, 2: 2, 3: 4, 4: 8, 5: 8, 6: 4, 7: 8]
    for element in 0...255 as ClosedRange<UInt8> {
      guard let size = sizes[element] else {
        for count in 0...8 {
          let value = [0xAE, element] + varint(UInt64(count)) + [UInt8](repeating: 1, count: count)
          XCTAssertEqual(code(value), .malformed, "element \(element)")
        }
        continue
      }
      for count in 0...24 {
        // The highest byte is set, so no narrower element would do.
        let numbers = (0..<count).map { UInt8($0 % size == size - 1 ? 0x81 : 0) }
        let value = [0xAE, element] + varint(UInt64(count)) + numbers
        let isRight = count.isMultiple(of: size) && (count > 0 || [1, 6, 7].contains(element))
        if isRight {
          XCTAssertNoThrow(try open(map(value)), "element \(element), \(count) bytes")
        } else {
          XCTAssertEqual(code(value), .malformed, "element \(element), \(count) bytes")
        }
      }
    }
    for (element, size, narrow) in [(2, 2, 127), (3, 4, 32767), (4, 8, 1 << 31 - 1)] {
      let value = [0xAE, UInt8(element)] + varint(UInt64(size)) + little(UInt64(narrow), size)
      XCTAssertEqual(code(value), .malformed, "element \(element) wider than needed")
    }
    XCTAssertEqual(code([0xAE, 5] + varint(8) + little(1 << 63 - 1, 8)), .malformed)
  }

  /// What Foundation would repair is another text than was stored.
  func testURLsAreReadAsTheyAreOrRefused() throws {
    func url(_ text: String) -> [UInt8] {
      [0xA9] + varint(UInt64(text.utf8.count)) + Array(text.utf8)
    }
    for text in [
      "https://example.org/a?b=c#d", "file:///a/../../etc/passwd", "a", "mailto:a@b", "//x", "?q",
      "https://example.org/" + String(repeating: "x", count: 1 << 16),
    ] {
      XCTAssertEqual(try decode(URL.self, url(text)).absoluteString, text)
    }
    for text in ["", "a b", "https://exämple.org/", "a\u{0}b", "https://a/\n", "a%", "[", "%zz"] {
      XCTAssertEqual(code(url(text), as: URL.self), .malformed, text)
      XCTAssertNoThrow(try open(map(url(text))), "the record is read all the same")
    }
    XCTAssertEqual(code([0xA8] + [UInt8](repeating: 1, count: 15)), .malformed)
  }

  func testTheLargestPackedArrayIsRead() throws {
    let size = 1 << 24 - 100
    let packed = [0xAE, 1] + varint(UInt64(size)) + [UInt8](repeating: 1, count: size)
    XCTAssertEqual(
      try decode([[Int]].self, [0x81] + varint(UInt64(packed.count)) + packed).count, 1)
  }
}
