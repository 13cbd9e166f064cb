/// How values of one type are stored when they come through Codable.
enum CodableForm {
  /// As the keyed archive stores the type; its own coding is not asked.
  case direct(any ArchiveValue.Type)
  /// As this library says, because the type's own coding would lose or blur
  /// something: the order of a Set, the levels of an Optional.
  case reshaped
  /// As its `encode(to:)` and `init(from:)` say.
  case ordinary

  init(_ type: Any.Type) {
    if let direct = type as? any ArchiveValue.Type {
      self = .direct(direct)
    } else if type is any Reshaped.Type {
      self = .reshaped
    } else {
      self = .ordinary
    }
  }
}

/// Remembers the forms of the types that were met.
///
/// Asking whether a type conforms to a protocol costs more than writing a
/// number, and an array asks for every element.
struct CodableForms {
  private var known: [(type: ObjectIdentifier, form: CodableForm)?] = Array(
    repeating: nil, count: 32)

  subscript(type: Any.Type) -> CodableForm {
    mutating get {
      let identifier = ObjectIdentifier(type)
      // Types are addresses, aligned to more than 16 bytes.
      let place = (identifier.hashValueOfAddress >> 4) % known.count
      if let entry = known[place], entry.type == identifier { return entry.form }
      let form = CodableForm(type)
      known[place] = (identifier, form)
      return form
    }
  }
}

extension ObjectIdentifier {
  fileprivate var hashValueOfAddress: Int { Int(UInt(bitPattern: self) >> 1) }
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
