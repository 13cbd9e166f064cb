internal import RestorationFoundation

/// The state that all decoders of one Codable value share: the record that holds the value.
///
/// Decoders know their value by its offset. No coding path is carried along: the record
/// is searched for the path when somebody asks for it.
final class DecodingSession {
  /// The bytes in which the record lies.
  let bytes: [UInt8]
  /// The range of the record in the bytes; all other offsets count from its start.
  let record: Range<Int>
  let symbols: SymbolTable
  let userInfo: [CodingUserInfoKey: any Sendable]
  /// Where the outermost value begins.
  let root: Int
  private let callLimit: Int
  private var callDepth = 0
  /// The bytes of memory that may still be taken.
  private var memory: Int
  private let forms = CodableForms()
  /// The mismatches of types and values that were found.
  let mismatches = TypeMismatches()
  var paths: PathFinder

  init(
    _ block: RecordBlock, _ record: Range<Int>, at root: Int, path: [any CodingKey],
    userInfo: [CodingUserInfoKey: any Sendable]
  ) {
    bytes = block.bytes
    self.record = record
    self.root = root
    symbols = block.symbols
    self.userInfo = userInfo
    paths = PathFinder(bytes, record, at: root, path: path, symbols)
    callLimit = block.callLimit
    memory = DecodedMemory.limit(recordByteCount: record.count)
  }

  func decodeRoot<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try decode(type, from: try reader(at: root), nil)
  }

  /// Decodes a value of any type, by its form.
  ///
  /// A packed element has no header of its own, so its decoder is passed on.
  func decode<Value: Decodable>(
    _ type: Value.Type, from reader: ValueReader, _ decoder: ValueDecoder?
  ) throws -> Value {
    switch forms[type] {
    case .direct(let direct):
      let bytes = bytes
      return try read(direct, as: type, from: reader, in: bytes.span.extracting(record))
    case .reshaped(let reshaped?, let byteCount):
      try take(byteCount, for: type, reader)
      return try call(at: reader, decoder) { try reshaped.decode(as: type, from: $0) }
    case .reshaped(nil, let byteCount), .ordinary(let byteCount):
      try take(byteCount, for: type, reader)
      return try call(at: reader, decoder) { try Value(from: $0) }
    }
  }

  /// Decodes a value of a type with a form of its own.
  func decode<Value: ArchiveValue>(direct type: Value.Type, from reader: ValueReader) throws
    -> Value
  {
    let bytes = bytes
    return try read(type, from: reader, in: bytes.span.extracting(record))
  }

  func read<Value: ArchiveValue>(
    _ type: Value.Type, from reader: ValueReader, in bytes: Span<UInt8>
  ) throws -> Value {
    if Value.self == URL.self { try take(DecodedMemory.url, for: type, reader) }
    if !mismatches.isEmpty, let mismatch = mismatches.find(type, reader.header) {
      throw decodingError(mismatch, type, reader)
    }
    do throws(ArchiveError) {
      return try Value.read(from: reader, in: bytes)
    } catch {
      throw decodingError(ofKind: error, type, reader)
    }
  }

  func reader(at offset: Int) throws -> ValueReader {
    let bytes = bytes
    return try reader(at: offset, in: bytes.span.extracting(record))
  }

  func reader(at offset: Int, in bytes: Span<UInt8>) throws -> ValueReader {
    do throws(ArchiveError) {
      return try ValueReader(bytes, at: offset)
    } catch {
      throw DecodingError.dataCorrupted(context(at: offset, error.description))
    }
  }

  /// The number at an index of a packed array or of bytes; nil for another array.
  func packedElement(of array: ValueReader, _ index: Int) -> ValueReader? {
    guard array.header.kind != .array else { return nil }
    let bytes = bytes
    return array.packedElement(index, in: bytes.span.extracting(record))
  }

  func read<Direct: ArchiveValue, Value: Decodable>(
    _ direct: Direct.Type, as type: Value.Type, from reader: ValueReader, in bytes: Span<UInt8>
  ) throws -> Value {
    try same(try read(direct, from: reader, in: bytes), as: type)
  }

  /// Counts memory, before it is taken.
  func take(_ byteCount: Int, for type: Any.Type, _ reader: ValueReader) throws {
    memory -= byteCount
    guard memory >= 0 else {
      throw decodingError(DecodedMemory.error(at: reader.offset), type, reader)
    }
  }

  /// Runs one `init(from:)`; values that nest too deeply are refused here,
  /// before the call stack runs out.
  @inline(__always)
  private func call<Value>(
    at reader: ValueReader, _ decoder: ValueDecoder?, _ body: (ValueDecoder) throws -> Value
  ) throws -> Value {
    guard callDepth < callLimit else {
      throw decodingError(
        ArchiveError(.limitExceeded, offset: reader.offset, subject: "depth"), Value.self, reader)
    }
    callDepth += 1
    defer { callDepth -= 1 }
    return try body(decoder ?? ValueDecoder(session: self, offset: reader.offset))
  }
}
