extension StateKeeper {
  /// How what is here stands to the store of a ``RemoteStateDirectory``; nil with any other
  /// directory.
  ///
  /// - Complexity: O(1); the store is not asked.
  public var remoteStatus: RemoteStatus? { engine.remoteStatus }

  /// The status now, and each one that follows; empty with a directory that is no
  /// ``RemoteStateDirectory``.
  ///
  /// A store that tells of changes, see ``RemoteStateStore/changes()``, makes it say that
  /// another machine has saved.
  public var remoteStatusChanges: AsyncStream<RemoteStatus> { engine.remoteStatusChanges }

  /// Asks the store whether it has something newer, and sends what it does not have.
  ///
  /// - Returns: The status after that; nil with a directory that is no
  ///   ``RemoteStateDirectory``.
  @discardableResult
  public func checkRemoteState() async -> RemoteStatus? {
    await engine.checkRemoteState()
  }

  /// Decides which of two states stays, after a save that was in conflict with what another
  /// machine has stored.
  ///
  /// The other one is set aside, in the store as well; see ``setAsideStates()``. With
  /// ``ConflictChoice/theirs`` call ``restore(into:)`` after that.
  ///
  /// - Parameter choice: Which one stays.
  /// - Returns: Where the other one is now, for a person to read; nil if there was no
  ///   conflict, or the other one was removed.
  /// - Throws: ``RestorationError`` with `store` if the store cannot be reached, `conflict` if
  ///   another machine has saved once more meanwhile, and `archive`. Both states are there
  ///   then, and the conflict goes on.
  @discardableResult
  public func resolveConflict(
    keeping choice: ConflictChoice
  ) async throws(RestorationError) -> String? {
    try await engine.resolveConflict(keeping: choice)
  }
}
