internal import ArchiveCodec

extension SceneHost {
  /// Discards a session, and first disconnects its scene if there is one.
  ///
  /// - Parameter session: One of ``openSessions`` or ``closedSessions``; any other is
  ///   ignored.
  /// - Throws: As ``close(_:)``.
  public func discard(_ session: SceneSession) async throws(RestorationError) {
    try await discard([session])
  }

  /// Discards sessions, and tells the delegate of all of them in one call.
  ///
  /// - Parameter sessions: Some of ``openSessions`` and ``closedSessions``; others are
  ///   ignored.
  /// - Throws: As ``close(_:)``.
  public func discard(_ sessions: [SceneSession]) async throws(RestorationError) {
    await turnEnded(of: sessions)
    let gone = (openSessions + closedSessions).filter { sessions.contains($0) }
    guard !gone.isEmpty else { return }
    for scene in gone.compactMap(\.scene) { release(scene) }
    for session in gone { self.sessions.change(session, .discard) }
    // First the list: whatever happens now, no closed window comes back.
    await writeList()
    let failure = listFailure
    if let failed = await tellDiscarded() ?? failure { throw failed }
  }

  /// Removes the files of what was discarded, tells the delegate, and forgets it.
  ///
  /// Sessions whose file cannot be removed stay in the list for the next launch.
  @discardableResult
  func tellDiscarded() async -> RestorationError? {
    // A second removal would remove and tell of the same sessions again.
    await sessions.removals.run { await removeDiscarded() }
  }

  private func removeDiscarded() async -> RestorationError? {
    var failure: RestorationError?
    var told: [SceneSession] = []
    // The list does not say yet of the sessions that are discarded from now on.
    for row in sessions.rows.filter(\.state.isDiscarded) where isDiscarded(row.session) {
      do throws(RestorationError) {
        try await row.engine.discardState(includingSetAside: true)
        if sessions.change(row.session, .forget) { told.append(row.session) }
      } catch {
        failure = error
      }
    }
    // Nor does a list that was set aside name windows when none is left.
    if sessions.rows.isEmpty, ownsSessions {
      do throws(RestorationError) {
        try await list.removeSetAside()
      } catch {
        failure = failure ?? error
      }
    }
    if !told.isEmpty {
      delegate?.host(self, didDiscardSceneSessions: told)
    }
    await writeList()
    return failure
  }

  /// Discards closed sessions over the bound; the caller tells of them.
  func discardClosed() {
    sessions.discardClosed(
      over: closedSceneBound ?? ClosedSceneBound(count: 0), at: keeper.engine.settings.now())
  }

  func isDiscarded(_ session: SceneSession) -> Bool {
    sessions[session]?.state.isDiscarded == true
  }

  /// Discards scenes of an app that does not run, as a window switcher may do.
  ///
  /// Call it on a host that has not been launched.
  ///
  /// - Parameter identifiers: The persistent identifiers of their sessions.
  /// - Throws: ``RestorationError`` with `inUse` if the app runs after all, or
  ///   `archive`.
  public func discardWhileNotRunning(_ identifiers: [String]) async throws(RestorationError) {
    var failure: RestorationError?
    do throws(RestorationError) {
      try await discardStored(identifiers)
    } catch {
      failure = error
    }
    await close()
    if let failure { throw failure }
  }

  private func discardStored(_ identifiers: [String]) async throws(RestorationError) {
    var stored: SceneList
    do throws(ArchiveError) {
      // Never those of a second instance, which a number would stand for.
      _ = try keeper.engine.claim.takeFirst()
      guard let list = try await list.read() else { return }
      stored = list
    } catch {
      throw RestorationError(error)
    }
    let gone = (stored.scenes + stored.closed).filter {
      identifiers.contains($0.identifier)
    }
    stored.scenes.removeAll { gone.contains($0) }
    stored.closed.removeAll { gone.contains($0) }
    stored.discarded += gone
    try await list.write { stored }
    for entry in gone {
      try await engine(ofScene: entry.identifier).discardState(includingSetAside: true)
    }
  }
}
