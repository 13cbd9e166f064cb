/// The objects that are there before anybody makes one.
extension RestorationRun {
  /// What was found so far.
  struct Existing {
    typealias Named = (name: String, object: any StateRestoring)

    /// What nodes contain and present, and their views, by twice the slot, and one more for views.
    var named: [Int: [String: [Named]]] = [:]
    /// Registered objects by identifier and scope, and how many were registered then.
    var registered: [String: (count: Int, byScope: [ObjectIdentifier?: any RestorableObject])] = [:]
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
    let traits = elements[parent].node.map { types.info(of: $0).traits } ?? []
    guard index == 0 || traits.tellEqualChildrenApart else { return nil }
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
  /// Without a scope, an object without a parent counts, or else one whose parent scopes nothing. All objects of
  /// the identifier are looked at once, and again if others may have been registered and none is found.
  private func registered(
    _ identifier: String, below scope: (any StateRestoring)?
  ) -> (any StateRestoring)? {
    let scope = scope.map { ObjectIdentifier($0) }
    if existing.registered[identifier]?.byScope[scope] == nil,
      existing.registered[identifier]?.count != objects.changeCount
    {
      let all = objects.registeredObjects(named: identifier)
      let scopes = all.map { $0.restorationParent.map { ObjectIdentifier($0) } }
      existing.registered[identifier] = (
        objects.changeCount,
        Dictionary(zip(scopes, all), uniquingKeysWith: { first, _ in first })
      )
    }
    if let object = existing.registered[identifier]?.byScope[scope] { return object }
    if scope != nil { return nil }
    return objects.registeredObjects(named: identifier).first { object in
      object.restorationParent.map { !elements.contains($0) } ?? true
    }
  }
}

extension RestorableNode {
  /// The nodes that the node contains or presents.
  var contained: [any RestorableNode] {
    restorationChildren + [restorationPresented].compactMap(\.self)
  }
}
