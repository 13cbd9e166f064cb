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
  /// The nodes that exist, by the index of the node that contains them; roots are under −1.
  ///
  /// A key of another type than the other tables have makes a launch slower: the runtime looks for
  /// its conformance in all libraries of the process.
  private var nodes: [Int: ExistingNodes] = [:]
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
    let key = above ?? -1
    if nodes[key] == nil {
      nodes[key] =
        parent.map { ExistingNodes(below: $0, types, objects) }
        ?? ExistingNodes(roots, objects)
    }
    return nodes[key]?.node(
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
  /// By identifier, then by the index among equal siblings.
  private var nodes: [String: [any RestorableNode]] = [:]

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
    guard let equal = nodes[identifier], equal.indices.contains(siblingIndex) else { return nil }
    return equal[siblingIndex]
  }

  private mutating func add(
    _ found: [any RestorableNode], tellsEqualsApart: Bool, _ objects: ObjectTable
  ) {
    for node in found {
      guard let identifier = objects.identifier(of: node) else { continue }
      if tellsEqualsApart || nodes[identifier] == nil {
        nodes[identifier, default: []].append(node)
      }
    }
  }
}

extension ViewTree {
  /// The views of a node by identifier; of views with equal identifiers the first counts.
  fileprivate static func viewsByIdentifier(
    of node: any RestorableNode
  ) -> [String: any RestorableView] {
    let below = node.restorationChildren + [node.restorationPresented].compactMap(\.self)
    let views = views(node.restorationViews, of: node, besides: below, most: .max) ?? []
    return Dictionary(
      views.map { ($0.identifier, $0.view) },
      uniquingKeysWith: { first, _ in first })
  }
}
