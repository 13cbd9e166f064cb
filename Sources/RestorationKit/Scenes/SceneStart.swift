/// What ``SceneHost/start(_:declaring:asSession:)`` brought back.
///
/// Print it while you develop: it has the report of every scene that is back, and all
/// problems. It holds no values, so it can be logged.
public struct SceneStart {
  /// Why a scene is not back, or not as it was saved.
  public struct Problem {
    /// The session of the scene; nil for a problem of the whole state, or of a scene that cannot be read.
    public let session: SceneSession?

    /// Why, in sentences that a person can read.
    public let reason: String
  }

  /// The scenes of sessions that were stored, most recently used first.
  public internal(set) var restoredScenes: [RestorableScene] = []

  /// The scene that was opened because none came back; nil if one did.
  public internal(set) var openedScene: RestorableScene?

  /// What is not back as the user left it; empty if everything is.
  ///
  /// A scene has one at most: it is not back; its state was not restored; or some of its nodes
  /// are problems of its report, which says what became of each; see
  /// ``RestorableScene/restoration``. The scene that was opened has one if the state is not
  /// restored or cannot be saved, and no other problem says so.
  public internal(set) var problems: [Problem] = []

  mutating func note(_ reason: String, _ session: SceneSession? = nil) {
    problems.append(Problem(session: session, reason: reason))
  }

  /// Takes in a scene that is back, and what is wrong with it.
  mutating func take(_ scene: RestorableScene) {
    restoredScenes.append(scene)
    noteProblem(of: scene)
  }

  /// Takes in the first scene, and what is wrong with it that the launch has not said.
  mutating func take(opened scene: RestorableScene) {
    openedScene = scene
    if !problems.contains(where: { $0.session == nil }) { noteProblem(of: scene) }
  }

  private mutating func noteProblem(of scene: RestorableScene) {
    if let flaw = scene.keeper.problem ?? scene.restoration?.flaw { note(flaw, scene.session) }
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
    let reports = restoredScenes.compactMap { scene in
      scene.restoration.map { "Scene \(scene.session.persistentIdentifier): \($0)" }
    }
    return ([head] + problems.map(\.description) + reports).joined(separator: "\n")
  }
}

@available(*, unavailable, message: "it belongs to the actor of its host")
extension SceneStart: Sendable {}

@available(*, unavailable, message: "it belongs to the actor of its host")
extension SceneStart.Problem: Sendable {}
