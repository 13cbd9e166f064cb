/// What all decoders of one Codable value share: the record that holds it.
///
/// Decoders know their value by its offset. A coding path is not carried
/// along: it is found in the record when somebody asks for it.
final class DecodingSession {
  let bytes: [UInt8]
  let symbols: SymbolTable
  let userInfo: [CodingUserInfoKey: any Sendable]
  /// Where the outermost value begins.
  let root: Int
  /// The path of the outermost value.
  let rootPath: [any CodingKey]
  private let callLimit: Int
  private var callDepth = 0
  private let forms = CodableForms()

  init(
    _ bytes: [UInt8], at root: Int, path: [any CodingKey], symbols: SymbolTable,
    callLimit: Int, userInfo: [CodingUserInfoKey: any Sendable]
  ) {
    self.bytes = bytes
    self.root = root
    self.symbols = symbols
    self.userInfo = userInfo
    rootPath = path
    self.callLimit = callLimit
  }

  func decodeRoot<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try decode(type, from: try reader(at: root))
  }

  /// Decodes a value of any type, by its form.
  func decode<Value: Decodable>(_ type: Value.Type, from reader: ValueReader) throws -> Value {
    switch forms[type] {
    case .direct(let direct):
      return try decode(direct, as: type, from: reader)
    case .reshaped:
      if let reshaped = type as? any ReshapedDecodable.Type {
        return try call(at: reader) { try cast(try reshaped.decodeReshaped(from: $0), reader) }
      }
      return try call(at: reader) { try Value(from: $0) }
    case .ordinary:
      return try call(at: reader) { try Value(from: $0) }
    }
  }

  /// Decodes a value of a type that has a form of its own.
  func decode<Value: ArchiveValue>(direct type: Value.Type, from reader: ValueReader) throws
    -> Value
  {
    do throws(ArchiveError) {
      return try Value.read(from: reader)
    } catch {
      throw decodingError(error, type, reader)
    }
  }

  func decode<Wide: FixedWidthInteger>(
    wide type: Wide.Type, from reader: ValueReader
  ) throws -> Wide {
    do throws(ArchiveError) {
      return try reader.readWide()
    } catch {
      throw decodingError(error, type, reader)
    }
  }

  func reader(at offset: Int) throws -> ValueReader {
    do throws(ArchiveError) {
      return try ValueReader(bytes, at: offset)
    } catch {
      throw DecodingError.dataCorrupted(context(at: offset, error.description))
    }
  }

  private func decode<Direct: ArchiveValue, Value: Decodable>(
    _ direct: Direct.Type, as type: Value.Type, from reader: ValueReader
  ) throws -> Value {
    try cast(try decode(direct: direct, from: reader), reader)
  }

  /// The types are the same, so this is no question.
  private func cast<Value>(_ value: Any, _ reader: ValueReader) throws -> Value {
    guard let value = value as? Value else {
      throw DecodingError.typeMismatch(Value.self, context(at: reader.offset, "another type"))
    }
    return value
  }

  /// Runs one `init(from:)`; values that nest too deeply are refused here,
  /// before the call stack runs out.
  private func call<Value>(
    at reader: ValueReader, _ body: (ValueDecoder) throws -> Value
  ) throws -> Value {
    guard callDepth < callLimit else {
      throw decodingError(
        ArchiveError(.limitExceeded, offset: reader.offset, subject: "depth"), Value.self, reader)
    }
    callDepth += 1
    defer { callDepth -= 1 }
    return try body(ValueDecoder(session: self, reader: reader))
  }
}
