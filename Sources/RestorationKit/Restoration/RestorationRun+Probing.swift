/// What objects say of their states when a restore has ended, of those whose stored states
/// they did not get: only what they say later than that counts as changed.
extension RestorationRun {
  func rememberProbes(in kept: KeptRecords) {
    for place in prepared.otherVersions
    where prepared.version(of: place).isWithheld && outcomes[place].isDecodable {
      if let object = restored.object(at: place) { remember(object, place, in: kept) }
    }
    guard !skipped.isEmpty else { return }
    // What the app has made itself of what is left out, and of what is below it.
    var made: [Int: any StateRestoring] = [:]
    var present = PresentContents()
    for place in tree.outline.rows.indices {
      let parent = tree.outline.rows[place].parent
      let isTop = outcomes[place] == .skipped
      guard isTop || parent.map({ made[$0] != nil }) == true else { continue }
      let above = parent.flatMap { isTop ? restored.object(at: $0) : made[$0] }
      guard parent == nil || above != nil,
        let object = object(at: place, below: above, in: &present)
      else { continue }
      made[place] = object
      remember(object, place, in: kept)
    }
  }

  private func remember(_ object: any StateRestoring, _ place: Int, in kept: KeptRecords) {
    reach(place)
    note(.encodeRestorableState, place)
    do {
      kept.remember(
        try StateProbe(object, at: tree.outline.path(of: place), types.traits(of: object)),
        of: object)
    } catch {
      // Then the first state that it can encode counts as changed.
    }
  }

  /// What is there now for an element, without asking anybody to make it.
  private func object(
    at place: Int, below parent: (any StateRestoring)?, in present: inout PresentContents
  ) -> (any StateRestoring)? {
    let identifier = tree.outline.identifier(of: place)
    let above = tree.outline.rows[place].parent
    switch tree.outline.rows[place].kind {
    case .node:
      if above == nil, let late { return late.node }
      guard above == nil || parent is any RestorableNode else { return nil }
      if present.nodes[above] == nil {
        let node = parent as? any RestorableNode
        present.nodes[above] =
          node.map { ExistingNodes(below: $0, types, objects) }
          ?? ExistingNodes(roots, types, objects)
      }
      return present.nodes[above]?
        .node(identifier, siblingIndex: tree.outline.siblingIndex(of: place))
    case .view:
      guard let above, let node = parent as? any RestorableNode else { return nil }
      if present.views[above] == nil {
        present.views[above] = ViewTree.viewsByIdentifier(of: node)
      }
      return present.views[above]?[identifier]
    case .object: return registeredObject(for: place)
    case .application, .scene: return nil
    }
  }
}

/// What nodes contain when a restore has ended; each of them is asked once.
private struct PresentContents {
  /// By the places of the nodes; roots are under nil.
  var nodes: [Int?: ExistingNodes] = [:]
  var views: [Int: [String: any RestorableView]] = [:]
}
