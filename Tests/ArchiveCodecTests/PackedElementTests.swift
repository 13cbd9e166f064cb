import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// Numbers that are stored without tags, decoded one by one as other types.
final class PackedElementTests: XCTestCase {
  private enum Level: Int, Codable {
    case low = -1
    case high = 300
  }

  private struct Meters: Codable, Equatable {
    let value: Double

    init(_ value: Double) { self.value = value }

    init(from decoder: any Decoder) throws {
      value = try decoder.singleValueContainer().decode(Double.self)
    }
  }

  /// Takes its element from a super decoder.
  private struct Inherited: Decodable {
    var values: [Int] = []

    init(from decoder: any Decoder) throws {
      var elements = try decoder.unkeyedContainer()
      while !elements.isAtEnd { values.append(try Int(from: elements.superDecoder())) }
    }
  }

  private struct Fields: Decodable {
    var a: Int?
  }

  private func record() throws -> KeyedDecoder {
    try TestArchives().record { encoder in
      encoder.encode([-1, 300, -1], forKey: "wide")
      encoder.encode([1, -2], forKey: "narrow")
      encoder.encode([UInt64.max, 0], forKey: "unsigned")
      encoder.encode([1.5, -0.25], forKey: "doubles")
      encoder.encode([Float(1.5)], forKey: "floats")
      // An empty map, an empty array, null and true, if they were values.
      encoder.encode(Data([0x90, 0x01, 0x80, 0x01, 0xA0, 0xA2]), forKey: "bytes")
    }
  }

  func testEachIsDecodedAsATypeThatWrapsANumber() throws {
    let record = try record()
    XCTAssertEqual(try record.decode([Level].self, forKey: "wide"), [.low, .high, .low])
    XCTAssertEqual(try record.decode([Int?].self, forKey: "wide"), [-1, 300, -1])
    XCTAssertEqual(try record.decode([Level?].self, forKey: "wide"), [.low, .high, .low])
    XCTAssertEqual(try record.decode(Set<Int16?>.self, forKey: "narrow"), [1, -2])
    XCTAssertEqual(try record.decode([UInt64?].self, forKey: "unsigned"), [.max, 0])
    XCTAssertEqual(
      try record.decode([Meters].self, forKey: "doubles"), [Meters(1.5), Meters(-0.25)])
    XCTAssertEqual(try record.decode([Meters].self, forKey: "floats"), [Meters(1.5)])
    XCTAssertEqual(
      try record.decode([UInt8?].self, forKey: "bytes"), [0x90, 0x01, 0x80, 0x01, 0xA0, 0xA2])
    XCTAssertEqual(try record.decode(Inherited.self, forKey: "wide").values, [-1, 300, -1])
  }

  func testNoneIsTakenForAMapAnArrayOrNull() throws {
    let record = try record()
    for key in record.keys {
      assertMismatch(record, [Fields].self, key)
      // An Optional passes its decoder on to what it may be.
      assertMismatch(record, [Fields?].self, key)
      assertMismatch(record, [[Meters]?].self, key)
      assertMismatch(record, [[String: String?]].self, key)
      assertMismatch(record, [[Meters]].self, key)
      assertMismatch(record, [Set<Int?>].self, key)
      assertMismatch(record, [Bool?].self, key)
    }
  }

  private func assertMismatch(
    _ record: KeyedDecoder, _ type: (some Decodable).Type, _ key: String, line: UInt = #line
  ) {
    XCTAssertThrowsError(try record.decode(type, forKey: key), line: line) { error in
      guard case DecodingError.typeMismatch(_, let context) = error else {
        return XCTFail("\(error)", line: line)
      }
      XCTAssertEqual(context.codingPath.map(\.stringValue), [key, "Index 0"], line: line)
    }
  }
}
