extension StateKeeper {
  /// Saves and blocks the thread until the state is stored, for toolkits that call `exit`.
  ///
  ///     keeper.endNow()
  ///     exit(0)
  ///
  /// Call the method on the keeper's actor where nothing can be awaited: in the
  /// callback of a toolkit that calls `exit` when the callback returns. Wherever the
  /// app can wait, ``Autosave/flush(within:)`` is better. The method stops the
  /// autosave, and saves as ``save(_:)`` does: the nodes are asked on this thread, and
  /// the file is written on another one.
  ///
  /// Calls that were made before are not waited for, since they need the blocked actor. If
  /// the process goes on after all, saves and discards among them leave what this call has
  /// stored. During a restore, and before the first one, nothing is stored. After a save
  /// whose end is not known all nodes are asked, and the whole state is written. A
  /// state that machines share is stored in its local copy, if it has one, and sent if the
  /// store answers in time.
  ///
  /// - Parameters:
  ///   - roots: The roots of the trees; nil for the roots of the autosave. Without an
  ///     autosave nil stores nothing.
  ///   - limit: How long the call waits for the file and the store at most. A write
  ///     that takes longer goes on, if the process does. The nodes may take longer than
  ///     the limit.
  ///   - isolation: The actor of the keeper.
  /// - Returns: Whether everything is stored: false also if the key is locked, another instance
  ///   has the state, the delegate declines or is gone, or something of the app cannot be
  ///   stored.
  /// - Complexity: O(*n*) in the nodes that are asked, their references and bytes.
  @discardableResult
  public func endNow(
    saving roots: [any RestorableNode]? = nil, within limit: Duration = .seconds(2),
    isolation: isolated (any Actor)? = #isolation
  ) -> Bool {
    let roots = roots ?? autosave?.roots?()
    let isAsked = autosave?.turns.isAsked ?? false
    // The end of the autosave lets the signals go, so it comes after the save.
    defer { autosave = nil }
    guard let roots else { return false }
    // The next launch may be able to read what this one could not.
    if !isAsked, engine.isUnreadAndUnchanged(below: { roots }) { return true }
    let calls = FileCalls.blocking(until: .now + limit.bounded)
    return Blocking.run { await isStored(saving: roots, calls) } ?? false
  }

  private func isStored(saving roots: [any RestorableNode], _ calls: FileCalls) async -> Bool {
    guard engine.hasTriedToRestore, !isDelegateGone else { return false }
    let participants = SaveParticipants(roots: roots, delegate: delegate)
    do throws(RestorationError) {
      let report = try await engine.save(everything: false, calls) { participants }
      return report.outcome == .saved && engine.isComplete
    } catch {
      return false
    }
  }
}
