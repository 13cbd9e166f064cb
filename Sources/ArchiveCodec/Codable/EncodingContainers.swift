extension ValueEncoder: Encoder {
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    openMap()
    return KeyedEncodingContainer(KeyedValueEncoder<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    openArray()
    return UnkeyedValueEncoder(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

/// The fields of a value, each under a key.
///
/// The standard library's numbers, Bool and String are encoded by the overload for
/// ``ArchiveValue``.
struct KeyedValueEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: ValueEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil(forKey key: Key) throws {
    try encoder.writeEntry((), under: key) { encoder.writer.writeNull() }
  }

  func encode<Value: ArchiveValue>(_ value: Value, forKey key: Key) throws { try write(value, key) }

  // Without these two methods the standard library has some that throw.
  func encode(_ value: Int128, forKey key: Key) throws { try write(value, key) }
  func encode(_ value: UInt128, forKey key: Key) throws { try write(value, key) }

  @inline(__always)
  private func write(_ value: some ArchiveValue, _ key: Key) throws {
    try encoder.writeEntry(value, under: key) { value.write(to: encoder.writer) }
  }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encoder.writeEntry(value, under: key) { try encoder.write(value, at: key) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder.nestContainer(under: key).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder.nestContainer(under: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder.nest(under: PathKey.super) }

  func superEncoder(forKey key: Key) -> any Encoder { encoder.nest(under: key) }
}

/// The elements of a value, in order.
struct UnkeyedValueEncoder: UnkeyedEncodingContainer {
  let encoder: ValueEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { encoder.count }

  func encodeNil() throws {
    try encoder.writeElement(()) { encoder.writer.writeNull() }
  }

  func encode<Value: ArchiveValue>(_ value: Value) throws { try write(value) }
  func encode(_ value: Int128) throws { try write(value) }
  func encode(_ value: UInt128) throws { try write(value) }

  @inline(__always)
  private func write(_ value: some ArchiveValue) throws {
    try encoder.writeElement(value) { value.write(to: encoder.writer) }
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    try encoder.writeElement(value) { try encoder.write(value, at: PathKey.index(count)) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder.nestElement().container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    encoder.nestElement().unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder.nestElement() }
}

/// A value that is one other value.
extension ValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws {
    try writeSingle(()) { writer.writeNull() }
  }

  func encode<Value: ArchiveValue>(_ value: Value) throws { try writeSingle(direct: value) }
  func encode(_ value: Int128) throws { try writeSingle(direct: value) }
  func encode(_ value: UInt128) throws { try writeSingle(direct: value) }

  @inline(__always)
  private func writeSingle(direct value: some ArchiveValue) throws {
    try writeSingle(value) { value.write(to: writer) }
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    try writeSingle(value) { try write(value) }
  }
}
