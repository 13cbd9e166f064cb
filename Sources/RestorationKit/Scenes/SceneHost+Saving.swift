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
  ///   entry of kind `scene`. If the scene is disconnected or discarded while the call waits
  ///   for another save or for a restore, the outcome is
  ///   ``PreservationReport/Outcome/disconnected``, and none of these calls is made.
  /// - Throws: ``RestorationError`` with `archive` if it cannot be stored; then
  ///   ``RestorableScene/needsSave`` is true again, and the activity and the values of the scene
  ///   are stored with the list of sessions if that can be written. `notConnected` if
  ///   the scene is not connected.
  @discardableResult
  public func save(_ scene: RestorableScene) async throws(RestorationError) -> PreservationReport {
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
    of scene: RestorableScene
  ) async throws(RestorationError) -> PreservationReport {
    try await save(scene, everything: true)
  }

  private func save(
    _ scene: RestorableScene, everything: Bool
  ) async throws(RestorationError) -> PreservationReport {
    let saved: Result<PreservationReport, RestorationError>
    do throws(RestorationError) {
      saved = .success(try await saveFile(of: scene, everything: everything))
    } catch {
      saved = .failure(error)
    }
    await writeList()
    if listFailure != nil { signal.tell(.notStored) }
    return try saved.get()
  }

  /// Saves a scene, and leaves the list to the caller.
  private func saveFile(
    of scene: RestorableScene, everything: Bool = false, byItself: Bool = false,
    _ calls: FileCalls = .waiting
  ) async throws(RestorationError) -> PreservationReport {
    list.endsCleanly = false
    guard scene.activationState != .unattached else {
      throw RestorationError(
        .notConnected, "The scene is not connected, so it cannot be saved. Connect its session.")
    }
    return try await scene.engine.telling(byItself: byItself) {
      () async throws(RestorationError) in
      try await saveFile(of: scene, everything, calls)
    }
  }

  private func saveFile(
    of scene: RestorableScene, _ everything: Bool, _ calls: FileCalls
  ) async throws(RestorationError) -> PreservationReport {
    let session = scene.session
    scene.engine.claim.beginUse()
    defer { scene.engine.claim.endUse() }
    if calls.isBlocking, !session.isRestorable, !scene.engine.isLocked {
      try scene.engine.throwDuringRestore()
      // The list says so, and the next launch discards the state.
      return PreservationReport(.declined)
    }
    var isDiscarded = false
    var taken: TakenContent?
    let report: PreservationReport
    do throws(RestorationError) {
      report = try await scene.engine.save(everything: everything, calls) {
        () async throws(RestorationError) in
        guard scene.delegate != nil else { return PreservationReport(.disconnected) }
        guard !session.isRestorable, !scene.engine.isLocked else { return nil }
        isDiscarded = true
        scene.needsSave = false
        try await scene.engine.discardNow(includingSetAside: true)
        return PreservationReport(.declined)
      } with: {
        participants(in: scene, &taken)
      }
      if isDiscarded {
        try await scene.engine.sendDiscard(includingSetAside: true)
        return report
      }
    } catch {
      taken?.putBack(in: scene)
      scene.keepNeedingSave()
      throw error
    }
    return noteSave(report, of: scene, taken)
  }

  /// Who takes part in the save of a scene; nil if the scene was let go.
  private func participants(
    in scene: RestorableScene, _ taken: inout TakenContent?
  ) -> SaveParticipants? {
    guard let delegate = scene.delegate else {
      taken?.putBackChanges(in: scene.session)
      return nil
    }
    return take(&taken, of: scene, delegate)
  }

  /// Notes what a save has done with what it has taken of a scene, and adds that to the report.
  private func noteSave(
    _ saved: PreservationReport, of scene: RestorableScene, _ taken: TakenContent?
  ) -> PreservationReport {
    var report = saved
    switch report.outcome {
    case .saved: scene.session.noteSave(report, at: keeper.engine.settings.now())
    case .disconnected: break
    // Nobody was asked, so nothing is known of changes.
    case .locked where taken == nil: break
    case .declined, .locked, .inUse, .delegateGone, .refused:
      taken?.putBack(in: scene)
      scene.keepNeedingSave()
    }
    let notes = taken?.notes ?? []
    report.add(ofScene: notes)
    let problems = notes.filter(\.isProblem).map(\.description)
    Problems.say(problems)
    scene.engine.settings.heard?(problems)
    // The engine knows of the values itself.
    if notes.contains(where: { $0.isLoss && $0.valueKey == nil }) {
      scene.engine.isComplete = false
    }
    return report
  }

  /// What a save has taken of a scene beside its nodes.
  private struct TakenContent {
    /// Why the stored state could not be read.
    private let unreadable: ReportNote?
    /// What is in no file until the save is stored.
    private var changes: Set<SceneContent.Part> = []
    private var problems: [ReportNote] = []

    init(of session: SceneSession) {
      unreadable = session.failure.map {
        .unreadable($0.archive?.description ?? $0.description)
      }
    }

    var notes: [ReportNote] { [unreadable].compactMap(\.self) + problems }

    /// What is set from now on counts as set after it.
    mutating func takeChanges(of session: SceneSession, _ problems: [ReportNote]) {
      // A walk that is repeated has the same ones again.
      self.problems += problems.filter { !self.problems.contains($0) }
      changes.formUnion(session.changes)
      session.changes = []
    }

    /// What was to be stored is still to be.
    func putBack(in scene: RestorableScene) {
      putBackChanges(in: scene.session)
      scene.session.keepValues(scene.values)
    }

    func putBackChanges(in session: SceneSession) { session.changes.formUnion(changes) }
  }

  /// Brings up to date what a scene has beside its nodes, and says who takes part in its save.
  private func take(
    _ taken: inout TakenContent?, of scene: RestorableScene, _ delegate: any SceneDelegate
  ) -> SaveParticipants {
    let session = scene.session
    scene.beginSave()
    var problems: [ReportNote] = []
    let activity = updatedActivity(of: scene, delegate, &problems)
    problems += scene.values.takeProblems()
    let unstorable = session.content.unstorableUserInfo
    problems += unstorable.map { .userInfoEncodingFailed(key: $0.key, $0.reason) }
    if isDelegateGone { problems.append(.hostDelegateGone) }
    var content = taken ?? TakenContent(of: session)
    session.stateRestorationActivity = activity.map { UserActivity($0) }
    // The values are nodes of the scene.
    session.content.storage = [:]
    _ = scene.values.takeHasChanged()
    for key in unstorable.map(\.key) { session.userInfo[key] = nil }
    content.takeChanges(of: session, problems)
    taken = content
    return SaveParticipants(
      roots: roots(of: scene, delegate), delegate: delegate as? any StateDelegate,
      host: session.content.encode, notes: content.notes)
  }

  /// Saves the connected scenes that have changed since their last save.
  ///
  /// A scene that was marked often is saved once. If one cannot be saved, the others
  /// are. The order of the sessions is stored too, if it has changed: the list of them is
  /// written once, after the scenes. A scene that was saved before the process ended, and is in
  /// no list yet, comes back all the same, behind those that are.
  ///
  /// - Returns: What was saved of each.
  /// - Throws: The first error of ``save(_:)``, when all were tried.
  @discardableResult
  public func saveChangedScenes() async throws(RestorationError)
    -> [SceneSession: PreservationReport]
  {
    try await saveChangedScenes(byItself: false)
  }

  /// The same; an autosave says that it saves by itself.
  func saveChangedScenes(
    byItself: Bool, _ calls: FileCalls = .waiting
  ) async throws(RestorationError) -> [SceneSession: PreservationReport] {
    var reports: [SceneSession: PreservationReport] = [:]
    var failure: RestorationError?
    for scene in connectedScenes where scene.isChanged && scene.activationState != .unattached {
      do throws(RestorationError) {
        reports[scene.session] = try await saveFile(of: scene, byItself: byItself, calls)
      } catch {
        failure = failure ?? error
      }
    }
    // Last, so that it names no scene without a file; also without a save, since another window
    // may have come to the front.
    await writeList(calls)
    if let failure { throw failure }
    return reports
  }

  /// Asks for the activity and lets all who take part bring it up to date.
  private func updatedActivity(
    of scene: RestorableScene, _ delegate: any SceneDelegate, _ problems: inout [ReportNote]
  ) -> UserActivity.Content? {
    guard let activity = delegate.stateRestorationActivity(for: scene) else { return nil }
    activity.delegate?.userActivityWillSave(activity)
    let responders = scene.responders.responders(of: activity)
    if !responders.isEmpty { activity.userInfo = [:] }
    for responder in responders {
      responder.updateUserActivityState(activity)
    }
    delegate.scene(scene, didUpdate: activity)
    activity.needsSave = false
    return checkedContent(of: activity, &problems)
  }

  /// The content of an activity that is to be stored, with what is wrong with it; nil if it
  /// cannot be.
  private func checkedContent(
    of activity: UserActivity, _ problems: inout [ReportNote]
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
      let byteCount = try ValueContent(checking: content).byteCount
      if byteCount > activityByteLimit {
        problems.append(.largeActivity(byteCount: byteCount, limit: activityByteLimit))
      }
    } catch {
      problems.append(.activityEncodingFailed(activity.activityType, error.description))
      return nil
    }
    return content
  }
}
