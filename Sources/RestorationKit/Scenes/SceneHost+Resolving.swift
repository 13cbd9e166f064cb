/// Ends conflicts of sessions whose states are also elsewhere.
extension SceneHost {
  /// Decides which of two states of a session stays; the other one is set aside.
  ///
  /// - Returns: Where the other one is now; nil if there was no conflict, or it was removed.
  package func resolve(
    _ session: SceneSession, keepingTheirs: Bool
  ) async throws(RestorationError) -> String? {
    if isDiscarded(session) {
      try await resolveDiscard(of: session, keepingTheirs: keepingTheirs)
      return nil
    }
    guard keepingTheirs else {
      await turnEnded(of: [session])
      try checkIsKnown(session, orClosed: true)
      return try await engine(of: session).resolve(keepingTheirs: false)
    }
    return try await replacingState(
      of: session, orClosed: true
    ) { (engine) async throws(RestorationError) in
      let isInConflict = await engine.file.isInConflict
      let location = try await engine.resolve(keepingTheirs: true)
      // Values that were set here since are in the state that was set aside.
      if isInConflict { session.startAfresh() }
      return location
    }
  }

  private func resolveDiscard(
    of session: SceneSession, keepingTheirs: Bool
  ) async throws(RestorationError) {
    _ = try await engine(of: session).resolve(keepingTheirs: keepingTheirs)
    guard keepingTheirs else {
      if let failure = await tellDiscarded() { throw failure }
      return
    }
    sessions.change(session, .bringBack)
    session.startAfresh()
    await load(session, engine(of: session))
    await writeList()
  }

  /// What preserves a session that this host knows; nil for any other session.
  package func knownEngine(of session: SceneSession) -> StateEngine? { sessions[session]?.engine }
}
