/// A key in a coding path: the place of an element, or a name from a record.
enum PathKey: CodingKey {
  case index(Int)
  case name(String)

  static let `super` = PathKey.name("super")

  init?(stringValue: String) { self = .name(stringValue) }
  init?(intValue: Int) { self = .index(intValue) }

  var stringValue: String {
    switch self {
    case .index(let index): "Index \(index)"
    case .name(let name): name
    }
  }

  var intValue: Int? {
    if case .index(let index) = self { index } else { nil }
  }
}
