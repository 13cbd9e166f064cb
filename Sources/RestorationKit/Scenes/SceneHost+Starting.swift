internal import ArchiveCodec

extension SceneHost {
  /// Starts an app with windows: the scenes of the last launch come back, or a first one
  /// opens.
  ///
  ///     let host = SceneHost(try StateKeeper(application: "org.example.notes"))
  ///     print(try await host.start(SceneConfiguration { NoteWindow() }))
  ///
  /// It takes four steps, which an app can take one by one instead: ``register(_:)`` and
  /// ``declaredActivityTypes``, ``launch(asSession:)``, ``restoreScenes()``, and
  /// ``open(_:configurationName:activity:)`` if no scene is connected then. Set the
  /// ``delegate`` and the ``closedSceneBound`` before.
  ///
  /// What cannot be read does not end the app: it is among the ``SceneStart/problems``, and
  /// a scene is there all the same. So is the reason why nothing will be saved: a key that is
  /// missing and that its provider does not make.
  ///
  /// - Parameters:
  ///   - configurations: How scenes are made; they are registered besides those that are.
  ///   - activityTypes: The types of activities that are stored, besides those that are
  ///     declared.
  ///   - asSession: Whether the system brings back all apps.
  /// - Returns: What is back, and what is not.
  /// - Throws: ``RestorationError`` with `inUse` if another instance of the app has the
  ///   scenes and ``StatePolicy/instances`` is `single`; then no scene is connected.
  ///   With `noConfiguration` or `noDelegate` no scene came back, and the first one could
  ///   not be made.
  @discardableResult
  public func start(
    _ configurations: SceneConfiguration..., declaring activityTypes: Set<String> = [],
    asSession: Bool = false
  ) async throws(RestorationError) -> SceneStart {
    for configuration in configurations { register(configuration) }
    declaredActivityTypes.formUnion(activityTypes)
    var start = SceneStart()
    do throws(RestorationError) {
      try await launch(asSession: asSession)
    } catch {
      guard error.code != .inUse else { throw error }
      start.note(error.description)
    }
    if isListLocked { start.note(RestorationError(.keyLocked()).description) }
    let failures = await restoreScenes()
    for session in openSessions {
      if let scene = session.scene {
        start.take(scene)
      } else if let failure = failures[session] {
        start.note(failure.description, session)
      }
    }
    if connectedScenes.isEmpty { start.take(opened: try await open()) }
    return start
  }
}
