public import RestorationFoundation

extension Bool: ArchiveValue {
  /// Writes one byte.
  public func write(to writer: ValueWriter) {
    writer.output.writeByte(self ? ValueTag.true : ValueTag.false)
  }

  /// Reads a Bool, in its usual form at once.
  public static func read(
    at offset: inout Int, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Bool {
    if let value = bytes.plainBool(at: &offset) { return value }
    return try readAnyForm(at: &offset, in: bytes)
  }

  /// Reads a Bool.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Bool {
    guard case .bool(let value) = reader.header.kind else { throw reader.mismatch("bool") }
    return value
  }
}

extension String: ArchiveValue {
  /// Writes the UTF-8 bytes as they are, without normalization.
  public func write(to writer: ValueWriter) { writer.write(self) }

  /// Reads a string, in its usual form at once.
  public static func read(
    at offset: inout Int, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> String {
    if let text = bytes.plainText(at: &offset) { return bytes.text(text) }
    return try readAnyForm(at: &offset, in: bytes)
  }

  /// Reads a string.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> String {
    guard reader.header.kind == .string else { throw reader.mismatch("string") }
    return bytes.text(reader.header.payload)
  }
}

extension Float: ArchiveValue {
  /// Writes the bit pattern, of NaNs too.
  public func write(to writer: ValueWriter) { writer.output.write(tag: ValueTag.float, bitPattern) }

  /// Writes the bit patterns, packed.
  public static func writeArray(_ values: [Float], to writer: ValueWriter) {
    writer.startPackedArray(.float, count: values.count)
    for value in values { writer.output.writeInteger(value.bitPattern) }
  }

  /// Reads a Float, or a Double that loses nothing.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Float {
    if reader.header.kind == .float { return Float(bitPattern: reader.bits(bytes)) }
    let value = try Double.read(from: reader, in: bytes)
    let narrowed = Float(value)
    guard Double(narrowed).bitPattern == value.bitPattern else {
      throw reader.outOfRange(Float.self)
    }
    return narrowed
  }

  /// Reads Floats, packed or not.
  public static func readArray(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> [Float] {
    try reader.readPacked(bytes, .float) { Float(bitPattern: UInt32(truncatingIfNeeded: $0)) }
  }
}

extension Double: ArchiveValue {
  /// Writes the bit pattern, of NaNs too.
  public func write(to writer: ValueWriter) {
    writer.output.write(tag: ValueTag.double, bitPattern)
  }

  /// Writes the bit patterns, packed.
  public static func writeArray(_ values: [Double], to writer: ValueWriter) {
    writer.startPackedArray(.double, count: values.count)
    for value in values { writer.output.writeInteger(value.bitPattern) }
  }

  /// Reads a Double, in its usual form at once.
  public static func read(
    at offset: inout Int, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Double {
    if let bits = bytes.plainBits(ValueTag.double, at: &offset) { return Double(bitPattern: bits) }
    return try readAnyForm(at: &offset, in: bytes)
  }

  /// Reads a Double or a Float.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Double {
    switch reader.header.kind {
    case .double: Double(bitPattern: reader.bits(bytes))
    case .float: Double(Float(bitPattern: reader.bits(bytes)))
    default: throw reader.mismatch("double")
    }
  }

  /// Reads Doubles, packed or not.
  public static func readArray(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> [Double] {
    try reader.readPacked(bytes, .double) { Double(bitPattern: $0) }
  }
}

extension Date: ArchiveValue {
  /// Writes the seconds since the start of 2001 in UTC, without loss.
  public func write(to writer: ValueWriter) {
    writer.output.write(tag: ValueTag.date, timeIntervalSinceReferenceDate.bitPattern)
  }

  /// Reads a Date, in its usual form at once.
  public static func read(
    at offset: inout Int, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Date {
    if let bits = bytes.plainBits(ValueTag.date, at: &offset) {
      return Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
    }
    return try readAnyForm(at: &offset, in: bytes)
  }

  /// Reads a Date.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Date {
    guard reader.header.kind == .date else { throw reader.mismatch("date") }
    return Date(timeIntervalSinceReferenceDate: Double(bitPattern: reader.bits(bytes)))
  }
}

extension UUID: ArchiveValue {
  /// Writes the 16 bytes.
  public func write(to writer: ValueWriter) {
    unsafe withUnsafeBytes(of: uuid) {
      unsafe writer.output.write($0, behind: Prefix(ValueTag.uuid))
    }
  }

  /// Reads a UUID.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> UUID {
    guard reader.header.kind == .uuid else { throw reader.mismatch("uuid") }
    let start = reader.header.payload.lowerBound
    func byte(_ place: Int) -> UInt8 { bytes[start + place] }
    return UUID(
      uuid: (
        byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7),
        byte(8), byte(9), byte(10), byte(11), byte(12), byte(13), byte(14), byte(15)
      ))
  }
}

extension URL {
  /// The URL of a text that stands for itself; nil for any other text.
  ///
  /// Foundation makes URLs of parts that no text gives, such as an empty one, and
  /// repairs some texts: their text would differ from the stored one.
  init?(archived text: String) {
    self.init(string: text)
    guard absoluteString.utf8.elementsEqual(text.utf8) else { return nil }
  }
}

extension URL: ArchiveValue {
  /// Writes the absolute string; the base of a relative URL is merged in.
  ///
  /// A URL that cannot be made of that string again, such as an empty one, is
  /// `malformed`. The record fails with it, as with a value over a limit.
  public func write(to writer: ValueWriter) {
    guard URL(archived: absoluteString) != nil else {
      writer.writeNull()
      return writer.fail(ArchiveError(.malformed, subject: "url"))
    }
    writer.write(payload: absoluteString.utf8.span, tag: ValueTag.url)
  }

  /// Reads a URL.
  ///
  /// - Throws: ``ArchiveError`` with `malformed` if the text is not a URL here.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> URL {
    guard reader.header.kind == .url else { throw reader.mismatch("url") }
    guard let url = URL(archived: bytes.text(reader.header.payload)) else {
      throw ArchiveError(.malformed, offset: reader.header.payload.lowerBound, subject: "url")
    }
    return url
  }
}

extension Data: ArchiveValue {
  /// Writes the bytes.
  public func write(to writer: ValueWriter) { writer.write(payload: span, tag: ValueTag.bytes) }

  /// Reads bytes, in their usual form at once.
  public static func read(
    at offset: inout Int, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Data {
    if let range = bytes.plainBytes(at: &offset) { return bytes.data(range) }
    return try readAnyForm(at: &offset, in: bytes)
  }

  /// Reads bytes.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Data {
    bytes.data(try reader.byteRange())
  }
}
