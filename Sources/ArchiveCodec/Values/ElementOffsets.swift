/// The offsets of the elements of a large array, or of the entries of a large map.
///
/// Keys are stored in order, so a key is found by binary search in the record, and none
/// becomes a String or is hashed for that.
struct ElementOffsets: Sendable {
  // Less than 2^24 each, as the record is no longer. Those of entries are in the order of the keys:
  // symbols by number, then inline keys by their bytes.
  private var offsets: [UInt32] = []

  /// The elements of a container that was checked, so that they can be read.
  init(of container: ValueReader, in bytes: Span<UInt8>) {
    offsets.reserveCapacity(container.header.count)
    let isMap = container.header.kind == .map
    var cursor = ByteCursor(bytes, over: container.header.payload)
    while !cursor.isAtEnd {
      offsets.append(UInt32(truncatingIfNeeded: cursor.offset))
      if isMap { _ = try? cursor.readKey(bytes) }
      guard (try? cursor.skipValue(bytes)) != nil else { return }
    }
  }

  /// The last element at an offset or before it.
  func last(upTo offset: Int) -> (index: Int, offset: Int) {
    let index = max(offsets.countOfLeading { $0 <= offset } - 1, 0)
    return (index, Int(offsets[index]))
  }

  /// Where the entry of a key is, if the map has the key.
  ///
  /// - Complexity: O(log *n*) in the number of entries.
  func position(
    of name: String, _ symbol: UInt32?, in bytes: Span<UInt8>
  ) -> EntryPosition? {
    let place = offsets.countOfLeading { start in
      var cursor = ByteCursor(bytes, from: Int(start), to: bytes.count)
      // The record was checked, so the key can be read.
      return switch try? cursor.readKey(bytes) {
      case .symbol(let number): symbol.map { number < $0 } ?? true
      case .inline(let key): symbol == nil && bytes.extracting(key).precedes(name.utf8.span)
      case nil: false
      }
    }
    return place < offsets.count ? EntryPosition(offset: Int(offsets[place]), place: place) : nil
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
