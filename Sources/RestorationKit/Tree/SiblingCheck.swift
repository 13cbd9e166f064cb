/// Whether stored elements have paths of their own.
package struct SiblingCheck {
  /// What tells apart all that lies below one element.
  package struct Name {
    let identifier: String
    let index: Int
    // In few bytes, for there are as many as elements.
    private let parentNumber: Int32
    private let kind: ElementKind

    /// The place of the element above; nil for a root.
    var parent: Int? { parentNumber < 0 ? nil : Int(parentNumber) }

    package init(kind: ElementKind, parent: Int?, identifier: String, index: Int) {
      self.kind = kind
      self.identifier = identifier
      self.index = index
      parentNumber = parent.map { Int32($0) } ?? -1
    }

    fileprivate var hash: Int {
      // Seeded for each process with all of it, as it is whatever somebody stored:
      // a sum of products could be made equal for all, whatever the identifier adds.
      var hasher = Hasher()
      hasher.combine(identifier)
      hasher.combine(parentNumber)
      hasher.combine(index)
      return hasher.finalize()
    }

    fileprivate func isSame(as other: Name) -> Bool {
      parentNumber == other.parentNumber && kind == other.kind && index == other.index
        && identifier == other.identifier
    }
  }

  /// How many slots were looked at.
  ///
  /// A test holds with it that no archive can make anybody search for long.
  package private(set) var stepCount = 0

  /// What was noted, in order.
  private(set) var names: [Name] = []
  private var slots: [Int32]
  private static let free: Int32 = -1

  /// - Parameter count: The most names that will come.
  package init(count: Int) {
    var capacity = 16
    while capacity < count * 2 { capacity *= 2 }
    slots = Array(repeating: Self.free, count: capacity)
    names.reserveCapacity(count)
  }

  /// Notes a name; false if it was noted before.
  ///
  /// - Complexity: O(1) on average.
  package mutating func insert(_ name: Name) -> Bool {
    let mask = slots.count - 1
    var place = name.hash & mask
    stepCount += 1
    while slots[place] != Self.free {
      stepCount += 1
      if names[Int(slots[place])].isSame(as: name) { return false }
      place = (place + 1) & mask
    }
    slots[place] = Int32(names.count)
    names.append(name)
    return true
  }
}
