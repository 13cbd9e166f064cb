import Foundation

/// What an app may have: fields of all sorts, some of them optional.
struct Fields: Codable, Equatable {
  var id: UUID?
  var name: String
  var note: String?
  var date: Date?
  var link: URL?
  var data: Data?
  var price: Decimal?
  var rows: [[Int?]]?
  var shape: Shape?
  var maybe: Int??

  static let empty = Fields(name: "")
}

enum Shape: Codable, Equatable {
  case none
  case circle(Double)
  case named(name: String, corners: [Float])
}

/// As deep as the data says.
indirect enum Tree: Codable, Equatable {
  case leaf(Int)
  case node([Tree])
  case pair(Tree, Tree)
}

/// A level for each level of the data, without arrays between.
final class Chain: Codable, Equatable {
  let value: Int
  let next: Chain?

  init(value: Int, next: Chain?) {
    self.value = value
    self.next = next
  }

  static func == (left: Chain, right: Chain) -> Bool {
    left.value == right.value && left.next == right.next
  }
}

class Base: Codable {
  let base: Int

  init(base: Int) {
    self.base = base
  }
}

/// A class that gives its superclass a decoder of its own.
final class Derived: Base, Equatable {
  let own: String

  init(base: Int, own: String) {
    self.own = own
    super.init(base: base)
  }

  private enum Keys: CodingKey { case own }

  required init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    own = try fields.decode(String.self, forKey: .own)
    try super.init(from: try fields.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(own, forKey: .own)
    try super.encode(to: fields.superEncoder())
  }

  static func == (left: Derived, right: Derived) -> Bool {
    left.own == right.own && left.base == right.base
  }
}

/// A type that walks containers itself, whatever they hold.
struct ByHand: Codable, Equatable {
  var numbers: [Int] = []
  var names: [String: Int] = [:]

  private enum Keys: CodingKey { case numbers, names }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(numbers: [Int], names: [String: Int]) {
    self.numbers = numbers
    self.names = names
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    var elements = try fields.nestedUnkeyedContainer(forKey: .numbers)
    while !elements.isAtEnd {
      if try !elements.decodeNil() { numbers.append(try elements.decode(Int.self)) }
    }
    let inner = try fields.nestedContainer(keyedBy: Name.self, forKey: .names)
    for name in inner.allKeys {
      names[name.stringValue] = try inner.decodeIfPresent(Int.self, forKey: name)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    var elements = fields.nestedUnkeyedContainer(forKey: .numbers)
    var inner = fields.nestedContainer(keyedBy: Name.self, forKey: .names)
    for number in numbers { try elements.encode(number) }
    for name in names.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      try inner.encode(names[name], forKey: Name(stringValue: name))
    }
  }
}

/// An element of sets and a key of dictionaries that has fields.
struct Element: Codable, Hashable {
  var a: Int
  var b: String?
}

/// A key of dictionaries that is not a name.
struct Fraction: Codable, Hashable {
  let upper: Int
  let lower: Int

  init(_ upper: Int, _ lower: Int) {
    self.upper = upper
    self.lower = lower
  }

  init(from decoder: any Decoder) throws {
    var elements = try decoder.unkeyedContainer()
    self.init(try elements.decode(Int.self), try elements.decode(Int.self))
  }

  func encode(to encoder: any Encoder) throws {
    var elements = encoder.unkeyedContainer()
    try elements.encode(upper)
    try elements.encode(lower)
  }
}
