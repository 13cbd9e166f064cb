/// The decoder that one call of `init(from:)` gets.
struct ValueDecoder: Decoder {
  let session: DecodingSession
  let reader: ValueReader

  var codingPath: [any CodingKey] { session.codingPath(to: reader.offset) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard reader.header.kind == .map else {
      throw mismatch([String: Any].self, "keyed container")
    }
    return KeyedDecodingContainer(
      KeyedValueDecoder<Key>(entries: MapEntries(session, reader.header, at: reader.offset)))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    switch reader.header.kind {
    case .array, .packedArray, .bytes:
      return UnkeyedValueDecoder(session: session, reader: reader)
    default: throw mismatch([Any].self, "unkeyed container")
    }
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func context(_ description: String) -> DecodingError.Context {
    session.context(at: reader.offset, description)
  }

  private func mismatch(_ type: Any.Type, _ expected: String) -> any Error {
    session.decodingError(reader.mismatch(expected), type, reader)
  }
}

extension ValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { reader.isNull }

  func decode<Value: ArchiveValue>(_ type: Value.Type) throws -> Value {
    try session.decode(direct: type, from: reader)
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try session.decode(type, from: reader)
  }

  func decode(_ type: Int128.Type) throws -> Int128 { try session.decode(wide: type, from: reader) }

  func decode(_ type: UInt128.Type) throws -> UInt128 {
    try session.decode(wide: type, from: reader)
  }
}
