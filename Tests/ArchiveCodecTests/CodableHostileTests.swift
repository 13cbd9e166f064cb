import ArchiveCodec
import Foundation
import Synchronization
import TestSupport
import XCTest

/// Depth, and records of somebody who has the key, decoded as Codable types.
final class CodableHostileTests: XCTestCase {
  /// One level of array and one of map for every list.
  final class List: Codable {
    var next: [List]?
    init(_ next: List?) { self.next = next.map { [$0] } }
  }

  /// Levels without a container.
  indirect enum Wrapped: Codable {
    case end
    case more(Wrapped)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      self = container.decodeNil() ? .end : .more(try container.decode(Wrapped.self))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .end: try container.encodeNil()
      case .more(let inner): try container.encode(inner)
      }
    }
  }

  private func list(_ length: Int) -> List {
    (1..<length).reduce(List(nil)) { list, _ in List(list) }
  }

  func testTheDeepestValueThatIsEncodedIsDecodedAndNoDeeperOneIs() throws {
    // The record, and then a map for each list and an array between two.
    let longest = ArchiveLimits.standard.depth / 2
    let record = try TestArchives().record { try $0.encode(list(longest), forKey: "list") }
    var back = try record.decode(List.self, forKey: "list")
    for _ in 1..<longest { back = try XCTUnwrap(back.next?.first) }
    XCTAssertNil(back.next)
    for length in [longest + 1, 100_000] {
      let list = list(length)
      XCTAssertThrowsError(
        try TestArchives().record { try $0.encode(list, forKey: "list") }
      ) { error in
        guard case EncodingError.invalidValue(_, let context) = error else {
          return XCTFail("\(error)")
        }
        XCTAssertEqual(
          (context.underlyingError as? ArchiveError), ArchiveError(.limitExceeded, subject: "depth")
        )
      }
      unlink(list)
    }
  }

  /// Takes a long list apart without recursion.
  private func unlink(_ list: List) {
    var list = list
    while let next = list.next?.first {
      list.next = nil
      list = next
    }
  }

  func testLevelsWithoutContainersAreLimitedToo() throws {
    func wrapped(_ levels: Int) -> Wrapped { (0..<levels).reduce(.end) { w, _ in .more(w) } }
    let record = try TestArchives().record { try $0.encode(wrapped(100), forKey: "a") }
    _ = try record.decode(Wrapped.self, forKey: "a")
    XCTAssertThrowsError(
      try TestArchives().record { try $0.encode(wrapped(1000), forKey: "a") })
    // Any other value makes this type decode itself for ever.
    let endless = try TestArchives().record { $0.encode(1, forKey: "a") }
    XCTAssertThrowsError(try endless.decode(Wrapped.self, forKey: "a")) { error in
      guard case DecodingError.dataCorrupted(let context) = error else {
        return XCTFail("\(error)")
      }
      XCTAssertEqual(
        (context.underlyingError as? ArchiveError),
        ArchiveError(.limitExceeded, offset: 13, subject: "depth"))
    }
  }

  func testAsManyCallsMayBeOpenInBothWaysAndNoMore() throws {
    func wrapped(_ callCount: Int) -> Wrapped {
      (1..<callCount).reduce(.end) { wrapped, _ in .more(wrapped) }
    }
    let most = 4 * ArchiveLimits.standard.depth
    _ = try TestArchives().record { try $0.encode(wrapped(most), forKey: "a") }
    XCTAssertThrowsError(
      try TestArchives().record { try $0.encode(wrapped(most + 1), forKey: "a") }
    ) { error in
      guard case EncodingError.invalidValue(_, let context) = error else {
        return XCTFail("\(error)")
      }
      XCTAssertEqual(
        context.underlyingError as? ArchiveError, ArchiveError(.limitExceeded, subject: "depth"))
    }
    let endless = try TestArchives().record { $0.encode(1, forKey: "a") }
    let (key, count) = (try XCTUnwrap(CallCount.key), CallCount())
    XCTAssertThrowsError(try endless.decode(Endless.self, forKey: "a", userInfo: [key: count]))
    XCTAssertEqual(count.value.withLock { $0 }, most)
  }

  /// Decodes itself for ever.
  private struct Endless: Decodable {
    init(from decoder: any Decoder) throws {
      let count = CallCount.key.flatMap { decoder.userInfo[$0] as? CallCount }
      count?.value.withLock { $0 += 1 }
      _ = try decoder.singleValueContainer().decode(Endless.self)
    }
  }

  struct Everything: Codable, Equatable {
    var bool = true
    var int = -300
    var double = 0.5
    var text = "text"
    var date = Date(timeIntervalSinceReferenceDate: 5)
    var data = Data([1, 2])
    var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var url = URL(string: "a:b")
    var decimal = Decimal(5)
    var wide = Int128.max
    var optional: Int?? = .some(nil)
    var numbers = [1, 300]
    var doubles = [0.5]
    var set: Set<String> = ["a", "b"]
    var byName = ["x": [1: "y"]]
    var byShape = [Shape.circle(radius: 1): [Shape.none]]
  }

  enum Shape: Codable, Hashable {
    case none
    case circle(radius: Double)
  }

  private let types: [any Decodable.Type] = [
    Everything.self, Shape.self, List.self, Wrapped.self, Bool.self, Int.self, UInt8.self,
    Double.self, Float.self, String.self, Date.self, Data.self, UUID.self, URL.self, Decimal.self,
    Int128.self, UInt128.self, [Int].self, [UInt8].self, [Double].self, [Bool].self, [String].self,
    ContiguousArray<Int>.self, Set<Int>.self, Set<String>.self, [String: Int].self,
    [String: [Everything]].self, [Int: Int].self, [Shape: Shape].self, [UUID: Int].self,
    [Int?].self, [Int??].self, Int??.self, Range<Int>.self, [String?: Int?].self,
    [[[Int]]].self, [String: [String: Shape]].self,
  ]

  private func decodeAsEverything(_ record: KeyedDecoder) {
    func decode<Value: Decodable>(_ type: Value.Type, _ key: String) {
      _ = try? record.decode(type, forKey: key)
    }
    for key in record.keys {
      for type in types { decode(type, key) }
    }
  }

  func testEveryTypeIsDecodedAsEveryOtherWithoutATrap() throws {
    let record = try TestArchives().record { encoder in
      try encoder.encode(Everything(), forKey: "all")
      try encoder.encode([Everything()], forKey: "list")
      try encoder.encode(Everything().byShape, forKey: "byShape")
      encoder.encodeReference(to: 7, forKey: "reference")
      encoder.encode([0.5, .nan], forKey: "doubles")
      encoder.encode([Float(1)], forKey: "floats")
      encoder.encode(UInt64.max, forKey: "large")
      encoder.encode(["a": ["b": 1]], forKey: "maps")
      try encoder.encode([nil, 1] as [Int?], forKey: "optionals")
    }
    decodeAsEverything(record)
    XCTAssertEqual(try record.decode(Everything.self, forKey: "all"), Everything())
  }

  func testMutatedRecordsDecodedAsCodableTypesNeverTrap() throws {
    var generator = SeededGenerator()
    print("seed \(generator.seed)")
    let archives = try TestArchives()
    let builder = RecordBuilder()
    try builder.append(record: 1) { encoder in
      try encoder.encode(Everything(), forKey: "all")
      try encoder.encode([Shape.none, .circle(radius: 1)], forKey: "shapes")
      try encoder.encode(list(3), forKey: "list")
    }
    let batch = try builder.finish()
    let map = batch.unsealed.maps[0]
    var opened = 0
    for _ in 0..<LongTests.count(300) {
      let maps = (1...20 as ClosedRange<UInt64>).map { identifier in
        var bytes = map
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          let place = Int.random(in: 0..<bytes.count, using: &generator)
          bytes[place] =
            Bool.random(using: &generator)
            ? UInt8.random(in: .min ... .max, using: &generator)
            : bytes[place] ^ 1 << UInt8.random(in: 0..<8, using: &generator)
        }
        return (identifier, bytes)
      }
      let content = HostileContent { ($0.records, $0.symbols) = (maps, batch.unsealed.symbols) }
      let sealed = archives.bytes(sealing: [content.commit()])
      let archive = try XCTUnwrap(
        try Archive.open(MemoryStorage(sealed), key: archives.key, context: archives.context))
      for record in try archive.readAll() {
        guard let decoder = try? record.content.get() else { continue }
        opened += 1
        decodeAsEverything(decoder)
      }
    }
    XCTAssertGreaterThan(opened, 100, "seed \(generator.seed)")
  }
}

private final class CallCount: Sendable {
  static let key = CodingUserInfoKey(rawValue: "calls")

  let value = Mutex(0)
}
