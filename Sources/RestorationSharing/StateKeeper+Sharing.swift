public import RestorationKit

extension StateKeeper {
  /// How the state here relates to the store of a ``RemoteStateDirectory``; nil with
  /// any other directory.
  ///
  /// - Complexity: O(1); the store is not asked.
  public var remoteStatus: RemoteStatus? { copy?.status }

  /// The status now, and each one that follows; empty with a directory that is no
  /// ``RemoteStateDirectory``.
  ///
  /// If the store tells of changes (``RemoteStateStore/changes()``), an element says
  /// when another machine has saved.
  public var remoteStatusChanges: AsyncStream<RemoteStatus> {
    (directory as? RemoteStateDirectory)?.listen()
    return copy?.statusChanges ?? AsyncStream { $0.finish() }
  }

  /// Asks the store whether it has a newer state, and sends the changes that it does not have.
  ///
  /// - Returns: The status afterwards; nil with a directory that is no
  ///   ``RemoteStateDirectory``.
  @discardableResult
  public func checkRemoteState() async -> RemoteStatus? {
    await look()
    return remoteStatus
  }

  /// Decides which of two states stays, after a save that was in conflict with a state
  /// that another machine has stored.
  ///
  /// The other state goes to the history with the reason `conflict`, in the store as well; see
  /// ``/RestorationKit/StateKeeper/history()``. With
  /// ``ConflictChoice/theirs`` call ``/RestorationKit/StateKeeper/restore(into:)`` afterwards, and disconnect all
  /// windows before.
  ///
  /// - Parameter choice: The state that stays.
  /// - Returns: The identifier of the other state in the history; nil if there was no
  ///   conflict, or the other state was removed.
  /// - Throws: ``/RestorationKit/RestorationError`` with `store` if the store cannot be reached,
  ///   `conflict` if another machine has saved once more meanwhile, and `archive`.
  ///   After an error both states are there, and the conflict goes on.
  @discardableResult
  public func resolveConflict(
    keeping choice: ConflictChoice
  ) async throws(RestorationError) -> String? {
    guard copy?.theirs != nil else { return nil }
    return try await resolve(keepingTheirs: choice == .theirs)
  }

  /// The copy under the name that is claimed, or would be.
  private var copy: RemoteCopy? { (directory as? RemoteStateDirectory)?.copy(of: nameLookedAt) }
}

extension RestorationError.Code {
  /// The place where the directory keeps its states has another state, and keeps it.
  ///
  /// ``RestorationKit/StateKeeper/resolveConflict(keeping:)`` decides.
  public static let conflict = Self("conflict")
}
