internal import ArchiveCodec
internal import RestorationKit

/// Keeps the local copy of a state and the store's together, where several
/// machines share the state.
///
/// The link belongs to the actor of the file, as do all the local files that it changes. While
/// the link waits for the store, other calls may change the local files, so it looks at them
/// again after each answer.
final class StoreLink {
  let remote: RemoteCopy
  let directory: RemoteStateDirectory
  let claimed: ClaimedName
  let archive: StoredArchive
  let launch: LaunchGuard
  /// The file that has the link; the reference is weak, so that a retry does not keep the file.
  weak var file: StateFile?

  /// The fate of a local copy that was not as it was left, until it is reported.
  var copyProblem: String?
  /// Why the store refused an archive that was set aside, until it is reported.
  var refusal: RemoteStoreError?
  /// Why the store still has archives that were set aside and then removed here; nil
  /// if it does not.
  var unremoved: RemoteStoreError?
  /// Tries again to send changes that could not be sent.
  var retry: Task<Void, Never>?

  init(_ remote: RemoteCopy, in directory: RemoteStateDirectory, _ files: LinkedFiles) {
    (self.remote, self.directory) = (remote, directory)
    (claimed, archive, launch) = (files.claimed, files.archive, files.launch)
    remote.use(
      RemoteCopy.Opener(keys: archive.opener.keys, context: archive.opener.context))
  }

  /// Whether somebody has to decide which of two states stays.
  var isInConflict: Bool { remote.isInConflict }

  /// Waits until nothing is being sent.
  func sent() async {
    while let sending = remote.sending { _ = await sending.value }
  }

  /// Turns the errors of a store into `storeUnavailable`.
  func askStore(_ body: () async throws -> Void) async throws(ArchiveError) {
    do {
      try await body()
    } catch {
      throw .storeUnavailable(RemoteStoreError(error), at: remote.location)
    }
  }
}
