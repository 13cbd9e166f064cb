extension ArchiveValue where Self: FixedWidthInteger {
  /// Writes the integer in as few bytes as it needs.
  public func write(to writer: ValueWriter) {
    writer.write(self)
  }

  /// Writes the integers packed, each as wide as the widest needs.
  public static func writeArray(_ values: [Self], to writer: ValueWriter) {
    writer.writePackedIntegers(values)
  }

  /// Reads an integer of any width that fits.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Self {
    try reader.readInteger()
  }

  /// Reads integers of any width that fit.
  public static func readArray(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> [Self] {
    try reader.readIntegers(bytes)
  }
}

extension Int: ArchiveValue {
  /// Reads an integer, of few bytes at once.
  public static func read(
    at offset: inout Int, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Int {
    if let value = bytes.plainInteger(at: &offset) { return value }
    return try readAnyForm(at: &offset, in: bytes)
  }

  /// Reads integers of any width that fit.
  public static func readArray(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> [Int] {
    try reader.readIntegers(bytes)
  }
}

extension Int8: ArchiveValue {}
extension Int16: ArchiveValue {}
extension Int32: ArchiveValue {}
extension Int64: ArchiveValue {}
extension UInt: ArchiveValue {}
extension UInt16: ArchiveValue {}
extension UInt32: ArchiveValue {}
extension UInt64: ArchiveValue {}

extension UInt8: ArchiveValue {
  /// Writes bytes, as Data does.
  public static func writeArray(_ values: [UInt8], to writer: ValueWriter) {
    writer.write(payload: values.span, tag: ValueTag.bytes)
  }

  /// Reads bytes, or integers that fit into bytes.
  public static func readArray(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> [UInt8] {
    reader.header.kind == .bytes
      ? bytes.array(try reader.byteRange()) : try reader.readIntegers(bytes)
  }
}
