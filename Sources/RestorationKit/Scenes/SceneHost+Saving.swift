internal import ArchiveCodec

extension SceneHost {
  /// The windows as a save of the whole state asks them: those that are connected, or have something new to say.
  func prepareAll() -> SavedParts {
    // What a window shows and what its delegate says of that are one commit.
    let changed = keeper.changedWindows
    for scene in connectedScenes {
      let node = scene.session.node
      if scene.isMarked || !scene.isAsked || node.delegate != nil
        || keeper.slot(of: node).map(changed.contains) == true
      {
        scene.prepareSave()
      }
    }
    return parts(
      of: sessions.values.filter { session in
        !session.isLeaving && (session.scene != nil || keeper.hasChanged(session.node))
      }.map(\.node))
  }

  /// The windows of which nothing is stored.
  var hiddenWindows: Set<String> {
    Set(sessions.values.filter { !$0.isRestorable }.map(\.persistentIdentifier))
  }

  /// What a save asks of windows: of one that is not restorable any more, what is stored goes first.
  private func parts(of nodes: [SceneNode]) -> SavedParts {
    var parts = SavedParts()
    for node in nodes {
      let leaves = node.mayHaveTrace && !node.content.isRestorable
      if leaves, keeper.hasLost(node) { node.mayHaveTrace = false }
      if leaves, node.mayHaveTrace { parts.leaving.append(node) } else { parts.scenes.append(node) }
    }
    parts.leaveNames = !parts.leaving.isEmpty
    return parts
  }

  /// Saves a window, and asks that window alone.
  ///
  /// - Parameter scene: A scene that is connected.
  /// - Returns: What the save did; `declined` if the window is not restorable.
  /// - Throws: ``RestorationError`` with `notConnected`, and as a save of the keeper does.
  @discardableResult
  public func save(_ scene: RestorableScene) async throws(RestorationError) -> PreservationReport {
    guard scene.delegate != nil else { throw .sceneIsNotConnected }
    do throws(RestorationError) {
      var isAsked = false
      var report = try await keeper.save {
        isAsked = scene.delegate != nil && !scene.session.isLeaving
        guard isAsked else { return SavedParts() }
        scene.prepareSave()
        return parts(of: [scene.session.node])
      }
      if !isAsked, report.outcome == .saved { throw .sceneIsNotConnected }
      if report.outcome == .saved, !scene.session.isRestorable { report.outcome = .declined }
      return report
    } catch {
      scene.needsSave = true
      throw error
    }
  }

  /// Saves all windows, also what was set on sessions that are not connected, in one commit.
  ///
  /// - Throws: As a save of the keeper does; with `unsupportedValue` if something that was set on a session
  ///   cannot be stored. All else is.
  public func saveSessions() async throws(RestorationError) {
    let report = try await keeper.save { prepareAll() }
    guard report.outcome == .saved else { throw .notSaved(report.outcome) }
    let problem = report.problems.lazy.flatMap(\.notes).first { note in
      if case .userInfoNotStored = note { true } else { false }
    }
    if let problem {
      throw RestorationError(.unsupportedValue, "\(problem) All else is stored.")
    }
  }

  /// Deletes stored activities; their sessions stay, with everything else that is stored of these.
  ///
  /// - Parameter identifiers: Their ``UserActivity/persistentIdentifier``.
  /// - Throws: As ``saveSessions()``.
  public func deleteSavedUserActivities(
    withPersistentIdentifiers identifiers: Set<String>
  ) async throws(RestorationError) {
    for session in sessions.values {
      let identifier = session.node.content.activity?.persistentIdentifier
      if identifier.map(identifiers.contains) == true { session.stateRestorationActivity = nil }
    }
    try await saveSessions()
  }

  /// Saves a window whose scene goes to the background.
  ///
  /// - Parameter scene: A scene that is connected.
  /// - Returns: What the save did.
  /// - Throws: As ``save(_:)``.
  @discardableResult
  public func background(_ scene: RestorableScene) async throws(RestorationError)
    -> PreservationReport
  {
    scene.enterBackground()
    return try await save(scene)
  }

  /// Saves a window and lets its scene go; the session stays, and the next launch brings it back.
  ///
  /// - Parameter scene: A scene that is connected; it stays if it cannot be saved.
  /// - Returns: What the save did.
  /// - Throws: As ``save(_:)``.
  @discardableResult
  public func disconnect(_ scene: RestorableScene) async throws(RestorationError)
    -> PreservationReport
  {
    try await scene.session.turns.run { () async throws(RestorationError) in
      scene.enterBackground()
      let report = try await saveLast(scene)
      if report.outcome.isStoredHere || !scene.session.isRestorable {
        release(scene)
        try await saveLeft(scene.session)
      }
      return report
    }
  }

  /// Saves a window for the last time, and what says meanwhile that it has changed.
  func saveLast(_ scene: RestorableScene) async throws(RestorationError) -> PreservationReport {
    var report = try await save(scene)
    for _ in 0..<Self.largestRepetition where report.outcome.isStoredHere {
      // A node that does not say when it changes may have changed while the save was written.
      guard scene.hasChanged || keeper.types.knowsUntracked && report.writtenByteCount > 0
      else { break }
      report = try await save(scene)
    }
    return report
  }

  /// How often a window is saved once more that changes while it is saved for the last time.
  private static let largestRepetition = 4

  func release(_ scene: RestorableScene, on event: SessionState.Event = .leave) {
    guard scene.session.go(on: event) else { return }
    keeper.leave(scene.session.node)
    scenes.removeValue(forKey: scene.session)?.leave()
  }

  /// Saves what was set on a session while its scene was saved for the last time.
  func saveLeft(_ session: SceneSession) async throws(RestorationError) {
    guard keeper.hasChanged(session.node) else { return }
    _ = try await keeper.save { parts(of: [session.node]) }
  }
}

extension RestorationError {
  static var sceneIsNotConnected: RestorationError {
    RestorationError(
      .notConnected,
      "The scene is not connected, or is being discarded, so it cannot be saved. Connect its session."
    )
  }

  static func notSaved(_ outcome: ReportOutcome) -> RestorationError {
    switch outcome {
    case .locked: RestorationError(.keyLocked())
    case .refused(let refusal): .conflict(refusal)
    default: RestorationError(.archive, "The windows stay as they are stored: \(outcome.reason)")
    }
  }
}
