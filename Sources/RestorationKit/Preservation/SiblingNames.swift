/// The name that tells an element apart from all others below one row.
struct Sibling: Hashable {
  let kind: ElementKind
  let parent: RowNumber?
  let identifier: String
  let index: Int

  init(_ kind: ElementKind, below parent: RowNumber?, _ identifier: String, index: Int = 0) {
    self.kind = kind
    self.parent = parent
    self.identifier = identifier
    self.index = index
  }

  init(_ content: NodeRecord, below parent: RowNumber?) {
    self.init(content.kind, below: parent, content.identifier, index: content.siblingIndex)
  }
}

/// The names that are taken in a walk: below one parent no two elements of a kind have the same
/// name.
struct SiblingNames {
  /// The names of the nodes that the visited node contains and presents; most names are compared
  /// with these alone.
  var contained = NameCheck()
  /// The names of all elements that come to their place otherwise.
  private var others: Set<Sibling> = []
  /// The rows whose contained nodes are among `others`.
  private var parents: Set<RowNumber> = []
  /// Whether the objects that had their place before this save are among `others`.
  private var hasObjects: Bool

  /// - Parameter meetsObjects: Whether the walk comes to all objects by itself.
  init(meetsObjects: Bool) { hasObjects = meetsObjects }

  /// Takes a name for an element that comes after the contained nodes, or from elsewhere; false if
  /// another element has the name.
  mutating func take(_ name: Sibling, _ rows: Rows) -> Bool {
    if name.kind == .node, let parent = name.parent, parents.insert(parent).inserted {
      for child in rows.contained(in: parent) {
        others.insert(
          Sibling(
            .node, below: parent, rows[child].identifier, index: Int(rows[child].siblingIndex)))
      }
    }
    if name.kind == .object, !hasObjects {
      hasObjects = true
      for object in rows.placed where rows[object].kind == .object {
        others.insert(Sibling(.object, below: rows[object].parent, rows[object].identifier))
      }
    }
    return others.insert(name).inserted
  }

  /// Takes a name for a kept element, which stays even if another element has the name.
  mutating func take(ofKept name: Sibling) { others.insert(name) }
}

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
