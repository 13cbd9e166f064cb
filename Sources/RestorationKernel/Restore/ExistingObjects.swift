/// The objects that are there before anybody makes one.
///
/// Each node is asked once for what it contains.
final class ExistingObjects {
  private let objects: ObjectTable
  private let roots: [any RestorableNode]
  private let elements: RestoredElements
  /// A node with more views has none for a restore: a view may make another one whenever it is asked.
  private let viewLimit: Int
  // Hooks are called before something is noted, and may ask in turn for nothing that is noted here.
  /// The nodes that exist, by the element of the node that contains them.
  private var nodes: [Int32: [String: [any RestorableNode]]] = [:]
  private var views: [Int32: [String: any RestorableView]] = [:]
  private var scopedObjects = ScopedObjects()

  init(
    _ objects: ObjectTable, roots: [any RestorableNode], _ elements: RestoredElements,
    viewLimit: Int
  ) {
    (self.objects, self.roots, self.elements) = (objects, roots, elements)
    self.viewLimit = viewLimit
  }

  /// The object that a node above contains, presents or has as a view under the name of an element, or that is
  /// registered under it; nil if there is none.
  func object(_ place: Place) -> (any StateRestoring)? {
    let (parent, above) = (place.parent, elements[place.parent].node)
    switch place.role.kind {
    case .object:
      return scopedObjects.object(
        place.name, scope: elements[parent].object, in: objects, isScope: elements.contains)
    case .view:
      if views[parent] == nil { views[parent] = above.map(namedViews) }
      return views[parent]?[place.name]
    default:
      guard parent == Document.tree || above != nil else { return nil }
      if nodes[parent] == nil { nodes[parent] = named(below: above) }
      guard let equal = nodes[parent]?[place.name], equal.indices ~= Int(place.siblingIndex) else {
        return nil
      }
      return equal[Int(place.siblingIndex)]
    }
  }

  private func namedViews(of node: any RestorableNode) -> [String: any RestorableView] {
    let views = ViewTree.views(
      node.restorationViews, of: node, besides: node.contained, most: viewLimit)
    return (views ?? []).reduce(into: [:]) { named, view in
      if named[view.identifier] == nil { named[view.identifier] = view.view }
    }
  }

  /// The nodes that a node contains or presents, or without one the given roots.
  private func named(below parent: (any RestorableNode)?) -> [String: [any RestorableNode]] {
    let traits = parent.map { objects.types.info(of: $0).traits } ?? []
    return (parent?.contained ?? roots).reduce(into: [:]) { nodes, node in
      guard let name = objects.identifier(of: node),
        traits.tellEqualChildrenApart || nodes[name] == nil
      else { return }
      nodes[name, default: []].append(node)
    }
  }

  /// Forgets the nodes and views that were found, since hooks may have changed what contains them.
  func lookAgain() { (nodes, views) = ([:], [:]) }
}

extension RestorableNode {
  /// The nodes that the node contains or presents.
  var contained: [any RestorableNode] {
    restorationChildren + [restorationPresented].compactMap(\.self)
  }
}
