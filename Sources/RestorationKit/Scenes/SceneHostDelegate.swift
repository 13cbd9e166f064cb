/// Answers for the app where scenes come and go; not kept alive by the host.
public protocol SceneHostDelegate: AnyObject {
  /// Chooses the configuration of a session that connects for the first time.
  ///
  /// Called before the scene is made. By default the one that has the session's
  /// name, or else the first of its role.
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

  /// Tells that sessions will not come back, so that what the app has of them
  /// can go.
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

  /// Does nothing.
  public func host(_ host: SceneHost, didDiscardSceneSessions sessions: [SceneSession]) {}
}
