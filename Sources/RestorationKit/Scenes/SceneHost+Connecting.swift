internal import ArchiveCodec

extension SceneHost {
  /// How a scene is shown that connects.
  private enum Presentation {
    /// As the one that was used last.
    case front
    /// In its place among the others.
    case place
    /// Not at all.
    case background
  }

  /// Opens a new scene.
  ///
  /// - Parameters:
  ///   - role: What it is for.
  ///   - configurationName: The configuration; the first of the role if nil.
  ///   - activity: What the user wants to do in it.
  /// - Returns: The scene, which is active. It comes back once it has been saved;
  ///   ``RestorableScene/needsSave`` is true from the start.
  /// - Throws: ``RestorationError`` with `noConfiguration` or `noDelegate`; then
  ///   there is no new session.
  @discardableResult
  public func open(
    _ role: SceneRole = .windowApplication, configurationName: String? = nil,
    activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    guard let configuration = defaultConfiguration(role, configurationName) else {
      throw .noConfiguration(role, configurationName)
    }
    return try await open(SceneSession(configuration), activity: activity)
  }

  /// Connects a session that is new.
  func open(
    _ session: SceneSession, activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    openSessions.insert(session, at: 0)
    do throws(RestorationError) {
      let scene = try await connect(session, activity: activity)
      scene.needsSave = true
      return scene
    } catch {
      // A strict keeper throws when all is done.
      if error.code == .strict { throw error }
      openSessions.removeAll { $0 == session }
      forgetEngine(of: session)
      throw error
    }
  }

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
  ///   `notConnected` for a session that was discarded. With `strict` the scene is
  ///   connected, and its restore was not clean. A state that cannot be read is no
  ///   error: the scene connects without it; see ``RestorableScene/restoration``.
  @discardableResult
  public func connect(
    _ session: SceneSession, activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    try await connect(session, activity, .front)
  }

  /// Connects all sessions that have no scene, most recently used first.
  ///
  /// A session that cannot be connected stays in ``openSessions``, and the others are
  /// connected. Sessions after a delegate that takes long to make wait for it. At the
  /// end, and if there is nothing to connect, the host's delegate is told
  /// ``SceneHostDelegate/hostDidFinishRestoringScenes(_:)``.
  ///
  /// - Returns: The errors of sessions that could not be connected, and with a strict
  ///   keeper of sessions whose restore was not clean.
  @discardableResult
  public func restoreScenes() async -> [SceneSession: RestorationError] {
    var failures: [SceneSession: RestorationError] = [:]
    for session in openSessions where session.scene == nil {
      // It may have been discarded while others connected.
      guard openSessions.contains(session) else { continue }
      guard wants(session) else {
        await engine(of: session).file.closeOpened()
        continue
      }
      do throws(RestorationError) {
        _ = try await connect(session, nil, .place)
      } catch {
        failures[session] = error
      }
    }
    tell(.hostDidFinishRestoringScenes)
    delegate?.hostDidFinishRestoringScenes(self)
    return failures
  }

  /// Saves a session's scene; without one, connects a scene in the background, saves it
  /// and lets it go again.
  ///
  /// - Parameter session: A session whose data have changed.
  /// - Returns: What was saved last.
  /// - Throws: As ``connect(_:activity:)`` and ``save(_:)``.
  @discardableResult
  public func refresh(
    _ session: SceneSession
  ) async throws(RestorationError) -> PreservationReport {
    let isConnected = session.scene != nil
    var failure: RestorationError?
    let scene: RestorableScene
    do throws(RestorationError) {
      scene = try await connect(session, nil, .background)
    } catch {
      guard error.code == .strict, let connected = session.scene else { throw error }
      (scene, failure) = (connected, error)
    }
    let saved: Result<PreservationReport, RestorationError>
    do throws(RestorationError) {
      saved = .success(
        try await saveLeaving(scene, in: .background) { () async throws(RestorationError) in
          try await save(scene)
        })
    } catch {
      saved = .failure(error)
    }
    // Whoever let it go meanwhile may have saved it before the data changed.
    if case .success(let report) = saved, report.outcome == .superseded,
      openSessions.contains(session)
    {
      return try await refresh(session)
    }
    if !isConnected { await letGo(scene) }
    if let failure { throw failure }
    return try saved.get()
  }

  private func wants(_ session: SceneSession) -> Bool {
    tell(.shouldRestore, session)
    return delegate?.host(self, shouldRestore: session) ?? true
  }

  private func connect(
    _ session: SceneSession, _ activity: UserActivity?, _ presentation: Presentation
  ) async throws(RestorationError) -> RestorableScene {
    endsCleanly = false
    keeper.engine.claim.beginUse()
    defer { keeper.engine.claim.endUse() }
    // A second call while the first one reads waits for the scene of that one.
    while let underWay = connections[session.persistentIdentifier] { await underWay.end() }
    guard openSessions.contains(where: { $0 === session }) else {
      throw RestorationError(
        .notConnected, "The session is not open. Use one of the host's openSessions.")
    }
    if let scene = session.scene {
      if presentation == .front { moveToFront(session) }
      if presentation != .background { activate(scene, with: activity) }
      return scene
    }
    let underWay = UnderWay()
    connections[session.persistentIdentifier] = underWay
    defer {
      connections[session.persistentIdentifier] = nil
      underWay.finish()
    }
    let scene = try await makeScene(session, activity)
    guard openSessions.contains(where: { $0 === session }) else {
      throw RestorationError(
        .notConnected, "The session was discarded while its scene was made.")
    }
    await restore(scene, isShown: presentation != .background)
    if presentation == .front { moveToFront(session) }
    restoreInteractionState(of: scene)
    if presentation != .background { becomeActive(scene) }
    // What the user wants now is stored nowhere yet.
    if activity != nil { scene.needsSave = true }
    if case .failure(let error) = scene.restoration, error.code == .strict { throw error }
    return scene
  }

  /// Makes a scene that has no state yet and has made no call but the first.
  private func makeScene(
    _ session: SceneSession, _ activity: UserActivity?
  ) async throws(RestorationError) -> RestorableScene {
    let options = SceneConnectionOptions(
      userActivities: [activity].compactMap(\.self), restoreReason: restoreReason)
    let configuration = try chosenConfiguration(for: session, options)
    let delegate: any SceneDelegate
    do {
      delegate = try await configuration.makeDelegate()
    } catch {
      throw RestorationError(.noDelegate, "The scene's delegate could not be made: \(error.reason)")
    }
    guard !isFollowing(delegate) else {
      throw RestorationError(
        .noDelegate, "The delegate follows another scene. Make a new one for every scene.")
    }
    session.isNew = false
    session.configurationName = configuration.name
    session.content.configurationName = configuration.name
    let scene = RestorableScene(
      session, engine: engine(of: session), options: options,
      restoring: configuration.policy(for: session)[restoreReason] ?? .all)
    scene.delegate = delegate
    return scene
  }

  /// Brings back the state of a scene, which is connected in the midst of that.
  private func restore(_ scene: RestorableScene, isShown: Bool) async {
    let session = scene.session
    do {
      let report = try await scene.engine.restore { report in
        scene.restoration = .success(report)
        if report.outcome == .restored { restoreInteractionState(of: scene) }
      } with: { tree in
        take(tree, in: scene)
        connect(scene, isShown: isShown)
        return participants(of: scene)
      }
      scene.restoration = .success(report)
      switch report.outcome {
      case .locked: session.failure = RestorationError(.keyLocked())
      case .inUse(let process):
        session.startAfresh()
        session.failure = .inUse(by: process)
      case .crashed: session.startAfresh()
      default: session.takeListed()
      }
    } catch {
      scene.restoration = .failure(error)
      // A strict keeper throws when all is done.
      if error.code != .strict {
        session.failure = error
        session.takeListed()
      }
    }
    guard scene.activationState == .unattached else { return }
    // Nothing was stored, or it cannot be read, but for what the launch read.
    scene.restrictContent()
    connect(scene, isShown: isShown)
  }

  /// Who takes part in restoring the nodes of a scene; nil if they do not come back.
  private func participants(of scene: RestorableScene) -> RestorationParticipants? {
    guard scene.restoredParts.contains(.nodes), let delegate = scene.delegate else { return nil }
    return RestorationParticipants(
      roots: roots(of: scene, delegate), delegate: delegate as? any StateDelegate)
  }

  func roots(of scene: RestorableScene, _ delegate: any SceneDelegate) -> [any RestorableNode] {
    tell(.restorationRoots, scene.session)
    return delegate.restorationRoots(for: scene)
  }

  /// What is stored of the scene beside its nodes.
  private func take(_ tree: StoredTree, in scene: RestorableScene) {
    do {
      var stored = try SceneContent(reading: tree.host)
      stored?.take(ValueStore.plainContents(in: tree))
      scene.session.failure = nil
      scene.session.take(stored, version: tree.version)
    } catch {
      scene.session.failure = RestorationError(error)
    }
    scene.restrictContent()
  }

  private func connect(_ scene: RestorableScene, isShown: Bool) {
    setScene(scene, of: scene.session)
    scene.activationState = .background
    tell(.willConnectTo, scene.session)
    scene.delegate?.scene(scene, willConnectTo: scene.session, options: scene.options)
    if isShown { enterForeground(scene) }
  }

  // MARK: Unlocking

  /// Gives a scene what was locked when it connected.
  func unlock(_ scene: RestorableScene) async {
    do {
      let report = try await scene.engine.restore { report in
        scene.restoration = .success(report)
        if report.outcome == .restored { restoreInteractionState(of: scene) }
      } with: { tree in
        // It may have been closed meanwhile.
        guard scene.activationState != .unattached else { return nil }
        take(tree, in: scene)
        tell(.sceneStateDidBecomeAvailable, scene.session)
        scene.delegate?.sceneStateDidBecomeAvailable(scene)
        return participants(of: scene)
      }
      if report.outcome == .locked { return }
      scene.restoration = .success(report)
      if scene.session.isLocked { scene.session.failure = nil }
    } catch {
      scene.restoration = .failure(error)
      if error.code != .strict { scene.session.failure = error }
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
    tell(.restoreInteractionState, scene.session)
    scene.delegate?.scene(scene, restoreInteractionStateWith: activity)
  }

  private func enterForeground(_ scene: RestorableScene) {
    scene.activationState = .foregroundInactive
    tell(.sceneWillEnterForeground, scene.session)
    scene.delegate?.sceneWillEnterForeground(scene)
  }

  private func becomeActive(_ scene: RestorableScene) {
    scene.activationState = .foregroundActive
    tell(.sceneDidBecomeActive, scene.session)
    scene.delegate?.sceneDidBecomeActive(scene)
  }

  /// Shows a scene that is connected.
  private func activate(_ scene: RestorableScene, with activity: UserActivity?) {
    if scene.activationState == .background { enterForeground(scene) }
    if let activity {
      tell(.continue, scene.session)
      scene.delegate?.scene(scene, continue: activity)
      scene.needsSave = true
    }
    if scene.activationState != .foregroundActive { becomeActive(scene) }
  }
}
