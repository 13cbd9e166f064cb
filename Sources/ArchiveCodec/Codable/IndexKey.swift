/// The place of an element in a coding path.
struct IndexKey: CodingKey {
  let index: Int

  init(_ index: Int) {
    self.index = index
  }

  init?(stringValue: String) { nil }
  init?(intValue: Int) { index = intValue }

  var stringValue: String { "Index \(index)" }
  var intValue: Int? { index }
}

/// A name in a coding path: `super`, or a name from a record.
struct NameKey: CodingKey {
  static let `super` = NameKey("super")

  let stringValue: String

  init(_ name: String) {
    stringValue = name
  }

  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }

  var intValue: Int? { nil }
}
