/// A cursor over bytes that throws instead of reading past their end.
struct ByteReader: Sendable {
  let bytes: [UInt8]
  let end: Int
  var offset: Int

  init(_ bytes: [UInt8], from offset: Int = 0, to end: Int? = nil) {
    self.bytes = bytes
    self.end = min(end ?? bytes.count, bytes.count)
    self.offset = offset
  }

  var isAtEnd: Bool { offset >= end }

  func malformed(at offset: Int) -> ArchiveError {
    ArchiveError(.malformed, offset: offset)
  }

  mutating func readByte() throws(ArchiveError) -> UInt8 {
    guard offset < end else { throw malformed(at: offset) }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func readRange(count: Int) throws(ArchiveError) -> Range<Int> {
    guard count >= 0, count <= end - offset else { throw malformed(at: offset) }
    defer { offset += count }
    return offset..<offset + count
  }

  mutating func readBytes(count: Int) throws(ArchiveError) -> [UInt8] {
    Array(bytes[try readRange(count: count)])
  }

  mutating func readInteger<Integer: FixedWidthInteger>(
    _ type: Integer.Type = Integer.self
  ) throws(ArchiveError) -> Integer {
    Integer(
      truncatingIfNeeded: try readLowBytes(count: Integer.bitWidth / UInt8.bitWidth))
  }

  mutating func readLowBytes(count: Int) throws(ArchiveError) -> UInt64 {
    var value: UInt64 = 0
    for (index, position) in try readRange(count: count).enumerated() {
      value |= UInt64(bytes[position]) << UInt64(index * 8)
    }
    return value
  }

  mutating func readString(count: Int) throws(ArchiveError) -> String {
    let range = try readRange(count: count)
    guard let text = String(validating: bytes[range], as: UTF8.self) else {
      throw malformed(at: range.lowerBound)
    }
    return text
  }
}
