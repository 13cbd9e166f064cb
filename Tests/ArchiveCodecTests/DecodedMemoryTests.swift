import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// Records of a few megabytes that promise far more memory.
final class DecodedMemoryTests: XCTestCase {
  private struct Fields: Codable {
    var a: Int?
    var b: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    private enum CodingKeys: CodingKey { case a }
  }

  private struct Short: Codable {
    var a: Int?
  }

  private final class Node: Codable {}

  private static let largest = 1 << 24 - 100

  /// A record whose only value, `a`, is an array of equal elements.
  private func array(_ element: [UInt8], _ count: Int) throws -> KeyedDecoder {
    try record([0xAC] + number(count) + number(count * element.count)) { map in
      map +=
        element.count == 1
        ? [UInt8](repeating: element[0], count: count)
        : Array(repeatElement(element, count: count).joined())
    }
  }

  private func record(
    _ header: [UInt8], _ fill: (inout [UInt8]) -> Void
  ) throws -> KeyedDecoder {
    var value = header
    fill(&value)
    let map = [0x91] + number(value.count + 1) + [1] + value
    return try KeyedDecoder(unsealed: map, symbols: [3, 3, 0x61])
  }

  /// A varint of the format.
  private func number(_ value: Int) -> [UInt8] {
    let count = max(1, (Int.bitWidth - value.leadingZeroBitCount + 6) / 7)
    let word = UInt64(value << 1 | 1) << UInt64(count - 1)
    return (0..<count).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
  }

  func testAnArrayIsNotMovedWhileItIsDecoded() throws {
    let archives = try TestArchives()
    let bytes = try ArchiveEncoder().encode(
      [Short](repeating: Short(a: 1), count: 65), key: archives.key, context: archives.context)
    let decoded = try ArchiveDecoder().decode(
      [Short].self, from: bytes, key: archives.key, context: archives.context)
    XCTAssertEqual(decoded.count, 65)
    // One that had grown would have room for twice as many as the last time.
    XCTAssertLessThan(decoded.capacity, 100)
  }

  private func assertTooLarge(
    _ record: KeyedDecoder, _ type: (some ArchiveValue).Type, line: UInt = #line
  ) {
    let error = archiveError(line: line) { _ = try record.decode(type, forKey: "a") }
    XCTAssertEqual(error?.code, .limitExceeded, line: line)
    XCTAssertEqual(error?.subject, "memory of a decoded value", line: line)
    XCTAssertEqual(error?.subject, "memory of a decoded value", line: line)
    XCTAssertEqual(error?.path, ["a"], line: line)
  }

  private func assertTooLarge(
    _ record: KeyedDecoder, _ type: (some Decodable).Type, line: UInt = #line
  ) {
    XCTAssertThrowsError(try record.decode(type, forKey: "a"), line: line) { error in
      guard case DecodingError.dataCorrupted(let context) = error else {
        return XCTFail("\(error)", line: line)
      }
      let error = context.underlyingError as? ArchiveError
      XCTAssertEqual(error?.code, .limitExceeded, line: line)
      XCTAssertEqual(error?.subject, "memory of a decoded value", line: line)
      XCTAssertEqual(error?.subject, "memory of a decoded value", line: line)
    }
  }

  func testShortElementsThatAreLargeInMemoryAreRefusedInMillions() throws {
    try LongTests.skipUnlessOn()
    assertTooLarge(try array([0x50], 6_000_000), [String].self)
    let nulls = try array([0xA0], 2_700_000)
    assertTooLarge(nulls, [Int?].self)
    assertTooLarge(nulls, Set<Int?>.self)
    let urls = try array([0xA9, 0x03, 0x61], 180_000)
    assertTooLarge(urls, [URL].self)
    assertTooLarge(urls, [URL?].self)
    assertTooLarge(urls, ContiguousArray<URL>.self)
    let maps = try array([0x90, 0x01], 1_300_000)
    assertTooLarge(maps, [Fields].self)
    assertTooLarge(maps, [Node].self)
    assertTooLarge(maps, [[String: Int?]].self)
    assertTooLarge(try array([0x81, 0x03, 0x50], 1_700_000), [[String]].self)
    let count = number(6_000_000)
    let strings = [0xAC] + count + count + [UInt8](repeating: 0x50, count: 6_000_000)
    let map = try record([0x91] + number(strings.count + 2)) { $0 += [7, 0x6B] + strings }
    assertTooLarge(map, [String: [String]].self)
  }

  func testAMapOfMillionsOfShortKeysIsRefused() throws {
    let count = 2_000_000
    let names = (0..<count).map { number in
      (0..<4).map { UInt8(truncatingIfNeeded: 48 + (number >> ((3 - $0) * 6)) & 63) }
    }
    let record = try record([0xAD] + number(count) + number(count * 6)) { map in
      for name in names { map += [19] + name + [7] }
    }
    assertTooLarge(record, [String: Int].self)
    assertTooLarge(record, Fields.self)
  }

  func testTheLargestRecordOfPlainValuesIsDecoded() throws {
    try LongTests.skipUnlessOn()
    let narrow = try record([0xAE, 1] + number(Self.largest)) { map in
      map += [UInt8](repeating: 1, count: Self.largest)
    }
    XCTAssertEqual(try narrow.decode([Int].self, forKey: "a").count, Self.largest)
    let bools = try array([0xA2], 1_000_000)
    XCTAssertEqual(try bools.decode([Bool].self, forKey: "a").count, 1_000_000)
    let bytes = try record([0xAB] + number(Self.largest)) { map in
      map += [UInt8](repeating: 1, count: Self.largest)
    }
    XCTAssertEqual(try bytes.decode(Data.self, forKey: "a").count, Self.largest)
    let strings = try array([0x57] + Array("letters".utf8), 300_000)
    XCTAssertEqual(try strings.decode([String].self, forKey: "a").count, 300_000)
    XCTAssertEqual(try strings.decode([String?].self, forKey: "a").count, 300_000)
    let urls = try array([0xA9, 0x21] + Array("https://a.org/bc".utf8), 150_000)
    XCTAssertEqual(try urls.decode([URL].self, forKey: "a").count, 150_000)
  }

  func testEmptyMapsAndArraysAreDecoded() throws {
    let maps = try array([0x90, 0x01], 300_000)
    XCTAssertEqual(try maps.decode([[String: Int]].self, forKey: "a").count, 300_000)
    XCTAssertEqual(try maps.decode([Short].self, forKey: "a").count, 300_000)
    // Each is counted as what it takes beside its elements, once.
    let arrays = try array([0x80, 0x01], 1_000_000)
    XCTAssertEqual(try arrays.decode([[Int?]].self, forKey: "a").count, 1_000_000)
  }
}
