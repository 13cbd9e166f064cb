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
    if scene.activationState == .foregroundActive {
      tell(.sceneWillResignActive, scene.session)
      scene.activationState = .foregroundInactive
      scene.delegate?.sceneWillResignActive(scene)
    }
    if scene.activationState == .foregroundInactive {
      scene.activationState = .background
      tell(.sceneDidEnterBackground, scene.session)
      scene.delegate?.sceneDidEnterBackground(scene)
    }
    return try await save(scene)
  }

  /// Lets a scene go to free its memory; its session stays.
  ///
  /// Changes that are made while it is saved are saved again. A value of
  /// ``SceneStorage`` that is set later goes to the session.
  ///
  /// - Parameter scene: A connected scene. It is saved first; if it comes to the
  ///   front meanwhile, it stays.
  /// - Returns: What was saved last. The scene is let go also if that is in conflict; decide
  ///   with ``resolveConflict(of:keeping:)``. It stays connected, in the background, if it
  ///   could not be saved now: the outcome is ``PreservationReport/Outcome/locked`` or
  ///   ``PreservationReport/Outcome/inUse(by:)``. Disconnect it again later.
  /// - Throws: As ``save(_:)``; the scene stays connected then.
  @discardableResult
  public func disconnect(_ scene: RestorableScene) async throws(RestorationError)
    -> PreservationReport
  {
    let report = try await saveAgain(scene, after: try await background(scene), in: .background)
    if !report.outcome.isPostponed { await letGo(scene) }
    return report
  }

  /// Saves what was set while the save before was written, and what another save has taken that
  /// may fail, as long as the scene stays in a state.
  func saveAgain(
    _ scene: RestorableScene, after report: PreservationReport,
    in state: RestorableScene.ActivationState
  ) async throws(RestorationError) -> PreservationReport {
    var report = report
    for _ in 0..<Self.largestRepetition
    where report.outcome == .saved && scene.isChanged && scene.activationState == state {
      report = try await save(scene)
    }
    return report
  }

  /// A scene that changes with every save is let go all the same.
  private static let largestRepetition = 4

  /// Lets a scene go that nobody sees, and stores what its session has left.
  func letGo(_ scene: RestorableScene) async {
    guard scene.activationState == .background else { return }
    release(scene)
    await writeList()
  }
}
