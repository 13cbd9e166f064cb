extension StateKeeper {
  /// Brings back the state that was saved last.
  ///
  /// Call the method once at launch, when the interface that is always there exists and
  /// before the user sees it. The archive is read and verified whole before anything is
  /// restored from it, and stays until the next save.
  ///
  /// The order of calls: the restore gate; every node is made or found,
  /// parents first; views are loaded; every node is decoded, parents first;
  /// the delegate's `didDecodeRestorableState`; and
  /// `applicationFinishedRestoringState` on every restored node.
  ///
  /// If the key is locked, nothing is called, and nothing is saved until a restore
  /// succeeds. If restoring crashed too often, a part of the state is left out or the
  /// state is set aside; see ``StatePolicy/crashThreshold``. If another instance of the app has the
  /// state, ``StatePolicy/instances`` says what happens. Where nothing can be written, no
  /// instance can take the state for its own; the state is restored all the same.
  ///
  /// - Parameter roots: The nodes that exist already; the restore finds nodes in them.
  ///   A root goes before a closure that is registered for its class. If another node
  ///   is back in its place, the report has the problem
  ///   ``ReportNote/givenRootNotUsed``.
  /// - Returns: What happened to every node; nothing stored is not an error.
  /// - Throws: ``RestorationError`` with `archive` if the state cannot be read;
  ///   then nothing was called and the file is unchanged.
  /// - Complexity: O(*n*) in the nodes, references and bytes.
  public func restore(into roots: [any RestorableNode] = []) async throws(RestorationError)
    -> RestorationReport
  {
    try await restore(into: roots, .waiting)
  }

  func restore(
    into roots: [any RestorableNode], _ calls: FileCalls
  ) async throws(RestorationError) -> RestorationReport {
    try await engine.restore(
      calls, unless: { isDelegateGone ? RestorationReport(.delegateGone) : nil },
      hearing: { roots }
    ) { _ in
      RestorationParticipants(roots: roots, delegate: delegate)
    }
  }

  /// Restores what could not be read before, unless the app has changed something since then.
  ///
  /// - Returns: Whether the state is that of the app now; false if there may be something to save.
  /// - Throws: Why the state still cannot be read.
  func restoreUnread(
    into roots: () -> [any RestorableNode]
  ) async throws(RestorationError) -> Bool {
    guard autosave?.turns.isAsked == false, !isDelegateGone,
      engine.isUnreadAndUnchanged(below: roots)
    else { return false }
    engine.found.isUnreadChanged = false
    defer { engine.found.isUnreadChanged = false }
    let report = try await engine.restore { _ in
      // The app goes on while the state is read.
      guard engine.isUnreadAndUnchanged(below: roots) else {
        engine.found.isUnreadChanged = true
        return nil
      }
      return RestorationParticipants(roots: roots(), delegate: delegate)
    }
    guard !engine.found.isUnreadChanged else { return false }
    engine.found.lateReport = report
    return true
  }

  /// Restores a node that came after the restore, from the state that is kept for it.
  ///
  /// Use the method for a tab or a window that is built when the user first looks at
  /// it. Its stored state is kept meanwhile. Call the method when the node has its
  /// identifier, before the user sees the node and before the next save: a node that
  /// was saved has replaced the state that was kept for it. If the kept state could not
  /// be read, or crashed, it lies beside the saved one. Neither is restored by this
  /// call then. The node's parent must be back, so begin with the uppermost node.
  ///
  ///     let editor = EditorTab()
  ///     tabs.restorationChildren.append(editor)
  ///     try await keeper.restore(late: editor, below: tabs)
  ///
  /// Use it also for a node that is back and has kept its state with
  /// ``StateDecoder/keep(because:)``, in this launch or an earlier one, when the state can be applied: the
  /// newest such state is decoded again, and is kept no more unless the node keeps it again, its decoding
  /// throws or a field of it does not fit. What the node had until then, saved or not, stays stored beside it,
  /// within the ``StatePolicy/keptBound``. The nodes below are left as they are.
  ///
  /// The calls are those of ``restore(into:)`` on the node and on the nodes that are
  /// kept below it, in the same order, from `loadViewIfNeeded` to
  /// `applicationFinishedRestoringState`. Nodes below the node are looked for as
  /// always; the node itself exists, so no factory is asked for it. The gates and
  /// `didDecodeRestorableState` are about the whole state and are not called. The
  /// parent is not told, but for ``RestorableTabs``: a tab that was selected when the state
  /// was saved is selected, unless another one has been selected since the restore
  /// (``ReportNote/tabNotSelected``). Nodes that are still not back stay kept.
  ///
  /// The call waits for the calls before it, as for a save that is written. An element in which the
  /// call crashes is counted, and left out as in a restore; see ``StatePolicy/crashThreshold``.
  ///
  /// - Parameters:
  ///   - node: The node, with its identifier. Among equal identifiers in a
  ///     ``RestorableStack`` or ``RestorableSplit`` its position counts; a node
  ///     that is not in there yet counts as the next one.
  ///   - parent: The node that contains or presents the node; nil for a root.
  /// - Returns: What happened to the node and all below it. The outcome is
  ///   `nothingKept` if nothing was stored for the node, or if it was restored or saved
  ///   already. A node of another class gets nothing, and the state stays kept.
  /// - Throws: Nothing now; later versions may throw ``RestorationError``.
  /// - Complexity: O(*n*) in the restored elements, and for a stack or split in its
  ///   children.
  @discardableResult
  public func restore(
    late node: any RestorableNode, below parent: (any RestorableNode)? = nil
  ) async throws(RestorationError) -> RestorationReport {
    try await engine.restore(late: node, below: parent) {
      isDelegateGone ? RestorationReport(.delegateGone) : nil
    } for: {
      delegate
    }
  }

  /// Gives up the states that are kept beside, or in place of, the state of a node that is back.
  ///
  /// The next save does not store them: use it when the user discards a draft that the node
  /// keeps with ``StateDecoder/keep(because:)``. Nothing kept is not an error.
  ///
  /// - Parameter node: The node.
  public func discardKeptState(of node: any RestorableNode) async {
    await engine.discardKeptState(of: node)
  }
}
