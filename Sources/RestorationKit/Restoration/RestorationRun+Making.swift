extension RestorationRun {
  func makeObjects() {
    let lookup = ObjectLookup(types: types, delegate: delegate, trace: trace)
    coders.reserveCapacity(tree.elements.count)
    outcomes.reserveCapacity(tree.elements.count)
    for prepared in prepared {
      let stored = prepared.element
      let coder = StateDecoder(stored, facts: tree.facts, now: now, restored: restored)
      coders.append(coder)
      switch find(stored, coder, lookup) {
      case .found(let object, let step): take(object, by: step, as: stored)
      case .missing(let outcome): leaveOut(stored, outcome)
      }
    }
  }

  /// What became of an element that is back, and of its class.
  func outcome(ofPlace place: Int, by step: RestorationReport.Step)
    -> RestorationReport.NodeOutcome
  {
    withheld(place, by: step)
      ?? (prepared[place].element.values.state == nil
        ? .restoredWithoutState(by: step) : .restored(by: step))
  }

  /// Nil if the state of an element could be read, or if it has none.
  func withheld(_ place: Int, by step: RestorationReport.Step?)
    -> RestorationReport.NodeOutcome?
  {
    switch prepared[place].version {
    case .current, .migrated: nil
    case .newer(let stored, let known): .newerVersion(by: step, stored: stored, known: known)
    case .failed(let version, let error): .migrationFailed(by: step, from: version, error)
    }
  }

  func find(
    _ stored: StoredTree.Element, _ coder: StateDecoder, _ lookup: ObjectLookup
  ) -> ObjectLookup.Result {
    var container: TypeTraits = []
    if let place = stored.parent {
      let parent = tree.elements[place]
      guard let object = restored.object(at: place) else {
        return .missing(.parentMissing(parent.path))
      }
      if stored.role == .child { container = types.traits(of: object) }
    }
    if let late, stored.parent == nil { return .found(late.node, .existing) }
    switch stored.content.kind {
    case .object:
      return lookup.findObject(stored.content, coder: coder) { registeredObject(for: stored) }
    case .view, .application, .scene:
      // Found when its node has loaded it.
      return .missing(.viewNotFound)
    case .node:
      if container.contains(.stack), let stack = stored.parent, cutStacks.contains(stack) {
        return .missing(.stackCut)
      }
      if container.contains(.tabs) {
        return existingNode(for: stored).map { .found($0, .existing) } ?? .missing(.tabNotFound)
      }
      return lookup.findNode(stored.content, coder: coder) { existingNode(for: stored) }
    }
  }

  func take(
    _ object: any StateRestoring, by step: RestorationReport.Step, as stored: StoredTree.Element
  ) {
    let node = object as? any RestorableNode
    if stored.content.kind == .node, node == nil {
      return leaveOut(
        stored,
        .notARestorationClass(stored.content.restorationClassName ?? stored.content.className))
    }
    let place = outcomes.count
    if let other = restored.claim(object, node, at: place) {
      return leaveOut(stored, .providedTwice(tree.elements[other].path))
    }
    if isOfClass(of: stored, object) {
      outcomes.append(outcome(ofPlace: place, by: step))
    } else {
      outcomes.append(.classMismatch(by: step, found: types.className(of: object)))
    }
    objects.remember(
      object, node, identifier: stored.content.identifier,
      // The closure of its class may have made one of another class.
      restorationClass: stored.content.restorationClassName
        ?? (step == .restorationClass ? stored.content.className : nil))
    if stored.content.kind == .object, let object = object as? any RestorableObject {
      objects.register(object, identifier: stored.content.identifier)
    }
  }

  /// Whether an object is of the class that was saved, whatever it is called now.
  func isOfClass(of stored: StoredTree.Element, _ object: any StateRestoring) -> Bool {
    types.isObject(object, ofClassNamed: stored.content.className)
      || tree.formerNames[stored.content.className]?
        .contains { types.isObject(object, ofClassNamed: $0) } == true
  }

  /// Notes that an element is not back, and whether it is kept: only nil drops it.
  func leaveOut(_ stored: StoredTree.Element, _ reason: RestorationReport.NodeOutcome) {
    let place = outcomes.count
    outcomes.append(reason)
    switch reason {
    // It is kept with the one above.
    case .parentMissing: break
    // It is kept with what it lay on.
    case .stackCut:
      if let stack = stored.parent, keptStacks.contains(stack) { unclaimed.insert(place) }
    // It is looked for when its node has loaded it.
    case .viewNotFound where stored.role == .view: break
    default: keepUnlessVetoed(place)
    }
    if stored.role == .child, let parent = stored.parent,
      let container = restored.object(at: parent),
      types.traits(of: container).contains(.stack)
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
  func existingNode(for stored: StoredTree.Element) -> (any RestorableNode)? {
    let parent = stored.parent.flatMap {
      restored.node(at: $0)
    }
    if existing[stored.parent] == nil {
      existing[stored.parent] =
        parent.map { ExistingNodes(below: $0, types, objects) }
        ?? ExistingNodes(roots, types, objects)
    }
    return existing[stored.parent]?.node(stored.content)
  }

  /// The object that was registered, with the parent that is back.
  func registeredObject(for stored: StoredTree.Element) -> (any StateRestoring)? {
    let scope = stored.parent.flatMap { restored.object(at: $0) }
    return scopedObjects.object(
      stored.content.identifier, scope: scope, in: objects, isScope: restored.contains)
  }

  func findViews() {
    var views: [Int: [String: any RestorableView]] = [:]
    for (place, stored) in prepared.map(\.element).enumerated() where stored.role == .view {
      guard outcomes[place] == .viewNotFound, let owner = stored.parent else { continue }
      guard outcomes[owner].isDecodable,
        let node = restored.node(at: owner)
      else {
        keepUnlessVetoed(place)
        continue
      }
      if views[owner] == nil { views[owner] = ViewTree.viewsByIdentifier(of: node) }
      guard let view = views[owner]?[stored.content.identifier] else {
        keepUnlessVetoed(place)
        continue
      }
      guard isOfClass(of: stored, view) else {
        outcomes[place] = .classMismatch(by: .existing, found: types.className(of: view))
        continue
      }
      restored.setView(view, at: place)
      outcomes[place] = outcome(ofPlace: place, by: .existing)
    }
  }
}
