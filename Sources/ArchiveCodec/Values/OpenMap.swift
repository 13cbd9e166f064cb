/// A map whose entries are being written, at the end of a writer's bytes.
struct OpenMap {
  /// The offset of the first entry.
  let start: Int
  private(set) var count = 0
  private var lastSymbol = -1
  /// False once an entry has come out of key order.
  private var isInOrder = true

  /// A map that was not opened.
  init() {
    start = 0
  }

  /// The offset of the map's header.
  var headerStart: Int { start - ByteBuffer.headerRoom }

  @inline(__always)
  init(in writer: ValueWriter) {
    start = writer.openContainer()
  }

  /// Writes the key of an entry, as a symbol if the archive has room for it.
  @inline(__always)
  mutating func writeKey(_ key: String, to writer: ValueWriter) throws(ArchiveError) {
    // A known name was not too long when it came first.
    if let symbol = writer.symbols.guess(key) {
      writeKey(symbol: symbol, to: writer)
    } else {
      try writeNewKey(key, to: writer)
    }
  }

  @inline(never)
  private mutating func writeNewKey(_ key: String, to writer: ValueWriter) throws(ArchiveError) {
    // A key that is too long gets no symbol.
    if key.utf8.count <= writer.limits.keyByteCount, let symbol = writer.symbols.search(key) {
      return writeKey(symbol: symbol, to: writer)
    }
    try writeKey(inline: key, to: writer)
    isInOrder = false
  }

  /// Writes a key that has a symbol.
  @inline(__always)
  mutating func writeKey(symbol: UInt32, to writer: ValueWriter) {
    writer.output.writeKey(symbol: symbol)
    if writer.symbolsUsed <= symbol { writer.symbolsUsed = Int(symbol) + 1 }
    note(symbol)
  }

  /// Notes an entry whose key was written as a symbol.
  @inline(__always)
  mutating func note(_ symbol: UInt32) {
    if lastSymbol >= symbol { isInOrder = false }
    lastSymbol = Int(symbol)
    count += 1
  }

  /// Writes the key of a dictionary; the keys must come in order, each once.
  mutating func writeKey(inline key: String, to writer: ValueWriter) throws(ArchiveError) {
    guard key.utf8.count <= writer.limits.keyByteCount else {
      throw ArchiveError(.limitExceeded, subject: "bytes of a key")
    }
    writer.output.writeKey(inline: key)
    count += 1
  }

  /// The key whose value contains an offset of the bytes; nil if no entry does.
  ///
  /// - Complexity: O(*n*) in the bytes of the map.
  func key(containing place: Int, in writer: ValueWriter) -> String? {
    guard place >= start else { return nil }
    let bytes = writer.output.bytes(from: start)
    var cursor = ByteCursor(bytes.span, over: bytes.indices)
    while let key = cursor.nextEntry(bytes.span) {
      if place < start + cursor.offset { return bytes.span.text(of: key, writer.symbols.names) }
    }
    return nil
  }

  /// Puts the entries in order, keeps the last of equal keys, and writes the
  /// header in front of them.
  func close(in writer: ValueWriter) {
    let kept =
      isInOrder ? count : writer.output.sortEntries(from: start, names: writer.symbols.names)
    writer.closeContainer(.map, count: kept, from: start)
  }
}

extension ByteBuffer {
  /// Puts the entries of a map in key order and drops all but the last of equal keys;
  /// returns how many are left.
  fileprivate func sortEntries(from start: Int, names: [String]) -> Int {
    let bytes = bytes(from: start)
    var cursor = ByteCursor(bytes.span, over: bytes.indices)
    var latest: [ByteName: (key: ValueKey, bytes: Range<Int>)] = .init()
    var entryStart = 0
    while let key = cursor.nextEntry(bytes.span) {
      latest[ByteName(bytes.span.text(of: key, names))] = (key, entryStart..<cursor.offset)
      entryStart = cursor.offset
    }
    truncate(to: start)
    for entry in latest.values.ordered(by: {
      ValueKey.isOrdered($0.key, before: $1.key, in: bytes.span)
    }) {
      write(bytes[entry.bytes])
    }
    return latest.count
  }
}
