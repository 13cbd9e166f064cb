/// The nodes that are there before a restore, below one parent.
struct ExistingNodes {
  private struct Key: Hashable {
    let identifier: String
    let siblingIndex: Int
  }

  private var nodes: [Key: any RestorableNode] = [:]

  init(_ roots: [any RestorableNode], _ registry: ObjectRegistry) {
    add(roots, tellsEqualsApart: false, registry)
  }

  /// What the parent contains and presents; the first of equal ones counts,
  /// unless the parent tells them apart.
  init(below parent: any RestorableNode, _ registry: ObjectRegistry) {
    let tellsApart = !registry.traits(of: parent).isDisjoint(with: .tellsEqualChildrenApart)
    add(parent.restorationChildren, tellsEqualsApart: tellsApart, registry)
    add([parent.restorationPresented].compactMap(\.self), tellsEqualsApart: false, registry)
  }

  func node(_ stored: NodeRecord) -> (any RestorableNode)? {
    nodes[Key(identifier: stored.identifier, siblingIndex: stored.siblingIndex)]
  }

  private mutating func add(
    _ found: [any RestorableNode], tellsEqualsApart: Bool, _ registry: ObjectRegistry
  ) {
    var counts: [String: Int] = [:]
    for node in found {
      guard let identifier = registry.identifier(of: node) else { continue }
      let index = tellsEqualsApart ? counts[identifier, default: 0] : 0
      if tellsEqualsApart { counts[identifier] = index + 1 }
      let key = Key(identifier: identifier, siblingIndex: index)
      if nodes[key] == nil { nodes[key] = node }
    }
  }
}
