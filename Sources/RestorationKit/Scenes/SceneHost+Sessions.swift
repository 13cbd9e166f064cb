internal import ArchiveCodec

extension SceneHost {
  /// Lists the windows that earlier launches have found, newest first.
  ///
  /// As ``StateKeeper/savedSessions()``, with all windows that were open then. A window that was
  /// closed since is among them, unless all is discarded.
  ///
  /// - Returns: The sessions, each with its windows; none if the directory keeps none.
  /// - Throws: As ``StateKeeper/savedSessions()``.
  /// - Complexity: O(*n*) in the files of the sessions.
  public func savedSessions() async throws(RestorationError) -> [SavedSession] {
    var sessions = try await keeper.engine.savedSessions()
    do throws(ArchiveError) {
      for place in sessions.indices {
        sessions[place] = try await list.withWindows(sessions[place])
      }
    } catch {
      throw RestorationError(error)
    }
    return sessions
  }

  /// Opens the windows of a session again, as they were then.
  ///
  /// A window that has a scene now stays as it is: to have it as it was, ``disconnect(_:)`` its scene
  /// before. So do windows that are not in the session. The state of a window that is open or closed, and
  /// is put back, is set aside. The session stays.
  ///
  /// - Parameters:
  ///   - session: One of ``savedSessions()``.
  ///   - windows: The windows to open; all of them if nil.
  /// - Returns: The scenes that were opened, the window that was used last first.
  /// - Throws: The first ``RestorationError`` as of ``StateKeeper/putBack(_:)-(SavedSession)`` or
  ///   ``connect(_:activity:)``, when all windows were tried; `notConnected` before ``launch(asSession:)``.
  /// - Complexity: O(*n*) in the bytes of the states.
  @discardableResult
  public func putBack(
    _ session: SavedSession, windows: [SavedSession.Window]? = nil
  ) async throws(RestorationError) -> [RestorableScene] {
    guard ownsSessions else {
      throw RestorationError(
        .notConnected, "The host does not have its windows. Call launch() before.")
    }
    return try await sessions.returns.run { () async throws(RestorationError) in
      try await putBackNow(session, windows ?? session.windows)
    }
  }

  private func putBackNow(
    _ session: SavedSession, _ windows: [SavedSession.Window]
  ) async throws(RestorationError) -> [RestorableScene] {
    // Files that are still being removed would take the ones that are put back with them.
    await tellDiscarded()
    var opened: [RestorableScene] = []
    var failure: RestorationError?
    // The window that was used last is connected last, and so comes to the front.
    for window in windows.reversed() {
      do throws(RestorationError) {
        if let scene = try await putBack(window, of: session) { opened.insert(scene, at: 0) }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return opened
  }

  /// Opens one window; nil if it has a scene.
  private func putBack(
    _ window: SavedSession.Window, of saved: SavedSession
  ) async throws(RestorationError) -> RestorableScene? {
    let identifier = window.persistentIdentifier
    guard let row = sessions.rows.first(where: { $0.session.persistentIdentifier == identifier })
    else { return try await open(identifier, of: saved) }
    guard row.session.scene == nil, !row.state.isDiscarded else { return nil }
    let isClosed = row.state.closedAt != nil
    try await replacingState(of: row.session, orClosed: true) {
      (engine) async throws(RestorationError) in try await engine.putBack(saved)
    }
    return isClosed ? try await reopen(row.session) : try await connect(row.session)
  }

  /// Opens a window that the host does not know any more.
  private func open(
    _ identifier: String, of saved: SavedSession
  ) async throws(RestorationError) -> RestorableScene? {
    let engine = engine(ofScene: identifier)
    try await engine.putBack(saved)
    let session: SceneSession
    do {
      let part = try await engine.file.readHostPart()
      guard let content = try part.flatMap(SceneContent.init(reading:)) else { return nil }
      session = SceneSession(identifier, content, part, at: keeper.engine.settings.now())
    } catch {
      throw RestorationError(error)
    }
    guard sessions.add(SessionTable.Row(session: session, engine: engine, state: .stored)) else {
      return nil
    }
    await writeList()
    return try await connect(session)
  }
}
