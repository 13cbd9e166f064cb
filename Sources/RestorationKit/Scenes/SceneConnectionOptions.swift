/// Why a scene connects.
public struct SceneConnectionOptions {
  /// What the user wants now, if the scene was opened for it.
  public let userActivities: [UserActivity]

  /// Why scenes are restored in this launch.
  public let restoreReason: RestoreReason

  /// The activity to build the interface from: one that came in, or else the
  /// one that was stored, or else nil.
  ///
  /// - Parameter session: The session that connects.
  /// - Returns: The activity.
  public func activity(restoring session: SceneSession) -> UserActivity? {
    userActivities.first ?? session.stateRestorationActivity
  }
}

/// Why an app is brought back.
public enum RestoreReason: String, Hashable, Sendable {
  /// There is nothing to bring back.
  case pristine

  /// The app was ended properly, and is launched again.
  case launch

  /// The last run did not say that it was about to end: it crashed or was killed.
  case recover

  /// The system brings back all apps of a session of the user.
  case session
}

@available(*, unavailable, message: "it belongs to the actor of its host")
extension SceneConnectionOptions: Sendable {}
