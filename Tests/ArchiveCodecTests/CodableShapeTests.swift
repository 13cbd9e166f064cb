import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// Every shape that Codable has comes back, alone and in a keyed bag.
final class CodableShapeTests: XCTestCase {
  private func roundTrip<Value: Codable & Equatable>(
    _ value: Value, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let archives = try TestArchives()
    let bytes = try ArchiveEncoder().encode(value, key: archives.key, context: archives.context)
    XCTAssertEqual(
      try ArchiveDecoder().decode(
        Value.self, from: bytes, key: archives.key, context: archives.context), value,
      file: file, line: line)
    let record = try archives.record { encoder in
      encoder.encode("before", forKey: "before")
      try encoder.encode(Box(value: value), forKey: "box")
      encoder.encode("after", forKey: "after")
    }
    XCTAssertEqual(
      try record.decode(Box<Value>.self, forKey: "box"), Box(value: value), file: file, line: line)
    XCTAssertEqual(record.keys, ["before", "box", "after"], file: file, line: line)
  }

  struct Box<Value: Codable & Equatable>: Codable, Equatable {
    var value: Value
  }

  struct Person: Codable, Hashable {
    var name: String
    var age: Int?
    var friends: [Person] = []
    var tags: Set<String> = []
  }

  enum Shape: Codable, Hashable {
    case none
    case circle(radius: Double)
    case polygon([Int], closed: Bool)
    indirect case group(Shape, Shape?)
  }

  enum Level: String, Codable { case low, high }
  enum Number: Int, Codable { case one = 1 }

  /// Writes nil under its key, which the compiler's own code does not.
  private struct Nulled: Codable, Equatable {
    private enum CodingKeys: CodingKey { case gone, next }

    var next = 1
    var isWritten = true

    init(next: Int) { self.next = next }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      isWritten = try container.contains(.gone) && container.decodeNil(forKey: .gone)
      next = try container.decode(Int.self, forKey: .next)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encodeNil(forKey: .gone)
      try container.encode(next, forKey: .next)
    }
  }

  func testANilThatIsEncodedUnderItsKeyIsThere() throws { try roundTrip(Nulled(next: 7)) }

  func testScalarsComeBack() throws {
    try roundTrip(true)
    try roundTrip("text")
    try roundTrip(Int.min)
    try roundTrip(UInt64.max)
    try roundTrip(Int8(-5))
    try roundTrip(1.5)
    try roundTrip(Float(0.1))
    try roundTrip(Data([1, 2, 3]))
    try roundTrip(Date.distantPast)
    try roundTrip(UUID())
    try roundTrip(try XCTUnwrap(URL(string: "https://example.org/a")))
    try roundTrip(try XCTUnwrap(Decimal(string: "-123.4567890123456789")))
    try roundTrip(Level.high)
    try roundTrip(Number.one)
  }

  func testIntegersOf128BitsComeBack() throws {
    let edges: [Int128] = [
      0, -1, 64, Int128(Int64.min) - 1, Int128(UInt64.max), Int128(UInt64.max) + 1, .min, .max,
    ]
    for edge in edges { try roundTrip(edge) }
    try roundTrip(edges)
    try roundTrip(UInt128.max)
    try roundTrip(UInt128(7))
  }

  func testStructsArraysAndEnumsComeBack() throws {
    let ada = Person(name: "Ada", age: 36, friends: [Person(name: "Bo", tags: ["x", "y"])])
    try roundTrip(ada)
    try roundTrip([ada, ada, Person(name: "")])
    try roundTrip([Person]())
    try roundTrip(Set([ada, Person(name: "C")]))
    try roundTrip([Shape.none, .circle(radius: 2), .polygon([1, 2], closed: true)])
    try roundTrip(Shape.group(.group(.none, nil), .polygon([], closed: false)))
    try roundTrip((0..<100).map { (age: Int) in Person(name: "\(age)", age: age) })
  }

  func testDictionariesComeBackWithKeysOfEveryKind() throws {
    try roundTrip(["b": 1, "a": 2])
    try roundTrip(["b": Shape.none, "a": .circle(radius: 1)])
    try roundTrip([7: "a", -1: "b", 1000: "c"])
    try roundTrip([7: Shape.none])
    try roundTrip([UUID(): 1, UUID(): 2])
    try roundTrip([Shape.none: Person(name: "x"), .circle(radius: 3): Person(name: "y")])
    try roundTrip([Int8(1): 1])
    try roundTrip([String: Person]())
    try roundTrip([Shape: Int]())
    try roundTrip(["name": Person(name: "the key is also a field name")])
  }

  func testOptionalsOfOptionalsKeepTheirLevel() throws {
    for value in [nil, .some(nil), .some(.some(nil)), .some(.some(1))] as [Int???] {
      try roundTrip([value])
      try roundTrip(["a": value])
      try roundTrip(value)
    }
    for value in [nil, .some(nil), .some(.some([nil, 1]))] as [[Int?]??] { try roundTrip([value]) }
    try roundTrip([1, nil, 3])
    try roundTrip([Shape.none, nil])
  }

  struct Optionals: Codable, Equatable {
    var one: Int?
    var two: Int??
    var three: Int???
    var date: Date??
  }

  func testOptionalFieldsKeepTheirLevel() throws {
    try roundTrip(Optionals())
    try roundTrip(Optionals(one: 1, two: .some(nil), three: .some(.some(nil)), date: .some(nil)))
    try roundTrip(Optionals(two: 2, three: .some(nil), date: .some(.some(Date.distantFuture))))
  }

  func testNumbersInArraysArePackedAndComeBackAsOtherCollections() throws {
    try roundTrip([UInt8](0...255))
    try roundTrip([Int](repeating: 3, count: 1000))
    try roundTrip(ContiguousArray([1, 2, 3]))
    try roundTrip(1..<5)
    let archives = try TestArchives()
    let packed = try archives.bytes { builder in
      try builder.append(record: 1) { $0.encode([Int](repeating: 3, count: 1000), forKey: "a") }
    }
    XCTAssertLessThan(packed.count, 1600)
    let record = try archives.record { encoder in
      try encoder.encode(Box(value: [1, 2, 300]), forKey: "packed")
      try encoder.encode(Box(value: ContiguousArray([1.5, 2])), forKey: "array")
      try encoder.encode(Box(value: Data([7, 8])), forKey: "bytes")
    }
    XCTAssertEqual(
      try record.decode(Box<ContiguousArray<Int>>.self, forKey: "packed").value, [1, 2, 300])
    XCTAssertEqual(try record.decode(Box<[Double]>.self, forKey: "array").value, [1.5, 2])
    XCTAssertEqual(try record.decode(Box<[UInt8]>.self, forKey: "bytes").value, [7, 8])
    XCTAssertEqual(
      try record.decode(Box<ContiguousArray<UInt8>>.self, forKey: "bytes").value, [7, 8])
    XCTAssertEqual(try record.decode(Box<Data>.self, forKey: "bytes").value, Data([7, 8]))
  }

  class Animal: Codable {
    var name = "animal"
    init() {}
  }

  final class Dog: Animal {
    var tricks = [1, 2]

    override init() { super.init() }

    private enum CodingKeys: String, CodingKey { case tricks }

    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      tricks = try container.decode([Int].self, forKey: .tricks)
      try super.init(from: try container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try super.encode(to: container.superEncoder())
      try container.encode(tricks, forKey: .tricks)
    }
  }

  func testASubclassAndItsSuperclassComeBack() throws {
    let dog = Dog()
    dog.name = "Rex"
    dog.tricks = [9]
    let record = try TestArchives().record { try $0.encode(dog, forKey: "dog") }
    let back = try record.decode(Dog.self, forKey: "dog")
    XCTAssertEqual(back.name, "Rex")
    XCTAssertEqual(back.tricks, [9])
    XCTAssertEqual(
      try record.container(forKey: "dog")?.container(forKey: "super")?.decode(
        String.self, forKey: "name"), "Rex")
  }

  /// Opens all its containers first, and fills them in turns.
  struct Interleaved: Codable, Equatable {
    var a = [1, 2, 3]
    var b = ["x", "y"]

    enum Key: String, CodingKey { case first, second, inner, list }

    init() {}

    init(from decoder: any Decoder) throws {
      let outer = try decoder.container(keyedBy: Key.self)
      let inner = try outer.nestedContainer(keyedBy: Key.self, forKey: .inner)
      var list = try outer.nestedUnkeyedContainer(forKey: .list)
      a = [
        try outer.decode(Int.self, forKey: .first), try inner.decode(Int.self, forKey: .first),
        try list.decode(Int.self),
      ]
      var nested = try list.nestedUnkeyedContainer()
      b = [try nested.decode(String.self), try inner.decode(String.self, forKey: .second)]
      XCTAssertTrue(nested.isAtEnd && list.isAtEnd)
    }

    func encode(to encoder: any Encoder) throws {
      var outer = encoder.container(keyedBy: Key.self)
      var list = outer.nestedUnkeyedContainer(forKey: .list)
      var inner = outer.nestedContainer(keyedBy: Key.self, forKey: .inner)
      try inner.encode(b[1], forKey: .second)
      try outer.encode(a[0], forKey: .first)
      try list.encode(a[2])
      var nested = list.nestedUnkeyedContainer()
      try inner.encode(a[1], forKey: .first)
      try nested.encode(b[0])
    }
  }

  func testNestedContainersMayBeFilledInTurns() throws {
    try roundTrip(Interleaved())
    try roundTrip([Interleaved(), Interleaved()])
  }

  struct TwoContainers: Codable, Equatable {
    var a = 1
    var b = 2

    enum First: String, CodingKey { case a }
    enum Second: String, CodingKey { case b }

    init() {}

    init(from decoder: any Decoder) throws {
      a = try decoder.container(keyedBy: First.self).decode(Int.self, forKey: .a)
      b = try decoder.container(keyedBy: Second.self).decode(Int.self, forKey: .b)
    }

    func encode(to encoder: any Encoder) throws {
      var first = encoder.container(keyedBy: First.self)
      var second = encoder.container(keyedBy: Second.self)
      try second.encode(b, forKey: .b)
      try first.encode(a, forKey: .a)
    }
  }

  /// Asks for its nested containers once for each value.
  struct Scattered: Codable, Equatable {
    var a = 1
    var b = 2
    var list = [1, 2, 3]

    enum Key: String, CodingKey { case info, list }
    enum Info: String, CodingKey { case a, b }

    init() {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      let info = try container.nestedContainer(keyedBy: Info.self, forKey: .info)
      a = try info.decode(Int.self, forKey: .a)
      b = try info.decode(Int.self, forKey: .b)
      list = try container.decode([Int].self, forKey: .list)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      var first = container.nestedContainer(keyedBy: Info.self, forKey: .info)
      for number in list {
        var elements = container.nestedUnkeyedContainer(forKey: .list)
        try elements.encode(number)
      }
      var second = container.nestedContainer(keyedBy: Info.self, forKey: .info)
      try second.encode(b, forKey: .b)
      try first.encode(a, forKey: .a)
    }
  }

  /// Writes another value under the key of a nested container.
  struct Replacing: Encodable {
    let isReplacedAgain: Bool

    enum Key: String, CodingKey { case info }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      var info = container.nestedContainer(keyedBy: Key.self, forKey: .info)
      try info.encode("first", forKey: .info)
      try container.encode("second", forKey: .info)
      guard isReplacedAgain else { return }
      var list = container.nestedUnkeyedContainer(forKey: .info)
      try list.encode("third")
    }
  }

  struct Replaced<Info: Decodable>: Decodable {
    let info: Info
  }

  /// Asks for two kinds of container under one key.
  struct TwoKinds: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Replacing.Key.self)
      var info = container.nestedContainer(keyedBy: Replacing.Key.self, forKey: .info)
      try info.encode("first", forKey: .info)
      _ = container.nestedUnkeyedContainer(forKey: .info)
    }
  }

  /// Fills lists by hand, and lets a value write itself under its key.
  struct ByHand: Codable, Equatable {
    var wide: [Int128] = [.min, 7, .max]
    var natural: [UInt128] = [.max, 7]
    var inner = 5
    var floats: [Float] = [0.1, -2]
    var rest = Person(name: "Ada", age: 36)

    enum Key: String, CodingKey { case list, inner, floats, rest }

    init() {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      guard try list.decodeNil(), try !list.decodeNil() else {
        throw DecodingError.dataCorruptedError(in: list, debugDescription: "one null comes first")
      }
      wide = try wide.map { _ in try list.decode(Int128.self) }
      natural = try natural.map { _ in try list.decode(UInt128.self) }
      inner = try list.nestedContainer(keyedBy: Key.self).decode(Int.self, forKey: .inner)
      floats = try container.decode([Float].self, forKey: .floats)
      rest = try Person(from: container.superDecoder(forKey: .rest))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encodeNil()
      for number in wide { try list.encode(number) }
      for number in natural { try list.encode(number) }
      var map = list.nestedContainer(keyedBy: Key.self)
      try map.encode(inner, forKey: .inner)
      var numbers = container.nestedUnkeyedContainer(forKey: .floats)
      for float in floats { try numbers.encode(float) }
      try rest.encode(to: container.superEncoder(forKey: .rest))
    }
  }

  func testWhatIsWrittenByHandComesBack() throws {
    try roundTrip(ByHand())
    try roundTrip([ByHand(), ByHand()])
  }

  struct Empty: Codable, Equatable {
    init() {}
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws {}
  }

  func testTwoKeyedContainersOfOneEncoderAreOne() throws {
    try roundTrip(TwoContainers())
  }

  func testNestedContainersOfOneKeyAreOneContainerUntilSomethingElseTakesItsPlace() throws {
    try roundTrip(Scattered())
    try roundTrip([Scattered(), Scattered()])
    for isReplacedAgain in [false, true] {
      let record = try TestArchives().record { encoder in
        try encoder.encode(Replacing(isReplacedAgain: isReplacedAgain), forKey: "value")
      }
      if isReplacedAgain {
        XCTAssertEqual(
          try record.decode(Replaced<[String]>.self, forKey: "value").info, ["third"])
      } else {
        XCTAssertEqual(
          try record.decode(Replaced<String>.self, forKey: "value").info, "second")
      }
    }
    XCTAssertThrowsError(
      try TestArchives().record { try $0.encode(TwoKinds(), forKey: "value") })
  }

  func testAValueThatEncodesNothingComesBack() throws {
    try roundTrip(Empty())
    try roundTrip([Empty(), Empty()])
  }

  func testNullMissingAndDefaultAreTold() throws {
    struct Reader: Decodable {
      var missing = false
      var null = false
      var extra: Int?

      enum Key: String, CodingKey { case missing, null }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        missing = container.contains(.missing)
        null = try container.decodeNil(forKey: .null)
        XCTAssertNil(try container.decodeIfPresent(Int.self, forKey: .missing))
        XCTAssertNil(try container.decodeIfPresent(Int.self, forKey: .null))
        XCTAssertEqual(container.allKeys, [.null])
      }
    }
    let record = try TestArchives().record { encoder in
      try encoder.encode(["null": nil, "extra key": 1] as [String: Int?], forKey: "a")
    }
    let reader = try record.decode(Reader.self, forKey: "a")
    XCTAssertFalse(reader.missing)
    XCTAssertTrue(reader.null)
    XCTAssertNil(try record.decodeIfPresent(Reader.self, forKey: "none"))
  }

  func testUserInfoReachesTheValue() throws {
    let info = try XCTUnwrap(CodingUserInfoKey(rawValue: "info"))
    struct Asking: Codable {
      let answer: String?
      init() { answer = nil }
      init(from decoder: any Decoder) throws {
        answer = CodingUserInfoKey(rawValue: "info").flatMap { decoder.userInfo[$0] } as? String
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(
          CodingUserInfoKey(rawValue: "info").flatMap { encoder.userInfo[$0] } as? String)
      }
    }
    let archives = try TestArchives()
    let bytes = try ArchiveEncoder(userInfo: [info: "out"]).encode(
      Asking(), key: archives.key, context: archives.context)
    XCTAssertEqual(
      try ArchiveDecoder().decode(
        String.self, from: bytes, key: archives.key, context: archives.context), "out")
    XCTAssertEqual(
      try ArchiveDecoder(userInfo: [info: "in"]).decode(
        Asking.self, from: bytes, key: archives.key, context: archives.context
      ).answer, "in")
  }
}
