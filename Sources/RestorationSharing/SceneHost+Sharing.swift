public import RestorationKit

extension SceneHost {
  /// How the state of a session stands to the store of a ``RemoteStateDirectory``.
  ///
  /// - Parameter session: One of ``/RestorationKit/SceneHost/openSessions`` or ``/RestorationKit/SceneHost/closedSessions``, or one whose discard
  ///   is in conflict.
  /// - Returns: The status; nil with any other directory, and for another session.
  /// - Complexity: O(*n*) in the sessions; the store is not asked.
  public func remoteStatus(of session: SceneSession) -> RemoteStatus? {
    knownEngine(of: session)?.remoteStatus
  }

  /// The status of a session now, and each one that follows, as
  /// ``RestorationKit/StateKeeper/remoteStatusChanges``.
  ///
  /// - Parameter session: As of ``remoteStatus(of:)``.
  /// - Returns: A sequence of its own for each call, which ends when the session is forgotten;
  ///   empty where the status is nil.
  /// - Complexity: As ``remoteStatus(of:)``.
  public func remoteStatusChanges(of session: SceneSession) -> AsyncStream<RemoteStatus> {
    knownEngine(of: session)?.remoteStatusChanges ?? AsyncStream { $0.finish() }
  }

  /// Asks the store whether it has something newer of a session, and sends what it does not
  /// have.
  ///
  /// - Parameter session: As of ``remoteStatus(of:)``.
  /// - Returns: As ``remoteStatus(of:)``, after that.
  @discardableResult
  public func checkRemoteState(of session: SceneSession) async -> RemoteStatus? {
    await knownEngine(of: session)?.checkRemoteState()
  }

  /// Decides which of two states of a session stays, after a save that was in conflict with
  /// what another machine has stored.
  ///
  /// The other one is set aside, in the store as well; see ``/RestorationKit/SceneHost/setAsideStates(of:)``. Disconnect
  /// the scene before you keep ``ConflictChoice/theirs``: its save is in conflict, too, and
  /// changes nothing in the store. Connect the session after that to bring theirs back.
  ///
  /// A session whose discard was in conflict is gone with ``ConflictChoice/ours``, and all
  /// that was set aside of it. With ``ConflictChoice/theirs`` it is the last of
  /// ``/RestorationKit/SceneHost/openSessions`` again.
  ///
  /// - Parameters:
  ///   - session: As of ``remoteStatus(of:)``.
  ///   - choice: Which one stays.
  /// - Returns: Where the other one is now, for a person to read; nil if there was no
  ///   conflict, or the other one was removed.
  /// - Throws: As ``RestorationKit/StateKeeper/resolveConflict(keeping:)``; `notConnected` if the session is
  ///   not known, and `connected` if theirs is to stay and the session has a scene.
  @discardableResult
  public func resolveConflict(
    of session: SceneSession, keeping choice: ConflictChoice
  ) async throws(RestorationError) -> String? {
    try await resolve(session, keepingTheirs: choice == .theirs)
  }
}
