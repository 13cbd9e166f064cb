/// A case of an enumeration as it is coded: its name, with its values under their labels.
///
/// It has the form that the compiler's own coding of such an enumeration has. That one makes a type of
/// keys for each case, which for reports was a tenth of the compiled library.
struct CodedCase {
  /// The name of a case, and its values; one that is nil is not written.
  typealias Content = (name: String, values: KeyValuePairs<String, (any Encodable)?>)

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  let name: String
  private let values: KeyedDecodingContainer<Key>

  static func encode(_ content: Content, to encoder: any Encoder) throws {
    var cases = encoder.container(keyedBy: Key.self)
    var values = cases.nestedContainer(
      keyedBy: Key.self, forKey: Key(stringValue: content.name))
    for case (let label, let value?) in content.values {
      try values.encode(value, forKey: Key(stringValue: label))
    }
  }

  /// Reads the name of a case.
  ///
  /// - Throws: `DecodingError` if there is not one name.
  init(from decoder: any Decoder) throws {
    let cases = try decoder.container(keyedBy: Key.self)
    guard let key = cases.allKeys.first, cases.allKeys.count == 1 else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath,
          debugDescription: "There are \(cases.allKeys.count) cases where one should be."))
    }
    name = key.stringValue
    values = try cases.nestedContainer(keyedBy: Key.self, forKey: key)
  }

  func value<Value: Decodable>(_ label: String) throws -> Value {
    try values.decode(Value.self, forKey: Key(stringValue: label))
  }

  func valueIfPresent<Value: Decodable>(_ label: String) throws -> Value? {
    try values.decodeIfPresent(Value.self, forKey: Key(stringValue: label))
  }

  /// The error for a case that only a newer version knows.
  func isUnknown<Whole>(to type: Whole.Type) -> DecodingError {
    DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: values.codingPath,
        debugDescription: "“\(name)” is no case of \(type) in this version."))
  }
}
