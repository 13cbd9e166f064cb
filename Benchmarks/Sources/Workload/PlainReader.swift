internal import Foundation

/// Takes back what a PlainWriter wrote, in the same order.
package struct PlainReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  package init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  mutating func string(tag: UInt8) throws -> String {
    String(decoding: try content(tag: tag), as: UTF8.self)
  }

  mutating func data(tag: UInt8) throws -> Data {
    Data(try content(tag: tag))
  }

  mutating func integers(tag: UInt8) throws -> [Int] {
    let content = try content(tag: tag)
    return [Int](unsafeUninitializedCapacity: content.count / 8) { values, count in
      count = content.count / 8
      UnsafeMutableRawBufferPointer(values).copyMemory(from: content)
    }
  }

  mutating func integer(tag: UInt8) throws -> Int {
    try take(9, tag: tag)
    return bytes.loadUnaligned(fromByteOffset: position - 8, as: Int.self)
  }

  mutating func double(tag: UInt8) throws -> Double {
    try take(9, tag: tag)
    return Double(
      bitPattern: bytes.loadUnaligned(fromByteOffset: position - 8, as: UInt64.self))
  }

  mutating func bool(tag: UInt8) throws -> Bool {
    try take(2, tag: tag)
    return bytes[position - 1] != 0
  }

  private mutating func content(tag: UInt8) throws -> UnsafeRawBufferPointer {
    try take(3, tag: tag)
    let count = Int(bytes.loadUnaligned(fromByteOffset: position - 2, as: UInt16.self))
    guard bytes.count - position >= count else { throw WorkloadError("a value is cut") }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count)])
  }

  private mutating func take(_ byteCount: Int, tag: UInt8) throws {
    guard bytes.count - position >= byteCount, bytes[position] == tag else {
      throw WorkloadError("another value was expected")
    }
    position += byteCount
  }
}
