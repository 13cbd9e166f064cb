/// The nodes that are there before a restore, below one parent.
struct ExistingNodes {
  private struct Key: Hashable {
    let identifier: String
    let siblingIndex: Int
  }

  private var nodes: [Key: any RestorableNode] = [:]

  init(_ roots: [any RestorableNode], _ types: TypeTable, _ objects: ObjectTable) {
    add(roots, tellsEqualsApart: false, types, objects)
  }

  /// What the parent contains and presents; the first of equal ones counts,
  /// unless the parent tells them apart.
  init(below parent: any RestorableNode, _ types: TypeTable, _ objects: ObjectTable) {
    let tellsApart = !types.traits(of: parent).isDisjoint(with: .tellsEqualChildrenApart)
    add(parent.restorationChildren, tellsEqualsApart: tellsApart, types, objects)
    add([parent.restorationPresented].compactMap(\.self), tellsEqualsApart: false, types, objects)
  }

  func node(_ identifier: String, siblingIndex: Int) -> (any RestorableNode)? {
    nodes[Key(identifier: identifier, siblingIndex: siblingIndex)]
  }

  private mutating func add(
    _ found: [any RestorableNode], tellsEqualsApart: Bool, _ types: TypeTable,
    _ objects: ObjectTable
  ) {
    var counts: [String: Int] = [:]
    for node in found {
      guard let identifier = objects.identifier(of: node) else { continue }
      let index = tellsEqualsApart ? counts[identifier, default: 0] : 0
      if tellsEqualsApart { counts[identifier] = index + 1 }
      let key = Key(identifier: identifier, siblingIndex: index)
      if nodes[key] == nil { nodes[key] = node }
    }
  }
}
