/// Whether the names of the children of one parent differ.
///
/// Names that are canonically equivalent are equal, as Strings are.
struct NameCheck {
  private var names: [String] = []
  /// Places in `names`, by hash; empty as long as there are few.
  private var slots: [Int32] = []
  private static let fewest = 8
  private static let free: Int32 = -1

  /// Begins anew with the children of another parent.
  mutating func begin() {
    names.removeAll(keepingCapacity: true)
    slots.removeAll(keepingCapacity: true)
  }

  /// Notes a name; false if it was noted before.
  ///
  /// - Complexity: O(1) on average.
  mutating func insert(_ name: String) -> Bool {
    if names.count < Self.fewest {
      guard !names.contains(name) else { return false }
    } else {
      if (names.count + 1) * 2 > slots.count { grow() }
      let place = place(of: name)
      guard slots[place] == Self.free else { return false }
      slots[place] = Int32(names.count)
    }
    names.append(name)
    return true
  }

  private func place(of name: String) -> Int {
    var place = name.hashValue & (slots.count - 1)
    while slots[place] != Self.free, names[Int(slots[place])] != name {
      place = (place + 1) & (slots.count - 1)
    }
    return place
  }

  private mutating func grow() {
    let count = max(4 * Self.fewest, slots.count * 4)
    slots.removeAll(keepingCapacity: true)
    slots.append(contentsOf: repeatElement(Self.free, count: count))
    for number in names.indices { slots[place(of: names[number])] = Int32(number) }
  }
}
