/// Checks that bytes are exactly one well-formed map, and notes its fields.
///
/// What passes has one encoding only: keys in order and no key twice, the
/// shortest forms, valid UTF-8, no byte left over. Decoding can then rely on
/// the structure. It keeps a stack of its own, so depth costs no call stack,
/// and it makes a String only of an inline key beside symbols, which it may
/// repeat.
struct RecordValidator {
  /// The entries of the outermost map.
  private(set) var fields: FieldOffsets
  /// Where the record's map ends and its objects begin.
  private(set) var objectsOffset = 0
  private var objectCount: UInt64 = 0
  /// One more than the greatest number that a reference has.
  private var referencedCount: UInt64 = 0

  private let symbols: SymbolTable
  private let limits: ArchiveLimits
  private var cursor: ByteCursor
  /// The container whose elements are being checked, and those around it.
  private var current: Level
  private var outer: [Level] = []

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
    /// Filled when the first inline key that is also a symbol comes.
    var symbolsUsed: Set<UInt32>?
  }

  init(
    _ bytes: Span<UInt8>, from offset: Int, symbols: SymbolTable, limits: ArchiveLimits,
    reusing memory: consuming [RecordField] = []
  ) {
    cursor = ByteCursor(bytes, from: offset, to: bytes.count)
    current = Level(start: offset, end: bytes.count, remaining: 0, isMap: false)
    fields = FieldOffsets(reusing: memory)
    self.symbols = symbols
    self.limits = limits
  }

  /// Checks all bytes.
  ///
  /// - Complexity: O(*n*) in the number of bytes.
  mutating func validate(_ bytes: Span<UInt8>) throws(ArchiveError) {
    try openRecord(bytes)
    let symbolCount = symbols.names.count
    while true {
      while current.remaining > 0 {
        current.remaining -= 1
        if current.isMap { try checkKey(bytes, symbolCount: symbolCount) }
        try checkValue(bytes)
      }
      guard cursor.offset == current.end else { throw cursor.malformed(at: cursor.offset) }
      if let level = outer.popLast() {
        current = level
        continue
      }
      if objectCount == 0 { objectsOffset = cursor.offset }
      guard !cursor.isAtEnd else { break }
      try openObject(bytes, symbolCount: symbolCount)
    }
    guard referencedCount <= objectCount else {
      throw ArchiveError(.malformed, offset: cursor.offset, subject: "object reference")
    }
  }

  private mutating func openObject(
    _ bytes: Span<UInt8>, symbolCount: Int
  ) throws(ArchiveError) {
    let start = cursor.offset
    guard try cursor.readByte(bytes) == ValueTag.object else { throw cursor.malformed(at: start) }
    let name = try cursor.readKey(bytes, limits: limits, symbolCount: symbolCount)
    try checkName(name, bytes, limit: ArchiveLimits.classNameByteCount, at: start)
    guard try cursor.readVarint(bytes) <= UInt64(UInt32.max) else {
      throw cursor.malformed(at: start)
    }
    objectCount += 1
    let header = try cursor.readValueHeader(bytes)
    guard header.kind == .map else { throw cursor.malformed(at: start) }
    enter(header)
  }

  /// A name is inline only if it has no symbol.
  private func checkName(
    _ name: ValueKey, _ bytes: Span<UInt8>, limit: Int, at start: Int
  ) throws(ArchiveError) {
    let byteCount: Int
    switch name {
    case .symbol(let number):
      guard Int(number) < symbols.names.count else { throw cursor.malformed(at: start) }
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

  private mutating func openRecord(_ bytes: Span<UInt8>) throws(ArchiveError) {
    let start = cursor.offset
    let header = try cursor.readValueHeader(bytes)
    guard header.kind == .map else { throw cursor.malformed(at: start) }
    fields.reserve(header.count, symbolCount: symbols.names.count)
    enter(header)
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

  @inline(__always)
  private mutating func checkKey(
    _ bytes: Span<UInt8>, symbolCount: Int
  ) throws(ArchiveError) {
    let start = cursor.offset
    let key = try cursor.readKey(bytes, limits: limits, symbolCount: symbolCount)
    guard case .symbol(let symbol) = key else { return try checkInlineKey(bytes, key, at: start) }
    guard Int(symbol) > current.lastSymbol else { throw cursor.malformed(at: start) }
    current.lastSymbol = Int(symbol)
    if outer.isEmpty, objectCount == 0 {
      fields.symbolic.append(RecordField(symbol, at: cursor.offset))
    }
  }

  private mutating func checkInlineKey(
    _ bytes: Span<UInt8>, _ key: ValueKey, at start: Int
  ) throws(ArchiveError) {
    guard case .inline(let range) = key else { return }
    // They ascend, so none comes twice.
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
    if current.hasSymbols, let number = symbols.number(of: bytes.text(range)) {
      if current.symbolsUsed == nil { current.symbolsUsed = try symbolsUsed(bytes) }
      guard current.symbolsUsed?.contains(number) == false else {
        throw cursor.malformed(at: start)
      }
    }
    if outer.isEmpty, objectCount == 0 { fields.appendInlineKey(at: start) }
  }

  /// The symbols among the keys of the map, which come first.
  private func symbolsUsed(_ bytes: Span<UInt8>) throws(ArchiveError) -> Set<UInt32> {
    var cursor = ByteCursor(bytes, from: current.start, to: current.end)
    var symbols: Set<UInt32> = []
    while case .symbol(let number) = try cursor.readKey(bytes) {
      symbols.insert(number)
      _ = try cursor.readValueHeader(bytes)
    }
    return symbols
  }

  @inline(__always)
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
    case .localReference(let number):
      guard number < .max else { throw cursor.malformed(at: start) }
      referencedCount = max(referencedCount, number + 1)
    case .name:
      if let name = header.key {
        try checkName(name, bytes, limit: limits.keyByteCount, at: start)
      }
    default: break
    }
  }
}
