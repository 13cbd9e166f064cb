internal import ArchiveCodec
internal import RestorationFoundation
internal import RestorationKit
internal import Synchronization

/// Keeps the local copy of a state and the store's together, where several
/// machines share the state.
///
/// The link belongs to the actor of the file, as do all the local files that it changes. While
/// the link waits for the store, other calls may change the local files, so it looks at them
/// again after each answer.
final class StoreLink {
  let directory: RemoteStateDirectory
  /// The file that has the link lives longer than any call of it.
  unowned let file: StateFile
  let look: @Sendable () async -> Void
  /// The copy under the name that the file has, or had last.
  private(set) var remote: RemoteCopy

  /// The fate of a local copy that was not as it was left, until it is reported.
  var copyProblem: String?
  /// Why the store refused a moment, until it is reported.
  var refusal: RemoteStoreError?
  /// Why the store still has moments that were removed here; nil if it does not.
  var unremoved: RemoteStoreError?

  init(
    _ file: StateFile, in directory: RemoteStateDirectory,
    _ look: @escaping @Sendable () async -> Void
  ) {
    (self.file, self.directory, self.look) = (file, directory, look)
    remote = directory.copy(of: file.name)
    attach()
  }

  /// Goes on with the copy of the name that the file has now.
  private func attach() {
    let name = file.name
    if remote.name != name { remote = directory.copy(of: name) }
    let context = file.claimed?.context ?? ArchiveContext([file.source.application, name])
    remote.sealing.withLock { $0 = (file.source.keys, context) }
    remote.told.withLock { $0.wake = look }
  }

  /// Waits until nothing is being sent.
  func sent() async {
    while let sending = remote.sending { _ = await sending.value }
  }

  /// Turns the errors of a store into `storeUnavailable`.
  func askStore<Value>(_ body: () async throws -> Value) async throws(ArchiveError) -> Value {
    do {
      return try await body()
    } catch {
      throw .storeUnavailable(RemoteStoreError(error), at: remote.location)
    }
  }

  /// Replaces the local state by that of the store, of which the file knows nothing then.
  func adopt(unconditionally state: RemoteState?) throws(ArchiveError) {
    try remote.take(state)
    file.forgetStored()
  }
}

extension StoreLink: StateLink {
  func fetch(
    for call: LinkedCall, isolation: isolated (any Actor)?
  ) async throws(ArchiveError) -> String? {
    guard call != .history else {
      // Who looks takes nothing.
      attach()
      try await askStore { try await fetchHistory() }
      return nil
    }
    let claim = call == .restore ? try file.claimToRead() : try file.claim()
    attach()
    remote.take(.endsLease(false))
    if case .resolve(let keepingTheirs) = call {
      return try await resolve(keepingTheirs: keepingTheirs, claim)
    }
    try await fetch(call)
    switch call {
    case .restore:
      defer { copyProblem = nil }
      return copyProblem
    case .discard: await compareWithStore()
    case .putBack(let moment): try await hold(moment)
    default: break
    }
    return nil
  }

  func send(
    after call: LinkedCall, isolation: isolated (any Actor)?
  ) async -> (outcome: LinkOutcome, refusedMoment: String?) {
    if let stored = file.stored { remote.noteHere(stored) }
    remote.history.withLock { $0.held = nil }
    switch call {
    case .look: await check(claims: false)
    case .close: await release()
    case .save:
      noteIfGone()
      let status = await sendWithPatience()
      defer { refusal = nil }
      return (status.outcome, refusal?.description)
    default:
      noteIfGone(isUnwanted: call == .discard)
      let status = await send()
      if call == .remove, status == .current, let unremoved {
        return (.unsent(.storeUnavailable(unremoved)), nil)
      }
      return (status.outcome, nil)
    }
    return (.sent, nil)
  }

  /// Notes at once that the state was discarded: the process may end before the store can be told.
  private func noteIfGone(isUnwanted: Bool = false) {
    // A file that cannot be read is there.
    let isHere = isUnwanted ? (try? remote.isHere()) ?? true : file.stored?.hasRecords != false
    if isHere { return }
    remote.take(.removed)
    if isUnwanted { remote.take(.unwanted) }
  }
}

extension RemoteStatus {
  /// What became of a state that was sent.
  fileprivate var outcome: LinkOutcome {
    switch self {
    case .unsent(let error): .unsent(.storeUnavailable(error))
    case .conflict(let conflict): .refused(Refusal(because: conflict))
    default: .sent
    }
  }
}

extension ArchiveError {
  /// Wraps the error of a store as a failure to reach the state that is stored there.
  static func storeUnavailable(
    _ error: RemoteStoreError, at location: String? = nil
  ) -> ArchiveError {
    ArchiveError(.storeUnavailable, subject: error.description, location: location)
  }
}
