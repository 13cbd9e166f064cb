extension RestorationRun {
  func makeObjects() {
    let lookup = ObjectLookup(types: types, delegate: delegate, trace: trace)
    outcomes.reserveCapacity(tree.outline.rows.count)
    for place in tree.outline.rows.indices {
      reach(place)
      switch withCoder(place, { find(place, $0, lookup) }) {
      case .found(let object, let step): take(object, by: step, as: place)
      case .missing(let outcome): leaveOut(place, outcome)
      }
      noteGivenRoot(place)
    }
  }

  /// What became of an element that is back, and of its class.
  func outcome(ofPlace place: Int, by step: RestorationReport.Step)
    -> RestorationReport.NodeOutcome
  {
    withheld(place, by: step)
      ?? (prepared.hasState(place) ? .restored(by: step) : .restoredWithoutState(by: step))
  }

  /// Nil if the state of an element could be read, or if it has none.
  func withheld(_ place: Int, by step: RestorationReport.Step?)
    -> RestorationReport.NodeOutcome?
  {
    switch prepared.version(of: place) {
    case .current, .migrated: nil
    case .newer(let stored, let known): .newerVersion(by: step, stored: stored, known: known)
    case .failed(let version, let error): .migrationFailed(by: step, from: version, error)
    }
  }

  func find(
    _ place: Int, _ coder: StateDecoder, _ lookup: ObjectLookup
  ) -> ObjectLookup.Result {
    let row = tree.outline.rows[place]
    var container: TypeTraits = []
    if let parent = row.parent {
      guard restored.isBack(parent) else {
        return .missing(.parentMissing(tree.outline.path(of: parent)))
      }
      if row.role == .child { container = traits[parent] }
    }
    // What is below something that is not back goes or stays with that.
    if !skipped.isEmpty, skipped[place] != nil { return .missing(.skipped) }
    if let late, row.parent == nil { return .found(late.node, .existing) }
    switch row.kind {
    case .object:
      return lookup.findObject(
        restorationClass: prepared.restorationClassName(of: place), coder: coder
      ) { registeredObject(for: place) }
    case .view, .application, .scene:
      // Found when its node has loaded it.
      return .missing(.viewNotFound)
    case .node:
      if container.contains(.stack), let stack = row.parent, cutStacks.contains(stack) {
        return .missing(.stackCut)
      }
      if container.contains(.tabs) {
        return existingNode(for: place).map { .found($0, .existing) } ?? .missing(.tabNotFound)
      }
      if let name = prepared.restorationClassName(of: place) {
        if let root = givenRoot(for: place, madeBy: name) { return .found(root, .existing) }
        return lookup.ask(classes.factory(named: name, form: Int(row.form)), name, coder)
      }
      return lookup.findNode(
        className: prepared.className(of: place), tree.outline.form(of: place).storyboard,
        coder: coder
      ) { existingNode(for: place) }
    }
  }

  func take(_ object: any StateRestoring, by step: RestorationReport.Step, as place: Int) {
    let row = tree.outline.rows[place]
    let kind = row.kind
    let known = classes.known(object, form: Int(row.form)) { isOfClass(of: place, $0) }
    let node = known.info.node(object)
    let restorationClass = prepared.restorationClassName(of: place)
    if kind == .node, node == nil {
      return leaveOut(
        place, .notARestorationClass(restorationClass ?? prepared.className(of: place)))
    }
    if let other = restored.claim(object, node, at: place) {
      return leaveOut(place, .providedTwice(tree.outline.path(of: other)))
    }
    traits[place] = known.info.traits
    outcomes.append(
      known.isSaved
        ? outcome(ofPlace: place, by: step)
        : .classMismatch(by: step, found: known.info.name))
    let identifier = tree.outline.identifier(of: place)
    objects.remember(
      object, known.info, node, identifier: identifier,
      // The closure of its class may have made one of another class.
      restorationClass: restorationClass
        ?? (step == .restorationClass ? prepared.className(of: place) : nil))
    if kind == .object, let object = object as? any RestorableObject {
      objects.register(object, identifier: identifier)
    }
  }

  /// Whether an object is of the class that was saved, whatever it is called now.
  func isOfClass(of place: Int, _ object: any StateRestoring) -> Bool {
    let className = prepared.className(of: place)
    return types.isObject(object, ofClassNamed: className)
      || tree.formerNames[className]?
        .contains { types.isObject(object, ofClassNamed: $0) } == true
  }

  /// Notes that an element is not back, and whether it is kept: only nil drops it.
  func leaveOut(_ place: Int, _ reason: RestorationReport.NodeOutcome) {
    let row = tree.outline.rows[place]
    outcomes.append(reason)
    switch reason {
    // It is kept with the one above.
    case .parentMissing: break
    // It is kept with what it lay on.
    case .stackCut:
      if let stack = row.parent, keptStacks.contains(stack) { unclaimed.insert(place) }
    // It is looked for when its node has loaded it.
    case .viewNotFound where row.role == .view: break
    default: keepUnlessVetoed(place)
    }
    if row.role == .child, let parent = row.parent,
      traits[parent].contains(.stack)
    {
      cutStacks.insert(parent)
      if unclaimed.contains(place) { keptStacks.insert(parent) }
    }
  }

  /// A nil counts as a veto if whoever returned it had seen the state.
  private func keepUnlessVetoed(_ place: Int) {
    if let withheld = withheld(place, by: nil) { outcomes[place] = withheld }
    if outcomes[place] != .vetoed { unclaimed.insert(place) }
  }

  /// The node that was there before, with exactly this path.
  ///
  /// The parent is already back, so the path is exact if the parent contains
  /// or presents a node with the identifier. Each parent is asked once.
  func existingNode(for place: Int) -> (any RestorableNode)? {
    let parent = tree.outline.rows[place].parent
    if existing[parent] == nil {
      existing[parent] =
        parent.flatMap { restored.node(at: $0) }.map { ExistingNodes(below: $0, types, objects) }
        ?? ExistingNodes(roots, types, objects)
    }
    return existing[parent]?.node(
      tree.outline.identifier(of: place), siblingIndex: tree.outline.siblingIndex(of: place))
  }

  /// The root that was given for a place, if the record names its class because that is
  /// registered with a closure, and not because the root names a restoration class.
  private func givenRoot(for place: Int, madeBy name: String) -> (any RestorableNode)? {
    guard tree.outline.rows[place].parent == nil,
      types.isMadeByClosure(prepared.className(of: place), registeredAs: name),
      let given = existingNode(for: place), given.restorationClass == nil,
      isOfClass(of: place, given)
    else { return nil }
    return given
  }

  /// Notes a root that was given for a place where another one is back, or none by a veto.
  private func noteGivenRoot(_ place: Int) {
    let row = tree.outline.rows[place]
    guard row.parent == nil, row.kind == .node, late == nil,
      outcomes[place].isBack || outcomes[place] == .vetoed,
      let given = existingNode(for: place), given !== restored.node(at: place)
    else { return }
    unusedRoots.insert(place)
  }

  /// The object that was registered, with the parent that is back.
  func registeredObject(for place: Int) -> (any StateRestoring)? {
    let scope = tree.outline.rows[place].parent.flatMap { restored.object(at: $0) }
    return scopedObjects.object(
      tree.outline.identifier(of: place), scope: scope, in: objects, isScope: restored.contains)
  }

  func findViews() {
    var views: [Int: [String: any RestorableView]] = [:]
    for (place, row) in tree.outline.rows.enumerated() where row.role == .view {
      guard outcomes[place] == .viewNotFound, let owner = row.parent else { continue }
      guard outcomes[owner].isDecodable,
        let node = restored.node(at: owner)
      else {
        keepUnlessVetoed(place)
        continue
      }
      reach(owner)
      if views[owner] == nil { views[owner] = ViewTree.viewsByIdentifier(of: node) }
      guard let view = views[owner]?[tree.outline.identifier(of: place)] else {
        keepUnlessVetoed(place)
        continue
      }
      guard isOfClass(of: place, view) else {
        outcomes[place] = .classMismatch(by: .existing, found: types.className(of: view))
        continue
      }
      restored.setView(view, at: place)
      traits[place] = types.traits(of: view)
      outcomes[place] = outcome(ofPlace: place, by: .existing)
    }
  }
}
