import ArchiveCodec
import Foundation

/// The map of a record, decoded as Codable types that it may be made for.
///
/// The input is that of ``ValuesTarget``. Every value of the map is decoded as
/// every type of a family. What decodes is encoded and decoded again: to an
/// equal value, and from then on to the same bytes.
enum CodableTarget {
  static func run(_ input: [UInt8]) throws(Finding) {
    guard let (symbols, map) = ValuesTarget.parts(input),
      let decoder = try? KeyedDecoder(unsealed: map, symbols: symbols)
    else { return }
    for key in decoder.keys {
      for type in family { try check(type, decoder, key) }
    }
  }

  static var family: [any (Codable & Equatable).Type] {
    [
      Fields.self, Shape.self, Tree.self, Chain.self, Derived.self, ByHand.self, Element.self,
      [Fields].self, [[Int?]].self, [URL?].self, [Shape].self, [String: Shape].self,
      [Int: [Bool?]].self, [Fraction: String].self, Set<String>.self, Set<Element>.self,
      Set<Set<Int?>>.self, Bool??.self, [Int??].self, Fields???.self, Data.self, Date.self,
      Decimal.self, URL.self, UUID.self, String.self, Double.self, Float.self, Int8.self,
      UInt64.self, Int128.self, UInt128.self, [UInt8].self, [Int].self, [Double].self,
      ClosedRange<Int>.self, [ContiguousArray<Date>].self,
    ]
  }

  private static func check<Value: Codable & Equatable>(
    _ type: Value.Type, _ decoder: KeyedDecoder, _ key: String
  ) throws(Finding) {
    let value: Value
    do {
      value = try decoder.decode(type, forKey: key)
    } catch {
      return try promise(error is DecodingError, "\(type) is not decoded: \(error)")
    }
    guard let first = try encoded(value) else { return }
    let same: Value
    let again: Value
    let second: [UInt8]?
    do {
      same = try decoder.decode(type, forKey: key)
      again = try first.decode(type, forKey: "key")
      second = try encoded(again)?.bytes
    } catch let finding as Finding {
      throw finding
    } catch {
      throw Finding("\(type) does not come back: \(error)")
    }
    // A NaN is not equal to itself.
    try promise(value == again || value != same, "\(type) comes back as another value")
    try promise(second == first.bytes, "\(type) has two encodings")
  }

  /// Nil if the value is too deep or too large, which only the writer can say:
  /// bytes that were decoded as an array take a level more.
  private static func encoded(_ value: some Encodable) throws(Finding) -> Unsealed? {
    let builder = RecordBuilder()
    do {
      try builder.append(record: 1) { try $0.encode(value, forKey: "key") }
      let (maps, symbols) = try builder.finish().unsealed
      return Unsealed(map: maps[0], symbols: symbols)
    } catch EncodingError.invalidValue(_, let context) {
      let error = context.underlyingError as? ArchiveError
      try promise(error?.code == .limitExceeded, "\(type(of: value)) is not encoded: \(context)")
      return nil
    } catch {
      throw Finding("\(type(of: value)) is not encoded: \(error)")
    }
  }

  private struct Unsealed {
    let map: [UInt8]
    let symbols: [UInt8]

    var bytes: [UInt8] { symbols + map }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: String) throws -> Value {
      try KeyedDecoder(unsealed: map, symbols: symbols).decode(type, forKey: key)
    }
  }
}

// MARK: - Seeds

extension CodableTarget {
  /// A record for each value of the family.
  static var seeds: [[UInt8]] {
    get throws {
      let fields = Fields(
        id: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), name: "é",
        note: "note", date: Date(timeIntervalSinceReferenceDate: 0.5),
        link: URL(string: "https://example.org/a"), data: Data([1, 255]), price: 12.34,
        rows: [[1, nil], []], shape: .named(name: "a", corners: [1.5]), maybe: .some(nil))
      let tree = Tree.node([.leaf(5), .node([]), .pair(.leaf(-1), .leaf(300))])
      let values: [any Encodable] = [
        fields, [Fields.empty], Shape.circle(2.5), Shape.none, tree,
        Chain(value: 1, next: Chain(value: 2, next: nil)), Derived(base: 1, own: "own"),
        ByHand(numbers: [1, 2], names: ["b": 1]), Set([Element(a: 1), Element(a: 2)]),
        [1: [true, nil]], [Fraction(1, 2): "half"], Set(["a", "b"]), Set([Set([1, nil])]),
        [Int??.some(.some(1)), .some(nil), nil], Decimal(string: "-1.5e40") ?? 0, Int128.max,
        UInt128.max, 1...5, ["x": Shape.none],
      ]
      return try values.map { value in
        try ValuesTarget.record { try $0.encode(value, forKey: "a") }
      }
    }
  }
}
