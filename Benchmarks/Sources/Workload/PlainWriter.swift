internal import Foundation

/// Values as tag, length and bytes, one behind the other, as quick as by hand.
///
/// What is written is a floor under what our encoder needs, so nothing here is
/// checked but the room.
package struct PlainWriter: ~Copyable {
  private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
  private var end = 0

  package init() {}

  deinit {
    memory.deallocate()
  }

  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<end]) }

  /// Begins anew, in the memory that there is.
  package mutating func removeAll() {
    end = 0
  }

  mutating func write(_ value: String, tag: UInt8) {
    let isWritten: Void? = value.utf8.withContiguousStorageIfAvailable {
      write(UnsafeRawBufferPointer($0), tag: tag)
    }
    if isWritten == nil { Array(value.utf8).withUnsafeBytes { write($0, tag: tag) } }
  }

  mutating func write(_ value: Data, tag: UInt8) {
    value.withUnsafeBytes { write($0, tag: tag) }
  }

  mutating func write(_ value: [Int], tag: UInt8) {
    value.withUnsafeBytes { write($0, tag: tag) }
  }

  mutating func write(_ value: Int, tag: UInt8) {
    write(UInt64(bitPattern: Int64(value)), tag: tag)
  }

  mutating func write(_ value: Double, tag: UInt8) {
    write(value.bitPattern, tag: tag)
  }

  mutating func write(_ value: Bool, tag: UInt8) {
    makeRoom(2)
    memory.storeBytes(of: tag, toByteOffset: end, as: UInt8.self)
    memory.storeBytes(of: value ? 1 : 0, toByteOffset: end + 1, as: UInt8.self)
    end += 2
  }

  private mutating func write(_ value: UInt64, tag: UInt8) {
    makeRoom(9)
    memory.storeBytes(of: tag, toByteOffset: end, as: UInt8.self)
    memory.storeBytes(of: value, toByteOffset: end + 1, as: UInt64.self)
    end += 9
  }

  private mutating func write(_ value: UnsafeRawBufferPointer, tag: UInt8) {
    makeRoom(3 + value.count)
    memory.storeBytes(of: tag, toByteOffset: end, as: UInt8.self)
    memory.storeBytes(
      of: UInt16(truncatingIfNeeded: value.count), toByteOffset: end + 1, as: UInt16.self)
    UnsafeMutableRawBufferPointer(rebasing: memory[(end + 3)...]).copyMemory(from: value)
    end += 3 + value.count
  }

  private mutating func makeRoom(_ byteCount: Int) {
    if memory.count - end < byteCount { grow(by: byteCount) }
  }

  @inline(never)
  private mutating func grow(by byteCount: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(2 * memory.count, end + byteCount), alignment: 16)
    larger.copyMemory(from: bytes)
    memory.deallocate()
    memory = larger
  }
}
