/// A ``ByteBuffer`` that one function fills.
struct ByteWriter: ~Copyable {
  private let buffer = ByteBuffer()

  var bytes: [UInt8] { buffer.bytes }
  var count: Int { buffer.count }

  mutating func writeByte(_ byte: UInt8) { buffer.writeByte(byte) }
  mutating func write(_ more: some Collection<UInt8>) { buffer.write(more) }
  mutating func writeVarint(_ value: UInt64) { buffer.writeVarint(value) }
  mutating func writeZeros(count: Int) { buffer.writeZeros(count: count) }

  mutating func writeInteger<Integer: FixedWidthInteger & BitwiseCopyable>(_ value: Integer) {
    buffer.writeInteger(value)
  }

  mutating func writeLowBytes(of value: UInt64, count: Int) {
    buffer.writeLowBytes(of: value, count: count)
  }

  mutating func replace(_ range: Range<Int>, with more: [UInt8]) {
    buffer.replace(range, with: more)
  }
}
