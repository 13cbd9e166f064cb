extension SceneHost {
  /// Closes a scene for good: its session, its file and its data key go, and the states
  /// that were set aside of it.
  ///
  /// Call it when the user closes the window.
  ///
  /// With a ``closedSceneBound`` the scene is saved instead, and its session joins
  /// ``closedSessions``, if it is restorable. If the session has got another scene meanwhile,
  /// that one stays open.
  ///
  /// - Parameter scene: A connected scene. Without a bound it is not saved.
  /// - Returns: What was saved; nil if nothing was. The scene is closed also if that is in
  ///   conflict; decide with `resolveConflict(of:keeping:)` of RestorationSharing.
  /// - Throws: ``RestorationError`` with `archive` if its file cannot be removed now, or
  ///   the scene cannot be saved. The scene is closed all the same, and the next launch
  ///   removes its files. With `conflict` another machine has saved a scene that is to go; the
  ///   same method decides.
  @discardableResult
  public func close(_ scene: RestorableScene) async throws(RestorationError) -> PreservationReport?
  {
    let session = scene.session
    guard let bound = closedSceneBound, bound.count > 0, session.isRestorable,
      openSessions.contains(session)
    else {
      try await discard(session)
      return nil
    }
    let now = keeper.engine.settings.now()
    session.content.closedAt = now
    var failure: RestorationError?
    var report: PreservationReport?
    do throws(RestorationError) {
      report = try await saveLeaving(scene, in: scene.activationState)
    } catch {
      failure = error
    }
    await turnEnded(of: [session])
    // The session may have been discarded meanwhile, or have another scene, which nobody closes.
    if let other = session.scene, other !== scene {
      session.content.closedAt = nil
      other.needsSave = true
    } else if openSessions.contains(session) {
      release(scene)
      sessions.change(session, .close(at: now))
      await engine(of: session).file.close()
      discardClosed()
      await writeList()
    }
    failure = failure ?? listFailure
    let untold = await tellDiscarded()
    if let failure = failure ?? untold { throw failure }
    return report
  }
}
