/// An append-only buffer of little-endian integers and bytes.
///
/// It is one block of memory that grows: room is reserved once for a value,
/// and then stored to. It is a class, so that writers that share it need no
/// exclusivity check for each byte. With an Array in a struct, records took
/// ten times as long to build (benchmark: encode and seal keyed records).
@safe final class ByteBuffer {
  /// Memory of `capacity` bytes, of which the first `count` are written.
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  init() {
    capacity = 64
    unsafe base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit {
    unsafe base.deallocate()
  }

  var bytes: [UInt8] { bytes(from: 0) }

  func bytes(from offset: Int) -> [UInt8] {
    precondition(offset >= 0 && offset <= count, "outside of the buffer")
    return unsafe [UInt8](UnsafeRawBufferPointer(start: base + offset, count: count - offset))
  }

  /// Makes sure that `byteCount` bytes can be stored at the end.
  @inline(__always)
  private func reserve(_ byteCount: Int) {
    if byteCount > capacity - count { grow(byteCount) }
  }

  @inline(never)
  private func grow(_ byteCount: Int) {
    let larger = max(capacity * 2, count + byteCount)
    let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    unsafe new.copyMemory(from: base, byteCount: count)
    unsafe base.deallocate()
    unsafe base = new
    capacity = larger
  }

  @inline(__always)
  func writeByte(_ byte: UInt8) {
    reserve(1)
    unsafe base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  func writeInteger<Integer: FixedWidthInteger & BitwiseCopyable>(_ value: Integer) {
    let byteCount = MemoryLayout<Integer>.size
    reserve(byteCount)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: count, as: Integer.self)
    count += byteCount
  }

  /// Writes at most eight bytes, the low ones.
  @inline(__always)
  func writeLowBytes(of value: UInt64, count byteCount: Int) {
    precondition(byteCount <= 8, "more bytes than the value has")
    reserve(8)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: count, as: UInt64.self)
    count += byteCount
  }

  @inline(__always)
  func write(_ more: some Collection<UInt8>) {
    let written: Void? = more.withContiguousStorageIfAvailable {
      unsafe append(UnsafeRawBufferPointer($0))
    }
    if written == nil {
      unsafe Array(more).withUnsafeBytes { unsafe append($0) }
    }
  }

  @unsafe @inline(never)
  private func append(_ more: UnsafeRawBufferPointer) {
    guard let start = more.baseAddress else { return }
    reserve(more.count)
    unsafe (base + count).copyMemory(from: start, byteCount: more.count)
    count += more.count
  }

  func writeZeros(count zeros: Int) {
    for _ in 0..<zeros { writeByte(0) }
  }

  func truncate(to newCount: Int) {
    precondition(newCount >= 0 && newCount <= count, "outside of the buffer")
    count = newCount
  }

  /// Puts as many bytes in the place of others.
  func replace(_ range: Range<Int>, with more: [UInt8]) {
    precondition(range.upperBound <= count && range.count == more.count, "another size")
    for (place, byte) in zip(range, more) {
      unsafe base.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
    }
  }

  /// The room that is left for a header: most have a tag and a length of two
  /// bytes.
  static let headerRoom = 3

  /// Leaves room for the header of what is written next, which begins at the
  /// offset that is returned.
  @inline(__always)
  func openHeader() -> Int {
    writeLowBytes(of: 0, count: Self.headerRoom)
    return count
  }

  /// Puts the newest bytes, a header of what begins at `start`, in front of it;
  /// that is moved if the header does not fit its room.
  func closeHeader(from end: Int, before start: Int) {
    let header = start - Self.headerRoom
    precondition(header >= 0 && start <= end && end <= count, "outside of the buffer")
    let byteCount = count - end
    let content = header + byteCount
    if content != start {
      reserve(byteCount)
      unsafe (base + content).copyMemory(from: base + start, byteCount: count - start)
    }
    count = content + end - start
    // At most as many bytes lie behind the end as were just written there.
    for place in 0..<byteCount {
      let byte = unsafe base.load(fromByteOffset: count + place, as: UInt8.self)
      unsafe base.storeBytes(of: byte, toByteOffset: header + place, as: UInt8.self)
    }
  }
}
