/// Tells an Optional from other types.
protocol OptionalType {}

extension Optional: OptionalType {}

// The standard library writes an Optional as its value or null, so that nil and
// .some(nil) of an optional Optional look the same. Here the inner Optional, if there
// is one, stands alone in an array.

extension Optional: ReshapedEncodable where Wrapped: OptionalType, Wrapped: Encodable {
  func encodeReshaped(to encoder: ValueEncoder) throws {
    guard let wrapped = self else { return try encoder.encodeNil() }
    encoder.openArray()
    try UnkeyedValueEncoder(encoder: encoder).encode(wrapped)
  }
}

extension Optional: ReshapedDecodable where Wrapped: OptionalType, Wrapped: Decodable {
  static func decodeReshaped(from decoder: ValueDecoder) throws -> Self {
    if decoder.decodeNil() { return nil }
    var elements = try decoder.unkeyedContainer()
    let wrapped = try elements.decode(Wrapped.self)
    guard elements.isAtEnd else {
      throw DecodingError.typeMismatch(Self.self, decoder.context("more than one value"))
    }
    return .some(wrapped)
  }
}
