/// Reads the values of one record by their keys.
///
/// The whole record was checked before the decoder was made. An absent key is
/// nil; a value of another type throws.
public struct KeyedDecoder: Sendable {
  @usableFromInline let block: RecordBlock
  /// The range of the record in the block; all other offsets count from its start.
  @usableFromInline let record: Range<Int>
  let entries: StoredMap

  /// Opens the record whose map begins at the offset, after checking the whole record.
  init(
    validating bytes: [UInt8], from offset: Int, symbols: SymbolTable, limits: ArchiveLimits
  ) throws(ArchiveError) {
    var validator = RecordValidator(symbols: symbols, limits: limits)
    try validator.validate(bytes.span, from: offset)
    try self.init(
      bytes.indices, of: RecordBlock(bytes, symbols: symbols, limits: limits), mapOffset: offset)
  }

  /// Opens a record that was checked before.
  init(
    _ record: Range<Int>, of block: RecordBlock, mapOffset: Int
  ) throws(ArchiveError) {
    let stored = block.bytes
    let map = try ValueReader(stored.span.extracting(record), at: mapOffset)
    try self.init(map, in: record, of: block)
  }

  /// Opens a map that was checked with its record.
  private init(
    _ map: ValueReader, in record: Range<Int>, of block: RecordBlock
  ) throws(ArchiveError) {
    guard map.header.kind == .map else { throw map.mismatch("container") }
    let stored = block.bytes
    entries = StoredMap(map, in: stored.span.extracting(record))
    (self.block, self.record) = (block, record)
  }

  private init(empty block: RecordBlock) {
    self.block = block
    (record, entries) = (0..<0, StoredMap())
  }

  /// A decoder without values.
  package static let empty = KeyedDecoder(
    empty: RecordBlock([], symbols: SymbolTable(), limits: .standard))

  /// The keys of the record, in stored order.
  ///
  /// No two keys have the same UTF-8. Two may be spellings of one name, which
  /// are equal as Strings.
  ///
  /// - Complexity: O(*n*) in their bytes.
  public var keys: [String] {
    let stored = block.bytes
    return entries.names(in: stored.span.extracting(record), block.symbols.names)
  }

  /// Whether the record has a value for the key.
  ///
  /// - Parameter key: The key that the value was encoded with.
  /// - Returns: Whether the key is there.
  public func contains(_ key: String) -> Bool {
    find(key) != nil
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
  @inlinable
  public func decode<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(ArchiveError) -> Value {
    guard let value = try decodeIfPresent(type, forKey: key) else { throw missing(key) }
    return value
  }

  @usableFromInline
  func missing(_ key: String) -> ArchiveError {
    ArchiveError(.keyNotFound, path: [key])
  }

  /// Reads the value of a key, nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The type that was encoded; integers may differ in width.
  ///   - key: The key that the value was encoded with.
  /// - Returns: The value, or nil if the key is absent.
  /// - Throws: ``ArchiveError`` with `typeMismatch` or `numberOutOfRange`, and
  ///   the key in its path. An absent key is not an error.
  @inlinable
  public func decodeIfPresent<Value: ArchiveValue>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(ArchiveError) -> Value? {
    guard let value = try reader(of: key) else { return nil }
    let stored = block.bytes
    do {
      return try Value.read(from: value, in: stored.span.extracting(record))
    } catch {
      throw locate(error, key)
    }
  }

  @usableFromInline
  func locate(_ error: ArchiveError, _ key: String) -> ArchiveError { error.at(key) }

  /// Opens the container of a key, nil if there is none.
  ///
  /// - Parameter key: The key that the container was encoded with.
  /// - Returns: A decoder for the values of the container, or nil.
  /// - Throws: ``ArchiveError`` with `typeMismatch` for another value.
  /// - Complexity: O(*n*) in the number of the container's values.
  public func container(forKey key: String) throws(ArchiveError) -> KeyedDecoder? {
    try read(key) { value throws(ArchiveError) in
      try KeyedDecoder(value, in: self.record, of: self.block)
    }
  }

  /// Reads a name, nil if there is none.
  ///
  /// - Parameter key: The key that the name was encoded with.
  /// - Returns: The name, or nil.
  /// - Throws: ``ArchiveError`` with `typeMismatch` for another value.
  public func name(forKey key: String) throws(ArchiveError) -> String? {
    try read(key) { value throws(ArchiveError) in
      guard let name = value.header.key else { throw value.mismatch("name") }
      return self.text(of: name)
    }
  }

  func text(of name: ValueKey) -> String {
    let stored = block.bytes
    return stored.span.extracting(record).text(of: name, block.symbols.names)
  }

  /// Reads the identifier of the record that a reference names, nil if there is
  /// none.
  ///
  /// - Parameter key: The key that the reference was encoded with.
  /// - Returns: The identifier, or nil. The record need not exist.
  /// - Throws: ``ArchiveError`` with `typeMismatch` for another value.
  public func reference(forKey key: String) throws(ArchiveError) -> UInt64? {
    try read(key) { value throws(ArchiveError) in try value.readReference() }
  }

  /// Reads the identifiers of the records that references name, nil if there
  /// are none.
  ///
  /// - Parameter key: The key that the references were encoded with.
  /// - Returns: The identifiers in order, or nil. The records need not exist.
  /// - Throws: ``ArchiveError`` with `typeMismatch` for another value.
  public func references(forKey key: String) throws(ArchiveError) -> [UInt64]? {
    try read(key) { value throws(ArchiveError) in
      let stored = block.bytes
      return try value.readElements(stored.span.extracting(record)) {
        (element, _) throws(ArchiveError) in
        try element.readReference()
      }
    }
  }

  func read<Value>(
    _ key: String, _ convert: (ValueReader) throws(ArchiveError) -> Value
  ) throws(ArchiveError) -> Value? {
    guard let value = try reader(of: key) else { return nil }
    do {
      return try convert(value)
    } catch {
      throw error.at(key)
    }
  }

  @usableFromInline
  func reader(of key: String) throws(ArchiveError) -> ValueReader? {
    let stored = block.bytes
    let bytes = stored.span.extracting(record)
    guard let entry = find(key, in: bytes) else { return nil }
    let value = try ValueReader(bytes, at: entry.value)
    note(value.end, entry.place + 1)
    return value
  }

  /// The entry of a key; the next search begins with this entry.
  private func find(_ key: String) -> StoredMap.Entry? {
    let stored = block.bytes
    let bytes = stored.span.extracting(record)
    guard let entry = find(key, in: bytes) else { return nil }
    note(entry.start, entry.place)
    return entry
  }

  @inline(__always)
  private func find(_ key: String, in bytes: Span<UInt8>) -> StoredMap.Entry? {
    let start = record.lowerBound + entries.payload.lowerBound
    var position = entries.start
    if let hint = block.hint(forMapAt: start) {
      position = EntryPosition(offset: hint.offset - record.lowerBound, place: hint.place)
    }
    return entries.find(key, from: position, in: bytes, block.symbols)
  }

  @inline(__always)
  private func note(_ offset: Int, _ place: Int) {
    block.note(
      EntryPosition(offset: record.lowerBound + offset, place: place),
      forMapAt: record.lowerBound + entries.payload.lowerBound)
  }

  /// Whether a key is that of a field, and not of a dictionary.
  ///
  /// Reliable if the writer of the record had room for all names.
  func isField(_ key: String) -> Bool {
    guard case .symbol = find(key)?.key else { return false }
    return true
  }

  /// The number of all keys.
  package var keyCount: Int { entries.count }
}

extension KeyedDecoder {
  /// The keys, for a dictionary from String.
  ///
  /// - Throws: ``ArchiveError`` with `typeMismatch` if Swift cannot tell two keys
  ///   apart, and with `limitExceeded` if one takes too long to hash.
  package var dictionaryKeys: [String] {
    get throws(ArchiveError) {
      let keys = keys
      if keys.contains(where: CombiningMarks.areTooMany) { throw CombiningMarks.error() }
      guard Set(keys).count == keys.count else {
        throw ArchiveError(.typeMismatch, subject: "keys that are not different in Swift")
      }
      return keys
    }
  }
}
