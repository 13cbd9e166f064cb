internal import ArchiveCodec

/// Which keys of a record were asked for.
struct ReadKeys {
  /// A bit for each of the first 64 keys of the record, in stored order.
  private var places: UInt64 = 0
  /// Nil as long as there are none, so that copies count no reference (benchmark: restore 10,000 nodes).
  private var others: Set<Int>?
  /// The number of keys of the record; 0 as long as nobody has opened it.
  var keyCount = 0

  /// Notes a key of the record; the place counts its keys in stored order.
  @inline(__always)
  mutating func insert(_ place: Int) {
    if place < UInt64.bitWidth { return places |= 1 << place }
    if others == nil { others = [] }
    others?.insert(place)
  }

  private func contains(_ place: Int) -> Bool {
    place < UInt64.bitWidth ? places & 1 << place != 0 : others?.contains(place) == true
  }

  /// Whether every key was asked for, as is usual.
  var isWhole: Bool { keyCount > 0 && places.nonzeroBitCount == keyCount }

  /// The stored keys that were not asked for, in stored order; a container that was opened counts as read.
  ///
  /// - Complexity: O(1) if all of up to 64 keys were read, as is usual; otherwise O(*n*).
  func missing(in values: KeyedDecoder) -> [String] {
    guard places.nonzeroBitCount < values.keyCount else { return [] }
    return values.keys.enumerated().filter { !contains($0.offset) }.map(\.element)
  }
}
