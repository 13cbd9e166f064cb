public import RestorationFoundation

extension Bool: ArchiveValue {
  /// Writes one byte.
  public func write(to writer: ValueWriter) { writer.write(self) }

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
    try reader.readBool()
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
    try reader.readString(bytes)
  }
}

extension Float: ArchiveValue {
  /// Writes the bit pattern, of NaNs too.
  public func write(to writer: ValueWriter) { writer.write(self) }

  /// Writes the bit patterns, packed.
  public static func writeArray(_ values: [Float], to writer: ValueWriter) {
    writer.startPackedArray(.float, count: values.count)
    for value in values { writer.output.writeInteger(value.bitPattern) }
  }

  /// Reads a Float, or a Double that loses nothing.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> Float {
    try reader.readFloat(bytes)
  }

  /// Reads Floats, packed or not.
  public static func readArray(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> [Float] {
    if reader.header.kind == .array {
      return try reader.readElements(bytes) { (element, bytes) throws(ArchiveError) in
        try read(from: element, in: bytes)
      }
    }
    return try reader.readPacked(bytes, .float) {
      Float(bitPattern: UInt32(truncatingIfNeeded: $0))
    }
  }
}

extension Double: ArchiveValue {
  /// Writes the bit pattern, of NaNs too.
  public func write(to writer: ValueWriter) { writer.write(self) }

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
    try reader.readDouble(bytes)
  }

  /// Reads Doubles, packed or not.
  public static func readArray(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> [Double] {
    if reader.header.kind == .array {
      return try reader.readElements(bytes) { (element, bytes) throws(ArchiveError) in
        try read(from: element, in: bytes)
      }
    }
    return try reader.readPacked(bytes, .double) { Double(bitPattern: $0) }
  }
}

extension Date: ArchiveValue {
  /// Writes the seconds since the start of 2001 in UTC, without loss.
  public func write(to writer: ValueWriter) { writer.write(self) }

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
    try reader.readDate(bytes)
  }
}

extension UUID: ArchiveValue {
  /// Writes the 16 bytes.
  public func write(to writer: ValueWriter) { writer.write(self) }

  /// Reads a UUID.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> UUID {
    try reader.readUUID(bytes)
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
  public func write(to writer: ValueWriter) { writer.write(self) }

  /// Reads a URL.
  ///
  /// - Throws: ``ArchiveError`` with `malformed` if the text is not a URL here.
  public static func read(
    from reader: ValueReader, in bytes: Span<UInt8>
  ) throws(ArchiveError) -> URL {
    try reader.readURL(bytes)
  }
}

extension Data: ArchiveValue {
  /// Writes the bytes.
  public func write(to writer: ValueWriter) { writer.write(self) }

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

extension UUID {
  /// Takes exactly 16 bytes, as the value header guarantees.
  init(archivedBytes bytes: Span<UInt8>) {
    func byte(_ index: Int) -> UInt8 { bytes[index] }
    self.init(
      uuid: (
        byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7),
        byte(8), byte(9), byte(10), byte(11), byte(12), byte(13), byte(14), byte(15)
      ))
  }
}
