/// An append-only buffer of little-endian integers and bytes.
///
/// The buffer is one block of memory that grows: room is reserved once for a value,
/// which is stored with one change of the count, because each change has to wait for
/// the one before. It is a class, so that writers that share it need no exclusivity
/// check for each byte. With an Array in a struct, records took ten times as long to
/// build (benchmark: encode and seal keyed records).
@safe final class ByteBuffer {
  /// Memory of which the first `count` bytes are written.
  private var memory: BlockMemory
  private(set) var count = 0

  init(capacity: Int = 64) {
    memory = .take(capacity)
  }

  deinit {
    memory.giveBack()
  }

  private var base: UnsafeMutableRawPointer {
    @inline(__always) get { unsafe memory.base }
  }
  private var capacity: Int {
    @inline(__always) get { memory.byteCount }
  }

  var bytes: [UInt8] { bytes(from: 0) }

  func bytes(from offset: Int) -> [UInt8] {
    precondition(offset >= 0 && offset <= count, "outside of the buffer")
    return unsafe [UInt8](UnsafeRawBufferPointer(start: base + offset, count: count - offset))
  }

  @inline(__always)
  func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let bytes = unsafe UnsafeRawBufferPointer(start: base, count: count)
    return try body(unsafe Span(_unsafeBytes: bytes))
  }

  /// Gives its memory away with the written bytes, and goes on with new memory of
  /// `capacity` bytes.
  func take(leaving capacity: Int) -> ByteBlock {
    let block = ByteBlock(memory, count: count)
    memory = .take(capacity)
    count = 0
    return block
  }

  /// Makes sure that `byteCount` bytes can be stored at the end.
  @inline(__always)
  private func reserve(_ byteCount: Int) {
    if byteCount > capacity - count { grow(byteCount) }
  }

  @inline(never)
  private func grow(_ byteCount: Int) {
    let larger = max(capacity * 2, count + byteCount)
    let new = BlockMemory.take(larger)
    unsafe new.base.copyMemory(from: base, byteCount: count)
    memory.giveBack()
    memory = new
  }

  @inline(__always)
  func writeByte(_ byte: UInt8) {
    reserve(1)
    let end = count
    unsafe base.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
    count = end + 1
  }

  /// Writes the low one or two bytes of a word; false if memory may have to grow.
  @inline(__always)
  func writeIfThereIsRoom(_ word: UInt16, count byteCount: Int) -> Bool {
    let end = count
    guard capacity - end >= MemoryLayout<UInt16>.size else { return false }
    unsafe base.storeBytes(of: word.littleEndian, toByteOffset: end, as: UInt16.self)
    count = end + byteCount
    return true
  }

  @inline(__always)
  func writeInteger<Integer: FixedWidthInteger & BitwiseCopyable>(_ value: Integer) {
    let byteCount = MemoryLayout<Integer>.size
    reserve(byteCount)
    unsafe base.storeBytes(of: value.littleEndian, toByteOffset: count, as: Integer.self)
    count += byteCount
  }

  /// Writes a tag and a number after it.
  @inline(__always)
  func write<Integer: FixedWidthInteger & BitwiseCopyable>(tag: UInt8, _ value: Integer) {
    let byteCount = MemoryLayout<Integer>.size + 1
    reserve(byteCount)
    let place = unsafe base + count
    unsafe place.storeBytes(of: tag, as: UInt8.self)
    unsafe place.storeBytes(of: value.littleEndian, toByteOffset: 1, as: Integer.self)
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

  /// Writes the low bytes of each integer, as many of each.
  func writeLowBytes<Integer: FixedWidthInteger>(of values: [Integer], count byteCount: Int) {
    precondition(byteCount >= 0 && byteCount <= 8, "more bytes than a value has")
    reserve(values.count * byteCount + 8)
    var place = count
    for value in values {
      let word = UInt64(truncatingIfNeeded: value).littleEndian
      unsafe base.storeBytes(of: word, toByteOffset: place, as: UInt64.self)
      place += byteCount
    }
    count = place
  }

  /// Writes bytes, with a few others in front of them.
  @inline(__always)
  func write(_ more: some Collection<UInt8>, behind prefix: Prefix = Prefix()) {
    let written: Void? = more.withContiguousStorageIfAvailable {
      unsafe append(prefix, UnsafeRawBufferPointer($0))
    }
    if written == nil {
      unsafe Array(more).withUnsafeBytes { unsafe append(prefix, $0) }
    }
  }

  /// Writes bytes, with a few others in front of them.
  @inline(__always)
  func write(_ more: Span<UInt8>, behind prefix: Prefix = Prefix()) {
    unsafe more.withUnsafeBytes { unsafe append(prefix, $0) }
  }

  @inline(__always)
  func write(_ prefix: Prefix) {
    writeLowBytes(of: prefix.word, count: prefix.count)
  }

  /// Writes a byte and a short text, whose bytes are in two words already.
  @inline(__always)
  func write(_ byte: UInt8, _ text: ShortText) {
    reserve(1 + MemoryLayout<(UInt64, UInt64)>.size)
    let place = unsafe base + count
    unsafe place.storeBytes(of: byte, as: UInt8.self)
    unsafe place.storeBytes(of: text.words.0, toByteOffset: 1, as: UInt64.self)
    unsafe place.storeBytes(of: text.words.1, toByteOffset: 9, as: UInt64.self)
    count += 1 + text.byteCount
  }

  /// Appends bytes.
  ///
  /// Most texts are short, and storing a few words that overlap is faster than a call
  /// that copies memory (benchmark: encode and seal keyed records).
  @unsafe @inline(never)
  private func append(_ prefix: Prefix, _ more: UnsafeRawBufferPointer) {
    let byteCount = more.count
    reserve(8 + byteCount)
    let start = count + prefix.count
    unsafe base.storeBytes(of: prefix.word.littleEndian, toByteOffset: count, as: UInt64.self)
    switch byteCount {
    case 17...32:
      unsafe store(more, at: 0, behind: start, as: UInt64.self)
      unsafe store(more, at: 8, behind: start, as: UInt64.self)
      unsafe store(more, at: byteCount - 16, behind: start, as: UInt64.self)
      unsafe store(more, at: byteCount - 8, behind: start, as: UInt64.self)
    case 8...16:
      unsafe store(more, at: 0, behind: start, as: UInt64.self)
      unsafe store(more, at: byteCount - 8, behind: start, as: UInt64.self)
    case 4..<8:
      unsafe store(more, at: 0, behind: start, as: UInt32.self)
      unsafe store(more, at: byteCount - 4, behind: start, as: UInt32.self)
    default:
      if let bytes = more.baseAddress {
        unsafe (base + start).copyMemory(from: bytes, byteCount: byteCount)
      }
    }
    count = start + byteCount
  }

  /// Stores one word with some of the bytes, if there is room for the whole word behind a place.
  @unsafe @inline(__always)
  private func store<Word: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: UnsafeRawBufferPointer, at place: Int, behind start: Int, as type: Word.Type
  ) {
    let word = unsafe bytes.loadUnaligned(fromByteOffset: place, as: type)
    unsafe base.storeBytes(of: word, toByteOffset: start + place, as: type)
  }

  func truncate(to newCount: Int) {
    precondition(newCount >= 0 && newCount <= count, "outside of the buffer")
    count = newCount
  }

  /// The room for a header: most headers have a tag and a length of two bytes.
  static let headerRoom = 3

  /// Leaves room for the header of the next value; returns the offset of the value.
  @inline(__always)
  func openHeader() -> Int {
    writeLowBytes(of: 0, count: Self.headerRoom)
    return count
  }

  /// Puts a tag and the length in front of the bytes since `start`, in the room that
  /// was left there; the bytes are moved if the header has another size.
  @inline(__always)
  func closeHeader(tag: UInt8, from start: Int) {
    let header = start - Self.headerRoom
    let byteCount = count - start
    precondition(header >= 0 && byteCount >= 0, "outside of the buffer")
    if byteCount < 1 << 7 {
      unsafe base.storeBytes(of: tag, toByteOffset: header, as: UInt8.self)
      let length = UInt8(truncatingIfNeeded: byteCount << 1 | 1)
      unsafe base.storeBytes(of: length, toByteOffset: header + 1, as: UInt8.self)
      unsafe (base + start - 1).copyMemory(from: base + start, byteCount: byteCount)
      count -= 1
    } else if byteCount < 1 << 14 {
      unsafe base.storeBytes(of: tag, toByteOffset: header, as: UInt8.self)
      let length = UInt16(truncatingIfNeeded: (byteCount << 1 | 1) << 1)
      unsafe base.storeBytes(of: length.littleEndian, toByteOffset: header + 1, as: UInt16.self)
    } else {
      closeHeader(tag: tag, elementCount: nil, from: start)
    }
  }

  /// Puts a tag, the number of elements and the length in front of the bytes since
  /// `start`, which are moved if the header does not fit the room that was left.
  @inline(never)
  func closeHeader(tag: UInt8, elementCount: Int?, from start: Int) {
    let header = start - Self.headerRoom
    precondition(header >= 0 && start <= count, "outside of the buffer")
    let end = count
    writeByte(tag)
    if let elementCount { writeVarint(UInt64(elementCount)) }
    writeVarint(UInt64(end - start))
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

/// Up to eight bytes that are written in front of others.
struct Prefix {
  /// The bytes, the first one lowest.
  private(set) var word: UInt64 = 0
  private(set) var count = 0

  @inline(__always)
  init() {}

  @inline(__always)
  init(_ byte: UInt8) {
    (word, count) = (UInt64(byte), 1)
  }

  @inline(__always)
  init(_ first: UInt8, _ second: UInt8) {
    (word, count) = (UInt64(second) << 8 | UInt64(first), 2)
  }

  /// The greatest number that takes at most seven bytes.
  static let largestVarint: UInt64 = 1 << 49 - 1

  /// A tag and a number of at most ``largestVarint``.
  @inline(__always)
  init(tag: UInt8, varint value: UInt64) {
    precondition(value <= Self.largestVarint, "too many bytes")
    let byteCount = value < 1 << 7 ? 1 : PrefixVarint.byteCount(of: value)
    word = (value << 1 | 1) << UInt64(byteCount + 7) | UInt64(tag)
    count = byteCount + 1
  }
}
