/// The entries of a checked map in the record, and the search for one of them.
///
/// Types ask for their keys in the order in which they were written, so the entry after the
/// last one is tried first. If that is another entry, those of a small map are compared one
/// by one, and a larger map has a table, so that no record can make the search long.
struct StoredMap: Sendable {
  /// The bytes of the entries.
  let payload: Range<Int>
  /// The number of the entries.
  let count: Int
  private let table: ElementOffsets?

  /// A larger map gets a table.
  static let longestScan = 32

  struct Entry {
    /// The offset of the key, and the offset of the value.
    let start: Int
    let value: Int
    /// How many entries come before this one.
    let place: Int
    let key: ValueKey
  }

  /// A map without entries.
  init() {
    (payload, count, table) = (0..<0, 0, nil)
  }

  /// - Complexity: O(1) for a small map, otherwise O(*n*) in its entries.
  init(_ map: ValueReader, in bytes: Span<UInt8>) {
    payload = map.header.payload
    count = map.header.count
    table = count > Self.longestScan ? ElementOffsets(of: map, in: bytes) : nil
  }

  var start: EntryPosition { EntryPosition(offset: payload.lowerBound, place: 0) }

  /// Finds an entry, which is likely to be the one at a position.
  ///
  /// - Complexity: O(1) for the entry at the position, otherwise O(log *n*) in the
  ///   entries.
  @inline(__always)
  func find(
    _ name: String, from position: EntryPosition, in bytes: Span<UInt8>, _ symbols: SymbolTable
  ) -> Entry? {
    if let entry = match(name, at: position, in: bytes, symbols.names) { return entry }
    return search(name, from: position, in: bytes, symbols)
  }

  /// The entry at a position, if it has this name.
  @inline(__always)
  func match(
    _ name: String, at position: EntryPosition, in bytes: Span<UInt8>, _ names: [String]
  ) -> Entry? {
    guard position.offset < payload.upperBound else { return nil }
    var cursor = ByteCursor(bytes, from: position.offset, to: payload.upperBound)
    // The record was checked, so its entries can be read.
    guard let key = try? cursor.readKey(bytes) else { return nil }
    switch key {
    case .symbol(let symbol):
      guard names[Int(symbol)].hasSameBytes(as: name) else { return nil }
    case .inline(let range):
      guard bytes.extracting(range).isEqual(to: name.utf8.span) else { return nil }
    }
    return Entry(start: position.offset, value: cursor.offset, place: position.place, key: key)
  }

  /// Finds an entry that is not at the position.
  @inline(never)
  private func search(
    _ name: String, from position: EntryPosition, in bytes: Span<UInt8>, _ symbols: SymbolTable
  ) -> Entry? {
    if let table {
      if let symbol = symbols.number(of: name),
        let position = table.position(of: name, symbol, in: bytes),
        let entry = match(name, at: position, in: bytes, symbols.names)
      {
        return entry
      }
      // A name that has a symbol is inline all the same in a dictionary.
      guard let position = table.position(of: name, nil, in: bytes)
      else { return nil }
      return match(name, at: position, in: bytes, symbols.names)
    }
    // Once around: from the position to the end, and then from the start.
    var next = position
    for _ in 0..<count {
      if next.offset >= payload.upperBound { next = start }
      if let entry = match(name, at: next, in: bytes, symbols.names) { return entry }
      guard let following = self.position(after: next, in: bytes) else { return nil }
      next = following
    }
    return nil
  }

  /// The position after an entry.
  private func position(after entry: EntryPosition, in bytes: Span<UInt8>) -> EntryPosition? {
    var cursor = ByteCursor(bytes, from: entry.offset, to: payload.upperBound)
    guard cursor.nextEntry(bytes) != nil else { return nil }
    return EntryPosition(offset: cursor.offset, place: entry.place + 1)
  }
}

/// A place between the entries of a map: the offset of an entry, and the number of
/// entries before it.
@usableFromInline
struct EntryPosition: Sendable {
  @usableFromInline let offset: Int
  @usableFromInline let place: Int

  @usableFromInline
  init(offset: Int, place: Int) {
    (self.offset, self.place) = (offset, place)
  }
}

// MARK: - All entries

extension StoredMap {
  /// The keys in stored order.
  ///
  /// - Complexity: O(*n*) in the bytes of the map.
  func names(in bytes: Span<UInt8>, _ names: [String]) -> [String] {
    var all: [String] = []
    all.reserveCapacity(count)
    var cursor = ByteCursor(bytes, over: payload)
    while let key = cursor.nextEntry(bytes) { all.append(bytes.text(of: key, names)) }
    return all
  }
}
