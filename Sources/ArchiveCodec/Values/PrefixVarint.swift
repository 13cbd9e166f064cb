/// Unsigned integers in one to nine bytes, the length in the low bits.
///
/// The number of trailing zero bits of the first byte is the number of bytes
/// that follow, so a reader checks its bounds once. Values have one form, the
/// shortest; a reader refuses every other, because two encodings of one value
/// would let two equal archives differ.
enum PrefixVarint {
  static func byteCount(of value: UInt64) -> Int {
    let bits = UInt64.bitWidth - value.leadingZeroBitCount
    return bits > 56 ? 9 : max(1, (bits + 6) / 7)
  }
}

extension ByteBuffer {
  @inline(__always)
  func writeVarint(_ value: UInt64) {
    guard value < 1 << 7 else { return writeLong(value) }
    writeByte(UInt8(truncatingIfNeeded: value << 1 | 1))
  }

  /// Writes a tag and a number after it.
  @inline(__always)
  func write(tag: UInt8, varint value: UInt64) {
    guard value > Prefix.largestVarint else { return write(Prefix(tag: tag, varint: value)) }
    writeByte(tag)
    writeLong(value)
  }

  @inline(never)
  private func writeLong(_ value: UInt64) {
    let count = PrefixVarint.byteCount(of: value)
    guard count < 9 else {
      writeByte(0)
      return writeInteger(value)
    }
    writeLowBytes(of: (value << 1 | 1) << UInt64(count - 1), count: count)
  }
}

extension Span<UInt8> {
  /// A varint of one or two bytes in its shortest form; nil for any other.
  @inline(__always)
  func shortVarint(at start: Int, before end: Int) -> (value: Int, end: Int)? {
    guard start < end else { return nil }
    let first = Int(self[start])
    if first & 1 == 1 { return (first >> 1, start + 1) }
    guard first & 3 == 2, start + 1 < end else { return nil }
    let value = Int(self[start + 1]) << 6 | first >> 2
    return value >= 1 << 7 ? (value, start + 2) : nil
  }
}
