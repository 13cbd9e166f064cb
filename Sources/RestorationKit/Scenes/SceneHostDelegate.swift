/// Answers for the app when scenes come and go; the host does not keep it alive.
public protocol SceneHostDelegate: AnyObject {
  /// Chooses the configuration of a session that connects for the first time, or
  /// whose configuration is not registered any more.
  ///
  /// Called before the scene is made. By default the configuration with the session's
  /// name is taken. The session keeps the name of the chosen one.
  ///
  /// - Parameters:
  ///   - host: The host.
  ///   - session: The new session.
  ///   - options: Why it connects.
  /// - Returns: A configuration of the session's role, or nil for the default.
  func host(
    _ host: SceneHost, configurationForConnecting session: SceneSession,
    options: SceneConnectionOptions
  ) -> SceneConfiguration?

  /// Whether a session is to be connected by ``SceneHost/restoreScenes()``.
  ///
  /// A session that is not stays in ``SceneHost/openSessions``.
  ///
  /// - Parameters:
  ///   - host: The host.
  ///   - session: A session without scene.
  /// - Returns: True by default.
  func host(_ host: SceneHost, shouldRestore session: SceneSession) -> Bool

  /// Tells that ``SceneHost/restoreScenes()`` has tried all sessions.
  ///
  /// - Parameter host: The host.
  func hostDidFinishRestoringScenes(_ host: SceneHost)

  /// Tells that sessions will not come back, so that the app can remove its own data of
  /// them.
  ///
  /// Their state is removed already. Not called when a scene only disconnects.
  ///
  /// - Parameters:
  ///   - host: The host.
  ///   - sessions: The sessions; those that were discarded while the app did not
  ///     run come together, after the next launch.
  func host(_ host: SceneHost, didDiscardSceneSessions sessions: [SceneSession])
}

extension SceneHostDelegate {
  /// Chooses the default.
  public func host(
    _ host: SceneHost, configurationForConnecting session: SceneSession,
    options: SceneConnectionOptions
  ) -> SceneConfiguration? { nil }

  /// Wants all.
  public func host(_ host: SceneHost, shouldRestore session: SceneSession) -> Bool { true }

  /// Does nothing.
  public func hostDidFinishRestoringScenes(_ host: SceneHost) {}

  /// Does nothing.
  public func host(_ host: SceneHost, didDiscardSceneSessions sessions: [SceneSession]) {}
}
