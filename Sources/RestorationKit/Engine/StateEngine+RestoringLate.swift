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
      return restoreNow(late: node, below: parent, for: delegate())
    }
    Problems.say(report.said)
    settings.heard?(report.problems.map(\.description))
    return report
  }

  private func restoreNow(
    late node: any RestorableNode, below parent: (any RestorableNode)?,
    for delegate: (any StateDelegate)?
  ) -> RestorationReport {
    let start = ContinuousClock.now
    guard let kept = objects.kept, let (tree, place) = tree(of: kept, for: node, below: parent)
    else { return RestorationReport(.nothingKept) }
    let late = LateNode(node: node, kept: kept, place: place)
    let before: (said: StateProbe.Answer, states: KeptRecords.State, state: KeptState)?
    do {
      before = try late.isBack ? present(of: node, kept) : nil
    } catch {
      // The node has something that could not be kept, so it stays as it is.
      var report = RestorationReport(.restored)
      let entry = RestorationReport.Entry(
        kind: .node, path: tree.outline.path(of: 0), className: tree.outline.form(of: 0).className,
        outcome: .decodeFailed(by: .existing, error.reason), notes: [.kept])
      report.lines = ReportEntries { [entry] }
      return report
    }
    let record: UInt64? =
      if case .element(let index) = place { kept[index]?.element.record } else { nil }
    let run = RestorationRun(
      tree, types, objects, delegate: delegate,
      skipped: kept.skippedPlaces(in: tree), marking: mark(tree.outline), late: late)
    // The restore changes objects without their saying so, so the next save asks them all. Before
    // that save nobody hears the node.
    rows.whole.canDiff = false
    defer { signal.tell() }
    let result = run.run()
    found.note?.endRestore()
    if let before, isReplaced(before.said.probe, of: node, at: before.states.path) {
      kept.keep(before.state, of: node, before: before.states)
    }
    if rows.kept.records === kept { rows.claim(result.claimed) }
    found.undecoded.formUnion(result.undecoded)
    var report = result.report
    if let record, result.claimed.contains(where: { $0.object === node }),
      let tabs = parent as? any RestorableTabs
    {
      select(node, record, in: tabs, kept, &report)
    }
    report.walkDuration = start.duration(to: .now)
    return report
  }

  /// Notes each element for the launch after a crash; between two of them, the late node counts.
  private func mark(_ outline: StoredOutline) -> ((Int?) -> Void)? {
    found.note.map { note in
      { index in
        let index = index ?? 0
        guard outline.rows.indices.contains(index) else { return }
        note.reachLate(outline.rows[index].kind, at: outline.path(of: index))
      }
    }
  }

  /// What a node has, if it is the work of somebody: a late restore may replace it by an older state.
  private func present(
    of node: any RestorableNode, _ kept: KeptRecords
  ) throws -> (said: StateProbe.Answer, states: KeptRecords.State, state: KeptState)? {
    guard let states = kept.state(of: node) else { return nil }
    let info = types.info(of: node)
    let path = rows.placed(node).map { rows.path(of: $0) } ?? states.path
    let said = try StateProbe.asking(node, at: path, info.traits, settings.limits)
    guard !kept.saysNothingNew(node, said.probe) else { return nil }
    let maker = objects.restorationClass(of: node, info, naming: node.restorationClass)?.name
    let state = try kept.present(said) { id, values in
      KeptState(
        replaced: id, info.name, restorationClassName: maker,
        version: types.version(ofClass: info.name, restoredBy: maker).number, values)
    }
    return (said, states, state)
  }

  /// Whether a node says something else than before.
  private func isReplaced(
    _ before: StateProbe, of node: any RestorableNode, at path: RestorationPath
  ) -> Bool {
    do {
      let now = try StateProbe(node, at: path, types.info(of: node).traits, settings.limits)
      return !now.isSame(as: before)
    } catch {
      // Nobody knows, and a state too many harms nobody.
      return true
    }
  }

  /// Selects a tab that was selected when the state was saved, unless another one has been selected
  /// since the restore.
  private func select(
    _ node: any RestorableNode, _ record: UInt64, in tabs: any RestorableTabs,
    _ kept: KeptRecords, _ report: inout RestorationReport
  ) {
    guard let selected = kept.selectedTabs[tabs], selected.record == record else { return }
    kept.selectedTabs[tabs] = nil
    guard tabs.selectedTab.map({ ObjectIdentifier($0) }) == selected.instead else {
      let lines = report.lines
      report.lines = ReportEntries {
        var entries = lines.made
        if !entries.isEmpty { entries[0].notes.append(.tabNotSelected) }
        return entries
      }
      return
    }
    tabs.selectedTab = node
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
