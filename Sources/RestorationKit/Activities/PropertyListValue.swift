public import RestorationFoundation

/// A value that may lie in the user info of an activity or of a scene session.
///
/// A literal can be such a value: `["product": "lamp", "count": 3]`.
public enum PropertyListValue: Hashable, Codable, Sendable {
  /// No value.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int)
  /// A number with a fraction.
  case double(Double)
  /// A text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A moment.
  case date(Date)
  /// An address.
  case url(URL)
  /// A unique identifier.
  case uuid(UUID)
  /// Values in an order.
  case array([PropertyListValue])
  /// Different values without an order.
  case set(Set<PropertyListValue>)
  /// Values under names.
  case dictionary([String: PropertyListValue])
}

extension PropertyListValue {
  /// How deep collections may be nested.
  ///
  /// Deeper collections that are made of cases cannot be stored, which the report of the save says.
  public static let deepestNesting = 32

  /// Takes a value of any type that a property list can have.
  ///
  /// The types are Bool, integers that fit Int, Float, Double, String, Data, Date, URL,
  /// UUID, nil, and arrays, sets and dictionaries from String with values of these types.
  ///
  /// - Parameter value: The value.
  /// - Throws: ``RestorationError`` with `unsupportedValue`; the message names the
  ///   type.
  /// - Complexity: O(*n*) in the number of values.
  public init(_ value: Any) throws(RestorationError) {
    try self.init(value, depth: 0)
  }

  private init(_ value: Any, depth: Int) throws(RestorationError) {
    guard depth <= Self.deepestNesting else {
      throw Self.tooDeep
    }
    func inner(_ value: Any) throws(RestorationError) -> PropertyListValue {
      try PropertyListValue(value, depth: depth + 1)
    }
    switch value {
    case let value as PropertyListValue: self = value
    case let value as Bool: self = .bool(value)
    case let value as any FixedWidthInteger: self = try Self.whole(value)
    case let value as Double: self = .double(value)
    case let value as Float: self = .double(Double(value))
    case let value as String: self = .string(value)
    case let value as Data: self = .data(value)
    case let value as Date: self = .date(value)
    case let value as URL: self = .url(value)
    case let value as UUID: self = .uuid(value)
    case let values as [String: Any]: self = .dictionary(try Self.entries(values, depth: depth + 1))
    case let values as Set<AnyHashable>: self = .set(distinct(try values.map(\.base).map(inner)))
    case let values as [Any]: self = .array(try values.map(inner))
    case Optional<Any>.none: self = .null
    default:
      throw RestorationError(
        .unsupportedValue,
        "A \(type(of: value)) is no property list value."
          + " Store its identifier, or encode it to Data.")
    }
  }

  static let tooDeep = RestorationError(
    .unsupportedValue, "Collections may be nested \(deepestNesting) deep.")

  /// Whether collections in the value are nested deeper; the search stops there.
  func isNested(deeperThan depth: Int) -> Bool {
    guard depth >= 0 else { return true }
    return switch self {
    case .array(let values): values.contains { $0.isNested(deeperThan: depth - 1) }
    case .set(let values): values.contains { $0.isNested(deeperThan: depth - 1) }
    case .dictionary(let values): values.values.contains { $0.isNested(deeperThan: depth - 1) }
    default: false
    }
  }

  private static func whole(
    _ value: some FixedWidthInteger
  ) throws(RestorationError) -> PropertyListValue {
    guard let integer = Int(exactly: value) else {
      throw RestorationError(.unsupportedValue, "\(value) does not fit Int. Store it as a String.")
    }
    return .integer(integer)
  }

  static func entries(
    _ values: [String: Any], depth: Int = 0
  ) throws(RestorationError) -> [String: PropertyListValue] {
    var entries: [String: PropertyListValue] = .init()
    for (key, value) in values { entries[key] = try PropertyListValue(value, depth: depth) }
    return entries
  }
}

// MARK: - Reading

extension PropertyListValue {
  /// The Bool, nil for another type.
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The integer, nil for another type.
  public var integerValue: Int? { if case .integer(let value) = self { value } else { nil } }

  /// The number, also of an integer; nil for another type.
  public var doubleValue: Double? {
    switch self {
    case .double(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }

  /// The string, nil for another type.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

  /// The bytes, nil for another type.
  public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }

  /// The date, nil for another type.
  public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }

  /// The URL, nil for another type.
  public var urlValue: URL? { if case .url(let value) = self { value } else { nil } }

  /// The UUID, nil for another type.
  public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }

  /// The elements, nil for another type.
  public var arrayValue: [PropertyListValue]? {
    if case .array(let values) = self { values } else { nil }
  }

  /// The entries, nil for another type.
  public var dictionaryValue: [String: PropertyListValue]? {
    if case .dictionary(let values) = self { values } else { nil }
  }
}

// MARK: - Literals

extension PropertyListValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  /// A Bool.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer.
  public init(integerLiteral value: Int) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral elements: PropertyListValue...) { self = .array(elements) }
  /// Null.
  public init(nilLiteral: ()) { self = .null }

  /// Of equal keys the last one counts.
  public init(dictionaryLiteral elements: (String, PropertyListValue)...) {
    self = .dictionary(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}

/// A set of values.
// A copy for the one type, which is recursive, would be 23 KB of code.
@_semantics("optimize.sil.specialize.generic.never")
private func distinct<Value: Hashable>(_ values: [Value]) -> Set<Value> { Set(values) }
