/// Whether the names of the children of one parent differ.
///
/// Names that are canonically equivalent are equal, as Strings are.
struct NameCheck {
  private var names: [String] = []
  /// Places in `names`, by hash; empty as long as there are few.
  private var slots: [Int32] = []
  private var most = 0
  private static let few = 8
  private static let free: Int32 = -1

  /// Begins anew, with the names of another parent.
  ///
  /// - Parameter most: How many names there can be.
  mutating func begin(most: Int) {
    self.most = most
    names.removeAll(keepingCapacity: true)
    slots.removeAll(keepingCapacity: true)
    guard most > Self.few else { return }
    let exponent = Int.bitWidth - (most * 2).leadingZeroBitCount
    slots.append(contentsOf: repeatElement(Self.free, count: 1 << exponent))
  }

  /// Notes a name; false if it was noted before.
  ///
  /// - Complexity: O(1) on average.
  mutating func insert(_ name: String) -> Bool {
    precondition(names.count < most, "more names than were announced")
    if slots.isEmpty {
      guard !names.contains(name) else { return false }
    } else {
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
}
