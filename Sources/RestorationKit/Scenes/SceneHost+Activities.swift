extension SceneHost {
  /// Finds the scene for an activity that came in, and hands it over.
  ///
  /// Scenes that prefer it come first, then scenes that can take it, connected or
  /// not, the most recently used first. If there is none, a new scene opens, of the
  /// first configuration that handles it, or else of the first that handles
  /// everything.
  ///
  /// - Parameter activity: The activity that came in. Scenes are matched with its
  ///   target content identifier and its web page.
  /// - Returns: The scene that has it now.
  /// - Throws: As ``connect(_:activity:)`` and ``open(_:configurationName:activity:)``;
  ///   `noConfiguration` if no configuration opens for it.
  @discardableResult
  public func continueActivity(_ activity: UserActivity) async throws(RestorationError)
    -> RestorableScene
  {
    let content = activity.contentNames
    let conditions = openSessions.map { ($0, $0.activationConditions) }
    let session =
      conditions.first { $0.1.prefersToActivate.matches(content) }?.0
      ?? conditions.first { $0.1.canActivate == .all || $0.1.canActivate.matches(content) }?.0
    if let session { return try await connect(session, activity: activity) }
    guard let configuration = configuration(handling: content) else {
      throw RestorationError(
        .noConfiguration,
        "No configuration opens for \(content)."
          + " Register one that handles it, or one without handlesExternalEvents.")
    }
    return try await open(SceneSession(configuration), activity: activity)
  }

  /// Deletes stored activities.
  ///
  /// Their sessions stay, with everything else that is stored of these. The next
  /// save of their scenes takes the activities out of the files.
  ///
  /// - Parameter identifiers: Their ``UserActivity/persistentIdentifier``.
  /// - Throws: As ``saveSessions()``.
  /// - Complexity: O(*n*) in the sessions.
  public func deleteSavedUserActivities(
    withPersistentIdentifiers identifiers: Set<String>
  ) async throws(RestorationError) {
    for session in openSessions {
      guard let identifier = session.content.activity?.persistentIdentifier,
        identifiers.contains(identifier)
      else { continue }
      session.stateRestorationActivity = nil
    }
    try await saveSessions()
  }
}
