extension SceneHost {
  /// Lets scenes try again what their restores leave out, since they crashed there.
  ///
  /// It does for the states of ``openSessions`` and ``closedSessions`` what
  /// ``StateKeeper/retrySkippedNodes()`` does for that of a keeper: when a session connects next, in
  /// this launch or a later one, its restore tries the first element that it leaves out.
  ///
  ///     try await host.launch()
  ///     try await host.retrySkippedNodes()
  ///     await host.restoreScenes()
  ///
  /// - Throws: As ``StateKeeper/retrySkippedNodes()``; the first error, when all sessions were
  ///   asked.
  /// - Complexity: O(*n*) in the sessions.
  public func retrySkippedNodes() async throws(RestorationError) {
    var failure: RestorationError?
    for row in sessions.rows where !row.state.isDiscarded {
      // The session may have been discarded while others were asked.
      guard let state = sessions[row.session]?.state, !state.isDiscarded else { continue }
      do throws(RestorationError) {
        try await row.engine.retrySkipped()
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  // MARK: What was set aside

  /// Lists the states of a session that were set aside, oldest first.
  ///
  /// They go with the session: a window that is closed leaves none behind.
  ///
  /// - Parameter session: One of ``openSessions``; any other has none.
  /// - Returns: The states that were set aside and are still there.
  /// - Throws: As ``StateKeeper/setAsideStates()``.
  public func setAsideStates(
    of session: SceneSession
  ) async throws(RestorationError) -> [SetAsideState] {
    guard openSessions.contains(session) else { return [] }
    return try await engine(of: session).setAsideStates()
  }

  /// Lists the older generations of a session's state, newest first.
  ///
  /// - Parameter session: One of ``openSessions``; any other has none.
  /// - Returns: The generations beside its state.
  /// - Throws: As ``StateKeeper/generations()``.
  public func generations(
    of session: SceneSession
  ) async throws(RestorationError) -> [SetAsideState] {
    guard openSessions.contains(session) else { return [] }
    return try await engine(of: session).generations()
  }

  /// Puts a state of a session back, to be restored when it connects.
  ///
  /// The session has its activity and its values at once. The state that is stored now
  /// is set aside.
  ///
  /// - Parameters:
  ///   - state: One of ``setAsideStates(of:)`` or ``generations(of:)``.
  ///   - session: One of ``openSessions`` that has no scene; see
  ///     ``disconnect(_:)``.
  /// - Throws: As ``StateKeeper/putBack(_:)-(SetAsideState)``, and ``RestorationError``
  ///   with `notConnected` for a session that is not open, or `connected`.
  public func putBack(
    _ state: SetAsideState, of session: SceneSession
  ) async throws(RestorationError) {
    try await replacingState(of: session) { (engine) async throws(RestorationError) in
      try await engine.putBack(state)
    }
  }

  /// Throws if a session is not open, nor closed if that will do.
  func checkIsKnown(_ session: SceneSession, orClosed: Bool = false) throws(RestorationError) {
    let row = sessions[session]
    guard row?.session === session, let state = row?.state,
      state.isOpen || orClosed && state.closedAt != nil
    else {
      throw RestorationError(
        .notConnected, "The session is not open. Use one of the host's openSessions.")
    }
  }

  /// Puts another state in the place of that of an open session without a scene, or of a
  /// closed one if that will do, and reads it.
  func replacingState<Value>(
    of session: SceneSession, orClosed: Bool = false,
    _ body: (StateEngine) async throws(RestorationError) -> Value
  ) async throws(RestorationError) -> Value {
    try await inTurn(of: session) { () async throws(RestorationError) in
      try checkIsKnown(session, orClosed: orClosed)
      guard session.scene == nil else {
        throw RestorationError(
          .connected,
          "The session has a scene, which would save over its state. Disconnect the scene first.")
      }
      let engine = engine(of: session)
      let value = try await body(engine)
      await load(session, engine)
      await writeList()
      return value
    }
  }

  /// Removes a state of a session that was set aside.
  ///
  /// - Parameters:
  ///   - state: One of ``setAsideStates(of:)``; if it is gone, that is not an error.
  ///   - session: One of ``openSessions``; another one is ignored.
  /// - Throws: As ``StateKeeper/removeSetAside(_:)``.
  public func removeSetAside(
    _ state: SetAsideState, of session: SceneSession
  ) async throws(RestorationError) {
    guard openSessions.contains(session) else { return }
    try await engine(of: session).removeSetAside(state)
  }
}
