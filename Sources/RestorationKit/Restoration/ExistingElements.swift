/// The objects of stored elements that exist already; nobody is asked to make one.
///
/// Each node is asked once for what it contains.
struct ExistingElements {
  private let outline: StoredOutline
  private let types: TypeTable
  private let objects: ObjectTable
  private let roots: [any RestorableNode]
  /// The node that came late; nil if the whole state is restored.
  private let late: (any RestorableNode)?
  /// The nodes that exist, by the index of the node that contains them; roots are under nil.
  private var nodes: [Int?: ExistingNodes] = [:]
  private var views: [Int: [String: any RestorableView]] = [:]
  private var scopedObjects = ScopedObjects()

  init(
    _ outline: StoredOutline, _ types: TypeTable, _ objects: ObjectTable,
    roots: [any RestorableNode], late: (any RestorableNode)?
  ) {
    (self.outline, self.types, self.objects) = (outline, types, objects)
    (self.roots, self.late) = (roots, late)
  }

  /// The node with exactly the path of an element.
  ///
  /// The path is exact if the parent, which is back, contains or presents a node with the
  /// identifier.
  mutating func node(at index: Int, below parent: (any RestorableNode)?) -> (any RestorableNode)? {
    let above = outline.rows[index].parent
    if above == nil, let late { return late }
    if nodes[above] == nil {
      nodes[above] =
        parent.map { ExistingNodes(below: $0, types, objects) }
        ?? ExistingNodes(roots, objects)
    }
    return nodes[above]?.node(
      outline.identifier(of: index), siblingIndex: outline.siblingIndex(of: index))
  }

  /// The view that has the identifier of an element, of the node above.
  mutating func view(at index: Int, of node: any RestorableNode) -> (any RestorableView)? {
    guard let above = outline.rows[index].parent else { return nil }
    if views[above] == nil { views[above] = ViewTree.viewsByIdentifier(of: node) }
    return views[above]?[outline.identifier(of: index)]
  }

  /// The registered object with the identifier of an element, and the parent that is back.
  mutating func object(at index: Int, in restored: RestoredObjects) -> (any StateRestoring)? {
    let scope = outline.rows[index].parent.flatMap { restored.object(at: $0) }
    return scopedObjects.object(
      outline.identifier(of: index), scope: scope, in: objects, isScope: restored.contains)
  }

  /// Forgets the nodes and views that were found, since hooks may have changed what contains them.
  mutating func lookAgain() { (nodes, views) = ([:], [:]) }
}

/// The nodes that are there below one parent.
private struct ExistingNodes {
  private struct Key: Hashable {
    let identifier: String
    let siblingIndex: Int
  }

  private var nodes: [Key: any RestorableNode] = [:]

  init(_ roots: [any RestorableNode], _ objects: ObjectTable) {
    add(roots, tellsEqualsApart: false, objects)
  }

  /// Collects the nodes that the parent contains and presents; the first of equal ones counts,
  /// unless the parent tells them apart.
  init(below parent: any RestorableNode, _ types: TypeTable, _ objects: ObjectTable) {
    let tellsApart = !types.traits(of: parent).isDisjoint(with: .tellsEqualChildrenApart)
    add(parent.restorationChildren, tellsEqualsApart: tellsApart, objects)
    add([parent.restorationPresented].compactMap(\.self), tellsEqualsApart: false, objects)
  }

  func node(_ identifier: String, siblingIndex: Int) -> (any RestorableNode)? {
    nodes[Key(identifier: identifier, siblingIndex: siblingIndex)]
  }

  private mutating func add(
    _ found: [any RestorableNode], tellsEqualsApart: Bool, _ objects: ObjectTable
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
