/// Reads the values of one record by their keys.
///
/// The whole record was checked before the decoder was made. Absent is nil,
/// everything else that is not the value asked for throws.
public struct KeyedDecoder: Sendable {
  let bytes: [UInt8]
  let symbols: SymbolTable
  let limits: ArchiveLimits
  /// The fields by symbol number, ascending, and where their values begin.
  private let fields: [(symbol: UInt32, offset: Int)]
  private let inlineFields: [String: Int]

  /// Opens the record whose map begins at the offset, after checking all of it.
  init(
    validating bytes: [UInt8], from offset: Int, symbols: SymbolTable, limits: ArchiveLimits
  ) throws(ArchiveError) {
    var reader = ByteReader(bytes, from: offset)
    try reader.validateRecord(symbols: symbols, limits: limits)
    try self.init(try ValueReader(bytes, at: offset), symbols: symbols, limits: limits)
  }

  /// Opens a map that was checked with its record.
  private init(
    _ map: ValueReader, symbols: SymbolTable, limits: ArchiveLimits
  ) throws(ArchiveError) {
    guard map.header.kind == .map else { throw map.mismatch("container") }
    bytes = map.bytes
    self.symbols = symbols
    self.limits = limits
    var reader = ByteReader(
      bytes, from: map.header.payload.lowerBound, to: map.header.payload.upperBound)
    var fields: [(symbol: UInt32, offset: Int)] = []
    fields.reserveCapacity(map.header.count)
    var inlineFields: [String: Int] = [:]
    while !reader.isAtEnd {
      switch try reader.readKey(limits: .standard, symbolCount: symbols.names.count) {
      case .symbol(let symbol): fields.append((symbol, reader.offset))
      case .inline(let range):
        let name = String(decoding: bytes[range], as: UTF8.self)
        guard inlineFields.updateValue(reader.offset, forKey: name) == nil else {
          // Two spellings of one key: equal as Swift strings, not as bytes.
          throw ArchiveError(.malformed, offset: range.lowerBound, subject: "equal keys")
        }
      }
      _ = try reader.readValueHeader()
    }
    self.fields = fields
    self.inlineFields = inlineFields
  }

  /// The keys of the record, in stored order.
  public var keys: [String] {
    fields.map { symbols.names[Int($0.symbol)] } + inlineFields.keys.sorted()
  }

  /// Whether the record has a value for the key.
  ///
  /// - Parameter key: The key that the value was encoded with.
  /// - Returns: Whether the key is there.
  public func contains(_ key: String) -> Bool {
    offset(of: key) != nil
  }

  /// Reads the value of a key that must be there.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded; integers may differ in width.
  ///   - key: The key that the value was encoded with.
  /// - Returns: The value.
  /// - Throws: ``ArchiveError`` with `keyNotFound`, `typeMismatch` or
  ///   `numberOutOfRange`, and the key in its path.
  /// - Complexity: O(log *k* + *n*) for *k* keys and *n* bytes of the value.
  public func decode<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(ArchiveError) -> Value {
    guard let value = try decodeIfPresent(type, forKey: key) else {
      throw ArchiveError(.keyNotFound, path: [key])
    }
    return value
  }

  /// Reads the value of a key, nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded; integers may differ in width.
  ///   - key: The key that the value was encoded with.
  /// - Returns: The value, or nil if the key is absent.
  /// - Throws: ``ArchiveError`` with `typeMismatch` or `numberOutOfRange`, and
  ///   the key in its path. An absent key is not an error.
  public func decodeIfPresent<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(ArchiveError) -> Value? {
    try read(key) { value throws(ArchiveError) in try Value.read(from: value) }
  }

  /// Opens the container of a key, nil if there is none.
  ///
  /// - Parameter key: The key that the container was encoded with.
  /// - Returns: A decoder for the values of the container, or nil.
  /// - Throws: ``ArchiveError`` with `typeMismatch` for another value.
  public func container(forKey key: String) throws(ArchiveError) -> KeyedDecoder? {
    try read(key) { value throws(ArchiveError) in
      try KeyedDecoder(value, symbols: symbols, limits: limits)
    }
  }

  /// Reads the identifier of the record that a reference names, nil if absent.
  ///
  /// - Parameter key: The key that the reference was encoded with.
  /// - Returns: The identifier, or nil. The record need not exist.
  /// - Throws: ``ArchiveError`` with `typeMismatch` for another value.
  public func reference(forKey key: String) throws(ArchiveError) -> UInt64? {
    try read(key) { value throws(ArchiveError) in try value.readReference() }
  }

  /// Reads the identifiers that references name, nil if absent.
  ///
  /// - Parameter key: The key that the references were encoded with.
  /// - Returns: The identifiers in order, or nil. The records need not exist.
  /// - Throws: ``ArchiveError`` with `typeMismatch` for another value.
  public func references(forKey key: String) throws(ArchiveError) -> [UInt64]? {
    try read(key) { value throws(ArchiveError) in
      try value.readElements { element throws(ArchiveError) in try element.readReference() }
    }
  }

  private func read<Value>(
    _ key: String, _ convert: (ValueReader) throws(ArchiveError) -> Value
  ) throws(ArchiveError) -> Value? {
    guard let offset = offset(of: key) else { return nil }
    do {
      return try convert(try ValueReader(bytes, at: offset))
    } catch {
      throw error.at(key)
    }
  }

  func offset(of key: String) -> Int? {
    guard let symbol = symbols.number(of: key) else { return inlineFields[key] }
    var low = 0
    var high = fields.count
    while low < high {
      let middle = (low + high) / 2
      if fields[middle].symbol < symbol { low = middle + 1 } else { high = middle }
    }
    guard low < fields.count, fields[low].symbol == symbol else { return inlineFields[key] }
    return fields[low].offset
  }
}
