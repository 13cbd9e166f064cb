/// The elements of a value, in order: of an array, or the numbers of a packed
/// array or of bytes, for a type that takes them one by one.
struct UnkeyedValueDecoder: UnkeyedDecodingContainer {
  private let session: DecodingSession
  private let array: ValueReader
  private var offset: Int
  private(set) var currentIndex = 0

  init(session: DecodingSession, reader: ValueReader) {
    self.session = session
    array = reader
    offset = reader.header.payload.lowerBound
  }

  var codingPath: [any CodingKey] { session.codingPath(to: array.offset) }
  var count: Int? { array.elementCount }
  var isAtEnd: Bool { currentIndex >= array.elementCount }

  mutating func decodeNil() throws -> Bool {
    let element = try next(Never.self)
    guard element.isNull else { return false }
    advance(past: element)
    return true
  }

  mutating func decode<Value: ArchiveValue>(_ type: Value.Type) throws -> Value {
    try take(direct: type)
  }

  mutating func decode(_ type: Int128.Type) throws -> Int128 { try take(direct: type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try take(direct: type) }

  @inline(__always)
  private mutating func take<Value: ArchiveValue>(direct type: Value.Type) throws -> Value {
    try take(type) { session, element in try session.decode(direct: type, from: element) }
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let element = try next(type)
    let value = try session.decode(type, from: element, decoder)
    advance(past: element)
    return value
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let decoder = decoder
    return try take([String: Any].self) { _, _ in try decoder.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let decoder = decoder
    return try take([Any].self) { _, _ in try decoder.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = decoder
    return try take((any Decoder).self) { _, _ in decoder }
  }

  /// The decoder of the next element, if there is one.
  private var decoder: ValueDecoder {
    array.header.kind == .array
      ? ValueDecoder(session: session, offset: offset)
      : ValueDecoder(
        session: session, offset: array.offset, element: Int32(truncatingIfNeeded: currentIndex))
  }

  /// Decodes the next element and moves past it, if decoding succeeds.
  @inline(__always)
  private mutating func take<Value>(
    _ type: Any.Type, _ decode: (DecodingSession, ValueReader) throws -> Value
  ) throws -> Value {
    let element = try next(type)
    let value = try decode(session, element)
    advance(past: element)
    return value
  }

  private func next(_ type: Any.Type) throws -> ValueReader {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(
          codingPath: codingPath + [PathKey.index(currentIndex)],
          debugDescription: "The array has no more elements."))
    }
    return try session.packedElement(of: array, currentIndex) ?? session.reader(at: offset)
  }

  private mutating func advance(past element: ValueReader) {
    offset = element.end
    currentIndex += 1
  }
}
