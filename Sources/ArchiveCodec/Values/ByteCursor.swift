internal import RestorationFoundation

/// A place in bytes that are passed to each step; a step throws instead of going past their end.
///
/// Passing a Span costs nothing, while a reader that owns its bytes counts references
/// (benchmark: open and decode keyed records).
struct ByteCursor: Sendable {
  var offset: Int
  let end: Int

  /// A cursor over no bytes.
  init() {
    offset = 0
    end = 0
  }

  /// A cursor over at most the given bytes.
  init(_ bytes: Span<UInt8>, from offset: Int, to end: Int) {
    self.end = min(end, bytes.count)
    self.offset = offset
  }

  /// A cursor over a part of the bytes.
  init(_ bytes: Span<UInt8>, over part: Range<Int>) {
    self.init(bytes, from: part.lowerBound, to: part.upperBound)
  }

  var isAtEnd: Bool { offset >= end }

  func malformed(at offset: Int) -> ArchiveError {
    ArchiveError(.malformed, offset: offset)
  }

  @inline(__always)
  mutating func readByte(_ bytes: Span<UInt8>) throws(ArchiveError) -> UInt8 {
    guard offset < end else { throw malformed(at: offset) }
    defer { offset += 1 }
    return bytes[offset]
  }

  @inline(__always)
  mutating func readRange(count: Int) throws(ArchiveError) -> Range<Int> {
    guard count >= 0, count <= end - offset else { throw malformed(at: offset) }
    defer { offset += count }
    return offset..<offset + count
  }

  /// Reads at most eight bytes.
  @inline(__always)
  mutating func readLowBytes(_ bytes: Span<UInt8>, count: Int) throws(ArchiveError) -> UInt64 {
    let range = try readRange(count: count)
    return bytes.littleEndian(range)
  }

  @inline(__always)
  mutating func readVarint(_ bytes: Span<UInt8>) throws(ArchiveError) -> UInt64 {
    guard let short = bytes.shortVarint(at: offset, before: end) else {
      return try readLongVarint(bytes)
    }
    offset = short.end
    return UInt64(short.value)
  }

  private mutating func readLongVarint(_ bytes: Span<UInt8>) throws(ArchiveError) -> UInt64 {
    let start = offset
    let following = try readByte(bytes).trailingZeroBitCount
    guard following < 8 else {
      let value = try readLowBytes(bytes, count: 8)
      guard PrefixVarint.byteCount(of: value) == 9 else { throw malformed(at: start) }
      return value
    }
    offset = start
    let value = try readLowBytes(bytes, count: following + 1) >> UInt64(following + 1)
    guard PrefixVarint.byteCount(of: value) == following + 1 else { throw malformed(at: start) }
    return value
  }

  /// Reads the length of a part that must lie in the rest of these bytes.
  @inline(__always)
  mutating func readCount(_ bytes: Span<UInt8>) throws(ArchiveError) -> Int {
    let start = offset
    let value = try readVarint(bytes)
    guard value <= UInt64(end - offset) else { throw malformed(at: start) }
    return Int(value)
  }
}

extension Span<UInt8> {
  /// The number in at most eight bytes, the lowest first.
  @inline(__always)
  func littleEndian(_ range: Range<Int>) -> UInt64 {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count && range.count <= 8, "outside of the bytes"
    )
    guard range.lowerBound <= count - 8 else {
      var value: UInt64 = 0
      for place in range.reversed() { value = value << 8 | UInt64(self[place]) }
      return value
    }
    let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: range.lowerBound, as: UInt64.self)
    guard range.count < 8 else { return UInt64(littleEndian: word) }
    return UInt64(littleEndian: word) & (1 << UInt64(range.count * 8) - 1)
  }

  /// Whether the range holds well-formed UTF-8.
  @inline(__always)
  func isUTF8(_ range: Range<Int>) -> Bool {
    isASCII(range) || (try? UTF8Span(validating: extracting(range))) != nil
  }

  /// Whether the range holds ASCII only, checked eight bytes at a time.
  @inline(__always)
  func isASCII(_ range: Range<Int>) -> Bool {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "outside of the bytes")
    let high: UInt64 = 0x8080_8080_8080_8080
    guard range.count >= 8 else { return littleEndian(range) & high == 0 }
    var place = range.lowerBound
    let last = range.upperBound - 8
    while place < last {
      let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
      if word & high != 0 { return false }
      place += 8
    }
    // The last word may overlap bytes that were checked before.
    let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: last, as: UInt64.self)
    return word & high == 0
  }

  /// The text of bytes that were checked to be UTF-8; one that is known to be ASCII is hashed and compared in a
  /// third of the time.
  @inline(__always)
  func text(_ range: Range<Int>) -> String {
    unsafe String(copying: UTF8Span(unchecked: extracting(range), isKnownASCII: isASCII(range)))
  }

  func array(_ range: Range<Int>) -> [UInt8] {
    unsafe extracting(range).withUnsafeBufferPointer { unsafe Array($0) }
  }

  func data(_ range: Range<Int>) -> Data {
    unsafe extracting(range).withUnsafeBufferPointer { unsafe Data(buffer: $0) }
  }
}

extension [UInt8] {
  /// As many zeros.
  ///
  /// `init(repeating:count:)` looks its type up at run time, which takes four times as long for a few
  /// bytes (benchmark: restore small states).
  init(zeros count: Int) { self.init(repeatElement(0, count: count)) }
}
