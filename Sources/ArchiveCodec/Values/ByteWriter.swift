/// An append-only buffer of little-endian integers and bytes.
struct ByteWriter: Sendable {
  private(set) var bytes: [UInt8] = []

  var count: Int { bytes.count }

  func bytes(from offset: Int) -> [UInt8] {
    Array(bytes[offset...])
  }

  mutating func writeByte(_ byte: UInt8) {
    bytes.append(byte)
  }

  mutating func write(_ more: some Collection<UInt8>) {
    bytes.append(contentsOf: more)
  }

  mutating func writeInteger<Integer: FixedWidthInteger & Sendable>(_ value: Integer) {
    writeLowBytes(
      of: UInt64(truncatingIfNeeded: value), count: Integer.bitWidth / UInt8.bitWidth)
  }

  mutating func writeLowBytes(of value: UInt64, count: Int) {
    for index in 0..<count {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8)))
    }
  }

  mutating func writeZeros(count: Int) {
    bytes.append(contentsOf: repeatElement(0, count: count))
  }

  mutating func truncate(to count: Int) {
    bytes.removeSubrange(count...)
  }

  /// Puts bytes in front of what was written from `offset` on.
  mutating func insert(_ more: [UInt8], at offset: Int) {
    bytes.insert(contentsOf: more, at: offset)
  }

  mutating func replace(_ range: Range<Int>, with more: [UInt8]) {
    bytes.replaceSubrange(range, with: more)
  }
}
