/// What ``SceneHost/start(_:declaring:)`` brought back.
///
/// Print it while you develop: it has the report of every scene that is back, and all
/// problems. It holds no values, so it can be logged.
public struct SceneStart {
  /// The scenes of sessions that were stored, most recently used first.
  public internal(set) var restoredScenes: [RestorableScene] = []

  /// The scene that was opened because none came back; nil if one did.
  public internal(set) var openedScene: RestorableScene?

  /// What is not back as the user left it, in sentences that a person can read; empty if everything is.
  ///
  /// The session of a problem is nil for the whole state, and for a scene that cannot be read.
  ///
  /// A scene has one at most: it is not back; its state was not restored; or some of its nodes
  /// are problems of its report, which says what became of each; see
  /// ``RestorableScene/restoration``. The scene that was opened has one if the state is not
  /// restored or cannot be saved, and no other problem says so.
  public internal(set) var problems: [(session: SceneSession?, reason: String)] = []

  mutating func note(_ reason: String, _ session: SceneSession? = nil) {
    problems.append((session, reason))
  }

  mutating func noteProblem(of scene: RestorableScene) {
    if let flaw = scene.keeper.problem ?? scene.restoration?.flaw { note(flaw, scene.session) }
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
      scene.restoration.map { (scene.session, $0.description) }
    }
    let lines = (problems + reports).map { session, text in
      (session.map { "Scene \($0.persistentIdentifier): " } ?? "") + text
    }
    return ([head] + lines).joined(separator: "\n")
  }
}

@available(*, unavailable, message: "it belongs to the actor of its host")
extension SceneStart: Sendable {}
