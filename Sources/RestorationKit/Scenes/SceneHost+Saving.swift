internal import ArchiveCodec

extension SceneHost {
  /// Saves a connected scene: its activity, its values and its nodes.
  ///
  /// The calls: `stateRestorationActivity`; the activity's delegate,
  /// `userActivityWillSave`; its user info is emptied if it has responders, and
  /// each of them is asked to `updateUserActivityState`; `didUpdate`; then the
  /// nodes encode themselves. A copy of the activity is stored.
  ///
  /// - Parameter scene: The scene.
  /// - Returns: What was saved, and what the developer should mend.
  /// - Throws: ``RestorationError`` with `archive` if it cannot be stored; or
  ///   `noConfiguration` for a scene that is not connected.
  @discardableResult
  public func save(_ scene: Scene) async throws(RestorationError) -> SceneReport {
    guard scene.activationState != .unattached, let delegate = scene.delegate else {
      throw RestorationError(.noConfiguration, "The scene is not connected, so it cannot be saved.")
    }
    let session = scene.session
    var problems = session.readingFailure.map { [SceneProblem.unreadable($0)] } ?? []
    session.readingFailure = nil
    scene.beginSave()
    let activity = updatedActivity(of: scene, delegate, &problems)
    session.stateRestorationActivity = activity.map { UserActivity($0) }
    session.change { $0.storage = scene.values.encoded() }
    problems += scene.values.takeProblems()

    let keeper = keeper(of: session)
    let writing = SceneContentWriting(session.content ?? SceneContent())
    keeper.delegate = writing
    defer { keeper.delegate = nil }
    let nodes = try await keeper.save(delegate.restorationRoots(for: scene))
    if nodes.outcome == .saved {
      session.isChanged = false
      session.savedAt = keeper.now()
      session.byteCount = nodes.byteCount
      try await writeIndex()
    }
    return SceneReport(nodes: nodes, problems: problems)
  }

  /// Asks for the activity and lets all who take part bring it up to date.
  private func updatedActivity(
    of scene: Scene, _ delegate: any SceneDelegate, _ problems: inout [SceneProblem]
  ) -> UserActivity.Content? {
    trace?("stateRestorationActivity")
    guard let activity = delegate.stateRestorationActivity(for: scene) else { return nil }
    if let owner = activity.delegate {
      trace?("userActivityWillSave")
      owner.userActivityWillSave(activity)
    }
    let responders = scene.responders.responders(of: activity)
    if !responders.isEmpty { activity.userInfo = [:] }
    for responder in responders {
      trace?("updateUserActivityState")
      responder.updateUserActivityState(activity)
    }
    trace?("didUpdate")
    delegate.scene(scene, didUpdate: activity)
    activity.needsSave = false
    return checked(activity, &problems)
  }

  private func checked(
    _ activity: UserActivity, _ problems: inout [SceneProblem]
  ) -> UserActivity.Content? {
    guard activity.isValid else {
      problems.append(.invalidActivity(activity.activityType))
      return nil
    }
    guard declaredActivityTypes.contains(activity.activityType) else {
      problems.append(.undeclaredActivityType(activity.activityType))
      return nil
    }
    let missing = activity.requiredUserInfoKeys.subtracting(activity.userInfo.keys)
    if !missing.isEmpty { problems.append(.requiredKeysMissing(missing.sorted())) }
    let content = activity.content.reducedToRequiredKeys
    do {
      let byteCount = try StoredValue(content).byteCount
      if byteCount > activityByteLimit {
        problems.append(.largeActivity(byteCount: byteCount, limit: activityByteLimit))
      }
    } catch {
      problems.append(.invalidActivity("\(activity.activityType): \(error)"))
      return nil
    }
    return content
  }

  // MARK: Coming and going

  /// The user does not see the scene any more: it is saved.
  ///
  /// - Parameter scene: A connected scene.
  /// - Returns: What was saved.
  /// - Throws: As ``save(_:)``.
  @discardableResult
  public func background(_ scene: Scene) async throws(RestorationError) -> SceneReport {
    if scene.activationState == .foregroundActive {
      trace?("sceneWillResignActive")
      scene.activationState = .foregroundInactive
      scene.delegate?.sceneWillResignActive(scene)
    }
    if scene.activationState == .foregroundInactive {
      scene.activationState = .background
      trace?("sceneDidEnterBackground")
      scene.delegate?.sceneDidEnterBackground(scene)
    }
    return try await save(scene)
  }

  /// Lets a scene go to free its memory; its session stays.
  ///
  /// - Parameter scene: A connected scene. It is saved first.
  /// - Throws: As ``save(_:)``; the scene stays connected then.
  public func disconnect(_ scene: Scene) async throws(RestorationError) {
    _ = try await background(scene)
    release(scene)
  }

  /// The user closed the scene: its session, its file and its data key go.
  ///
  /// - Parameter scene: A connected scene. It is not saved.
  /// - Throws: ``RestorationError`` with `archive` if its file cannot be removed.
  public func close(_ scene: Scene) async throws(RestorationError) {
    release(scene)
    try await removeSession(scene.session)
  }

  /// Discards a session, and first disconnects its scene if there is one.
  ///
  /// - Parameter session: One of ``openSessions``.
  /// - Throws: ``RestorationError`` with `archive` if its file cannot be removed.
  public func discard(_ session: SceneSession) async throws(RestorationError) {
    if let scene = session.scene { release(scene) }
    try await removeSession(session)
  }

  private func release(_ scene: Scene) {
    scene.activationState = .unattached
    trace?("sceneDidDisconnect")
    scene.delegate?.sceneDidDisconnect(scene)
    scene.delegate = nil
    setScene(nil, of: scene.session)
  }

  /// Connects a scene in the background, lets it be saved, and lets it go again.
  ///
  /// - Parameter session: A session whose data have changed.
  /// - Throws: As ``connect(_:activity:)`` and ``save(_:)``.
  public func refresh(_ session: SceneSession) async throws(RestorationError) {
    if let scene = session.scene {
      _ = try await save(scene)
    } else {
      try await disconnect(try await connect(session))
    }
  }

  // MARK: Activities from outside

  /// Finds the scene for an activity that came in, and hands it over.
  ///
  /// First come scenes that prefer it, then those that can take it, connected
  /// or not, most recently used first; otherwise a new scene opens, of the first
  /// configuration that handles it, or else of the first that handles everything.
  ///
  /// - Parameter activity: What came in.
  /// - Returns: The scene that has it now.
  /// - Throws: As ``open(_:configurationName:activity:)``.
  @discardableResult
  public func continueActivity(_ activity: UserActivity) async throws(RestorationError) -> Scene {
    let content = [activity.targetContentIdentifier].compactMap(\.self)
    let conditions = openSessions.map { ($0, $0.activationConditions) }
    let session =
      conditions.first { $0.1.prefersToActivate.matches(content) }?.0
      ?? conditions.first { $0.1.canActivate == .all || $0.1.canActivate.matches(content) }?.0
    if let session { return try await connect(session, activity: activity) }
    return try await open(
      configurationName: configurationName(handling: content), activity: activity)
  }
}

/// Writes what belongs to a scene beside its nodes.
private final class SceneContentWriting: StateKeeperDelegate {
  private let content: SceneContent

  init(_ content: SceneContent) {
    self.content = content
  }

  func willEncodeRestorableState(with coder: StateEncoder) throws {
    try coder.encode(content, forKey: SceneConnection.contentKey)
  }

  func shouldSaveApplicationState(with coder: StateEncoder) -> Bool { true }
  func shouldRestoreApplicationState(with coder: StateDecoder) -> Bool { true }
}
