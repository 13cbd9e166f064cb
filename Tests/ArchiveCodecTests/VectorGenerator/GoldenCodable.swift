import ArchiveCodec
import Foundation
import XCTest

/// The values of the archive `golden-codable`: what Codable types look like.
enum GoldenCodable {
  private struct Entry {
    let encode: (KeyedEncoder) throws -> Void
    let check: (KeyedDecoder) throws -> Void

    init<Value: Codable & Equatable>(_ key: String, _ value: Value) {
      encode = { try $0.encode(value, forKey: key) }
      check = { XCTAssertEqual(try $0.decode(Value.self, forKey: key), value, key) }
    }
  }

  private struct Fields: Codable, Equatable {
    var id = 7
    var note: String?
    var nested: [Fields] = []
    var date = Date(timeIntervalSinceReferenceDate: 0.5)
    var link = URL(string: "https://example.org/a")
    var data = Data([1, 2, 255])
    var price = Decimal(string: "-12.34")
  }

  private enum Shape: Codable, Hashable {
    case none
    case circle(Double)
    case named(name: String, corners: [Float])
  }

  private enum Level: Int, Codable {
    case low = -1
    case high = 300
  }

  private struct Nothing: Codable, Equatable {}

  private class Base: Codable {
    var base = 1
  }

  private final class Derived: Base, Equatable {
    var own = "own"

    override init() { super.init() }

    private enum Keys: CodingKey { case own }

    required init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: Keys.self)
      own = try fields.decode(String.self, forKey: .own)
      try super.init(from: try fields.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: Keys.self)
      try super.encode(to: fields.superEncoder())
      try fields.encode(own, forKey: .own)
    }

    static func == (left: Derived, right: Derived) -> Bool {
      left.own == right.own && left.base == right.base
    }
  }

  private static var entries: [Entry] {
    [
      Entry("fields", Fields(note: "outer", nested: [Fields(), Fields(note: "inner")])),
      Entry("shapes", [Shape.none, .circle(0.5), .named(name: "é", corners: [1.5])]),
      Entry("levels", [Level.low, .high]),
      Entry("optionals", [1, nil, 300] as [Int?]),
      Entry("optional optionals", [.some(.some(1)), .some(nil), nil] as [Int??]),
      Entry("set", Set([300, 5, -1])),
      Entry("set of shapes", Set([Shape.circle(2), .none, .named(name: "", corners: [])])),
      Entry("by number", [1: Shape.none, -20: .circle(1)]),
      Entry("by shape", [Shape.none: 1, .circle(1): 2]),
      Entry("by name", ["b": Level.low, "a": .high, "é": .low]),
      Entry("nothing", Nothing()),
      Entry("no elements", [] as [Shape]),
      Entry("derived", Derived()),
      Entry("wide", [Int128.max, Int128(Int64.min) - 1, 5]),
      Entry("range", 1...5),
    ]
  }

  static func encode(_ builder: RecordBuilder) throws {
    try builder.append(record: 1) { encoder in
      for entry in entries { try entry.encode(encoder) }
    }
  }

  static func check(_ record: KeyedDecoder) throws {
    for entry in entries { try entry.check(record) }
  }
}
