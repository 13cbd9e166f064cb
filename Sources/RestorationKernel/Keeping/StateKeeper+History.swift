internal import ArchiveCodec

extension StateKeeper {
  /// The older states that stay beside the state, the oldest first; see ``StatePolicy/historyBound``.
  ///
  /// - Returns: The moments; none if the state has none.
  /// - Throws: ``RestorationError`` if they cannot be listed, or if another instance has the state.
  public func history() async throws(RestorationError) -> [Moment] {
    try await engine.inFile { (file) throws(ArchiveError) in try file.history() }
  }

  /// Makes an older state the stored one again; the one that is stored becomes a moment.
  ///
  /// What the app has now is not written any more: restore again, or launch again, before you save.
  ///
  /// - Parameter moment: One of ``history()``.
  /// - Throws: ``RestorationError`` if it is not there any more, or cannot be put back; then nothing has
  ///   changed.
  public func putBack(_ moment: Moment) async throws(RestorationError) {
    try await engine.inFile { (file) throws(ArchiveError) in try file.putBack(moment) }
    engine.beginAnew()
  }

  /// Removes an older state.
  ///
  /// - Parameter moment: One of ``history()``; one that is gone is no error.
  /// - Throws: ``RestorationError`` if it cannot be removed.
  public func remove(_ moment: Moment) async throws(RestorationError) {
    try await engine.inFile { (file) throws(ArchiveError) in try file.remove([moment]) }
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
    try await engine.inFile { (file) throws(ArchiveError) in try file.retryLeftOut() }
  }
}
