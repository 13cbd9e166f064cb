/// Checks that stored elements have paths of their own.
package struct SiblingCheck {
  /// A name that no other element below the same parent may have.
  package struct Name {
    let identifier: String
    let index: Int
    // In few bytes, since every element has a name.
    private let parentNumber: Int32
    private let kind: ElementKind

    /// The index of the element above; nil for a root.
    var parent: Int? { parentNumber < 0 ? nil : Int(parentNumber) }

    package init(kind: ElementKind, parent: Int?, identifier: String, index: Int) {
      self.kind = kind
      self.identifier = identifier
      self.index = index
      parentNumber = parent.map { Int32($0) } ?? -1
    }

    fileprivate var hash: Int {
      // The hasher is seeded for each process and takes the whole name, so nobody can store
      // names that collide: with a sum of products all names could be made to collide.
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
  /// With this count a test proves that no archive can make the search long.
  package private(set) var stepCount = 0

  /// The noted names, in order.
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

  /// Adds a name that was noted before, for an element that has its path with another one.
  mutating func append(_ name: Name) { names.append(name) }
}
