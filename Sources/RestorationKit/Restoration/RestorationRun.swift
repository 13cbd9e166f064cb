internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Brings a stored tree back: makes all objects, then decodes them.
final class RestorationRun {
  let tree: StoredTree
  /// What exists already; set before it runs.
  var roots: [any RestorableNode] = []
  let registry: ObjectRegistry
  let delegate: (any StateDelegate)?
  private let trace: ((RestorationTrace) -> Void)?
  private let now: Date
  let restored = RestoredObjects()

  /// By the place of the stored element, as all that follows.
  private var prepared: [PreparedElement] = []
  private var coders: [StateDecoder] = []
  private var outcomes: [RestorationReport.NodeOutcome] = []
  /// What a node contained before, made when first needed; roots are under nil.
  private var existing: [Int?: ExistingNodes] = [:]
  /// Stacks of which a node is not back; what lay on it is left out.
  private var cutStacks: Set<Int> = []
  /// Those of them that were cut at a node that is kept.
  private var keptStacks: Set<Int> = []
  /// What is not back and is kept for the next save.
  private var unclaimed: Set<Int> = []
  private var scopedObjects = ScopedObjects()

  init(
    _ tree: StoredTree, registry: ObjectRegistry,
    delegate: (any StateDelegate)?, now: Date, trace: ((RestorationTrace) -> Void)? = nil
  ) {
    self.now = now
    self.tree = tree
    self.registry = registry
    self.delegate = delegate
    self.trace = trace
  }

  /// The coder of the application's own values.
  func applicationCoder() -> StateDecoder {
    StateDecoder(
      path: RestorationPath(), values: tree.applicationState, facts: tree.facts, now: now,
      restored: restored)
  }

  /// Runs from the first lookup to the last finished callback.
  func run() -> RestorationReport {
    var report = RestorationReport(.restored)
    var preparation = ElementPreparation(registry: registry, delegate: delegate, trace: trace)
    prepared = tree.elements.map { preparation.prepare($0) }
    makeObjects()
    eachRestored { object, place in
      guard let node = object as? any RestorableNode else { return }
      note(.loadViewIfNeeded, place)
      node.loadViewIfNeeded()
    }
    findViews()
    decode()
    if let delegate {
      note(.layOutRestoredInterface)
      delegate.layOutRestoredInterface()
    }
    restoreAfterLayout()
    do {
      if let delegate {
        note(.didDecodeRestorableState)
        try delegate.didDecodeRestorableState(with: applicationCoder())
      }
    } catch {
      report.didDecodeFailure = "\(error)"
    }
    eachRestored { object, place in
      note(.applicationFinishedRestoringState, place)
      object.applicationFinishedRestoringState()
    }
    let unattached = unattachedRecords()
    report.entries = entries(unattached)
    registry.kept = kept(unattached)
    restored.forget()
    return report
  }

  func note(_ call: RestorationTrace.Call, _ place: Int? = nil) {
    trace?(
      RestorationTrace(call: call, path: place.map { tree.elements[$0].path } ?? RestorationPath()))
  }

  /// What is back and of its class, in order.
  private func eachRestored(_ body: (any RestorableObject, Int) -> Void) {
    for place in outcomes.indices where outcomes[place].isDecodable {
      if let object = restored[tree.elements[place].record] { body(object, place) }
    }
  }

  // MARK: Making

  private func makeObjects() {
    let lookup = ObjectLookup(registry: registry, delegate: delegate, trace: trace)
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
  private func outcome(ofPlace place: Int, by step: RestorationReport.Step)
    -> RestorationReport.NodeOutcome
  {
    withheld(place, by: step)
      ?? (prepared[place].element.values.state == nil
        ? .restoredWithoutState(by: step) : .restored(by: step))
  }

  /// Nil if the state of an element could be read, or if it has none.
  private func withheld(_ place: Int, by step: RestorationReport.Step?)
    -> RestorationReport.NodeOutcome?
  {
    switch prepared[place].version {
    case .current, .migrated: nil
    case .newer(let stored, let known): .newerVersion(by: step, stored: stored, known: known)
    case .failed(let version, let error): .migrationFailed(by: step, from: version, error)
    }
  }

  private func find(
    _ stored: StoredTree.Element, _ coder: StateDecoder, _ lookup: ObjectLookup
  ) -> ObjectLookup.Result {
    var container: TypeTraits = []
    if let place = stored.parent {
      let parent = tree.elements[place]
      guard let object = restored[parent.record] else {
        return .missing(.parentMissing(parent.path))
      }
      if stored.role == .child { container = registry.traits(of: object) }
    }
    switch stored.content.kind {
    case .object:
      return lookup.findObject(stored.content, coder: coder) { registeredObject(for: stored) }
    case .view, .application:
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

  private func take(
    _ object: any RestorableObject, by step: RestorationReport.Step, as stored: StoredTree.Element
  ) {
    if let other = restored.claim(object, for: stored.record, path: stored.path) {
      return leaveOut(stored, .providedTwice(other))
    }
    if registry.isObject(object, ofClassNamed: stored.content.className) {
      outcomes.append(outcome(ofPlace: outcomes.count, by: step))
    } else {
      outcomes.append(.classMismatch(by: step, found: registry.className(of: object)))
    }
    registry.remember(
      object,
      as: ObjectRegistry.Restored(
        identifier: stored.content.identifier,
        restorationClassName: stored.content.restorationClassName))
    if stored.content.kind == .object {
      registry.registerObject(object, identifier: stored.content.identifier)
    }
  }

  private func leaveOut(_ stored: StoredTree.Element, _ reason: RestorationReport.NodeOutcome) {
    let place = outcomes.count
    outcomes.append(reason)
    switch reason {
    case .parentMissing: break
    // It is kept with what it lay on.
    case .stackCut:
      if let stack = stored.parent, keptStacks.contains(stack) { unclaimed.insert(place) }
    default:
      if stored.role != .view, let withheld = withheld(place, by: nil) {
        outcomes[place] = withheld
        unclaimed.insert(place)
      }
    }
    if stored.role == .child, let parent = stored.parent,
      let container = restored[tree.elements[parent].record],
      registry.traits(of: container).contains(.stack)
    {
      cutStacks.insert(parent)
      if unclaimed.contains(place) { keptStacks.insert(parent) }
    }
  }

  /// The node that was there before, with exactly this path.
  ///
  /// The parent is already back, so the path is exact if the parent contains
  /// or presents a node with the identifier. Each parent is asked once.
  private func existingNode(for stored: StoredTree.Element) -> (any RestorableNode)? {
    let parent = stored.parent.flatMap {
      restored[tree.elements[$0].record] as? any RestorableNode
    }
    if existing[stored.parent] == nil {
      existing[stored.parent] =
        parent.map { ExistingNodes(below: $0, registry) } ?? ExistingNodes(roots, registry)
    }
    return existing[stored.parent]?.node(stored.content)
  }

  /// The object that was registered, with the parent that is back.
  private func registeredObject(for stored: StoredTree.Element) -> (any RestorableObject)? {
    let scope = stored.parent.flatMap { restored[tree.elements[$0].record] }
    return scopedObjects.object(
      stored.content.identifier, scope: scope, in: registry, isScope: restored.contains)
  }

  // MARK: Views

  private func findViews() {
    var views: [Int: [String: any RestorableView]] = [:]
    for (place, stored) in prepared.map(\.element).enumerated() where stored.role == .view {
      guard outcomes[place] == .viewNotFound, let owner = stored.parent,
        outcomes[owner].isDecodable,
        let node = restored[tree.elements[owner].record] as? any RestorableNode
      else { continue }
      if views[owner] == nil { views[owner] = ViewTree.viewsByIdentifier(of: node) }
      guard let view = views[owner]?[stored.content.identifier] else {
        if let withheld = withheld(place, by: nil) {
          outcomes[place] = withheld
          unclaimed.insert(place)
        }
        continue
      }
      guard registry.isObject(view, ofClassNamed: stored.content.className) else {
        outcomes[place] = .classMismatch(by: .existing, found: registry.className(of: view))
        continue
      }
      restored[stored.record] = view
      outcomes[place] = outcome(ofPlace: place, by: .existing)
    }
  }

  // MARK: Decoding

  private func decode() {
    eachRestored { object, place in
      let coder = coders[place]
      restoreContent(object, coder, place)
      attempt(place) {
        if prepared[place].element.values.state != nil {
          note(.decodeRestorableState, place)
          try object.decodeRestorableState(with: coder)
        }
        try coder.builtIn?.restoreAfterDecoding(object)
      }
    }
  }

  private func restoreAfterLayout() {
    eachRestored { object, place in
      attempt(place) {
        try coders[place].builtIn?.restoreAfterLayout(object)
        guard prepared[place].element.values.state != nil else { return }
        note(.restoreStateAfterLayout, place)
        try object.restoreStateAfterLayout(with: coders[place])
      }
    }
  }

  /// Gives a container what is back of what it contained.
  private func restoreContent(_ object: any RestorableObject, _ coder: StateDecoder, _ place: Int) {
    let traits = registry.traits(of: object)
    if traits.contains(.stack), let stack = object as? any RestorableStack {
      let nodes = coder.restoredChildren
      if !nodes.isEmpty { stack.restoreStack(nodes) }
    }
    if traits.contains(.split), let split = object as? any RestorableSplit {
      let nodes = coder.restoredChildren
      if !nodes.isEmpty { split.restoreColumns(nodes) }
    }
    if traits.contains(.presenter), let presenter = object as? any RestorablePresenter,
      let node = coder.restoredPresented, presenter.restorationPresented !== node
    {
      presenter.restorePresented(node)
    }
    if traits.contains(.tabs), let tabs = object as? any RestorableTabs {
      attempt(place) {
        if let record = try coder.builtIn?.selectedTab(),
          let tab = restored[record] as? any RestorableNode
        {
          tabs.selectedTab = tab
        }
      }
    }
  }

  private func attempt(_ place: Int, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      guard let step = outcomes[place].step else { return }
      outcomes[place] = .decodeFailed(by: step, "\(error)")
    }
  }

  // MARK: Report

  /// What the saves that follow write back.
  ///
  /// What a container would have taken in its decoding, which could not be
  /// called, is kept with it.
  private func kept(_ unattached: Set<UInt64>) -> KeptRecords? {
    let notTaken = tree.elements.indices.filter { place in
      unattached.contains(tree.elements[place].record)
        && tree.elements[place].parent.map { prepared[$0].isWithheld } == true
    }
    return KeptRecords(
      tree.elements,
      unread: outcomes.indices.filter { prepared[$0].isWithheld && outcomes[$0].isDecodable },
      missing: unclaimed.union(notTaken), restored: restored)
  }

  private func entries(_ unattached: Set<UInt64>) -> [RestorationReport.Entry] {
    zip(tree.elements, zip(prepared, outcomes)).map { stored, result in
      RestorationReport.Entry(
        kind: stored.content.kind, path: stored.path, className: stored.content.className,
        outcome: result.1, isAttached: !unattached.contains(stored.record),
        migratedFrom: result.1.isDecodable ? result.0.migratedFrom : nil)
    }
      + tree.unreadable.map { lost in
        RestorationReport.Entry(
          kind: .node, path: RestorationPath(), className: "record \(lost.record)",
          outcome: .unreadable(lost.error.description))
      }
  }

  /// Nodes that are back, but that the node above does not contain any more.
  private func unattachedRecords() -> Set<UInt64> {
    var unattached: Set<UInt64> = []
    for stored in tree.elements {
      let records = stored.content.children + [stored.content.presented].compactMap(\.self)
      guard !records.isEmpty, let parent = restored[stored.record] as? any RestorableNode
      else { continue }
      let contained = Set(
        (parent.restorationChildren + [parent.restorationPresented].compactMap(\.self))
          .map { ObjectIdentifier($0) })
      for record in records {
        if let node = restored[record], !contained.contains(ObjectIdentifier(node)) {
          unattached.insert(record)
        }
      }
    }
    return unattached
  }
}
