extension StateKeeper {
  /// Restores a node that came after the restore, from what is kept for it.
  ///
  /// For a tab or a window that is built when the user first looks at it. What
  /// was stored of it is kept meanwhile, for 30 days. Call it when the node has
  /// its identifier, before the user sees it and before the next save: a node
  /// that was saved has replaced what was kept for it. The one above must be
  /// back, so begin with the uppermost.
  ///
  ///     let editor = EditorTab()
  ///     tabs.restorationChildren.append(editor)
  ///     try await keeper.restore(late: editor, below: tabs)
  ///
  /// The calls are those of ``restore(into:)`` on the node and all that is kept
  /// below it, in the same order, from `loadViewIfNeeded` to
  /// `applicationFinishedRestoringState`. What lies below it is looked for as
  /// always; the node itself is there, so nobody is asked for it. The gates and
  /// `didDecodeRestorableState` are about the whole state and are not called,
  /// and the node above is not told: a tab is not selected by it. What is still not back stays kept.
  ///
  /// It waits for a restore that is under way. A crash in it is not counted
  /// unless ``extendStateRestoration()`` announced it.
  ///
  /// - Parameters:
  ///   - node: The node, with its identifier. Among equal ones in a
  ///     ``RestorableStack`` or ``RestorableSplit`` its position counts; one that
  ///     is not in there yet counts as the next.
  ///   - parent: The node that contains or presents it; nil for a root.
  /// - Returns: What happened to the node and all below it. The outcome is
  ///   `nothingKept` if nothing was stored for it, or if it was restored or saved
  ///   already. A node of another class gets nothing, and what is kept stays.
  /// - Throws: ``RestorationError`` with `strict`; the restore is complete then.
  /// - Complexity: O(*n*) in what is restored, and for a stack or split in its
  ///   children.
  @discardableResult
  public func restore(
    late node: any RestorableNode, below parent: (any RestorableNode)? = nil
  ) async throws(RestorationError) -> RestorationReport {
    await otherRestoreEnded()
    if isDelegateGone {
      try throwIfStrictWithoutDelegate()
      return RestorationReport(.delegateGone)
    }
    return try restore(late: node, below: parent, for: delegate)
  }

  func restore(
    late node: any RestorableNode, below parent: (any RestorableNode)?,
    for delegate: (any StateDelegate)?
  ) throws(RestorationError) -> RestorationReport {
    let start = ContinuousClock.now
    guard let kept = objects.kept, let name = name(of: node, below: parent),
      let place = kept.place(of: name, below: parent)
    else { return RestorationReport(.nothingKept) }
    let run = RestorationRun(
      kept.tree(below: place), types: types, objects: objects, delegate: delegate, now: now(),
      trace: trace,
      late: LateNode(node: node, kept: kept, place: place))
    var report = run.run()
    report.walkDuration = start.duration(to: .now)
    try throwIfStrict(run)
    return report
  }

  /// What the node is called below its parent.
  private func name(
    of node: any RestorableNode, below parent: (any RestorableNode)?
  ) -> KeptRecords.Name? {
    objects.identifier(of: node).map { identifier in
      KeptRecords.Name(
        kind: .node, identifier: identifier,
        siblingIndex: siblingIndex(of: node, identifier, below: parent))
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
