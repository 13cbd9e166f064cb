/// A cursor over bytes that throws instead of reading past their end.
struct ByteReader: Sendable {
  let bytes: [UInt8]
  private var cursor: ByteCursor

  init(_ bytes: [UInt8], from offset: Int = 0) {
    self.bytes = bytes
    cursor = ByteCursor(bytes.span, from: offset, to: bytes.count)
  }

  var offset: Int {
    get { cursor.offset }
    set { cursor.offset = newValue }
  }
  var end: Int { cursor.end }
  var isAtEnd: Bool { cursor.isAtEnd }

  func malformed(at offset: Int) -> ArchiveError { cursor.malformed(at: offset) }

  mutating func readByte() throws(ArchiveError) -> UInt8 {
    let bytes = bytes
    return try cursor.readByte(bytes.span)
  }

  mutating func readRange(count: Int) throws(ArchiveError) -> Range<Int> {
    try cursor.readRange(count: count)
  }

  mutating func readVarint() throws(ArchiveError) -> UInt64 {
    let bytes = bytes
    return try cursor.readVarint(bytes.span)
  }

  /// Reads the length of a part that must lie in the rest of these bytes.
  mutating func readCount() throws(ArchiveError) -> Int {
    let bytes = bytes
    return try cursor.readCount(bytes.span)
  }

  mutating func readBytes(count: Int) throws(ArchiveError) -> [UInt8] {
    Array(bytes[try readRange(count: count)])
  }

  mutating func readInteger<Integer: FixedWidthInteger>(
    _ type: Integer.Type = Integer.self
  ) throws(ArchiveError) -> Integer {
    let count = Integer.bitWidth / UInt8.bitWidth
    let bytes = bytes
    return Integer(truncatingIfNeeded: try cursor.readLowBytes(bytes.span, count: count))
  }

  mutating func readString(count: Int) throws(ArchiveError) -> String {
    let range = try readRange(count: count)
    guard bytes.span.isUTF8(range) else { throw malformed(at: range.lowerBound) }
    return bytes.span.text(range)
  }
}
