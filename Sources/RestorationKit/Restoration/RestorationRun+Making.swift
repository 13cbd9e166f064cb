extension RestorationRun {
  func makeObjects() {
    for place in tree.outline.rows.indices {
      progress.reach(place)
      let way = lookup(at: place)
      switch withCoder(place, { lookup.find(place, way, $0) }) {
      case .found(let object, let step): take(object, by: step, as: place)
      case .missing(let reason): leaveOut(place, reason)
      }
      noteGivenRoot(place)
    }
  }

  private func lookup(at place: Int) -> Lookup {
    let row = tree.outline.rows[place]
    return Lookup(
      row.kind,
      isBelowMissing: row.parent.map { !restored.isBack($0) } ?? false,
      isLeftOut: !skipped.isEmpty && skipped[place] != nil,
      isLate: late != nil && row.parent == nil,
      isOnCutStack: outcomes.keepsNode(below: place) != nil,
      isTab: outcomes.isTab(place),
      namesClass: lookup.classes.restorationClassName(of: place) != nil)
  }

  private func verdict(
    on object: ElementVerdict.Object, at place: Int, areViewsLoaded: Bool = false
  ) -> ElementVerdict {
    ElementVerdict(
      object, prepared.reading(of: place), hasState: prepared.hasState(place),
      isOnKeptNode: outcomes.keepsNode(below: place) ?? false,
      isAwaited: !areViewsLoaded && tree.outline.rows[place].role == .view)
  }

  private func leaveOut(_ place: Int, _ reason: RestorationReport.NodeOutcome) {
    outcomes.append(verdict(on: .missing(reason), at: place))
  }

  private func take(
    _ object: any StateRestoring, by step: RestorationReport.Step, as place: Int
  ) {
    let kind = tree.outline.rows[place].kind
    let known = lookup.classes.known(object, at: place)
    let node = known.info.node(object)
    let restorationClass = lookup.classes.restorationClassName(of: place)
    if kind == .node, node == nil {
      let name = restorationClass ?? lookup.classes.className(of: place)
      return leaveOut(place, .notARestorationClass(name))
    }
    if let other = restored.claim(object, node, at: place) {
      return leaveOut(place, .providedTwice(tree.outline.path(of: other)))
    }
    let otherClass = known.isSaved ? nil : known.info.name
    outcomes.append(
      verdict(on: .found(by: step, otherClass: otherClass), at: place), known.info.traits)
    let identifier = tree.outline.identifier(of: place)
    objects.remember(
      object, known.info, node, identifier: identifier,
      // The closure of the saved class may have made an object of another class.
      restorationClass: restorationClass
        ?? (step == .restorationClass ? lookup.classes.className(of: place) : nil))
    if kind == .object, let object = object as? any RestorableObject {
      objects.register(object, identifier: identifier)
    }
  }

  /// Notes a given root that is not used, since another root is back at its place, or
  /// none by a veto.
  private func noteGivenRoot(_ place: Int) {
    let row = tree.outline.rows[place]
    guard row.parent == nil, row.kind == .node, late == nil,
      outcomes[place].isBack || outcomes[place] == .vetoed,
      let given = lookup.existingNode(at: place), given !== restored.node(at: place)
    else { return }
    outcomes.noteUnusedRoot(place)
  }

  func findViews() {
    let types = lookup.classes.types
    for (place, row) in tree.outline.rows.enumerated() where row.role == .view {
      guard outcomes[place] == .viewNotFound, let owner = row.parent else { continue }
      let view = view(at: place, of: owner)
      let isSaved = view.map { lookup.classes.isSaved($0, at: place) } ?? false
      let found = view.map {
        ElementVerdict.Object.found(
          by: .existing, otherClass: isSaved ? nil : types.className(of: $0))
      }
      if let view, isSaved { restored.setView(view, at: place) }
      outcomes.settle(
        place, verdict(on: found ?? .missing(.viewNotFound), at: place, areViewsLoaded: true),
        view.map { isSaved ? types.traits(of: $0) : [] } ?? [])
    }
  }

  private func view(at place: Int, of owner: Int) -> (any RestorableView)? {
    guard outcomes[owner].isDecodable, let node = restored.node(at: owner) else { return nil }
    progress.reach(owner)
    return lookup.existing.view(at: place, of: node)
  }
}
