/// The offsets of the keys of a large map.
///
/// Keys are stored in order, so a key is found by binary search in the record, and none
/// becomes a String or is hashed for that.
struct FieldOffsets: Sendable {
  /// In the order of the keys: symbols by number, then inline keys by their bytes.
  ///
  /// Less than 2^24 each, as the record is no longer.
  private var keys: [UInt32] = []

  /// The entries of a map that was checked.
  init(of map: ValueReader, in bytes: Span<UInt8>) throws(ArchiveError) {
    keys.reserveCapacity(map.header.count)
    var cursor = ByteCursor(bytes, over: map.header.payload)
    while !cursor.isAtEnd {
      keys.append(UInt32(truncatingIfNeeded: cursor.offset))
      _ = try cursor.readKey(bytes)
      try cursor.skipValue(bytes)
    }
  }

  /// Where the entry of a key is, if the map has the key.
  ///
  /// - Complexity: O(log *n*) in the number of entries.
  func position(
    of name: String, _ symbol: UInt32?, in bytes: Span<UInt8>, counting steps: inout Int
  ) -> EntryPosition? {
    let place = keys.countOfLeading { start in
      steps += 1
      var cursor = ByteCursor(bytes, from: Int(start), to: bytes.count)
      // The record was checked, so the key can be read.
      return switch try? cursor.readKey(bytes) {
      case .symbol(let number): symbol.map { number < $0 } ?? true
      case .inline(let key): symbol == nil && bytes.extracting(key).precedes(name.utf8.span)
      case nil: false
      }
    }
    return place < keys.count ? EntryPosition(offset: Int(keys[place]), place: place) : nil
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
