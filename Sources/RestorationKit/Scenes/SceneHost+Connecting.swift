internal import ArchiveCodec

extension SceneHost {
  /// Connects a session to a new scene, with the state that was stored.
  ///
  /// The calls: `willConnectTo`, `sceneWillEnterForeground`, the nodes are
  /// restored, `restoreInteractionStateWith` if there is an activity, and
  /// `sceneDidBecomeActive`. A connected session comes to the front instead, and
  /// its delegate is asked to `continue` the activity.
  ///
  /// - Parameters:
  ///   - session: One of ``openSessions``.
  ///   - activity: What the user wants to do in it.
  /// - Returns: The scene, which is active.
  /// - Throws: ``RestorationError`` with `noConfiguration`, `noDelegate`, or
  ///   `notConnected` for a session that was discarded. A state that cannot be read is no
  ///   error: the scene connects without it; see ``RestorableScene/restoration``.
  @discardableResult
  public func connect(
    _ session: SceneSession, activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    try await connect(session, activity, toFront: true)
  }

  /// Connects all sessions that have no scene, most recently used first.
  ///
  /// A session that cannot be connected stays in ``openSessions``, and the others are
  /// connected. Sessions after a delegate that takes long to make wait for it. At the
  /// end, and if there is nothing to connect, the host's delegate is told
  /// ``SceneHostDelegate/hostDidFinishRestoringScenes(_:)``.
  ///
  /// - Returns: The errors of sessions that could not be connected.
  @discardableResult
  public func restoreScenes() async -> [SceneSession: RestorationError] {
    var failures: [SceneSession: RestorationError] = [:]
    for session in openSessions where session.scene == nil {
      // The session may have been discarded while others connected.
      guard openSessions.contains(session) else { continue }
      guard delegate?.host(self, shouldRestore: session) ?? true else {
        await engine(of: session).file.closeOpened()
        continue
      }
      do throws(RestorationError) {
        _ = try await connect(session, nil, toFront: false)
      } catch {
        failures[session] = error
        await engine(of: session).file.closeOpened()
      }
    }
    delegate?.hostDidFinishRestoringScenes(self)
    return failures
  }

  /// Connects a session to a scene, whether it is new, was stored or was closed.
  ///
  /// A session that has a scene shows that one.
  func connect(
    _ session: SceneSession, _ activity: UserActivity?, toFront: Bool
  ) async throws(RestorationError) -> RestorableScene {
    list.endsCleanly = false
    keeper.engine.claim.beginUse()
    defer { keeper.engine.claim.endUse() }
    // A second call while the first one reads waits for the scene of that one.
    return try await inTurn(of: session) { () async throws(RestorationError) in
      try checkIsKnown(session)
      if let scene = session.scene {
        if toFront { sessions.moveToFront(session) }
        activate(scene, with: activity)
        return scene
      }
      sessions.change(session, .connect)
      let options = SceneConnectionOptions(
        userActivities: [activity].compactMap(\.self), restoreReason: restoreReason)
      let scene = try await makeScene(session, options)
      guard case .connecting(let before) = sessions[session]?.state else {
        throw RestorationError(
          .notConnected, "The session was discarded while its scene was made.")
      }
      await restore(scene, options)
      if toFront { sessions.moveToFront(session) }
      restoreInteractionState(of: scene)
      becomeActive(scene)
      // No file has a new session, or says that a closed one is open, or what the user wants now.
      if !before.isOpen || activity != nil { scene.needsSave = true }
      if before.closedAt != nil {
        session.content.closedAt = nil
        await writeList()
      }
      return scene
    }
  }

  /// Makes the scene of a session that connects; if that fails, the session is as it was before.
  private func makeScene(
    _ session: SceneSession, _ options: SceneConnectionOptions
  ) async throws(RestorationError) -> RestorableScene {
    do throws(RestorationError) {
      if case .connecting(from: .closed) = sessions[session]?.state {
        await load(session, engine(of: session))
      }
      let configuration = try chosenConfiguration(for: session, options)
      let delegate = try await newDelegate(configuration)
      session.facts.configurationName = configuration.name
      session.content.configurationName = configuration.name
      let scene = RestorableScene(session, engine: engine(of: session))
      scene.delegate = delegate
      return scene
    } catch {
      sessions.change(session, .fail)
      throw error
    }
  }

  private func newDelegate(
    _ configuration: SceneConfiguration
  ) async throws(RestorationError) -> any SceneDelegate {
    let delegate: any SceneDelegate
    do {
      delegate = try await configuration.makeDelegate()
    } catch {
      throw RestorationError(.noDelegate, "The scene's delegate could not be made: \(error.reason)")
    }
    guard !sessions.rows.contains(where: { $0.state.scene?.delegate === delegate }) else {
      throw RestorationError(
        .noDelegate, "The delegate follows another scene. Make a new one for every scene.")
    }
    return delegate
  }

  /// Brings back the state of a scene, which is connected in the midst of that.
  private func restore(
    _ scene: RestorableScene, _ options: SceneConnectionOptions
  ) async {
    let session = scene.session
    do {
      let report = try await restoreNodes(of: scene) { show(scene, options) }
      scene.restoration = .success(report)
      switch report.outcome {
      case .locked: session.failure = RestorationError(.keyLocked())
      case .inUse(let process):
        session.startAfresh()
        session.failure = .inUse(by: process)
      case .crashed, .tooOld: session.startAfresh()
      default: session.takeListed()
      }
    } catch {
      scene.restoration = .failure(error)
      session.failure = error
      session.takeListed()
    }
    guard scene.activationState == .unattached else { return }
    // Nothing was stored, or it cannot be read, but for what the launch read.
    scene.takeContent()
    show(scene, options)
  }

  /// Restores what is stored of a scene; a body shows the scene when all but the nodes is there.
  private func restoreNodes(
    of scene: RestorableScene, showing show: () -> Void
  ) async throws(RestorationError) -> RestorationReport {
    try await scene.engine.restore(then: { report in
      scene.restoration = .success(report)
      if report.outcome == .restored { restoreInteractionState(of: scene) }
    }) { tree in
      // The scene may have been closed meanwhile, or in the call that shows it.
      guard scene.delegate != nil else { return nil }
      take(tree, in: scene)
      show()
      guard let delegate = scene.delegate else { return nil }
      return RestorationParticipants(
        roots: roots(of: scene, delegate), delegate: delegate as? any StateDelegate)
    }
  }

  func roots(of scene: RestorableScene, _ delegate: any SceneDelegate) -> [any RestorableNode] {
    scene.engine.checked(delegate.restorationRoots(for: scene))
  }

  /// What is stored of the scene beside its nodes.
  private func take(_ tree: StoredTree, in scene: RestorableScene) {
    do {
      let stored = try SceneContent(reading: tree)
      scene.session.failure = nil
      scene.session.take(stored, version: tree.version)
    } catch {
      scene.session.failure = RestorationError(error)
    }
    scene.takeContent()
  }

  private func show(_ scene: RestorableScene, _ options: SceneConnectionOptions) {
    sessions.change(scene.session, .appear(scene))
    scene.activationState = .background
    scene.delegate?.scene(scene, willConnectTo: scene.session, options: options)
    enterForeground(scene)
  }

  // MARK: Unlocking

  /// Gives a scene what was locked when it connected.
  func unlock(_ scene: RestorableScene) async {
    do {
      let report = try await restoreNodes(of: scene) {
        scene.delegate?.sceneStateDidBecomeAvailable(scene)
      }
      if report.outcome == .locked { return }
      scene.restoration = .success(report)
      if scene.session.isLocked { scene.session.failure = nil }
    } catch {
      scene.restoration = .failure(error)
      scene.session.failure = error
    }
    guard scene.activationState != .unattached else { return }
    restoreInteractionState(of: scene)
  }

  // MARK: Coming to the front

  /// Once in the life of a scene, as soon as there is an activity.
  private func restoreInteractionState(of scene: RestorableScene) {
    guard !scene.hasInteractionState, let activity = scene.session.stateRestorationActivity else {
      return
    }
    scene.hasInteractionState = true
    scene.delegate?.scene(scene, restoreInteractionStateWith: activity)
  }

  private func enterForeground(_ scene: RestorableScene) {
    scene.activationState = .foregroundInactive
    scene.delegate?.sceneWillEnterForeground(scene)
  }

  private func becomeActive(_ scene: RestorableScene) {
    scene.activationState = .foregroundActive
    scene.delegate?.sceneDidBecomeActive(scene)
  }

  /// Shows a scene that is connected.
  private func activate(_ scene: RestorableScene, with activity: UserActivity?) {
    if scene.activationState == .background { enterForeground(scene) }
    if let activity {
      scene.delegate?.scene(scene, continue: activity)
      scene.needsSave = true
    }
    if scene.activationState != .foregroundActive { becomeActive(scene) }
  }
}
