internal import ArchiveCodec

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
  /// stored. Until the first restore has ended, during a later one, and in a hook that a save or
  /// a restore calls, nothing is stored.
  ///
  /// - Parameters:
  ///   - roots: The roots of the trees; nil for the roots of the autosave. Without an
  ///     autosave nil stores windows alone.
  ///   - limit: How long the call waits for the file at most. A write
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
    let roots = roots ?? autosave?.roots()
    // The end of the autosave lets the signals go, so it comes after the save.
    defer { autosave = nil }
    return blocked(within: limit, isolation: isolation) { await end(roots) } ?? false
  }

  /// Saves while the caller blocks the actor, so that no call that was made before can end.
  private func end(_ roots: [any RestorableNode]?) async -> Bool {
    guard roots != nil || settings.host != nil, findings.hasTriedToRestore,
      !asking.isRestoring, !asking.isUnderWay
    else {
      try? await inFileNow { _ in }
      return false
    }
    let report = try? await save(byItself: true) { parts(roots) }
    try? await inFileNow { (queue) throws(ArchiveError) in try queue.file.noteEnd() }
    return report.map { $0.outcome == .saved && $0.isComplete } ?? false
  }

  // MARK: Discarding

  /// Removes what is stored, with the older states that a restore may take; the next save begins anew.
  ///
  /// A save that an autosave had due is not made; the next change is saved. If there is an autosave,
  /// the nodes are asked for their present state, to recognize that change. A state that
  /// ``endNow(saving:within:isolation:)`` has stored meanwhile stays.
  ///
  /// - Throws: ``RestorationError`` if something could not be removed.
  public func discardState() async throws(RestorationError) {
    let count = turns.overtakingCount
    autosave?.turns.takeBack()
    do throws(ArchiveError) {
      try await turns.run { () async throws(ArchiveError) in
        // The state of a later call stays.
        guard count == turns.overtakingCount else { return }
        if file.linked != nil { try await fetch(for: .discard) }
        _ = try await discardNow(keepsUnread: false)
        // The autosave knows what the app has now, and hears of the next change.
        guard count == turns.overtakingCount, !isDelegateGone, let autosave,
          !autosave.turns.needsSave
        else { return }
        findings.discarded = digest(of: autosave.roots() ?? [])
      }
    } catch {
      autosave?.turns.change()
      throw RestorationError(error)
    }
    try await send(after: .discard)
  }

  /// Discards in the turn that runs; returns where the file is now that nobody could read, or not all of it.
  func discardNow(keepsUnread: Bool) async throws(ArchiveError) -> String? {
    let isPartlyRead = document?.kept.withheld.isEmpty == false
    // A save that blocks the actor may come before the end of the call, and a file that has failed to
    // discard has forgotten what it had.
    beginAnew()
    let windows = settings.host?.forgetStored() ?? []
    settings.values?.beginAnew(withUnread: false, leaving: windows)
    findings.hasTriedToRestore = true
    let kept = try await inFileNow { (queue) throws(ArchiveError) in
      let kept = keepsUnread ? try queue.file.keepUnread(isPartlyRead) : nil
      try queue.file.discard()
      return kept?.id
    }
    // A state that nobody could read is in no save's way any more.
    if findings.lastRestore == .success(.locked) { findings.lastRestore = nil }
    return kept
  }

  /// What the app has while nothing is stored, to compare with what it has later; nil if it cannot be asked.
  func digest(of roots: [any RestorableNode]) -> Int? {
    // What a file has in its records would count, too.
    (document, known.writer) = (Document(), nil)
    defer { document = nil }
    guard let result = try? surveyed(parts(roots)) else { return nil }
    giveBack(result.taken)
    return result.digest
  }
}

extension Survey.Result {
  /// Tells whether two surveys of an empty document have found the same.
  var digest: Int { records.fingerprints.map(\.fingerprint).hashValue }
}
