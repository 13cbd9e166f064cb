/// The fields of a value, each under a key.
struct KeyedValueDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let entries: MapEntries

  private var session: DecodingSession { entries.session }

  var codingPath: [any CodingKey] { session.codingPath(to: entries.offset) }
  var allKeys: [Key] { entries.names.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { entries.contains(key.stringValue) }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

  func decode<Value: ArchiveValue>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try session.decode(direct: type, from: try value(key))
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try session.decode(type, from: try value(key))
  }

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try session.decode(wide: type, from: try value(key))
  }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try session.decode(wide: type, from: try value(key))
  }

  func decodeIfPresent<Value: ArchiveValue>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value? {
    guard let value = try entries.value(key.stringValue), !value.isNull else { return nil }
    return try session.decode(direct: type, from: value)
  }

  /// Null is nil, except for an optional Optional, which was there then.
  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let value = try entries.value(key.stringValue) else { return nil }
    if value.isNull, !(type is any OptionalType.Type) { return nil }
    return try session.decode(type, from: value)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decoder(try value(key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(try value(key)).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { decoder(try value(NameKey.super)) }

  func superDecoder(forKey key: Key) throws -> any Decoder { decoder(try value(key)) }

  private func decoder(_ value: ValueReader) -> ValueDecoder {
    ValueDecoder(session: session, offset: value.offset)
  }

  private func value(_ key: some CodingKey) throws -> ValueReader {
    guard let value = try entries.value(key.stringValue) else {
      throw DecodingError.keyNotFound(
        key, session.context(at: entries.offset, "There is no value for this key."))
    }
    return value
  }
}
