/// Whether stored elements have paths of their own.
struct SiblingCheck {
  /// What tells apart all that lies below one element.
  struct Name {
    let kind: ElementKind
    let parent: Int?
    let identifier: String
    let index: Int

    fileprivate var hash: Int {
      // Seeded for each process, as identifiers are whatever somebody stored.
      identifier.hashValue &+ (parent ?? -1) &* 0x9e37_79b9_7f4a &+ index
    }

    fileprivate func isSame(as other: Name) -> Bool {
      parent == other.parent && kind == other.kind && index == other.index
        && identifier == other.identifier
    }
  }

  private var names: [Name] = []
  private var slots: [Int32]
  private static let free: Int32 = -1

  /// - Parameter count: The most names that will come.
  init(count: Int) {
    var capacity = 16
    while capacity < count * 2 { capacity *= 2 }
    slots = Array(repeating: Self.free, count: capacity)
    names.reserveCapacity(count)
  }

  /// Notes a name; false if it was noted before.
  ///
  /// - Complexity: O(1) on average.
  mutating func insert(_ name: Name) -> Bool {
    let mask = slots.count - 1
    var place = name.hash & mask
    while slots[place] != Self.free {
      if names[Int(slots[place])].isSame(as: name) { return false }
      place = (place + 1) & mask
    }
    slots[place] = Int32(names.count)
    names.append(name)
    return true
  }
}
