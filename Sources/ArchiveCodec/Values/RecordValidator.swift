/// Checks that bytes are exactly one well-formed map, and notes its fields.
///
/// What passes has one encoding only: keys in order and no key twice, the
/// shortest forms, valid UTF-8, no byte left over. Decoding can then rely on
/// the structure. It keeps a stack of its own, so depth costs no call stack,
/// and it makes no String but of the inline keys that need one.
struct RecordValidator {
  /// The fields of the outermost map by symbol, and where their values begin.
  private(set) var fields: [RecordField]
  /// Those whose keys are inline.
  private(set) var inlineFields: [String: Int] = [:]
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
    /// Filled when the first inline key that is also a symbol comes.
    var symbolsUsed: Set<UInt32>?
    /// Filled when the first inline key comes that is not ASCII.
    var inlineNames: Set<String>?
  }

  init(
    _ bytes: Span<UInt8>, from offset: Int, symbols: SymbolTable, limits: ArchiveLimits,
    reusing memory: consuming [RecordField] = []
  ) {
    cursor = ByteCursor(bytes, from: offset, to: bytes.count)
    current = Level(start: offset, end: bytes.count, remaining: 0, isMap: false)
    memory.removeAll(keepingCapacity: true)
    fields = memory
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
    fields.reserveCapacity(header.count)
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
    if outer.isEmpty, objectCount == 0 { fields.append(RecordField(symbol, at: cursor.offset)) }
  }

  private mutating func checkInlineKey(
    _ bytes: Span<UInt8>, _ key: ValueKey, at start: Int
  ) throws(ArchiveError) {
    guard case .inline(let range) = key else { return }
    if current.lastSymbol == .max,
      !ValueKey.isOrdered(.inline(current.lastInline), before: key, in: bytes)
    {
      throw cursor.malformed(at: start)
    }
    current.lastSymbol = .max
    current.lastInline = range
    guard bytes.isUTF8(range) else { throw cursor.malformed(at: start) }
    let name = bytes.text(range)
    // The order of bytes tells ASCII names apart. A name beyond ASCII may have
    // two spellings, one of which may be ASCII, as the sign for Kelvin.
    if current.inlineNames == nil, !bytes.isASCII(range) {
      current.inlineNames = try keys(bytes, to: start).names
    }
    guard current.inlineNames?.insert(name).inserted ?? true else {
      throw ArchiveError(.malformed, offset: start, subject: "equal keys")
    }
    if let number = symbols.number(of: name) {
      if current.symbolsUsed == nil { current.symbolsUsed = try keys(bytes, to: start).symbols }
      guard current.symbolsUsed?.contains(number) == false else {
        throw cursor.malformed(at: start)
      }
    }
    if outer.isEmpty, objectCount == 0 { inlineFields[name] = cursor.offset }
  }

  /// The keys of the map, whose entries were checked so far.
  private func keys(
    _ bytes: Span<UInt8>, to end: Int
  ) throws(ArchiveError) -> (symbols: Set<UInt32>, names: Set<String>) {
    var cursor = ByteCursor(bytes, from: current.start, to: end)
    var symbols: Set<UInt32> = []
    var names: Set<String> = []
    while !cursor.isAtEnd {
      switch try cursor.readKey(bytes, limits: limits, symbolCount: .max) {
      case .symbol(let number): symbols.insert(number)
      case .inline(let range): names.insert(bytes.text(range))
      }
      _ = try cursor.readValueHeader(bytes)
    }
    return (symbols, names)
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

/// A field of a record: its symbol, and where its value begins.
struct RecordField: Sendable {
  let symbol: UInt32
  /// Less than 2^24, as the record is.
  private let place: UInt32

  var offset: Int { Int(place) }

  init(_ symbol: UInt32, at offset: Int) {
    self.symbol = symbol
    place = UInt32(truncatingIfNeeded: offset)
  }
}
