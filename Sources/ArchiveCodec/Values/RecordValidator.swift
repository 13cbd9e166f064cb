/// Checks that bytes are exactly one well-formed map.
///
/// A record that passes has only one encoding: keys in order and no key twice, the
/// shortest forms, valid UTF-8, no byte left over. Decoding can then rely on the
/// structure. The validator keeps a stack of its own, so depth costs no call stack, and
/// it makes a String only of an inline key beside symbols, which may repeat one of
/// them. One validator checks many records, so that its stack is allocated once.
struct RecordValidator {
  private let symbols: SymbolTable
  private let symbolCount: Int
  private let limits: ArchiveLimits
  private var cursor = ByteCursor()
  /// The container whose elements are being checked, and those around it.
  private var current = Level(start: 0, end: 0, remaining: 0, isMap: false)
  private var outer: [Level] = []
  /// The symbols that a map has as keys, by the map's start; filled at the first inline
  /// key that is also a symbol.
  private var symbolsUsed: [Int: Set<UInt32>] = .init()

  private struct Level {
    let start: Int
    let end: Int
    var remaining: Int
    let isMap: Bool
    /// The last key if it was a symbol, else `Int.max`; -1 before the first.
    var lastSymbol = -1
    /// The last key if it was inline.
    var lastInline = 0..<0
    /// Whether there are symbols before the inline keys.
    var hasSymbols = false
  }

  init(symbols: SymbolTable, limits: ArchiveLimits) {
    self.symbols = symbols
    symbolCount = symbols.names.count
    self.limits = limits
  }

  /// Checks all bytes from an offset on.
  ///
  /// - Complexity: O(*n*) in the number of bytes.
  mutating func validate(_ bytes: Span<UInt8>, from offset: Int) throws(ArchiveError) {
    cursor = ByteCursor(bytes, from: offset, to: bytes.count)
    outer.removeAll(keepingCapacity: true)
    if !symbolsUsed.isEmpty { symbolsUsed = .init() }
    let record = try cursor.readValueHeader(bytes)
    guard record.kind == .map else { throw cursor.malformed(at: offset) }
    enter(record)
    while true {
      while current.remaining > 0 {
        skipPlainElements(bytes)
        guard current.remaining > 0 else { break }
        current.remaining -= 1
        if current.isMap { try checkKey(bytes) }
        try checkValue(bytes)
      }
      guard cursor.offset == current.end else { throw cursor.malformed(at: cursor.offset) }
      guard let level = outer.popLast() else { break }
      current = level
    }
    guard cursor.isAtEnd else { throw cursor.malformed(at: cursor.offset) }
  }

  /// Checks a name, which may be inline only if it has no symbol.
  private func checkName(
    _ name: ValueKey, _ bytes: Span<UInt8>, limit: Int, at start: Int
  ) throws(ArchiveError) {
    let byteCount: Int
    switch name {
    case .symbol(let number):
      guard Int(number) < symbolCount else { throw cursor.malformed(at: start) }
      byteCount = symbols.names[Int(number)].utf8.count
    case .inline(let range):
      guard bytes.isUTF8(range), symbols.number(of: bytes.text(range)) == nil else {
        throw cursor.malformed(at: start)
      }
      byteCount = range.count
    }
    guard byteCount <= limit else {
      throw ArchiveError(.limitExceeded, offset: start, subject: "bytes of a name")
    }
  }

  private mutating func open(_ header: ValueHeader) throws(ArchiveError) {
    guard outer.count + 1 < limits.depth else {
      throw ArchiveError(.limitExceeded, offset: cursor.offset, subject: "depth")
    }
    outer.append(current)
    enter(header)
  }

  private mutating func enter(_ header: ValueHeader) {
    cursor.offset = header.payload.lowerBound
    current = Level(
      start: header.payload.lowerBound, end: header.payload.upperBound, remaining: header.count,
      isMap: header.kind == .map)
  }

  private mutating func checkKey(_ bytes: Span<UInt8>) throws(ArchiveError) {
    let start = cursor.offset
    switch try cursor.readKey(bytes) {
    case .symbol(let symbol):
      guard Int(symbol) > current.lastSymbol, Int(symbol) < symbolCount else {
        throw cursor.malformed(at: start)
      }
      current.lastSymbol = Int(symbol)
    case .inline(let key):
      guard key.count <= limits.keyByteCount else {
        throw ArchiveError(.limitExceeded, offset: start, subject: "bytes of a key")
      }
      try checkInlineKey(bytes, key, at: start)
    }
  }

  private mutating func checkInlineKey(
    _ bytes: Span<UInt8>, _ range: Range<Int>, at start: Int
  ) throws(ArchiveError) {
    // Inline keys ascend, so no key comes twice.
    if current.lastSymbol == .max {
      guard bytes.extracting(current.lastInline).precedes(bytes.extracting(range)) else {
        throw cursor.malformed(at: start)
      }
    } else {
      current.hasSymbols = current.lastSymbol >= 0
      current.lastSymbol = .max
    }
    current.lastInline = range
    guard bytes.isUTF8(range) else { throw cursor.malformed(at: start) }
    guard current.hasSymbols, let number = symbols.number(of: bytes.text(range)) else { return }
    if symbolsUsed[current.start] == nil { symbolsUsed[current.start] = symbolKeys(bytes) }
    guard symbolsUsed[current.start]?.contains(number) == false else {
      throw cursor.malformed(at: start)
    }
  }

  /// The symbols among the keys of the map, which come before inline keys.
  private func symbolKeys(_ bytes: Span<UInt8>) -> Set<UInt32> {
    var cursor = ByteCursor(bytes, from: current.start, to: current.end)
    var symbols: Set<UInt32> = []
    while case .symbol(let number)? = cursor.nextEntry(bytes) { symbols.insert(number) }
    return symbols
  }

  private mutating func checkValue(_ bytes: Span<UInt8>) throws(ArchiveError) {
    let start = cursor.offset
    let header = try cursor.readValueHeader(bytes)
    guard header.payload.upperBound <= current.end else {
      throw cursor.malformed(at: cursor.offset)
    }
    switch header.kind {
    case .array, .map: try open(header)
    case .string, .url:
      guard header.payload.count <= limits.stringByteCount else {
        throw ArchiveError(.limitExceeded, offset: start, subject: "bytes of a string")
      }
      guard bytes.isUTF8(header.payload) else { throw cursor.malformed(at: start) }
    case .bytes where header.payload.count > limits.stringByteCount:
      throw ArchiveError(.limitExceeded, offset: start, subject: "bytes of a byte sequence")
    case .packedArray(let element):
      guard PackedIntegers(header.payload, element).isNarrowest(in: bytes) else {
        throw cursor.malformed(at: start)
      }
    case .name:
      if let name = header.key {
        try checkName(name, bytes, limit: limits.keyByteCount, at: start)
      }
    default: break
    }
  }
}

// MARK: - The short path

extension RecordValidator {
  /// Skips the elements of the current container that are plain, up to the first other one.
  ///
  /// Most elements are plain: a key that is a symbol, and a number, a date or a short
  /// text. They need no header (benchmark: open and decode keyed records). An element that
  /// is not plain, or wrong, is left to `checkKey` and `checkValue`, which report errors.
  private mutating func skipPlainElements(_ bytes: Span<UInt8>) {
    let end = current.end
    let isMap = current.isMap
    var offset = cursor.offset
    var remaining = current.remaining
    var lastSymbol = current.lastSymbol
    while remaining > 0 {
      var symbol = lastSymbol
      var value = offset
      if isMap {
        guard let key = bytes.shortSymbol(at: offset, before: end), key.symbol > lastSymbol,
          key.symbol < symbolCount
        else { break }
        (symbol, value) = (key.symbol, key.end)
      }
      guard let next = plainValueEnd(bytes, at: value, before: end) else { break }
      (offset, lastSymbol) = (next, symbol)
      remaining -= 1
    }
    cursor.offset = offset
    current.remaining = remaining
    current.lastSymbol = lastSymbol
  }

  /// The end of a plain value; nil for any other value, and for a wrong one.
  @inline(__always)
  private func plainValueEnd(_ bytes: Span<UInt8>, at start: Int, before end: Int) -> Int? {
    guard start < end else { return nil }
    let tag = bytes[start]
    let next: Int
    switch tag {
    case ValueTag.shortStrings:
      next = start + 1 + Int(tag - ValueTag.shortStrings.lowerBound)
      guard next <= end, next - start - 1 <= limits.stringByteCount,
        bytes.isASCII(start + 1..<next)
      else { return nil }
      return next
    case ValueTag.positiveInteger:
      // A number of two bytes that is no small integer has no shorter form.
      guard let number = bytes.shortVarint(at: start + 1, before: end),
        number.value > ValueTag.smallIntegers.upperBound
      else { return nil }
      return number.end
    case ValueTag.recordReference:
      return bytes.shortVarint(at: start + 1, before: end)?.end
    case ValueTag.name:
      guard let key = bytes.shortSymbol(at: start + 1, before: end), key.symbol < symbolCount
      else { return nil }
      return key.end
    case ValueTag.bytes:
      guard let length = bytes.shortVarint(at: start + 1, before: end),
        length.value <= limits.stringByteCount
      else { return nil }
      next = length.end + length.value
    default:
      guard let byteCount = ValueTag.byteCount(tag) else { return nil }
      next = start + byteCount
    }
    return next <= end ? next : nil
  }
}
