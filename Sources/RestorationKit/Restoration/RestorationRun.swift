internal import ArchiveCodec

/// Brings a stored tree back: makes all nodes, then decodes them.
final class RestorationRun {
  private let tree: StoredTree
  private let roots: [any RestorableNode]
  private let registry: NodeRegistry
  private let delegate: (any StateDelegate)?
  private let nodes = RestoredNodes()

  /// By the place of the stored node.
  private var coders: [StateDecoder] = []
  private var outcomes: [RestorationReport.NodeOutcome] = []
  /// What a node contained before, by identifier; made when first needed.
  private var existing: [UInt64: [String: any RestorableNode]] = [:]

  init(
    _ tree: StoredTree, into roots: [any RestorableNode], registry: NodeRegistry,
    delegate: (any StateDelegate)?
  ) {
    self.tree = tree
    self.roots = roots
    self.registry = registry
    self.delegate = delegate
  }

  /// The coder of the application's own values.
  func applicationCoder() -> StateDecoder {
    StateDecoder(
      path: RestorationPath(), values: tree.applicationState, facts: tree.facts, nodes: nodes)
  }

  /// Runs from the first lookup to the last finished callback.
  func run() -> RestorationReport {
    var report = RestorationReport(.restored)
    makeNodes()
    eachRestored { node, _ in node.loadViewIfNeeded() }
    decodeNodes()
    do {
      try delegate?.didDecodeRestorableState(with: applicationCoder())
    } catch {
      report.didDecodeFailure = "\(error)"
    }
    eachRestored { node, _ in node.applicationFinishedRestoringState() }
    let unattached = unattachedRecords()
    nodes.forget()
    report.entries =
      zip(tree.nodes, outcomes).map { stored, outcome in
        RestorationReport.Entry(
          path: stored.path, className: stored.content.className, outcome: outcome,
          isAttached: !unattached.contains(stored.record))
      }
      + tree.unreadable.map { lost in
        RestorationReport.Entry(
          path: RestorationPath(), className: "record \(lost.record)",
          outcome: .unreadable(lost.error.description))
      }
    return report
  }

  /// Nodes that are back, but that the node above does not contain any more.
  private func unattachedRecords() -> Set<UInt64> {
    var unattached: Set<UInt64> = []
    for stored in tree.nodes {
      guard let parent = nodes[stored.record] else { continue }
      let records = stored.content.children + [stored.content.presented].compactMap(\.self)
      guard !records.isEmpty else { continue }
      let contained = Set(
        (parent.restorationChildren + [parent.restorationPresented].compactMap(\.self))
          .map { ObjectIdentifier($0) })
      for record in records {
        if let node = nodes[record], !contained.contains(ObjectIdentifier(node)) {
          unattached.insert(record)
        }
      }
    }
    return unattached
  }

  private func makeNodes() {
    let lookup = NodeLookup(registry: registry, delegate: delegate)
    for stored in tree.nodes {
      let coder = StateDecoder(
        path: stored.path, values: stored.state, facts: tree.facts, nodes: nodes,
        children: stored.content.children, presented: stored.content.presented)
      coders.append(coder)
      if let parent = stored.parent, nodes[tree.nodes[parent].record] == nil {
        outcomes.append(.parentMissing(tree.nodes[parent].path))
        continue
      }
      switch lookup.find(stored, coder: coder, existing: { existingNode(for: stored) }) {
      case .missing(let outcome): outcomes.append(outcome)
      case .found(let node, let step):
        nodes[stored.record] = node
        outcomes.append(outcome(of: node, step, stored))
        registry.remember(
          node,
          as: NodeRegistry.Restored(
            identifier: stored.content.identifier,
            restorationClassName: stored.content.restorationClassName))
      }
    }
  }

  private func outcome(
    of node: any RestorableNode, _ step: RestorationReport.Step, _ stored: StoredTree.Node
  ) -> RestorationReport.NodeOutcome {
    guard registry.isNode(node, ofClassNamed: stored.content.className) else {
      return .classMismatch(by: step, found: registry.className(of: node))
    }
    return stored.state == nil ? .restoredWithoutState(by: step) : .restored(by: step)
  }

  private func decodeNodes() {
    for place in outcomes.indices {
      guard case .restored(let step) = outcomes[place],
        let node = nodes[tree.nodes[place].record]
      else { continue }
      do {
        try node.decodeRestorableState(with: coders[place])
      } catch {
        outcomes[place] = .decodeFailed(by: step, "\(error)")
      }
    }
  }

  /// Nodes of another class than the saved one count as not restored.
  private func eachRestored(_ body: (any RestorableNode, StateDecoder) -> Void) {
    for place in outcomes.indices {
      switch outcomes[place] {
      case .restored, .restoredWithoutState, .decodeFailed:
        if let node = nodes[tree.nodes[place].record] { body(node, coders[place]) }
      default: continue
      }
    }
  }

  /// The node that was there before, with exactly this path.
  ///
  /// The parent is already back, so the path is exact if the parent contains
  /// or presents a node with the identifier. Each parent is asked once.
  private func existingNode(for stored: StoredTree.Node) -> (any RestorableNode)? {
    let parentRecord = stored.parent.map { tree.nodes[$0].record }
    let key = parentRecord ?? 0
    if existing[key] == nil {
      let candidates: [any RestorableNode]
      if let parent = parentRecord.flatMap({ nodes[$0] }) {
        candidates =
          parent.restorationChildren + [parent.restorationPresented].compactMap(\.self)
      } else {
        candidates = roots
      }
      existing[key] = Dictionary(
        candidates.compactMap { node in registry.identifier(of: node).map { ($0, node) } },
        uniquingKeysWith: { first, _ in first })
    }
    return existing[key]?[stored.content.identifier]
  }
}
