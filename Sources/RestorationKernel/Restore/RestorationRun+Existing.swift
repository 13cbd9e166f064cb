/// The objects that are there before anybody makes one.
extension RestorationRun {
  /// What was found so far.
  struct Existing {
    typealias Named = (name: String, object: any StateRestoring)

    /// What nodes contain and present, and their views, by twice the slot, and one more for views.
    var named: [Int: [String: [Named]]] = [:]
    /// Registered objects by identifier and scope, and the number of the last one that was looked at.
    var registered: [String: (last: Int, byScope: [ObjectIdentifier?: any RestorableObject])] = [:]
  }

  /// The object that a node above contains, presents or has as a view under the name of an element, or that is
  /// registered under it; nil if there is none.
  ///
  /// Each node is asked once for what it contains.
  func existingObject(_ place: Place) -> (any StateRestoring)? {
    let (parent, isView) = (place.parent, place.role == .view)
    if place.role == .object { return registered(place.name, below: elements[parent].object) }
    let key = Int(parent) * 2 + (isView ? 1 : 0)
    // Hooks are called before something is noted, and may ask in turn for nothing that is noted here.
    if existing.named[key] == nil {
      let named = named(below: parent, isView: isView)
      existing.named[key] = Dictionary(grouping: named, by: \.name)
    }
    let (equal, index) = (existing.named[key]?[place.name] ?? [], Int(place.siblingIndex))
    guard index == 0 || elements[parent].traits.tellEqualChildrenApart else { return nil }
    return equal.indices ~= index ? equal[index].object : nil
  }

  /// The views of a node, or the nodes that it contains or presents; the given roots for the tree.
  private func named(below parent: Int32, isView: Bool) -> [Existing.Named] {
    let node = elements[parent].node
    guard isView else {
      let nodes = parent == Document.tree ? roots : node?.contained ?? []
      return nodes.compactMap { node in objects.identifier(of: node).map { ($0, node) } }
    }
    let views = node.flatMap {
      ViewTree.views($0.restorationViews, of: $0, besides: $0.contained, most: viewLimit)
    }
    return (views ?? []).map { ($0.identifier, $0.view) }
  }

  /// The object of an identifier that an object scopes; the first one that was registered counts.
  ///
  /// Without a scope, an object without a parent counts, or else one whose parent scopes nothing. Each object is
  /// looked at once, so that many of one identifier take linear time.
  private func registered(
    _ identifier: String, below scope: (any StateRestoring)?
  ) -> (any StateRestoring)? {
    let scope = scope.map { ObjectIdentifier($0) }
    var known = existing.registered.removeValue(forKey: identifier) ?? (0, [:])
    // One that has another identifier by now may stand before others.
    if let found = known.byScope[scope], objects.registeredNames[found] != identifier {
      known = (0, [:])
    }
    for (number, object) in objects.registeredObjects(named: identifier, after: known.last) {
      let parent = object.restorationParent.map { ObjectIdentifier($0) }
      if known.byScope[parent] == nil { known.byScope[parent] = object }
      known.last = number
    }
    existing.registered[identifier] = known
    if let object = known.byScope[scope] { return object }
    if scope != nil { return nil }
    return objects.registeredObjects(named: identifier).first { _, object in
      object.restorationParent.map { !elements.contains($0) } ?? true
    }?.object
  }
}

extension RestorableNode {
  /// The nodes that the node contains or presents.
  var contained: [any RestorableNode] {
    restorationChildren + [restorationPresented].compactMap(\.self)
  }
}
