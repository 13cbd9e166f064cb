internal import ArchiveCodec
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Which closed scenes can be opened again.
public struct ClosedSceneBound: Hashable, Sendable {
  /// How many; the one that was closed first goes first.
  public var count: Int

  /// How long after they were closed, in seconds.
  ///
  /// A scene that was closed in the future, by a clock that was set back, stays.
  public var age: TimeInterval

  /// Creates a bound; by default ten scenes can be opened again for a day.
  ///
  /// - Parameters:
  ///   - count: How many; less than 1 is none.
  ///   - age: How long after they were closed, in seconds.
  public init(count: Int = 10, age: TimeInterval = 24 * 3600) {
    self.count = count
    self.age = age
  }
}

extension SceneHost {
  /// Closes a scene for good: its session, its file and its data key go, and the states
  /// that were set aside of it.
  ///
  /// Call it when the user closes the window.
  ///
  /// With a ``closedSceneBound`` the scene is saved instead, and its session joins
  /// ``closedSessions``, if it is restorable. If the session has got another scene meanwhile,
  /// that one stays open.
  ///
  /// - Parameter scene: A connected scene. Without a bound it is not saved.
  /// - Returns: What was saved; nil if nothing was. The scene is closed also if that is in
  ///   conflict; decide with ``resolveConflict(of:keeping:)``.
  /// - Throws: ``RestorationError`` with `archive` if its file cannot be removed now, or
  ///   the scene cannot be saved. The scene is closed all the same, and the next launch
  ///   removes its files. With `conflict` another machine has saved a scene that is to go; the
  ///   same method decides.
  @discardableResult
  public func close(_ scene: RestorableScene) async throws(RestorationError) -> PreservationReport?
  {
    let session = scene.session
    guard let bound = closedSceneBound, bound.count > 0, session.isRestorable,
      openSessions.contains(session)
    else {
      try await discard(session)
      return nil
    }
    let now = keeper.engine.settings.now()
    session.content.closedAt = now
    var failure: RestorationError?
    var report: PreservationReport?
    do throws(RestorationError) {
      let state = scene.activationState
      report = try await saveLeaving(scene, in: state) { () async throws(RestorationError) in
        try await save(scene)
      }
    } catch {
      failure = error
    }
    await turnEnded(of: [session])
    // It may have been discarded meanwhile, or have another scene, which nobody closes.
    if let other = session.scene, other !== scene {
      session.content.closedAt = nil
      other.needsSave = true
    } else if openSessions.contains(session) {
      release(scene)
      sessions.change(session, .close(at: now))
      await engine(of: session).file.close()
      discardClosed()
      await writeList()
    }
    failure = failure ?? listFailure
    if let failed = await tellDiscarded() { failure = failure ?? failed }
    if let failure { throw failure }
    return report
  }

  /// Opens a scene again that was closed, as it was then.
  ///
  /// - Parameters:
  ///   - session: One of ``closedSessions``.
  ///   - activity: What the user wants to do in it.
  /// - Returns: The scene, which is active.
  /// - Throws: As ``connect(_:activity:)``; the session then stays closed, but for
  ///   `strict`, when it is open. ``RestorationError`` with `notConnected` if it is not
  ///   closed, or gone.
  @discardableResult
  public func reopen(
    _ session: SceneSession, activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    guard let row = sessions[session], row.session === session, row.state.closedAt != nil else {
      throw RestorationError(
        .notConnected, "The session is not closed. Use one of the host's closedSessions.")
    }
    sessions.change(session, .connect)
    return try await connect(session, activity, .front)
  }

  /// Discards what is closed and over the bound; those who call it tell of it.
  func discardClosed() {
    let now = keeper.engine.settings.now()
    let bound = closedSceneBound ?? ClosedSceneBound(count: 0)
    var gone = closedSessions.dropFirst(max(0, bound.count))
    gone += closedSessions.prefix(max(0, bound.count)).filter { session in
      session.closedAt.map { now.timeIntervalSince($0) > bound.age } ?? false
    }
    for session in gone { sessions.change(session, .discard) }
  }
}
