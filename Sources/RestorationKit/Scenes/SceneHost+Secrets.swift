extension SceneHost {
  /// Forgets values with ``Sensitivity/secret`` that the nodes of a scene have encoded;
  /// see ``StateKeeper/forgetSecrets(_:)``.
  ///
  /// - Parameters:
  ///   - selection: Which secrets. If there are none, that is not an error.
  ///   - session: One of ``openSessions`` or ``closedSessions``; any other is ignored. The
  ///     secrets of a session that was discarded cannot be read any more.
  /// - Throws: As ``StateKeeper/forgetSecrets(_:)``.
  public func forgetSecrets(
    _ selection: SecretSelection, of session: SceneSession
  ) async throws(RestorationError) {
    guard openSessions.contains(session) || closedSessions.contains(session) else { return }
    try await engine(of: session).forgetSecrets(selection)
  }
}
