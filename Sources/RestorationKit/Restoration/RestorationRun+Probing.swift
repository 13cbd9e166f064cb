/// Remembers what objects say of their states when a restore has ended, if they did not get the
/// stored ones: only what they say later than that counts as changed.
extension RestorationRun {
  func rememberProbes(in kept: KeptRecords) {
    for place in prepared.withheld where outcomes[place].isDecodable {
      if let object = restored.object(at: place) { remember(object, place, in: kept) }
    }
    guard !skipped.isEmpty else { return }
    // The app may have made itself an object that is left out, and others below that.
    var made: [Int: any StateRestoring] = [:]
    lookup.existing.lookAgain()
    for place in tree.outline.rows.indices {
      let parent = tree.outline.rows[place].parent
      let isTop = outcomes[place] == .skipped
      guard isTop || parent.map({ made[$0] != nil }) == true else { continue }
      let above = parent.flatMap { isTop ? restored.object(at: $0) : made[$0] }
      guard parent == nil || above != nil,
        let object = existingObject(at: place, below: above)
      else { continue }
      made[place] = object
      remember(object, place, in: kept)
    }
  }

  private func remember(_ object: any StateRestoring, _ place: Int, in kept: KeptRecords) {
    progress.reach(place)
    progress.note(.encodeRestorableState, place)
    do {
      kept.remember(
        try StateProbe(
          object, at: tree.outline.path(of: place), lookup.classes.types.traits(of: object)),
        of: object)
    } catch {
      // Then the first state that it can encode counts as changed.
    }
  }

  /// The object that is there now for an element, without anybody being asked to make one.
  private func existingObject(
    at place: Int, below parent: (any StateRestoring)?
  ) -> (any StateRestoring)? {
    let node = parent as? any RestorableNode
    let isRoot = tree.outline.rows[place].parent == nil
    return switch tree.outline.rows[place].kind {
    case .node: isRoot || node != nil ? lookup.existing.node(at: place, below: node) : nil
    case .view: node.flatMap { lookup.existing.view(at: place, of: $0) }
    case .object: lookup.existing.object(at: place, in: restored)
    case .application, .scene: nil
    }
  }
}
