extension StateKeeper {
  /// Lists the states that earlier launches have found, newest first.
  ///
  /// Launches keep them if ``StatePolicy/sessions`` says so. The state that this launch has found is
  /// among them. They are not generations: none is taken in place of a state that is damaged, and they
  /// are read from the bytes of the state itself as long as no save has replaced it. They go with
  /// ``discardState(includingSetAside:)``.
  ///
  /// - Returns: The sessions; none if the directory keeps none.
  /// - Throws: ``RestorationError`` with `archive` if they cannot be listed, or their key is locked.
  /// - Complexity: O(*n*) in the files of the sessions.
  public func savedSessions() async throws(RestorationError) -> [SavedSession] {
    try await engine.savedSessions()
  }

  /// Puts the state of a session back in its place, to be restored.
  ///
  /// As ``putBack(_:)-(SetAsideState)``: the next ``restore(into:)`` brings it back, and the state that is
  /// stored now is set aside. The session stays.
  ///
  /// - Parameter session: One of ``savedSessions()``.
  /// - Throws: As ``putBack(_:)-(SetAsideState)``.
  /// - Complexity: O(*n*) in the bytes of the state.
  public func putBack(_ session: SavedSession) async throws(RestorationError) {
    try await engine.putBack(session)
  }

  /// Removes a session; if it is gone, that is not an error.
  ///
  /// - Parameter session: One of ``savedSessions()``.
  /// - Throws: ``RestorationError`` with `archive` if it cannot be removed, or `inUse`.
  public func remove(_ session: SavedSession) async throws(RestorationError) {
    try await engine.remove(session)
  }
}
