/// What ``SceneHost/start(_:declaring:asSession:)`` brought back.
///
/// Print it while you develop: it has the report of every scene that is back, and all
/// problems. It holds no values, so it can be logged.
public struct SceneStart {
  /// Why a scene is not back, or is back without its state.
  public struct Problem {
    /// The session of the scene; nil if the sessions themselves may not all be known.
    public let session: SceneSession?

    /// Why, in sentences that a person can read.
    public let reason: String

    /// The error, nil if a ``RestorationStatus`` is the reason.
    let error: RestorationError?
  }

  /// The scenes of sessions that were stored, most recently used first.
  public internal(set) var restoredScenes: [Scene] = []

  /// The scene that was opened because none came back; nil if one did.
  public internal(set) var openedScene: Scene?

  /// What is not back as the user left it; empty if everything is.
  ///
  /// What became of single nodes is in the report of each scene; see ``Scene/restoration``.
  public internal(set) var problems: [Problem] = []

  mutating func note(_ error: RestorationError, _ session: SceneSession? = nil) {
    problems.append(Problem(session: session, reason: error.description, error: error))
  }

  /// Takes in a scene that is back, and what is wrong with it.
  mutating func take(_ scene: Scene) {
    restoredScenes.append(scene)
    if case .failure(let error) = scene.restoration {
      note(error, scene.session)
    } else if !scene.restorationStatus.isActive {
      let reason = scene.restorationStatus.description
      problems.append(Problem(session: scene.session, reason: reason, error: nil))
    }
  }
}

extension SceneStart.Problem: CustomStringConvertible {
  /// The session, by its identifier, and the reason.
  public var description: String {
    (session.map { "Scene \($0.persistentIdentifier): " } ?? "") + reason
  }
}

extension SceneStart: CustomStringConvertible {
  /// How many scenes are back, the problems, and the report of each scene.
  public var description: String {
    let count = restoredScenes.count
    let flawed = restoredScenes.count { scene in
      problems.contains { $0.session === scene.session }
    }
    let head =
      "Restored \(count) \(count == 1 ? "scene" : "scenes")"
      + (flawed > 0 ? ", \(flawed) of them with problems." : ".")
    let reports = restoredScenes.compactMap { scene -> String? in
      guard case .success(let report) = scene.restoration else { return nil }
      return "Scene \(scene.session.persistentIdentifier): \(report)"
    }
    return ([head] + problems.map(\.description) + reports).joined(separator: "\n")
  }
}

@available(*, unavailable, message: "it belongs to the actor of its host")
extension SceneStart: Sendable {}

@available(*, unavailable, message: "it belongs to the actor of its host")
extension SceneStart.Problem: Sendable {}
