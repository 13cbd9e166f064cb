// In the form that Swift makes for an enum. That has a type of keys for each case, which is 40 KB of code for these.
extension PropertyListValue {
  private struct Key: CodingKey {
    /// The key of the value of a case.
    static let value = Key("_0")

    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }

  /// The case and its value.
  private var content: (name: String, value: (any Encodable)?) {
    switch self {
    case .null: ("null", nil)
    case .bool(let value): ("bool", value)
    case .integer(let value): ("integer", value)
    case .double(let value): ("double", value)
    case .string(let value): ("string", value)
    case .data(let value): ("data", value)
    case .date(let value): ("date", value)
    case .url(let value): ("url", value)
    case .uuid(let value): ("uuid", value)
    case .array(let values): ("array", values)
    case .set(let values): ("set", values)
    case .dictionary(let values): ("dictionary", values)
    }
  }

  /// Writes a container with the name of the case, in which its value is.
  public func encode(to encoder: any Encoder) throws {
    let (name, value) = content
    var cases = encoder.container(keyedBy: Key.self)
    var values = cases.nestedContainer(keyedBy: Key.self, forKey: Key(name))
    if let value { try values.encode(value, forKey: .value) }
  }

  /// Reads what ``encode(to:)`` has written.
  public init(from decoder: any Decoder) throws {
    let cases = try decoder.container(keyedBy: Key.self)
    let names = cases.allKeys
    func unknown() -> DecodingError {
      .typeMismatch(
        Self.self,
        DecodingError.Context(
          codingPath: cases.codingPath, debugDescription: "There is no value of one known kind."))
    }
    guard names.count == 1 else { throw unknown() }
    let values = try cases.nestedContainer(keyedBy: Key.self, forKey: names[0])
    func value<Value: Decodable>() throws -> Value {
      try values.decode(Value.self, forKey: .value)
    }
    switch names[0].stringValue {
    case "null": self = .null
    case "bool": self = .bool(try value())
    case "integer": self = .integer(try value())
    case "double": self = .double(try value())
    case "string": self = .string(try value())
    case "data": self = .data(try value())
    case "date": self = .date(try value())
    case "url": self = .url(try value())
    case "uuid": self = .uuid(try value())
    case "array": self = .array(try value())
    case "set": self = .set(try value())
    case "dictionary": self = .dictionary(try value())
    default: throw unknown()
    }
  }
}
