/// How values of one type are stored when they come through Codable.
enum CodableForm {
  /// In the form that the keyed archive has for the type; the type's own coding is not called.
  case direct(any ArchiveValue.Type)
  /// In a form of this library, because the type's own coding would lose or blur
  /// something, as the order of a Set or the levels of an Optional, or takes longer. The type is nil
  /// if it can only be encoded; an instance takes so many bytes of memory.
  case reshaped((any ReshapedDecodable.Type)?, byteCount: Int)
  /// In the form that the type's `encode(to:)` and `init(from:)` choose; an instance
  /// takes so many bytes of memory.
  case ordinary(byteCount: Int)

  init<Value>(_ type: Value.Type) {
    if let direct = type as? any ArchiveValue.Type {
      self = .direct(direct)
    } else if let reshaped = type as? any ReshapedDecodable.Type {
      self = .reshaped(
        reshaped, byteCount: MemoryLayout<Value>.stride + reshaped.instanceByteCount)
    } else if type is any ReshapedEncodable.Type {
      self = .reshaped(nil, byteCount: 0)
    } else {
      self = .ordinary(
        byteCount: MemoryLayout<Value>.stride
          + (type is AnyObject.Type ? DecodedMemory.instance : 0))
    }
  }
}

/// Remembers the forms of types.
///
/// Asking whether a type conforms to a protocol costs more than writing a
/// number, and an array asks for every element.
final class CodableForms {
  private var known: [(type: ObjectIdentifier, form: CodableForm)] = []

  /// More forms take longer to look through than to find out.
  private static let largestCount = 16

  subscript<Value>(type: Value.Type) -> CodableForm {
    let identifier = ObjectIdentifier(type)
    for entry in known where entry.type == identifier { return entry.form }
    let form = CodableForm(type)
    // Moved to a local variable for the change, so that reading needs no exclusivity check.
    var changed = known.count < Self.largestCount ? known : []
    known = []
    changed.append((identifier, form))
    known = changed
    return form
  }
}

/// A standard type whose own encoding is replaced, see ``CodableForm``.
protocol ReshapedEncodable {
  /// Writes the value as one array, map or null.
  func encodeReshaped(to encoder: ValueEncoder) throws
}

/// A standard type whose own decoding is replaced.
protocol ReshapedDecodable {
  /// The memory of an instance beside its elements, unless it is counted with them.
  static var instanceByteCount: Int { get }
  static func decodeReshaped(from decoder: ValueDecoder) throws -> Self
}

extension ReshapedDecodable {
  static var instanceByteCount: Int { DecodedMemory.instance }
}

extension Array: ReshapedDecodable where Element: Decodable {
  static var instanceByteCount: Int { 0 }

  /// The standard library would decode an array by appending without a reserve: each time the
  /// array grows, all elements move (benchmark: open and decode Codable nodes).
  static func decodeReshaped(from decoder: ValueDecoder) throws -> Self {
    var elements = try decoder.elements()
    var array: Self = []
    // Further memory is reserved while elements come, since each element is counted only then.
    array.reserveCapacity(
      Swift.min(elements.count ?? 0, 1 << 16 / Swift.max(1, MemoryLayout<Element>.stride)))
    while !elements.isAtEnd { array.append(try elements.decode(Element.self)) }
    return array
  }
}

extension ReshapedDecodable {
  static func decode<Value>(as type: Value.Type, from decoder: ValueDecoder) throws -> Value {
    try same(try decodeReshaped(from: decoder), as: type)
  }
}

/// Passes on a value as the type that it has, which the caller knows by another name.
///
/// A cast takes longer than reading a number, and so does an Optional of an unknown
/// type (benchmark: open and decode Codable nodes). So this function has neither.
///
/// - Throws: ``ArchiveError`` with `typeMismatch` if the types differ.
@inline(__always)
func same<Value, Other>(_ value: Value, as type: Other.Type) throws(ArchiveError) -> Other {
  guard Value.self == Other.self else { throw ArchiveError(.typeMismatch) }
  // Both names stand for one type, so the bits are the same.
  return unsafe unsafeBitCast(value, to: Other.self)
}
