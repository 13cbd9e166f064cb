extension ArchiveValue where Self: FixedWidthInteger {
  private static var isWide: Bool { bitWidth > UInt64.bitWidth }

  /// Writes the integer in as few bytes as it needs; one that does not fit into 64 bits as its 16
  /// bytes, lowest first.
  public func write(to writer: ValueWriter) {
    guard Self.isWide, Int64(exactly: self) == nil, UInt64(exactly: self) == nil else {
      return writer.write(self)
    }
    let bytes = (0..<16).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    writer.write(payload: bytes.span, tag: ValueTag.bytes)
  }

  /// Writes the integers packed, each as wide as the widest needs; those of 128 bits one after the other.
  public static func writeArray(_ values: [Self], to writer: ValueWriter) {
    if isWide { writeElements(values, to: writer) } else { writer.writePackedIntegers(values) }
  }

  /// Reads an integer of any width that fits.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Self {
    isWide && reader.header.kind == .bytes
      ? try reader.readWide(bytes) : try reader.readInteger()
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
}

extension Int8: ArchiveValue {}
extension Int16: ArchiveValue {}
extension Int32: ArchiveValue {}
extension Int64: ArchiveValue {}
extension Int128: ArchiveValue {}
extension UInt: ArchiveValue {}
extension UInt16: ArchiveValue {}
extension UInt32: ArchiveValue {}
extension UInt64: ArchiveValue {}
extension UInt128: ArchiveValue {}

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

extension ValueReader {
  /// Reads an integer of 128 bits that does not fit into 64.
  fileprivate func readWide<Wide: FixedWidthInteger>(
    _ bytes: Span<UInt8>
  ) throws(ArchiveError) -> Wide {
    guard header.payload.count == 16 else { throw mismatch("integer of 128 bits") }
    var value: Wide = 0
    for place in header.payload.reversed() {
      value = value << 8 | Wide(truncatingIfNeeded: bytes[place])
    }
    guard Int64(exactly: value) == nil, UInt64(exactly: value) == nil else {
      throw ArchiveError(.malformed, offset: header.payload.lowerBound)
    }
    return value
  }
}
