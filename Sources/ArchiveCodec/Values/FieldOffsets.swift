/// A field of a map: its symbol, and the offset of its value.
struct RecordField: Sendable {
  let symbol: UInt32
  /// Less than 2^24, as the record is no longer.
  private let place: UInt32

  var offset: Int { Int(place) }

  init(_ symbol: UInt32, at offset: Int) {
    self.symbol = symbol
    place = UInt32(truncatingIfNeeded: offset)
  }
}

/// The offsets of the entries of a large map.
///
/// Keys are stored in order, so a key is found by binary search in the record, and none
/// becomes a String or is hashed for that.
struct FieldOffsets: Sendable {
  /// The fields with symbols, ascending by symbol.
  private(set) var symbolic: [RecordField] = []
  /// The offsets of the inline keys, ascending by their bytes; less than 2^24.
  private var inlineKeys: [UInt32] = []

  /// The entries of a map that was checked.
  init(of map: ValueReader, in bytes: Span<UInt8>, symbolCount: Int) throws(ArchiveError) {
    let payload = map.header.payload
    // A symbol is the key of at most one entry.
    symbolic.reserveCapacity(min(map.header.count, symbolCount))
    var cursor = ByteCursor(bytes, from: payload.lowerBound, to: payload.upperBound)
    while !cursor.isAtEnd {
      let start = cursor.offset
      switch try cursor.readKey(bytes) {
      case .symbol(let symbol): symbolic.append(RecordField(symbol, at: cursor.offset))
      case .inline: inlineKeys.append(UInt32(truncatingIfNeeded: start))
      }
      try cursor.skipValue(bytes)
    }
  }

  /// The place of a symbol among the fields.
  private func place(of symbol: UInt32, counting steps: inout Int) -> Int? {
    let place = symbolic.countOfLeading { field in
      steps += 1
      return field.symbol < symbol
    }
    return place < symbolic.count && symbolic[place].symbol == symbol ? place : nil
  }

  /// Finds an entry.
  ///
  /// - Complexity: O(log *n*) in the number of entries.
  func entry(
    of key: String, _ symbols: SymbolTable, in bytes: Span<UInt8>, counting steps: inout Int
  ) -> StoredMap.Entry? {
    if let symbol = symbols.number(of: key), let place = place(of: symbol, counting: &steps) {
      let value = symbolic[place].offset
      let keyByteCount = PrefixVarint.byteCount(of: UInt64(symbol) << 1)
      return StoredMap.Entry(
        start: value - keyByteCount, value: value, place: place, key: .symbol(symbol))
    }
    return entry(ofInline: key, in: bytes, counting: &steps)
  }

  private func entry(
    ofInline key: String, in bytes: Span<UInt8>, counting steps: inout Int
  ) -> StoredMap.Entry? {
    guard !inlineKeys.isEmpty else { return nil }
    let name = key.utf8.span
    let place = inlineKeys.countOfLeading { start in
      steps += 1
      return inlineKey(at: start, in: bytes).map { bytes.extracting($0).precedes(name) } ?? false
    }
    guard place < inlineKeys.count, let stored = inlineKey(at: inlineKeys[place], in: bytes),
      bytes.extracting(stored).isEqual(to: name)
    else { return nil }
    return StoredMap.Entry(
      start: Int(inlineKeys[place]), value: stored.upperBound, place: symbolic.count + place,
      key: .inline(stored))
  }

  /// Reads an inline key.
  ///
  /// Reading cannot fail, since the record was checked.
  private func inlineKey(at start: UInt32, in bytes: Span<UInt8>) -> Range<Int>? {
    var cursor = ByteCursor(bytes, from: Int(start), to: bytes.count)
    guard case .inline(let range)? = try? cursor.readKey(bytes) else { return nil }
    return range
  }
}

extension Array {
  /// How many elements come before all others, in an array that begins with the
  /// elements for which the condition holds.
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
