extension SceneHost {
  /// Puts a scene into the background, as the user does not see it any more, and saves it.
  ///
  /// - Parameter scene: A connected scene.
  /// - Returns: What was saved.
  /// - Throws: As ``save(_:)``.
  @discardableResult
  public func background(_ scene: RestorableScene) async throws(RestorationError)
    -> PreservationReport
  {
    enterBackground(scene)
    return try await save(scene)
  }

  private func enterBackground(_ scene: RestorableScene) {
    if scene.activationState == .foregroundActive {
      scene.activationState = .foregroundInactive
      scene.delegate?.sceneWillResignActive(scene)
    }
    if scene.activationState == .foregroundInactive {
      scene.activationState = .background
      scene.delegate?.sceneDidEnterBackground(scene)
    }
  }

  /// Lets a scene go to free its memory; its session stays.
  ///
  /// Changes that are made while it is saved are saved again, also those of nodes that never say
  /// when they change. A value of
  /// ``SceneStorage`` that is set later goes to the session.
  ///
  /// - Parameter scene: A connected scene. It is saved first; if it comes to the
  ///   front meanwhile, it stays.
  /// - Returns: What was saved last. The scene is let go also if that is in conflict; decide
  ///   with `resolveConflict(of:keeping:)` of RestorationSharing. It stays connected, in the
  ///   background, if it could not be saved now: the outcome is ``PreservationReport/Outcome/locked`` or
  ///   ``PreservationReport/Outcome/inUse(by:)``. Disconnect it again later.
  /// - Throws: As ``save(_:)``; the scene stays connected then.
  @discardableResult
  public func disconnect(_ scene: RestorableScene) async throws(RestorationError)
    -> PreservationReport
  {
    enterBackground(scene)
    let report = try await saveLeaving(scene, in: .background)
    if !report.outcome.isPostponed, scene.activationState == .background {
      release(scene)
      await writeList()
    }
    return report
  }

  /// Saves a scene that goes: also what changes while that is written, whether somebody tells it or
  /// not, and what another save has taken that may fail, as long as the scene stays in a state.
  func saveLeaving(
    _ scene: RestorableScene, in state: RestorableScene.ActivationState
  ) async throws(RestorationError) -> PreservationReport {
    scene.engine.leavingCount += 1
    defer { scene.engine.leavingCount -= 1 }
    var report = try await save(scene)
    for _ in 0..<Self.largestRepetition {
      guard report.outcome == .saved, scene.activationState == state,
        scene.isChanged || findsChange(in: scene)
      else { break }
      report = try await save(scene)
    }
    return report
  }

  /// A scene that changes with every save is let go all the same.
  private static let largestRepetition = 4

  /// Lets a scene go; its session stays.
  func release(_ scene: RestorableScene) {
    guard scene.activationState != .unattached else { return }
    scene.activationState = .unattached
    scene.delegate?.sceneDidDisconnect(scene)
    scene.delegate = nil
    sessions.change(scene.session, .leave)
    // The version that was written last, also if its save has failed after the write.
    scene.session.facts.version = scene.engine.rows.whole.version ?? scene.session.facts.version
    scene.engine.forgetObjects()
    // Nobody saves the scene any more: its values are the session's until another scene has them.
    scene.session.leftValues = scene.values
    scene.session.takeLeftValues()
  }
}
