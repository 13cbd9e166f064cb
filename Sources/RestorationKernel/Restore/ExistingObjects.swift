/// The objects that are there before anybody makes one.
///
/// Each node is asked once for what it contains.
struct ExistingObjects {
  private let types: TypeTable
  private let objects: ObjectTable
  private let roots: [any RestorableNode]
  /// The nodes that exist, by the element of the node that contains them.
  private var nodes: [Int32: [String: [any RestorableNode]]] = [:]
  private var views: [Int32: [String: any RestorableView]] = [:]
  private var scopedObjects = ScopedObjects()

  init(_ types: TypeTable, _ objects: ObjectTable, roots: [any RestorableNode]) {
    (self.types, self.objects, self.roots) = (types, objects, roots)
  }

  /// The node that the one above contains or presents under the name of an element.
  ///
  /// The node above is back, or nil for a root.
  mutating func node(_ place: Place, below parent: (any RestorableNode)?) -> (any RestorableNode)? {
    let found = nodes[place.parent] ?? parent.map { named(below: $0) } ?? named(roots)
    nodes[place.parent] = found
    guard let equal = found[place.name], equal.indices ~= Int(place.siblingIndex) else {
      return nil
    }
    return equal[Int(place.siblingIndex)]
  }

  private func named(below parent: any RestorableNode) -> [String: [any RestorableNode]] {
    let tellsApart = !types.traits(of: parent).isDisjoint(with: .tellsEqualChildrenApart)
    let presented = [parent.restorationPresented].compactMap(\.self)
    return named(parent.restorationChildren, tellsEqualsApart: tellsApart)
      .merging(named(presented)) { first, _ in first }
  }

  private func named(
    _ found: [any RestorableNode], tellsEqualsApart: Bool = false
  ) -> [String: [any RestorableNode]] {
    found.reduce(into: [:]) { nodes, node in
      guard let name = objects.identifier(of: node), tellsEqualsApart || nodes[name] == nil
      else { return }
      nodes[name, default: []].append(node)
    }
  }

  /// The view of a node that has the name of an element.
  mutating func view(_ place: Place, of node: any RestorableNode) -> (any RestorableView)? {
    let found = views[place.parent] ?? ViewTree.viewsByIdentifier(of: node)
    views[place.parent] = found
    return found[place.name]
  }

  /// The registered object with the name of an element, and the scope that is back.
  mutating func object(
    _ place: Place, scope: (any StateRestoring)?, isScope: (any StateRestoring) -> Bool
  ) -> (any StateRestoring)? {
    scopedObjects.object(place.name, scope: scope, in: objects, isScope: isScope)
  }

  /// Forgets the nodes and views that were found, since hooks may have changed what contains them.
  mutating func lookAgain() { (nodes, views) = ([:], [:]) }
}
