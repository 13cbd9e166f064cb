/// How values of one type are stored when they come through Codable.
enum CodableForm {
  /// As the keyed archive stores the type; its own coding is not asked.
  case direct(any ArchiveValue.Type)
  /// As this library says, because the type's own coding would lose or blur
  /// something: the order of a Set, the levels of an Optional; one takes so
  /// many bytes of memory. Nil if it cannot be decoded.
  case reshaped((any ReshapedDecodable.Type)?, byteCount: Int)
  /// As its `encode(to:)` and `init(from:)` say; an instance takes so many
  /// bytes of memory.
  case ordinary(byteCount: Int)
  /// As an array of values that have no form of their own.
  case array(any DecodableArray.Type)

  init<Value>(_ type: Value.Type) {
    if let direct = type as? any ArchiveValue.Type {
      self = .direct(direct)
    } else if type is any Reshaped.Type {
      self = .reshaped(
        type as? any ReshapedDecodable.Type,
        byteCount: MemoryLayout<Value>.stride + DecodedMemory.instance)
    } else if let array = type as? any DecodableArray.Type {
      self = .array(array)
    } else {
      self = .ordinary(
        byteCount: MemoryLayout<Value>.stride
          + (type is AnyObject.Type ? DecodedMemory.instance : 0))
    }
  }
}

/// Remembers the forms of the types that were met.
///
/// Asking whether a type conforms to a protocol costs more than writing a
/// number, and an array asks for every element.
final class CodableForms {
  private var known: [(type: ObjectIdentifier, form: CodableForm)?] = Array(
    repeating: nil, count: 32)

  subscript<Value>(type: Value.Type) -> CodableForm {
    let identifier = ObjectIdentifier(type)
    // Types are addresses, and have their own 16 bytes at least.
    let place = Int(UInt(bitPattern: identifier) >> 4 % UInt(known.count))
    if let entry = known[place], entry.type == identifier { return entry.form }
    let form = CodableForm(type)
    // Taken out to be changed, so that reading needs no exclusivity check.
    var changed = known
    known = []
    changed[place] = (identifier, form)
    known = changed
    return form
  }
}

/// A standard type whose own coding is replaced, see ``CodableForm``.
protocol Reshaped {}

protocol ReshapedEncodable: Reshaped {
  /// Writes the value as one array, map or null.
  func encodeReshaped(to encoder: ValueEncoder) throws
}

protocol ReshapedDecodable: Reshaped {
  static func decodeReshaped(from decoder: ValueDecoder) throws -> Self
}

/// An array of any values, which the standard library would let grow: each time
/// all elements move (benchmark: open and decode Codable nodes).
protocol DecodableArray {
  static func decodeElements(from decoder: ValueDecoder) throws -> Self
}

extension Array: DecodableArray where Element: Decodable {
  static func decodeElements(from decoder: ValueDecoder) throws -> Self {
    var elements = try decoder.elements()
    var array: Self = []
    // More are reserved as they come, since each is counted only then.
    array.reserveCapacity(
      Swift.min(elements.count ?? 0, 1 << 16 / Swift.max(1, MemoryLayout<Element>.stride)))
    while !elements.isAtEnd { array.append(try elements.decode(Element.self)) }
    return array
  }
}

extension DecodableArray {
  static func decode<Value>(as type: Value.Type, from decoder: ValueDecoder) throws -> Value {
    try same(try decodeElements(from: decoder), as: type)
  }
}

extension ReshapedDecodable {
  static func decode<Value>(as type: Value.Type, from decoder: ValueDecoder) throws -> Value {
    try same(try decodeReshaped(from: decoder), as: type)
  }
}

/// Passes on a value as the type that it has, which the caller knows by
/// another name.
///
/// A cast takes longer than reading a number, and an Optional of an unknown
/// type as long (benchmark: open and decode Codable nodes). So this has neither.
///
/// - Throws: ``ArchiveError`` with `typeMismatch` if the types differ.
@inline(__always)
func same<Value, Other>(_ value: Value, as type: Other.Type) throws(ArchiveError) -> Other {
  guard Value.self == Other.self else { throw ArchiveError(.typeMismatch) }
  // The same type, so the same bits.
  return unsafe unsafeBitCast(value, to: Other.self)
}
