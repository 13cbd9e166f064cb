/// A value of any form, which tries one type after the other to decode.
package enum ProbedValue: Codable, Equatable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case text(String)
  case list([ProbedValue])
  case fields([String: ProbedValue])

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([ProbedValue].self) {
      self = .list(value)
    } else {
      self = .fields(try container.decode([String: ProbedValue].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .list(let value): try container.encode(value)
    case .fields(let value): try container.encode(value)
    }
  }

  /// Values with so many elements, by what they are.
  package static func samples(count: Int) -> [(String, ProbedValue)] {
    let texts = (0..<count).map { ProbedValue.text("text \($0)") }
    let mixed = (0..<count).map { number -> ProbedValue in
      switch number % 7 {
      case 0: .null
      case 1: .bool(true)
      case 2: .integer(number)
      case 3: .number(Double(number) + 0.5)
      case 4: .text("text \(number)")
      case 5: .list([.integer(number), .text("a")])
      default: .fields(["a": .integer(number), "b": .text("b")])
      }
    }
    func fields(_ values: [ProbedValue]) -> ProbedValue {
      .fields(
        Dictionary(
          uniqueKeysWithValues: values.enumerated().map { ("key \($0.offset)", $0.element) }))
    }
    return [
      ("array of strings", .list(texts)), ("dictionary of strings", fields(texts)),
      ("array of mixed values", .list(mixed)), ("dictionary of mixed values", fields(mixed)),
    ]
  }
}
