extension StateEngine {
  /// Brings back a node that came after the restore.
  ///
  /// Who takes part, and whether anything is restored at all, is asked at the node's turn.
  func restore(
    late node: any RestorableNode, below parent: (any RestorableNode)?,
    unless ended: () throws(RestorationError) -> RestorationReport? = { nil },
    for delegate: () -> (any StateDelegate)?
  ) async throws(RestorationError) -> RestorationReport {
    let report = try await turns.run { () throws(RestorationError) in
      if let report = try ended() { return report }
      return try restoreNow(late: node, below: parent, for: delegate())
    }
    Problems.say(report.said)
    return report
  }

  private func restoreNow(
    late node: any RestorableNode, below parent: (any RestorableNode)?,
    for delegate: (any StateDelegate)?
  ) throws(RestorationError) -> RestorationReport {
    let start = ContinuousClock.now
    guard let kept = objects.kept, let (tree, place) = tree(of: kept, for: node, below: parent)
    else { return RestorationReport(.nothingKept) }
    let run = RestorationRun(
      tree, types, objects, delegate: delegate, now: settings.now(),
      skipped: kept.skippedPlaces(in: tree),
      RestorationProgress(tree.outline, nil, nil, trace),
      late: LateNode(node: node, kept: kept, place: place))
    // The restore changes objects without their saying so, so the next save asks them all. Before
    // that save nobody hears the node.
    rows.whole.canDiff = false
    defer { signal.tell() }
    let result = run.run()
    if rows.kept.records === kept { rows.claim(result.claimed) }
    found.undecoded.formUnion(result.undecoded)
    var report = result.report
    report.walkDuration = start.duration(to: .now)
    try throwIfStrict(report)
    return report
  }

  /// What is kept for a node: its element with all below it, or a state that the node itself keeps.
  private func tree(
    of kept: KeptRecords, for node: any RestorableNode, below parent: (any RestorableNode)?
  ) -> (StoredTree, LateNode.Place)? {
    if let (tree, id) = kept.tree(keptBy: node, at: rows.placed(node).map { rows.path(of: $0) }) {
      return (tree, .state(id))
    }
    guard let name = name(of: node, below: parent), let index = kept.index(of: name, below: parent)
    else { return nil }
    let above = parent.map { rows.placed($0).map { rows.path(of: $0) } } ?? RestorationPath()
    return (kept.tree(below: index, in: above), .element(index))
  }

  /// Gives up what a node keeps for later, or what is kept beside its state.
  func discardKeptState(of node: any RestorableNode) async {
    await turns.run {
      guard objects.kept?.discardStates(of: node) == true else { return }
      rows.whole.canDiff = false
      signal.tell()
    }
  }

  /// The name of the node below its parent.
  private func name(
    of node: any RestorableNode, below parent: (any RestorableNode)?
  ) -> SiblingName? {
    objects.identifier(of: node).map { identifier in
      SiblingName(
        kind: .node, identifier: identifier,
        index: siblingIndex(of: node, identifier, below: parent))
    }
  }

  private func siblingIndex(
    of node: any RestorableNode, _ identifier: String, below parent: (any RestorableNode)?
  ) -> Int {
    guard let parent, parent.restorationPresented !== node,
      !types.traits(of: parent).isDisjoint(with: .tellsEqualChildrenApart)
    else { return 0 }
    let equal = parent.restorationChildren.filter { objects.identifier(of: $0) == identifier }
    return equal.firstIndex { $0 === node } ?? equal.count
  }
}
