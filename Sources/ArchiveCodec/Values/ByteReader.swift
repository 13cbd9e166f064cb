/// A cursor over bytes that throws instead of reading past their end.
struct ByteReader: Sendable {
  let bytes: [UInt8]
  var offset: Int

  init(_ bytes: [UInt8], from offset: Int = 0) {
    (self.bytes, self.offset) = (bytes, offset)
  }

  var end: Int { bytes.count }
  var isAtEnd: Bool { offset >= end }

  func malformed(at offset: Int) -> ArchiveError {
    ArchiveError(.malformed, offset: offset)
  }

  /// Runs a step of a cursor over these bytes.
  @inline(__always)
  private mutating func step<Result>(
    _ body: (inout ByteCursor, Span<UInt8>) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    var cursor = ByteCursor(bytes.span, from: offset, to: end)
    defer { offset = cursor.offset }
    return try body(&cursor, bytes.span)
  }

  mutating func readByte() throws(ArchiveError) -> UInt8 {
    try step { (cursor, bytes) throws(ArchiveError) in try cursor.readByte(bytes) }
  }

  mutating func readRange(count: Int) throws(ArchiveError) -> Range<Int> {
    try step { (cursor, _) throws(ArchiveError) in try cursor.readRange(count: count) }
  }

  mutating func readVarint() throws(ArchiveError) -> UInt64 {
    try step { (cursor, bytes) throws(ArchiveError) in try cursor.readVarint(bytes) }
  }

  /// Reads the length of a part that must lie in the rest of these bytes.
  mutating func readCount() throws(ArchiveError) -> Int {
    try step { (cursor, bytes) throws(ArchiveError) in try cursor.readCount(bytes) }
  }

  mutating func readBytes(count: Int) throws(ArchiveError) -> [UInt8] {
    Array(bytes[try readRange(count: count)])
  }

  mutating func readInteger<Integer: FixedWidthInteger>(
    _ type: Integer.Type = Integer.self
  ) throws(ArchiveError) -> Integer {
    let count = Integer.bitWidth / UInt8.bitWidth
    return try step { (cursor, bytes) throws(ArchiveError) in
      Integer(truncatingIfNeeded: try cursor.readLowBytes(bytes, count: count))
    }
  }

  mutating func readString(count: Int) throws(ArchiveError) -> String {
    let range = try readRange(count: count)
    guard bytes.span.isUTF8(range) else { throw malformed(at: range.lowerBound) }
    return bytes.span.text(range)
  }
}
