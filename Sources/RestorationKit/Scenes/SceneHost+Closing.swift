internal import ArchiveCodec
internal import RestorationFoundation

extension SceneHost {
  /// Closes a window.
  ///
  /// With a ``closedSceneCount`` above 0 the window is saved, and can be opened again; with 0 no file has anything
  /// of the window any more.
  ///
  /// - Parameter scene: A scene that is connected.
  /// - Throws: ``RestorationError`` if the window cannot be saved: it is closed all the same, and can be opened
  ///   again as it is stored. With a count of 0 as ``discard(_:)-([SceneSession])``.
  public func close(_ scene: RestorableScene) async throws(RestorationError) {
    try await scene.session.turns.run { () async throws(RestorationError) in
      try await closeNow(scene)
    }
  }

  private func closeNow(_ scene: RestorableScene) async throws(RestorationError) {
    guard scene.session.scene === scene else { throw .sceneIsNotConnected }
    guard closedSceneCount > 0, scene.session.isRestorable else {
      return try await discard([scene.session] + overBound)
    }
    scene.session.node.content.closedAt = keeper.settings.now()
    let saved = await Result { () async throws(RestorationError) in try await saveLast(scene) }
    release(scene, on: .close)
    try await discard(overBound)
    let outcome = try saved.get().outcome
    guard outcome == .saved else { throw .notSaved(outcome) }
    try await saveLeft(scene.session)
  }

  /// Opens a window again that was closed, as it was then.
  ///
  /// - Parameters:
  ///   - session: One of ``closedSessions``.
  ///   - activity: What the user wants to do in it.
  /// - Returns: The scene.
  /// - Throws: As ``connect(_:activity:)``; the session stays closed then.
  @discardableResult
  public func reopen(
    _ session: SceneSession, activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    guard session.state == .closed else {
      throw RestorationError(
        .notConnected, "The session is not closed. Use one of the host's closedSessions.")
    }
    return try await connect(session, activity: activity)
  }

  /// Hands an activity that came in to the window that was at the front last, or else to a new one.
  ///
  /// - Parameter activity: The activity.
  /// - Returns: The scene that has it.
  /// - Throws: As ``connect(_:activity:)`` and ``open(_:configurationName:activity:)``.
  @discardableResult
  public func continueActivity(
    _ activity: UserActivity
  ) async throws(RestorationError) -> RestorableScene {
    // A delegate that is being made may ask for that: its own session waits for it.
    let last = openSessions.first { [.stored, .connected].contains($0.state) }
    guard let last else { return try await open(activity: activity) }
    return try await connect(last, activity: activity)
  }

  /// Lets windows go, open or closed: no file has anything of them any more.
  ///
  /// - Parameter given: Sessions of the host; others are passed over.
  /// - Throws: ``RestorationError`` as a save of the keeper does; then the sessions stay. If only the file could
  ///   not be written anew, the sessions are gone, and the next launch does that.
  public func discard(_ given: [SceneSession]) async throws(RestorationError) {
    let leaving = given.filter { sessions[$0.persistentIdentifier] === $0 }
    guard !leaving.isEmpty else { return }
    for session in leaving { session.isLeaving = true }
    defer { for session in leaving { session.isLeaving = false } }
    let result = await Result { () async throws(RestorationError) in
      try await keeper.discard(leaving.map(\.node))
    }
    // The commit may be there though the file could not be written anew.
    let gone = leaving.filter { keeper.hasLost($0.node) }
    for session in gone where session.go(on: .discard) {
      sessions[session.persistentIdentifier] = nil
      scenes.removeValue(forKey: session)?.leave()
    }
    if !gone.isEmpty { delegate?.host(self, didDiscardSceneSessions: gone) }
    try result.get()
  }

  /// Lets a window go, open or closed; see ``discard(_:)-([SceneSession])``.
  ///
  /// - Parameter session: A session of the host; any other is passed over.
  /// - Throws: As that.
  public func discard(_ session: SceneSession) async throws(RestorationError) {
    try await discard([session])
  }

  /// The closed windows that are too many, or were closed too long ago.
  var overBound: [SceneSession] {
    let now = keeper.settings.now()
    return closedSessions.enumerated().filter { place, session in
      session.state == .closed
        && (place >= closedSceneCount
          || session.closedAt.map { now.timeIntervalSince($0) > closedSceneAge } ?? false)
    }.map(\.element)
  }
}
