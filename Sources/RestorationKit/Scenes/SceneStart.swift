internal import ArchiveCodec

/// What ``SceneHost/start(_:declaring:asSession:)`` brought back.
///
/// Print it while you develop: it has the report of every scene that is back, and all
/// problems. It holds no values, so it can be logged.
public struct SceneStart {
  /// Why a scene is not back, or not as it was saved.
  public struct Problem {
    /// The session of the scene; nil if the sessions themselves may not all be known.
    public let session: SceneSession?

    /// Why, in sentences that a person can read.
    public let reason: String

    /// What a strict keeper's host throws for it; nil for what the app wants so.
    let error: RestorationError?
  }

  /// The scenes of sessions that were stored, most recently used first.
  public internal(set) var restoredScenes: [RestorableScene] = []

  /// The scene that was opened because none came back; nil if one did.
  public internal(set) var openedScene: RestorableScene?

  /// What is not back as the user left it; empty if everything is.
  ///
  /// A scene has one at most: it is not back; its state was not restored, or is an older
  /// generation, or has lost its end; or some of its nodes are problems of its report, which
  /// says what became of each; see ``RestorableScene/restoration``. The scene that was opened
  /// has one if its report names a problem: a key that nobody makes, or another keeper of the
  /// same name in this process.
  public internal(set) var problems: [Problem] = []

  mutating func note(_ error: RestorationError, _ session: SceneSession? = nil) {
    problems.append(Problem(session: session, reason: error.description, error: error))
  }

  /// Takes in a scene that is back, and what is wrong with it.
  mutating func take(_ scene: RestorableScene) {
    restoredScenes.append(scene)
    noteProblem(of: scene)
  }

  /// Takes in the first scene, and what is wrong with it that the launch has not said.
  mutating func take(opened scene: RestorableScene) {
    openedScene = scene
    let isSaid = problems.contains { $0.session == nil }
    let hasNotes =
      switch scene.restoration {
      case .failure(let error): error.code == .strict
      case .success(let report): !report.problems.isEmpty
      case nil: false
      }
    if hasNotes || !isSaid { noteProblem(of: scene) }
  }

  private mutating func noteProblem(of scene: RestorableScene) {
    let (status, session) = (scene.restorationStatus, scene.session)
    switch scene.restoration {
    case .failure(let error): note(error, session)
    case .success where status == .declined:
      problems.append(Problem(session: session, reason: status.description, error: nil))
    case .success where !status.isActive: note(status.description, session)
    case .success(let report): if let flaw = report.flaw { note(flaw, session) }
    case nil: break
    }
  }

  private mutating func note(_ reason: String, _ session: SceneSession) {
    let error = RestorationError(
      .strict,
      "The keeper is strict: the scenes are there, but not all as they were saved. \(reason)")
    problems.append(Problem(session: session, reason: reason, error: error))
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

extension SceneHost {
  /// Starts an app with windows: the scenes of the last launch come back, or a first one
  /// opens.
  ///
  ///     let host = SceneHost(try StateKeeper(application: "org.example.notes"))
  ///     print(try await host.start(SceneConfiguration { NoteScene() }))
  ///
  /// It takes four steps, which an app can take one by one instead: ``register(_:)`` and
  /// ``declaredActivityTypes``, ``launch(asSession:)``, ``restoreScenes()``, and
  /// ``open(_:configurationName:activity:)`` if no scene is connected then. Set the
  /// ``delegate``, the ``trace`` and the ``closedSceneBound`` before.
  ///
  /// What cannot be read does not end the app: it is among the ``SceneStart/problems``, and
  /// a scene is there all the same. So is the reason why nothing will be saved: a key that is
  /// missing and that its provider does not make.
  ///
  /// - Parameters:
  ///   - configurations: How scenes are made; they are registered besides those that are.
  ///   - activityTypes: The types of activities that are stored, besides those that are
  ///     declared.
  ///   - asSession: Whether the system brings back all apps.
  /// - Returns: What is back, and what is not.
  /// - Throws: ``RestorationError`` with `inUse` if another instance of the app has the
  ///   scenes and ``StateKeeper/instancePolicy`` is `single`; then no scene is connected.
  ///   With `noConfiguration` or `noDelegate` no scene came back, and the first one could
  ///   not be made. A strict keeper's host throws the first of the problems when all
  ///   scenes are there; that a scene's restore gate said no is none to throw.
  @discardableResult
  public func start(
    _ configurations: SceneConfiguration..., declaring activityTypes: Set<String> = [],
    asSession: Bool = false
  ) async throws(RestorationError) -> SceneStart {
    for configuration in configurations { register(configuration) }
    declaredActivityTypes.formUnion(activityTypes)
    var start = SceneStart()
    do throws(RestorationError) {
      try await launch(asSession: asSession)
    } catch {
      guard error.code != .inUse else { throw error }
      start.note(error)
    }
    if isListLocked { start.note(RestorationError(.keyLocked())) }
    let failures = await restoreScenes()
    for session in openSessions {
      if let scene = session.scene {
        start.take(scene)
      } else if let failure = failures[session] {
        start.note(failure, session)
      }
    }
    if connectedScenes.isEmpty { start.take(opened: try await openFirst()) }
    if keeper.isStrict, let failure = start.problems.lazy.compactMap(\.error).first {
      throw failure
    }
    return start
  }

  /// Opens the first scene, which is there also if a strict keeper throws.
  private func openFirst() async throws(RestorationError) -> RestorableScene {
    do throws(RestorationError) {
      return try await open()
    } catch {
      guard error.code == .strict, let scene = connectedScenes.first else { throw error }
      return scene
    }
  }
}
