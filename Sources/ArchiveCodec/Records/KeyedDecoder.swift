/// Reads the values of one record by their keys.
///
/// The whole record was checked before the decoder was made. Absent is nil,
/// everything else that is not the value asked for throws.
public struct KeyedDecoder: Sendable {
  @usableFromInline let bytes: [UInt8]
  let symbols: SymbolTable
  let callLimit: Int
  /// Where the objects of the record begin.
  let objectsOffset: Int
  private let entries: FieldOffsets

  /// Opens the record whose map begins at the offset, after checking all of it;
  /// takes memory for the fields that is not needed any more.
  init(
    validating bytes: [UInt8], from offset: Int, symbols: SymbolTable, limits: ArchiveLimits,
    reusing memory: consuming [RecordField] = []
  ) throws(ArchiveError) {
    var validator = RecordValidator(
      bytes.span, from: offset, symbols: symbols, limits: limits, reusing: memory)
    try validator.validate(bytes.span)
    self.bytes = bytes
    self.symbols = symbols
    callLimit = limits.callLimit
    entries = validator.fields
    objectsOffset = validator.objectsOffset
  }

  /// Opens a map that was checked with its record.
  init(_ map: ValueReader, in record: KeyedDecoder) throws(ArchiveError) {
    guard map.header.kind == .map else { throw map.mismatch("container") }
    let bytes = record.bytes
    entries = try FieldOffsets(
      of: map, in: bytes.span, symbolCount: record.symbols.names.count)
    self.bytes = bytes
    symbols = record.symbols
    callLimit = record.callLimit
    objectsOffset = record.objectsOffset
  }

  /// The fields by symbol, ascending.
  var fields: [RecordField] { entries.symbolic }

  /// The keys of the record, in stored order.
  ///
  /// No two have the same UTF-8, but two may be spellings of one name, which are
  /// equal as Strings.
  ///
  /// - Complexity: O(*n*) in their bytes.
  public var keys: [String] {
    fields.map { symbols.names[Int($0.symbol)] } + entries.inlineNames(in: bytes.span)
  }

  /// Whether the record has a value for the key.
  ///
  /// - Parameter key: The key that the value was encoded with.
  /// - Returns: Whether the key is there.
  public func contains(_ key: String) -> Bool {
    place(of: key) != nil || entries.offset(ofInline: key, in: bytes.span) != nil
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
    do {
      return try Value.read(from: value, in: bytes.span)
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
  /// - Complexity: O(*n*) in the number of its values.
  public func container(forKey key: String) throws(ArchiveError) -> KeyedDecoder? {
    try read(key) { value throws(ArchiveError) in
      try KeyedDecoder(value, in: self)
    }
  }

  /// Reads a name, nil if absent.
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
    bytes.span.text(of: name, symbols.names)
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
      try value.readElements(bytes.span) { (element, _) throws(ArchiveError) in
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
    guard let offset = offset(of: key) else { return nil }
    return try ValueReader(bytes.span, at: offset)
  }

  /// Where the value of a key begins; the field after it is guessed next.
  func offset(of key: String) -> Int? {
    guard let place = place(of: key) else { return entries.offset(ofInline: key, in: bytes.span) }
    symbols.hint = place + 1
    return fields[place].offset
  }

  /// The place of a key in ``keys``, nil if it is not there or is written inline;
  /// it is guessed next.
  package func place(of key: String) -> Int? {
    let guess = symbols.hint
    let place = guess < fields.count ? guess : 0
    if place < fields.count, symbols.names[Int(fields[place].symbol)].hasSameBytes(as: key) {
      return place
    }
    guard let symbol = symbols.number(of: key), let place = entries.place(of: symbol) else {
      return nil
    }
    symbols.hint = place
    return place
  }

  /// The number of keys that have a place.
  package var placeCount: Int { fields.count }

  /// The number of all keys.
  package var keyCount: Int { fields.count + entries.inlineKeys.count }

  /// The key whose value holds a byte.
  func key(containing offset: Int) -> String? {
    entries.key(before: offset, in: bytes.span).map(text(of:))
  }
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
