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
public enum RestoreReason: String, Hashable, Codable, Sendable, CaseIterable {
  /// There is nothing to bring back.
  case pristine

  /// The app was ended properly, and is launched again.
  case launch

  /// The last run did not say that it was about to end: it crashed or was killed.
  case recover

  /// The system brings back all apps of a session of the user.
  case session
}

/// The parts of a scene that are brought back, for each reason.
public struct SceneRestorationPolicy: Hashable, Sendable {
  /// The parts of a scene's state.
  public struct Parts: OptionSet, Hashable, Sendable {
    /// One bit for each part.
    public let rawValue: Int

    /// Creates a set of parts.
    ///
    /// - Parameter rawValue: One bit for each part.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The activity that it stored.
    public static let activity = Parts(rawValue: 1 << 0)
    /// The trees of nodes.
    public static let nodes = Parts(rawValue: 1 << 1)
    /// The values of ``SceneStorage``.
    public static let storage = Parts(rawValue: 1 << 2)
    /// All of them.
    public static let all: Parts = [.activity, .nodes, .storage]
  }

  private let parts: [RestoreReason: Parts]

  /// Creates a policy.
  ///
  /// - Parameter parts: The parts that come back for each reason. For a reason that
  ///   is missing here the scene is discarded.
  public init(_ parts: [RestoreReason: Parts]) {
    self.parts = parts
  }

  /// Brings back everything, whatever the reason.
  public static let always = SceneRestorationPolicy(
    Dictionary(uniqueKeysWithValues: RestoreReason.allCases.map { ($0, .all) }))

  /// Brings back nothing.
  public static let never = SceneRestorationPolicy([:])

  /// The parts that come back for a reason; nil if the scene does not come back.
  public subscript(reason: RestoreReason) -> Parts? { parts[reason] }
}

@available(*, unavailable, message: "it belongs to the actor of its host")
extension SceneConnectionOptions: Sendable {}
