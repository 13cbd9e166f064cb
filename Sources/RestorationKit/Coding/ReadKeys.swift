internal import ArchiveCodec

/// Which keys of a record were asked for.
struct ReadKeys {
  /// By place in the record, for those that have one of the first places.
  private var places: UInt64 = 0
  private var others: Set<String> = []

  mutating func insert(_ key: String, of values: KeyedDecoder) {
    let place = values.place(of: key)
    if let place, place < UInt64.bitWidth {
      places |= 1 << place
    } else if place != nil || values.placeCount < values.keyCount {
      others.insert(key)
    }
  }

  /// The keys that nobody asked for, in stored order.
  ///
  /// - Complexity: O(1) if all of up to 64 were read, as is usual; otherwise
  ///   O(*n*) in the keys.
  func missing(in values: KeyedDecoder) -> [String] {
    guard places.nonzeroBitCount < values.keyCount else { return [] }
    return values.keys.enumerated().compactMap { place, key in
      let isRead = place < UInt64.bitWidth && places & 1 << place != 0 || others.contains(key)
      return isRead ? nil : key
    }
  }
}
