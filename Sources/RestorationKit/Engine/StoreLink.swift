internal import ArchiveCodec

/// Keeps what is here of a state and what a store has of it together, where several machines
/// share it.
///
/// It belongs to the actor of the file, as all that it changes here does. While it waits for the
/// store, others may change what is here, so it looks again after each answer.
final class StoreLink {
  let remote: RemoteCopy
  let directory: RemoteStateDirectory
  let claimed: ClaimedName
  let archive: StoredArchive
  let launch: LaunchGuard
  let secrets: SecretStore
  /// The file that has the link; what is tried again in a while does not keep it.
  weak var file: StateFile?

  /// What became of a local copy that was not as it was left, until it is reported.
  var copyProblem: String?
  /// Why the store did not take what was set aside, until it is reported.
  var refusal: RemoteStoreError?
  /// Why the store still has what was set aside and is removed here; nil if it does not.
  var removalFailure: RemoteStoreError?
  /// Tries again to send what could not be sent.
  var retry: Task<Void, Never>?

  init(
    _ remote: RemoteCopy, in directory: RemoteStateDirectory, _ claimed: ClaimedName,
    _ archive: StoredArchive, _ launch: LaunchGuard, _ secrets: SecretStore
  ) {
    (self.remote, self.directory, self.claimed) = (remote, directory, claimed)
    (self.archive, self.launch, self.secrets) = (archive, launch, secrets)
  }

  /// Whether somebody has to decide which of two states stays.
  var isInConflict: Bool { remote.theirs != nil }

  /// Waits until nothing is being sent.
  func sent() async {
    while let sending = remote.sending { _ = await sending.value }
  }

  /// Passes on what a store has thrown.
  func askStore(_ body: () async throws -> Void) async throws(ArchiveError) {
    do {
      try await body()
    } catch {
      throw .storeUnavailable(RemoteStoreError(error), at: remote.location)
    }
  }
}
