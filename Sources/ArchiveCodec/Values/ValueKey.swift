/// The key of a map entry: a symbol of the archive, or its own UTF-8 bytes.
///
/// Field names are symbols. The keys of dictionaries are written inline, so that data
/// cannot fill the symbol table; field names are also inline once it is full.
enum ValueKey: Hashable, Sendable {
  case symbol(UInt32)
  case inline(Range<Int>)
}

extension ValueKey {
  /// The order of entries: symbols by number, then inline keys by their bytes.
  static func isOrdered(
    _ left: ValueKey, before right: ValueKey, in bytes: Span<UInt8>
  ) -> Bool {
    switch (left, right) {
    case (.symbol(let left), .symbol(let right)): return left < right
    case (.symbol, .inline): return true
    case (.inline, .symbol): return false
    case (.inline(let left), .inline(let right)):
      return bytes.extracting(left).precedes(bytes.extracting(right))
    }
  }
}

extension Span<UInt8> {
  /// The name that a key of a record stands for.
  func text(of key: ValueKey, _ names: [String]) -> String {
    switch key {
    case .symbol(let symbol): names[Int(symbol)]
    case .inline(let range): text(range)
    }
  }

  /// The number of a key that is a symbol, if it takes one or two bytes.
  @inline(__always)
  func shortSymbol(at start: Int, before end: Int) -> (symbol: Int, end: Int)? {
    guard let key = shortVarint(at: start, before: end), key.value & 1 == 0 else { return nil }
    return (key.value >> 1, key.end)
  }
}

extension ByteCursor {
  /// Reads a key; the symbol may be more than there are.
  @inline(__always)
  mutating func readKey(_ bytes: Span<UInt8>) throws(ArchiveError) -> ValueKey {
    let start = offset
    let value = try readVarint(bytes)
    guard value & 1 == 1 else { return .symbol(UInt32(clamping: value >> 1)) }
    guard value >> 1 <= UInt64(end - offset) else { throw malformed(at: start) }
    return .inline(try readRange(count: Int(value >> 1)))
  }

  /// Reads the key of an entry and goes past its value; nil at the end.
  ///
  /// The entry was checked, or was just written, so it can be read.
  mutating func nextEntry(_ bytes: Span<UInt8>) -> ValueKey? {
    guard !isAtEnd, let key = try? readKey(bytes), (try? skipValue(bytes)) != nil else {
      return nil
    }
    return key
  }
}

extension ByteBuffer {
  @inline(__always)
  func writeKey(symbol: UInt32) {
    writeVarint(UInt64(symbol) << 1)
  }

  /// Writes a key of one or two bytes; false for a longer one, or if memory may have to grow.
  ///
  /// The method calls no function, so its callers need not call one either.
  @inline(__always)
  func writeShortKey(symbol: UInt32) -> Bool {
    guard symbol < 1 << 13 else { return false }
    let varint = UInt16(truncatingIfNeeded: symbol << 1)
    return varint < 1 << 7
      ? writeIfThereIsRoom(varint << 1 | 1, count: 1)
      : writeIfThereIsRoom((varint << 1 | 1) << 1, count: 2)
  }

  func writeKey(inline key: String) {
    writeVarint(UInt64(key.utf8.count) << 1 | 1)
    write(key.utf8)
  }
}
