/// A type that a keyed archive stores directly, in a form of its own.
///
/// The types are Bool, the integers, Float, Double, String, Data, Date, UUID
/// and URL, arrays of them, and dictionaries from String to them. The set is
/// closed, because each form is a part of the archive format: write other
/// types as a nested keyed container, see ``KeyedEncoder``.
public protocol ArchiveValue: Codable, Sendable {
  /// Writes the value; called by the encoder.
  func write(to writer: ValueWriter)

  /// Writes an array of values, packed where the format can.
  static func writeArray(_ values: [Self], to writer: ValueWriter)

  /// Reads a value.
  ///
  /// - Throws: ``ArchiveError`` with `typeMismatch` for another type and
  ///   `numberOutOfRange` for a number that does not fit.
  static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Self

  /// Reads the value that begins at an offset of a record that was checked.
  ///
  /// When the call returns, the offset is where the value ends.
  ///
  /// - Throws: ``ArchiveError`` as ``read(from:in:)`` does.
  static func read(
    at offset: inout Int, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Self

  /// Reads an array that ``writeArray(_:to:)`` wrote.
  ///
  /// - Throws: ``ArchiveError`` as ``read(from:in:)`` does.
  static func readArray(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> [Self]
}

extension ArchiveValue {
  /// Writes the elements one after the other.
  public static func writeArray(_ values: [Self], to writer: ValueWriter) {
    writeElements(values, to: writer)
  }

  static func writeElements(_ values: [Self], to writer: ValueWriter) {
    let start = writer.openContainer()
    for value in values { value.write(to: writer) }
    writer.closeContainer(.array, count: values.count, from: start)
  }

  /// Reads a value of any form.
  @inlinable
  public static func read(
    at offset: inout Int, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Self {
    try readAnyForm(at: &offset, in: bytes)
  }

  /// Reads a value of any form, for types that read their usual form at once.
  @inlinable
  static func readAnyForm(
    at offset: inout Int, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Self {
    let reader = try ValueReader(bytes, at: offset)
    offset = reader.end
    return try read(from: reader, in: bytes)
  }

  /// Reads the elements one after the other.
  public static func readArray(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> [Self] {
    try reader.readElements(bytes, read)
  }
}

extension Array: ArchiveValue where Element: ArchiveValue {
  /// Writes the elements, packed where the format can.
  public func write(to writer: ValueWriter) {
    Element.writeArray(self, to: writer)
  }

  // Inlinable, since it would otherwise be the same code for all elements, which takes
  // twice as long for a few numbers (benchmark: restore nodes).
  /// Reads the elements.
  @inlinable
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> [Element] {
    if reader.isLarge { try checkMemory(of: reader, in: bytes) }
    return try Element.readArray(from: reader, in: bytes)
  }
}

extension Dictionary: ArchiveValue where Key == String, Value: ArchiveValue {
  /// Writes the entries in the order of their keys' UTF-8 bytes.
  ///
  /// - Complexity: O(*n* log *n*) in the number of entries.
  public func write(to writer: ValueWriter) {
    let start = writer.openContainer()
    for (key, value) in sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      if key.utf8.count > writer.limits.keyByteCount {
        writer.fail(ArchiveError(.limitExceeded, subject: "bytes of a key"))
      }
      if CombiningMarks.areTooMany(in: key) { writer.fail(CombiningMarks.error()) }
      writer.output.writeKey(inline: key)
      value.write(to: writer)
    }
    writer.closeContainer(.map, count: count, from: start)
  }

  /// Reads the entries.
  ///
  /// - Throws: ``ArchiveError`` with `typeMismatch` also if two keys are
  ///   spellings of one name, which are one key in Swift; `limitExceeded` if a
  ///   key has more combining marks in a row than a text needs.
  @_specialize(where Value == String)  // Three times as fast (benchmark: restore small states).
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> [String: Value] {
    guard reader.header.kind == .map else { throw reader.mismatch("map") }
    try reader.checkMemory(of: Self.self, in: bytes)
    var cursor = ByteCursor(bytes, over: reader.header.payload)
    var result = [String: Value](minimumCapacity: reader.header.count)
    while !cursor.isAtEnd {
      guard
        case .inline(let range) = try cursor.readKey(bytes)
      else { throw reader.mismatch("dictionary") }
      let value = try ValueReader(bytes, at: cursor.offset)
      // The key is data of the app here, so errors do not name it.
      if CombiningMarks.areTooMany(in: range, of: bytes) {
        throw CombiningMarks.error(at: range.lowerBound)
      }
      result[bytes.text(range)] = try Value.read(from: value, in: bytes)
      cursor.offset = value.end
    }
    guard result.count == reader.header.count else { throw reader.equalKeys }
    return result
  }
}
