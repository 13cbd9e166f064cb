/// The name that tells an element apart from all others below one row.
struct Sibling: Hashable {
  let parent: RowNumber?
  let name: SiblingName

  init(_ kind: ElementKind, below parent: RowNumber?, _ identifier: String, index: Int = 0) {
    self.parent = parent
    name = SiblingName(kind: kind, identifier: identifier, index: index)
  }

  init(_ content: NodeRecord, below parent: RowNumber?) {
    (self.parent, name) = (parent, content.name)
  }

  init(_ row: Row) {
    self.init(row.kind, below: row.parent, row.identifier, index: Int(row.siblingIndex))
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
  mutating func take(_ sibling: Sibling, _ rows: Rows) -> Bool {
    if sibling.name.kind == .node, let parent = sibling.parent, parents.insert(parent).inserted {
      for child in rows.contained(in: parent) {
        others.insert(
          Sibling(
            .node, below: parent, rows[child].identifier, index: Int(rows[child].siblingIndex)))
      }
    }
    if sibling.name.kind == .object, !hasObjects {
      hasObjects = true
      for object in rows.placed where rows[object].kind == .object {
        others.insert(Sibling(rows[object]))
      }
    }
    return others.insert(sibling).inserted
  }

  /// Takes a name for a kept element, which stays even if another element has the name.
  mutating func take(ofKept sibling: Sibling) { others.insert(sibling) }
}
