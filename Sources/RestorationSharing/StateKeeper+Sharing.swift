public import RestorationKit

extension StateKeeper {
  /// How the state here relates to the store of a ``RemoteStateDirectory``; nil with
  /// any other directory.
  ///
  /// - Complexity: O(1); the store is not asked.
  public var remoteStatus: RemoteStatus? { engine.remoteStatus }

  /// The status now, and each one that follows; empty with a directory that is no
  /// ``RemoteStateDirectory``.
  ///
  /// If the store tells of changes (``RemoteStateStore/changes()``), an element says
  /// when another machine has saved.
  public var remoteStatusChanges: AsyncStream<RemoteStatus> { engine.remoteStatusChanges }

  /// Asks the store whether it has a newer state, and sends the changes that it does not have.
  ///
  /// - Returns: The status afterwards; nil with a directory that is no
  ///   ``RemoteStateDirectory``.
  @discardableResult
  public func checkRemoteState() async -> RemoteStatus? {
    await engine.checkRemoteState()
  }

  /// Decides which of two states stays, after a save that was in conflict with a state
  /// that another machine has stored.
  ///
  /// The other state is set aside, in the store as well; see ``/RestorationKit/StateKeeper/setAsideStates()``. With
  /// ``ConflictChoice/theirs`` call ``/RestorationKit/StateKeeper/restore(into:)`` afterwards.
  ///
  /// - Parameter choice: The state that stays.
  /// - Returns: Where the other state is now, for a person to read; nil if there was no
  ///   conflict, or the other state was removed.
  /// - Throws: ``/RestorationKit/RestorationError`` with `store` if the store cannot be reached,
  ///   `conflict` if another machine has saved once more meanwhile, and `archive`.
  ///   After an error both states are there, and the conflict goes on.
  @discardableResult
  public func resolveConflict(
    keeping choice: ConflictChoice
  ) async throws(RestorationError) -> String? {
    try await engine.resolve(keepingTheirs: choice == .theirs)
  }
}

extension StateEngine {
  private var directory: RemoteStateDirectory? {
    stateDirectory.linkedStates?.directory as? RemoteStateDirectory
  }

  /// The copy under the name that is claimed, or would be.
  private var copy: RemoteCopy? { directory?.copy(of: nameLookedAt) }

  var remoteStatus: RemoteStatus? { copy?.status }

  var remoteStatusChanges: AsyncStream<RemoteStatus> {
    directory?.listen()
    return copy?.statusChanges ?? AsyncStream { $0.finish() }
  }

  func checkRemoteState() async -> RemoteStatus? {
    await file.check()
    return remoteStatus
  }
}
