/// The fields of a value, each under a key.
struct KeyedValueDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let entries: MapEntries

  private var session: DecodingSession { entries.session }

  var codingPath: [any CodingKey] { session.codingPath(to: entries.offset) }
  var allKeys: [Key] { entries.keys.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { entries.contains(key.stringValue) }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

  // Most fields have one of these four types. The compiler knows the types here; the
  // general method below learns its type only at run time, from the standard library.

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decodeKnown(type, key) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decodeKnown(type, key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decodeKnown(type, key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try decodeKnown(type, key) }

  @inline(__always)
  private func decodeKnown<Value: ArchiveValue>(_ type: Value.Type, _ key: Key) throws -> Value {
    guard let value = try entries.read(type, key.stringValue) else {
      throw missing(key)
    }
    return value
  }

  func decode<Value: ArchiveValue>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try session.decode(direct: type, from: try value(key))
  }

  // Without these two methods the standard library has some that throw.
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try decodeKnown(type, key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try decodeKnown(type, key)
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    guard let value = try entries.decode(type, key.stringValue) else {
      throw missing(key)
    }
    return value
  }

  func decodeIfPresent<Value: ArchiveValue>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value? {
    guard let value = try entries.value(key.stringValue), !value.isNull else { return nil }
    return try session.decode(direct: type, from: value)
  }

  /// Null is nil, but not for an optional Optional, whose outer level was not nil then.
  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let value = try entries.value(key.stringValue) else { return nil }
    if value.isNull, !(type is any OptionalType.Type) { return nil }
    return try session.decode(type, from: value, nil)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(PathKey.super) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: some CodingKey) throws -> ValueDecoder {
    ValueDecoder(session: session, offset: try value(key).offset)
  }

  private func value(_ key: some CodingKey) throws -> ValueReader {
    guard let value = try entries.value(key.stringValue) else { throw missing(key) }
    return value
  }

  // In a function of its own, so that the code for fields that are there stays short.
  @inline(never)
  private func missing(_ key: some CodingKey) -> any Error {
    DecodingError.keyNotFound(
      key, session.context(at: entries.offset, "There is no value for this key."))
  }
}
