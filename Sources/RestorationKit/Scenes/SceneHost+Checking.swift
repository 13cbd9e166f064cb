extension SceneHost {
  /// Says for each session which nodes would come back when it connects, and
  /// restores nothing.
  ///
  /// As ``StateKeeper/checkStoredState()``, for every one of ``openSessions``; call
  /// it after ``launch(asSession:)``. The delegate of a connected scene is asked for
  /// current class names if it is a ``StateDelegate``.
  ///
  /// - Returns: A line for every node of each session, or why its state cannot be
  ///   read; nothing stored is not an error.
  /// - Complexity: O(*n*) in the nodes and bytes of all sessions.
  public func checkStoredStates() async
    -> [SceneSession: Result<StoredStateReport, RestorationError>]
  {
    var reports: [SceneSession: Result<StoredStateReport, RestorationError>] = [:]
    for session in openSessions {
      do throws(RestorationError) {
        let delegate = session.scene?.delegate as? any StateDelegate
        reports[session] = .success(
          try await engine(of: session).checkStoredState(for: delegate))
      } catch {
        reports[session] = .failure(error)
      }
    }
    return reports
  }
}
