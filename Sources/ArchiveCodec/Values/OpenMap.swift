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
    guard key.utf8.count <= writer.limits.keyByteCount else {
      throw ArchiveError(.limitExceeded, subject: "bytes of a key")
    }
    if let symbol = writer.symbols.intern(key) { return writeKey(symbol: symbol, to: writer) }
    writer.output.writeKey(inline: key)
    isInOrder = false
    count += 1
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
    var reader = ByteReader(writer.output.bytes(from: start))
    while let key = reader.readWrittenEntry() {
      if place < start + reader.offset { return reader.name(of: key, writer.symbols.names) }
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
    struct Entry {
      let key: ValueKey
      let bytes: Range<Int>
    }
    // A copy of the map alone: a second reference to the buffer would copy all bytes.
    var reader = ByteReader(bytes(from: start))
    var entries: [Entry] = []
    var entryStart = 0
    while let key = reader.readWrittenEntry() {
      entries.append(Entry(key: key, bytes: entryStart..<reader.offset))
      entryStart = reader.offset
    }
    var latest: [ByteName: Int] = [:]
    if entries.contains(where: { if case .inline = $0.key { true } else { false } }) {
      for (index, entry) in entries.enumerated() {
        latest[ByteName(reader.name(of: entry.key, names))] = index
      }
    }
    let isKept = { (index: Int) in
      latest.isEmpty
        || latest[ByteName(reader.name(of: entries[index].key, names))] == index
    }
    let order = entries.indices.filter(isKept).sorted { left, right in
      if reader.isOrdered(entries[left].key, before: entries[right].key) { return true }
      if reader.isOrdered(entries[right].key, before: entries[left].key) { return false }
      return left < right
    }
    truncate(to: start)
    var count = 0
    for (place, index) in order.enumerated() {
      if place + 1 < order.count,
        !reader.isOrdered(entries[index].key, before: entries[order[place + 1]].key)
      {
        continue
      }
      write(reader.bytes[entries[index].bytes])
      count += 1
    }
    return count
  }
}

extension ByteReader {
  /// Reads the key of an entry and skips the value; nil at the end.
  fileprivate mutating func readWrittenEntry() -> ValueKey? {
    // This encoder has just written these bytes, so they can be read.
    guard !isAtEnd, let key = try? readKey(limits: .standard, symbolCount: .max),
      (try? readValueHeader()) != nil
    else { return nil }
    return key
  }

  fileprivate func name(of key: ValueKey, _ names: [String]) -> String {
    switch key {
    case .symbol(let symbol): names[Int(symbol)]
    case .inline(let range): bytes.span.text(range)
    }
  }
}
