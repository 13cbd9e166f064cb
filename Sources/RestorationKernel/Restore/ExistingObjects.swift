/// The objects that are there before anybody makes one.
///
/// Each node is asked once for what it contains.
final class ExistingObjects {
  private let objects: ObjectTable
  private let roots: [any RestorableNode]
  // Hooks are called before something is noted, and may ask in turn for nothing that is noted here.
  /// The nodes that exist, by the element of the node that contains them.
  private var nodes: [Int32: [String: [any RestorableNode]]] = [:]
  private var views: [Int32: [String: any RestorableView]] = [:]
  private var scopedObjects = ScopedObjects()

  init(_ objects: ObjectTable, roots: [any RestorableNode]) {
    (self.objects, self.roots) = (objects, roots)
  }

  /// The object that a node above contains, presents or has as a view under the name of an element, or that is
  /// registered under it.
  ///
  /// - Parameters:
  ///   - place: The place of the element.
  ///   - above: The object above, which is back; nil for the tree.
  ///   - node: The same as a node; nil if it is none.
  ///   - isScope: Whether an object is back, and so scopes others.
  /// - Returns: The object; nil if there is none.
  func object(
    _ place: Place, below above: (any StateRestoring)?, _ node: (any RestorableNode)?,
    isScope: (any StateRestoring) -> Bool
  ) -> (any StateRestoring)? {
    switch place.role.kind {
    case .object:
      return scopedObjects.object(place.name, scope: above, in: objects, isScope: isScope)
    case .view:
      guard let node else { return nil }
      let found = views[place.parent] ?? ViewTree.viewsByIdentifier(of: node)
      views[place.parent] = found
      return found[place.name]
    default:
      guard place.parent == Document.tree || node != nil else { return nil }
      let found = nodes[place.parent] ?? node.map { named(below: $0) } ?? named(roots)
      nodes[place.parent] = found
      guard let equal = found[place.name], equal.indices ~= Int(place.siblingIndex) else {
        return nil
      }
      return equal[Int(place.siblingIndex)]
    }
  }

  private func named(below parent: any RestorableNode) -> [String: [any RestorableNode]] {
    let tellsApart = !objects.types.traits(of: parent).isDisjoint(with: .tellsEqualChildrenApart)
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

  /// Forgets the nodes and views that were found, since hooks may have changed what contains them.
  func lookAgain() { (nodes, views) = ([:], [:]) }
}
