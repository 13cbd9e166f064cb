internal import ArchiveCodec

extension StateKeeper {
  /// The older states that stay beside the state, the oldest first; see ``StatePolicy/historyCounts``.
  ///
  /// - Returns: The moments; none if the state has none.
  /// - Throws: ``RestorationError`` if they cannot be listed, or if another instance has the state.
  public func history() async throws(RestorationError) -> [Moment] {
    try await inFile(for: .history) { (queue) throws(ArchiveError) in try queue.file.history() }
  }

  /// Makes an older state the stored one again; the one that is stored becomes a moment.
  ///
  /// What the app has now is not written any more: restore again, or launch again, before you save.
  ///
  /// - Parameter moment: One of ``history()``.
  /// - Throws: ``RestorationError`` if it is not there any more, or cannot be put back, or if windows are
  ///   connected; then nothing has changed.
  public func putBack(_ moment: Moment) async throws(RestorationError) {
    try await turns.run { () async throws(RestorationError) in
      try checkNoneIsConnected()
      do throws(ArchiveError) {
        try await fetch(for: .putBack(moment))
        try await inFileNow { (queue) throws(ArchiveError) in try queue.file.putBack(moment) }
      } catch {
        throw RestorationError(error)
      }
    }
    forgetState()
    try await send(after: .putBack(moment))
  }

  /// Goes on with another state, which nobody has restored.
  func forgetState() {
    // Fields and values that the older state does not have are those of their declarations.
    KnownObjects.shared.askAll(of: owner)
    for (object, _) in KnownObjects.shared.takeChanged(of: owner) { ScreenFields.reset(object) }
    settings.values?.reset()
    beginAnew()
    settings.host?.forgetStored()
    (findings.hasTriedToRestore, findings.lastRestore) = (false, nil)
  }

  /// Removes an older state.
  ///
  /// - Parameter moment: One of ``history()``; one that is gone is no error.
  /// - Throws: ``RestorationError`` if it cannot be removed.
  public func remove(_ moment: Moment) async throws(RestorationError) {
    try await inFile { (queue) throws(ArchiveError) in try queue.file.remove([moment]) }
    try await send(after: .remove)
  }

  /// Lets the next restore try again the elements that restores leave out after crashes.
  ///
  /// Restores try one element at a time: the next restore the first one, and a later
  /// launch the one after it. Without this call an element is tried again after 1, 2,
  /// 4, 8 and more launches, and by another version of the app. If nothing is left out,
  /// nothing changes.
  ///
  ///     try await keeper.retrySkippedNodes()
  ///     print(try await keeper.restore(into: [window]))
  ///
  /// - Throws: ``RestorationError`` with `archive` if the request cannot be noted, or
  ///   its key is locked, and `inUse` if another instance has the state.
  public func retrySkippedNodes() async throws(RestorationError) {
    try await inFile { (queue) throws(ArchiveError) in try queue.file.retryLeftOut() }
  }
}
