/// Why a scene connects.
public struct SceneConnectionOptions {
  /// What the user wants now, if the scene was opened for it.
  public let userActivities: [UserActivity]

  /// Whether the last run of the app crashed or was killed; see ``SceneHost/followsCrash``.
  public let followsCrash: Bool

  /// The activity to build the interface from: one that came in, or else the
  /// one that was stored, or else nil.
  ///
  /// - Parameter session: The session that connects.
  /// - Returns: The activity.
  public func activity(restoring session: SceneSession) -> UserActivity? {
    userActivities.first ?? session.stateRestorationActivity
  }
}

@available(*, unavailable, message: "it belongs to the actor of its host")
extension SceneConnectionOptions: Sendable {}
