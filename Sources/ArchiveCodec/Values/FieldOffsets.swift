/// A field of a map: its symbol, and where its value begins.
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

/// Where the entries of a map are.
///
/// Keys are stored in order, so one is found by halves where it lies, and none
/// becomes a String or is hashed for it.
struct FieldOffsets: Sendable {
  /// By symbol, ascending.
  var symbolic: [RecordField] = []
  /// Where the inline keys begin, ascending by their bytes; less than 2^24.
  private(set) var inlineKeys: [UInt32] = []

  init(reusing memory: consuming [RecordField] = []) {
    memory.removeAll(keepingCapacity: true)
    symbolic = memory
  }

  /// The entries of a map that was checked.
  init(of map: ValueReader, in bytes: Span<UInt8>, symbolCount: Int) throws(ArchiveError) {
    let payload = map.header.payload
    reserve(map.header.count, symbolCount: symbolCount)
    var cursor = ByteCursor(bytes, from: payload.lowerBound, to: payload.upperBound)
    while !cursor.isAtEnd {
      let start = cursor.offset
      switch try cursor.readKey(bytes) {
      case .symbol(let symbol): symbolic.append(RecordField(symbol, at: cursor.offset))
      case .inline: appendInlineKey(at: start)
      }
      _ = try cursor.readValueHeader(bytes)
    }
  }

  /// Takes memory for so many entries; no symbol occurs twice.
  mutating func reserve(_ count: Int, symbolCount: Int) {
    symbolic.reserveCapacity(min(count, symbolCount))
  }

  mutating func appendInlineKey(at offset: Int) {
    inlineKeys.append(UInt32(truncatingIfNeeded: offset))
  }

  /// The place of a symbol among the fields.
  func place(of symbol: UInt32) -> Int? {
    let place = symbolic.countOfLeading { $0.symbol < symbol }
    return place < symbolic.count && symbolic[place].symbol == symbol ? place : nil
  }

  /// Where the value of a key begins.
  ///
  /// - Complexity: O(log *n*) in the number of entries.
  func offset(of key: String, _ symbols: SymbolTable, in bytes: Span<UInt8>) -> Int? {
    if let symbol = symbols.number(of: key), let place = place(of: symbol) {
      return symbolic[place].offset
    }
    return offset(ofInline: key, in: bytes)
  }

  /// Where the value of an inline key begins.
  func offset(ofInline key: String, in bytes: Span<UInt8>) -> Int? {
    guard !inlineKeys.isEmpty else { return nil }
    let name = key.utf8.span
    let place = inlineKeys.countOfLeading { start in
      inlineKey(at: start, in: bytes).map { bytes.extracting($0).precedes(name) } ?? false
    }
    guard place < inlineKeys.count, let stored = inlineKey(at: inlineKeys[place], in: bytes),
      bytes.extracting(stored).isEqual(to: name)
    else { return nil }
    return stored.upperBound
  }

  /// The inline keys, in stored order.
  func inlineNames(in bytes: Span<UInt8>) -> [String] {
    var names: [String] = []
    names.reserveCapacity(inlineKeys.count)
    for start in inlineKeys {
      if let key = inlineKey(at: start, in: bytes) { names.append(bytes.text(key)) }
    }
    return names
  }

  /// The key of the last entry that begins before an offset.
  func key(before offset: Int, in bytes: Span<UInt8>) -> ValueKey? {
    let inlineCount = inlineKeys.countOfLeading { $0 < offset }
    if inlineCount > 0 {
      return inlineKey(at: inlineKeys[inlineCount - 1], in: bytes).map(ValueKey.inline)
    }
    let count = symbolic.countOfLeading { $0.offset <= offset }
    return count > 0 ? .symbol(symbolic[count - 1].symbol) : nil
  }

  /// The record was checked, so the key can be read.
  private func inlineKey(at start: UInt32, in bytes: Span<UInt8>) -> Range<Int>? {
    var cursor = ByteCursor(bytes, from: Int(start), to: bytes.count)
    guard case .inline(let range)? = try? cursor.readKey(bytes) else { return nil }
    return range
  }
}

extension Array {
  /// How many elements come before all others, in an array that begins with
  /// those for which this holds.
  ///
  /// - Complexity: O(log *n*).
  @inline(__always)
  func countOfLeading(_ isLeading: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isLeading(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
