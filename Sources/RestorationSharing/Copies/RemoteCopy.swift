internal import ArchiveCodec
internal import RestorationFoundation
internal import RestorationKit
internal import Synchronization

/// The local copy of one state of a store, and the knowledge of the store's state.
///
/// A keeper reads and writes the copy as any storage. Only the link calls what is beside that, from the actor
/// of the state's file.
final class RemoteCopy: Sendable {
  typealias Attempt = SyncState.Attempt
  typealias Base = SyncState.Base
  typealias Changes = SyncState.Changes

  /// A write that is to be sent to the store.
  struct Outgoing: Sendable {
    let attempt: Attempt
    /// None for a removal.
    let bytes: [UInt8]
    /// The version that the write changes; nil for nothing.
    let expected: RemoteVersion?
  }

  /// What is here of the state.
  struct Files: Sendable {
    let main: any ArchiveStorage
    let moments: MomentStore
    /// The note of a copy that outlasts the process; nil for any other copy.
    ///
    /// The note need not be durable: without it the store is asked.
    let note: (any ArchiveStorage)?
  }

  /// What was changed here.
  struct Tracked: Sendable {
    /// Grows with each change.
    var count: Changes = 0
    /// How many bytes at the beginning have not changed since they were marked.
    var unchangedByteCount = 0
    /// Whether another file has come since the last note.
    var isReplaced = false
  }

  let name: String
  let store: any RemoteStateStore
  let files: Files
  /// Takes the lease of the state; nil if the directory takes none.
  let leasing: Leasing?
  let now: @Sendable () -> Date
  let sync: Mutex<SyncState>
  let tracked = Mutex(Tracked())
  /// The local version, as far as it is known, and the version that the note names.
  let versions = Mutex<(here: Here?, noted: ArchiveVersion?)>((nil, nil))
  let told = Mutex(Told())
  let listeners = Listeners<RemoteStatus>()
  let history = Mutex(History())
  /// The keys and the context of the archives of the state; nil before a link has it.
  let sealing = Mutex<(keys: any KeyProvider, context: ArchiveContext)?>(nil)

  init(
    _ name: String, of store: any RemoteStateStore, _ files: Files, leasing: Leasing?,
    now: @escaping @Sendable () -> Date
  ) {
    (self.name, self.store, self.files) = (name, store, files)
    (self.leasing, self.now) = (leasing, now)
    sync = Mutex(SyncState(finding: files.note == nil ? .trusted : nil))
    readNote()
  }

  /// Notes what has happened, and does what follows from that.
  func take(_ event: SyncEvent) {
    let changes = changes
    let actions = sync.withLock { state in
      let (next, actions) = state.after(event, at: changes)
      state = next
      return actions
    }
    for action in actions {
      switch action {
      case .mark(let byteCount): mark(byteCount)
      case .note: writeNote()
      }
    }
  }

  // MARK: Questions

  /// Whether the copy outlasts the process.
  var isLasting: Bool { files.note != nil }

  var state: SyncState { sync.withLock { $0 } }

  var isFetched: Bool { state.store != .unknown }

  /// Whether the store has not confirmed the whole local state.
  var isUnsent: Bool { state.isUnsent(at: changes) }

  /// Whether the write that waits for its answer has the whole local state.
  var isBeingSent: Bool { state.attempts.last?.changes == changes && dueLease == nil }

  var version: RemoteVersion? { state.base?.version }

  /// The state of another machine that is in conflict with the local one; the
  /// inner nil is a removal.
  var theirs: RemoteState?? { state.theirs }

  /// The count of local changes.
  var changes: Changes { tracked.withLock { $0.count } }

  /// A point of time, to find out whether anything has happened here while the store was asked.
  var point: (version: RemoteVersion?, changes: Changes) { (version, changes) }

  // MARK: From the store

  /// Replaces the local state by that of the store, without conditions.
  ///
  /// - Parameter state: The state of the store; nil for nothing.
  /// - Throws: The errors of the storage, and `unsupportedFeature` for a later format.
  func take(_ state: RemoteState?) throws(ArchiveError) {
    let stored = try read(state)
    if stored.state == nil, version != nil {
      // A state that somebody has discarded must not come back from its history.
      try files.moments.remove(try files.moments.all().filter(\.reason.isRestorable))
    }
    try adopt(stored.state)
    take(
      .took(
        state.map { Base($0.version, stored) }, stored.lease,
        needsWhole: state != nil && (stored.isDamaged || stored.state == nil)))
  }

  /// The content of the store's state, if this version of the software knows the format; empty for nothing.
  func read(_ state: RemoteState?) throws(ArchiveError) -> RemoteContent {
    let stored = RemoteContent(state?.bytes ?? [])
    guard !stored.isNewer else { throw ArchiveError(.unsupportedFeature, location: location) }
    return stored
  }
}
