/// The decoder that one call of `init(from:)` gets.
struct ValueDecoder: Decoder {
  let session: DecodingSession
  /// The offset of the value, or of the packed array that it is an element of.
  ///
  /// The header is read when it is needed, so that a decoder is small enough not to be allocated.
  let offset: Int
  /// The place in a packed array, whose elements have no headers.
  var element: Int32?

  var codingPath: [any CodingKey] {
    session.codingPath(to: offset) + (element.map { [PathKey.index(Int($0))] } ?? [])
  }

  var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(
      KeyedValueDecoder<Key>(entries: MapEntries(session, try map())))
  }

  /// The value, which must be a map; counts the memory that the names of a large one and a table may take.
  func map() throws -> ValueReader {
    let reader = try reader()
    guard reader.header.kind == .map else {
      throw mismatch([String: Any].self, "keyed container", reader)
    }
    if reader.header.count > StoredMap.longestScan {
      try session.take(
        reader.header.count * DecodedMemory.entry, for: [String: Any].self, reader)
    }
    return reader
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try elements() }

  /// The elements; counts the memory that those up to the size of a String take, since only larger ones are counted
  /// one by one.
  func elements() throws -> UnkeyedValueDecoder {
    let reader = try reader()
    switch reader.header.kind {
    case .array, .packedArray, .bytes:
      if reader.elementCount > 0 {
        let byteCount = DecodedMemory.array + reader.elementCount * MemoryLayout<String>.stride
        try session.take(byteCount, for: [Any].self, reader)
      }
      return UnkeyedValueDecoder(session: session, reader: reader)
    default: throw mismatch([Any].self, "unkeyed container", reader)
    }
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  /// The value; a packed element has no header of its own.
  func reader() throws -> ValueReader {
    let reader = try session.reader(at: offset)
    return element.flatMap { session.packedElement(of: reader, Int($0)) } ?? reader
  }

  func context(_ description: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: codingPath, debugDescription: description)
  }

  private func mismatch(_ type: Any.Type, _ expected: String, _ reader: ValueReader) -> any Error {
    session.mismatches.find(type, reader.header).map { session.decodingError($0, type, reader) }
      ?? session.decodingError(ofKind: reader.mismatch(expected), type, reader)
  }
}

extension ValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { (try? reader().isNull) ?? false }

  func decode<Value: ArchiveValue>(_ type: Value.Type) throws -> Value {
    try session.decode(direct: type, from: try reader())
  }

  func decode(_ type: Int128.Type) throws -> Int128 {
    try session.decode(direct: type, from: reader())
  }
  func decode(_ type: UInt128.Type) throws -> UInt128 {
    try session.decode(direct: type, from: reader())
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try session.decode(type, from: try reader(), self)
  }
}
