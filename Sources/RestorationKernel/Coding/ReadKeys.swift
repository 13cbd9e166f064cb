internal import ArchiveCodec

/// Which keys of a record were asked for.
struct ReadKeys {
  /// A bit for each of the first 64 keys of the record, in stored order.
  private var places: UInt64 = 0
  private var others: Set<String> = []
  /// The number of keys of the record; 0 as long as nobody has opened it.
  var keyCount = 0

  /// Notes a key of the record; the place counts its keys in stored order.
  @inline(__always)
  mutating func insert(_ key: String, at place: Int) {
    if place < UInt64.bitWidth { places |= 1 << place } else { others.insert(key) }
  }

  /// Whether every key was asked for, as is usual.
  var isWhole: Bool { keyCount > 0 && places.nonzeroBitCount == keyCount }

  /// The stored keys that were not asked for, in stored order; a container that was opened counts as read.
  ///
  /// - Complexity: O(1) if all of up to 64 keys were read, as is usual; otherwise O(*n*).
  func missing(in values: KeyedDecoder) -> [String] {
    guard places.nonzeroBitCount < values.keyCount else { return [] }
    return values.keys.enumerated().compactMap { place, key in
      let isRead = place < UInt64.bitWidth && places & 1 << place != 0 || others.contains(key)
      return isRead ? nil : key
    }
  }
}

/// The coders of the elements of a restore.
///
/// One coder is given to one element after the other. If a hook keeps the coder, a new one is
/// made for the next call.
final class ElementCoders {
  private let make: () -> StateDecoder
  /// The coder, which is nil while an element uses it, so that a second reference shows that a hook has kept
  /// it; and the keys that each element asked its coders for.
  @safe @exclusivity(unchecked) private var now: (coder: StateDecoder?, read: SlotTable<ReadKeys>)

  init(placeCount: Int, _ make: @escaping () -> StateDecoder) {
    self.make = make
    now = (nil, SlotTable(ReadKeys(), placeCount: placeCount))
  }

  /// Gives the coder of an element to a call.
  @inline(__always)
  func use<Value>(_ slot: Int32, _ body: (StateDecoder) -> Value) -> Value {
    let coder = now.coder.take() ?? make()
    coder.open(slot, now.read[slot])
    let value = body(coder)
    now.read[slot] = coder.read
    now.coder = consume coder
    if !isKnownUniquelyReferenced(&now.coder) { now.coder = nil }
    return value
  }

  /// The keys of an element that nobody asked for; nil if there are none.
  func unreadNote(_ slot: Int32) -> ReportNote? {
    // An element that is read whole needs no coder again.
    now.read[slot].isWhole ? nil : use(slot, \.unreadNote)
  }
}
