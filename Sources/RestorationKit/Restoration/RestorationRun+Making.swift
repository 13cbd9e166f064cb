extension RestorationRun {
  func makeObjects() {
    for index in tree.outline.rows.indices {
      mark?(index)
      let way = lookup(at: index)
      switch withCoder(index, { lookup.find(index, way, $0) }) {
      case .found(let object, let step): take(object, by: step, as: index)
      case .missing(let reason): leaveOut(index, reason)
      }
      noteGivenRoot(index)
    }
  }

  private func lookup(at index: Int) -> Lookup {
    let row = tree.outline.rows[index]
    return Lookup(
      row.kind,
      isBelowMissing: row.parent.map { !restored.isBack($0) } ?? false,
      isLeftOut: !skipped.isEmpty && skipped[index] != nil,
      isLate: late != nil && row.parent == nil,
      isOnCutStack: outcomes.keepsNode(below: index) != nil,
      isTab: outcomes.isTab(index),
      namesClass: lookup.classes.restorationClassName(of: index) != nil)
  }

  private func verdict(
    on object: ElementVerdict.Object, at index: Int, areViewsLoaded: Bool = false
  ) -> ElementVerdict {
    ElementVerdict(
      object, prepared.reading(of: index), hasState: prepared.hasState(index),
      isOnKeptNode: outcomes.keepsNode(below: index) ?? false,
      isAwaited: !areViewsLoaded && tree.outline.rows[index].role == .view,
      keptReason: restored.keptReasons.isEmpty ? nil : restored.keptReasons[index])
  }

  private func leaveOut(_ index: Int, _ reason: RestorationReport.NodeOutcome) {
    outcomes.append(verdict(on: .missing(reason), at: index))
  }

  private func take(
    _ object: any StateRestoring, by step: RestorationReport.Step, as index: Int
  ) {
    let kind = tree.outline.rows[index].kind
    let known = lookup.classes.known(object, at: index)
    let node = known.info.node(object)
    let restorationClass = lookup.classes.restorationClassName(of: index)
    if kind == .node, node == nil {
      let name = restorationClass ?? lookup.classes.className(of: index)
      return leaveOut(index, .notARestorationClass(name))
    }
    if let other = restored.claim(object, node, at: index) {
      return leaveOut(index, .providedTwice(tree.outline.path(of: other)))
    }
    let otherClass = known.isSaved ? nil : known.info.name
    outcomes.append(
      verdict(on: .found(by: step, otherClass: otherClass), at: index), known.info.traits)
    let identifier = tree.outline.identifier(of: index)
    objects.remember(
      object, known.info, node, identifier: identifier,
      // The closure of the saved class may have made an object of another class.
      restorationClass: restorationClass
        ?? (step == .restorationClass ? lookup.classes.className(of: index) : nil))
    if kind == .object, let object = object as? any RestorableObject {
      objects.register(object, identifier: identifier)
    }
  }

  /// Notes a given root that is not used, since another root is back at its place, or
  /// none by a veto.
  private func noteGivenRoot(_ index: Int) {
    let row = tree.outline.rows[index]
    guard row.parent == nil, row.kind == .node, late == nil,
      outcomes[index].isBack || outcomes[index] == .vetoed,
      let given = lookup.existingNode(at: index), given !== restored.node(at: index)
    else { return }
    outcomes.noteUnusedRoot(index)
  }

  func findViews() {
    let types = lookup.classes.types
    for (index, row) in tree.outline.rows.enumerated() where row.role == .view {
      guard outcomes[index] == .viewNotFound, let owner = row.parent else { continue }
      let view = view(at: index, of: owner)
      let isSaved = view.map { lookup.classes.isSaved($0, at: index) } ?? false
      let found = view.map {
        ElementVerdict.Object.found(
          by: .existing, otherClass: isSaved ? nil : types.className(of: $0))
      }
      if let view, isSaved { restored.setView(view, at: index) }
      outcomes.settle(
        index, verdict(on: found ?? .missing(.viewNotFound), at: index, areViewsLoaded: true),
        view.map { isSaved ? types.traits(of: $0) : [] } ?? [])
    }
  }

  private func view(at index: Int, of owner: Int) -> (any RestorableView)? {
    guard outcomes[owner].isDecodable, let node = restored.node(at: owner) else { return nil }
    mark?(owner)
    return lookup.existing.view(at: index, of: node)
  }
}
