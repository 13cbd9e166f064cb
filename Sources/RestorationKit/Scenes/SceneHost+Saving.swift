internal import ArchiveCodec

extension SceneHost {
  /// Saves a connected scene: its activity, its values and its nodes.
  ///
  /// The calls: `stateRestorationActivity`; the activity's delegate,
  /// `userActivityWillSave`; its user info is emptied if it has responders, and
  /// each of them is asked to `updateUserActivityState`; `didUpdate`; then the
  /// nodes encode themselves. A copy of the activity is stored.
  ///
  /// While the key is locked nothing is called or stored. If the session is not
  /// restorable, its stored state is removed.
  ///
  /// - Parameter scene: The scene.
  /// - Returns: What was saved. Problems of the activity and of the values are in an
  ///   entry of kind `scene`.
  /// - Throws: ``RestorationError`` with `archive` if it cannot be stored; then
  ///   ``Scene/needsSave`` is true again, and the activity and the values of the scene
  ///   are stored with the list of sessions if that can be written. `notConnected` if
  ///   the scene is not connected. With `strict` nothing is stored, unless the stored
  ///   state could not be read: then the scene is saved.
  @discardableResult
  public func save(_ scene: Scene) async throws(RestorationError) -> PreservationReport {
    try await save(scene, everything: false)
  }

  /// Saves a connected scene and asks all its nodes, also those that say when they
  /// change; see ``StateKeeper/saveEverything(_:)``.
  ///
  /// - Parameter scene: The scene.
  /// - Returns: What was saved.
  /// - Throws: As ``save(_:)``.
  @discardableResult
  public func saveEverything(
    of scene: Scene
  ) async throws(RestorationError) -> PreservationReport {
    try await save(scene, everything: true)
  }

  private func save(
    _ scene: Scene, everything: Bool
  ) async throws(RestorationError) -> PreservationReport {
    endsCleanly = false
    await scene.engine.otherRestoreEnded()
    guard scene.activationState != .unattached, let delegate = scene.delegate else {
      throw RestorationError(
        .notConnected, "The scene is not connected, so it cannot be saved. Connect its session.")
    }
    let session = scene.session
    if scene.engine.isLocked { return PreservationReport(.locked) }
    guard session.isRestorable else { return try await saveNothing(of: scene) }

    let unreadable = session.failure.map {
      ReportNote.unreadable($0.archive?.description ?? $0.description)
    }
    scene.beginSave()
    var problems: [ReportNote] = []
    let activity = updatedActivity(of: scene, delegate, &problems)
    let storage = scene.values.encoded()
    problems += scene.values.takeProblems()
    let unstorable = session.content.unstorableUserInfo
    problems += unstorable.map { .userInfoEncodingFailed(key: $0.key, $0.reason) }
    if isDelegateGone { problems.append(.hostDelegateGone) }
    // What could not be read is no mistake, and a save mends it.
    if keeper.isStrict, !problems.isEmpty {
      scene.keepNeedingSave()
      let sentences = problems.map(\.description).joined(separator: "\n")
      throw RestorationError(.strict, "The keeper is strict, so nothing was saved. \(sentences)")
    }
    let before = (content: session.content, changes: session.changes, title: session.title)
    session.stateRestorationActivity = activity.map { UserActivity($0) }
    session.change(.storage) { $0.storage = storage }
    for key in unstorable.map(\.key) { session.userInfo[key] = nil }

    // What is set while the file is written counts as set after it.
    let changes = session.changes
    session.changes = []
    var report: PreservationReport
    do throws(RestorationError) {
      let content = session.content
      report = try await scene.engine.save(
        roots(of: scene, delegate), for: delegate as? any StateDelegate, everything: everything,
        host: content.encode)
    } catch {
      session.changes.formUnion(changes)
      if error.code == .strict {
        (session.content, session.changes, session.title) = before
      }
      scene.keepNeedingSave()
      throw error
    }
    switch report.outcome {
    case .saved:
      session.failure = nil
      session.savedAt = keeper.engine.settings.now()
      session.byteCount = report.byteCount
      session.version = report.version
    case .superseded: break
    case .declined, .locked, .inUse, .delegateGone, .conflict:
      session.changes.formUnion(changes)
      scene.keepNeedingSave()
    }
    report.add(ofScene: [unreadable].compactMap(\.self) + problems)
    await writeList()
    if keeper.isStrict, report.outcome == .saved, let unreadable {
      throw RestorationError(
        .strict, "The keeper is strict; the scene is saved, but it had problems. \(unreadable)")
    }
    return report
  }

  /// Saves the connected scenes that have changed since their last save.
  ///
  /// A scene that was marked often is saved once. If one cannot be saved, the others
  /// are. The order of the sessions is stored too, if it has changed.
  ///
  /// - Returns: What was saved of each.
  /// - Throws: The first error of ``save(_:)``, when all were tried.
  @discardableResult
  public func saveChangedScenes() async throws(RestorationError)
    -> [SceneSession: PreservationReport]
  {
    var reports: [SceneSession: PreservationReport] = [:]
    var failure: RestorationError?
    for scene in connectedScenes where scene.isChanged && scene.activationState != .unattached {
      do throws(RestorationError) {
        reports[scene.session] = try await save(scene)
      } catch {
        failure = failure ?? error
      }
    }
    // Also without a save: another window may have come to the front.
    await writeList()
    if let failure { throw failure }
    return reports
  }

  private func saveNothing(of scene: Scene) async throws(RestorationError) -> PreservationReport {
    scene.needsSave = false
    try await scene.engine.discardState(includingSetAside: true)
    await writeList()
    return PreservationReport(.declined)
  }

  /// Asks for the activity and lets all who take part bring it up to date.
  private func updatedActivity(
    of scene: Scene, _ delegate: any SceneDelegate, _ problems: inout [ReportNote]
  ) -> UserActivity.Content? {
    tell(.stateRestorationActivity, scene.session)
    guard let activity = delegate.stateRestorationActivity(for: scene) else { return nil }
    if let owner = activity.delegate {
      tell(.userActivityWillSave, scene.session)
      owner.userActivityWillSave(activity)
    }
    let responders = scene.responders.responders(of: activity)
    if !responders.isEmpty { activity.userInfo = [:] }
    for responder in responders {
      tell(.updateUserActivityState, scene.session)
      responder.updateUserActivityState(activity)
    }
    tell(.didUpdate, scene.session)
    delegate.scene(scene, didUpdate: activity)
    activity.needsSave = false
    return checked(activity, &problems)
  }

  private func checked(
    _ activity: UserActivity, _ problems: inout [ReportNote]
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
    do throws(RestorationError) {
      let byteCount = try StoredValue(checking: content).byteCount
      if byteCount > activityByteLimit {
        problems.append(.largeActivity(byteCount: byteCount, limit: activityByteLimit))
      }
    } catch {
      problems.append(.activityEncodingFailed(activity.activityType, error.description))
      return nil
    }
    return content
  }

  // MARK: Coming and going

  /// Puts a scene into the background, as the user does not see it any more, and saves it.
  ///
  /// - Parameter scene: A connected scene.
  /// - Returns: What was saved.
  /// - Throws: As ``save(_:)``.
  @discardableResult
  public func background(_ scene: Scene) async throws(RestorationError) -> PreservationReport {
    if scene.activationState == .foregroundActive {
      tell(.sceneWillResignActive, scene.session)
      scene.activationState = .foregroundInactive
      scene.delegate?.sceneWillResignActive(scene)
    }
    if scene.activationState == .foregroundInactive {
      scene.activationState = .background
      tell(.sceneDidEnterBackground, scene.session)
      scene.delegate?.sceneDidEnterBackground(scene)
    }
    return try await save(scene)
  }

  /// Lets a scene go to free its memory; its session stays.
  ///
  /// Changes that are made while it is saved are saved again. A value of
  /// ``SceneStorage`` that is set later goes to the session.
  ///
  /// - Parameter scene: A connected scene. It is saved first; if it comes to the
  ///   front meanwhile, it stays.
  /// - Returns: What was saved last. The scene is let go also if that is in conflict; decide
  ///   with ``resolveConflict(of:keeping:)``. It stays connected, in the background, if it
  ///   could not be saved now: the outcome is ``PreservationReport/Outcome/locked`` or
  ///   ``PreservationReport/Outcome/inUse(by:)``. Disconnect it again later.
  /// - Throws: As ``save(_:)``; the scene stays connected then.
  @discardableResult
  public func disconnect(_ scene: Scene) async throws(RestorationError) -> PreservationReport {
    let report = try await saveAgain(scene, after: try await background(scene))
    if !report.outcome.isPostponed { await letGo(scene) }
    return report
  }

  /// Saves what was set while the save before was written.
  func saveAgain(
    _ scene: Scene, after report: PreservationReport
  ) async throws(RestorationError) -> PreservationReport {
    var report = report
    for _ in 0..<Self.largestRepetition
    where report.outcome == .saved && scene.isChanged && scene.activationState == .background {
      report = try await save(scene)
    }
    return report
  }

  /// A scene that changes with every save is let go all the same.
  private static let largestRepetition = 4

  /// Lets a scene go that nobody sees, and stores what its session has left.
  func letGo(_ scene: Scene) async {
    guard scene.activationState == .background else { return }
    release(scene)
    await writeList()
  }
}
