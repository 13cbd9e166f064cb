/// Remembers, at the end of a restore, the states of objects that did not get their stored ones:
/// only states that differ later count as changed.
extension RestorationRun {
  func rememberProbes(in kept: KeptRecords) {
    for index in withheld {
      if let object = restored.object(at: index) { remember(object, index, in: kept) }
    }
    guard !skipped.isEmpty else { return }
    // The app itself may have made an object that is left out, and others below that object.
    var made: [Int: any StateRestoring] = [:]
    lookup.existing.lookAgain()
    for index in tree.outline.rows.indices {
      let parent = tree.outline.rows[index].parent
      let isTop = outcomes[index] == .skipped
      guard isTop || parent.map({ made[$0] != nil }) == true else { continue }
      let above = parent.flatMap { isTop ? restored.object(at: $0) : made[$0] }
      guard parent == nil || above != nil,
        let object = existingObject(at: index, below: above)
      else { continue }
      made[index] = object
      remember(object, index, in: kept)
    }
  }

  /// The elements whose objects are back, and whose stored states saves keep.
  var withheld: [Int] {
    prepared.withheld.filter { outcomes[$0].isDecodable } + outcomes.keepsOwnState.sorted()
  }

  private func remember(_ object: any StateRestoring, _ index: Int, in kept: KeptRecords) {
    mark?(index)
    do {
      kept.remember(
        try StateProbe(
          object, at: tree.outline.path(of: index), lookup.classes.types.traits(of: object)),
        of: object)
    } catch {
      // Without a probe, the first state that the object can encode counts as changed.
    }
  }

  /// The object of an element that exists now; nobody is asked to make one.
  private func existingObject(
    at index: Int, below parent: (any StateRestoring)?
  ) -> (any StateRestoring)? {
    let node = parent as? any RestorableNode
    let isRoot = tree.outline.rows[index].parent == nil
    return switch tree.outline.rows[index].kind {
    case .node: isRoot || node != nil ? lookup.existing.node(at: index, below: node) : nil
    case .view: node.flatMap { lookup.existing.view(at: index, of: $0) }
    case .object: lookup.existing.object(at: index, in: restored)
    case .application, .scene: nil
    }
  }
}
