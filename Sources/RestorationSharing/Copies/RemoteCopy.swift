internal import ArchiveCodec
internal import RestorationFoundation
internal import RestorationKit
internal import Synchronization

/// The local copy of one state of a store, and the knowledge of the store's state.
///
/// The engine reads and writes the storages of the copy as those of any state. Only the
/// engine calls the copy, from the actor that writes the storages.
final class RemoteCopy: Sendable {
  typealias Attempt = SyncState.Attempt
  typealias Base = SyncState.Base
  typealias Changes = SyncState.Changes

  /// A write that is to be sent to the store.
  struct Outgoing: Sendable {
    enum Write: Sendable {
      case replace([UInt8], expecting: RemoteVersion?)
      case append([UInt8], expecting: RemoteVersion)
      case remove(RemoteVersion)
    }

    let write: Write
    let attempt: Attempt
  }

  let name: String
  let store: any RemoteStateStore
  let main: TrackedStorage
  /// Whether the local copy outlasts the process.
  let isLasting: Bool
  /// Takes the lease of the state; nil if the directory takes none.
  let leasing: Leasing?
  let now: @Sendable () -> Date
  /// The storage for the note of a lasting copy.
  let note: any ArchiveStorage
  let sync: Mutex<SyncState>
  /// The local version, as far as it is known, and the version that the note names.
  let versions = Mutex<(here: Here, noted: Here?)>((Here(), nil))
  let told = Mutex(Told())
  let asides = Mutex(Asides())
  let opener = Mutex<Opener?>(nil)

  init(
    _ name: String, of store: any RemoteStateStore, in directory: any StateDirectory,
    isLasting: Bool, leasing: Leasing?, now: @escaping @Sendable () -> Date
  ) {
    (self.name, self.store, self.isLasting) = (name, store, isLasting)
    (self.leasing, self.now) = (leasing, now)
    main = TrackedStorage(
      directory.storage(named: name), location: "\(store.location), “\(name)”",
      keepsGenerations: isLasting)
    // The note need not be durable: without it the store is asked.
    note = directory.launchStorage(ofStateNamed: name + StateClaim.copySuffix)
    sync = Mutex(SyncState(finding: isLasting ? nil : .trusted))
    readNote()
  }

  deinit {
    told.withLock { told in
      for listener in told.listeners.values { listener.finish() }
    }
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
      case .mark(let byteCount): main.mark(byteCount)
      case .note: writeNote()
      }
    }
  }

  // MARK: Questions

  var state: SyncState { sync.withLock { $0 } }

  var isFetched: Bool { state.isFetched }

  /// Whether the store has not confirmed the whole local state.
  var isUnsent: Bool { state.isUnsent(at: changes) }

  /// Whether the write that waits for its answer has the whole local state.
  var isBeingSent: Bool { state.attempts.last?.changes == changes && !isLeaseDue }

  var version: RemoteVersion? { state.base?.version }

  /// The state of another machine that is in conflict with the local one; the
  /// inner nil is a removal.
  var theirs: RemoteState?? { state.theirs }

  /// The count of local changes.
  var changes: Changes { Changes(main: main.changes.count) }

  /// A moment, to find out whether anything has happened here while the store was asked.
  struct Moment: Equatable {
    let version: RemoteVersion?
    let changes: Changes
  }

  var moment: Moment { Moment(version: version, changes: changes) }

  // MARK: From the store

  /// Whether the state of the store replaces the local one: it is another version, and
  /// everything local was sent.
  func isSupersededBy(_ state: RemoteState?) -> Bool {
    !isUnsent && (!isFetched || version != state?.version)
  }

  /// Replaces the local state by that of the store, without conditions.
  ///
  /// - Parameter state: The state of the store; nil for nothing.
  /// - Throws: The errors of the storage, and `unsupportedFeature` for a later format.
  func take(_ state: RemoteState?) throws(ArchiveError) {
    let stored = try state.map { (state) throws(ArchiveError) in try read(state) }
    if stored?.state == nil, version != nil {
      // Generations of a state that somebody has discarded must not come back.
      for generation in try main.generations() { try generation.storage.remove() }
    }
    try main.adopt(stored?.state)
    take(
      .took(
        state.flatMap { state in stored.map { Base(state.version, $0) } }, stored?.lease,
        needsWhole: stored.map { $0.isDamaged || $0.state == nil } ?? false))
  }

  /// The content of the store's state, if this version of the software knows the format.
  func read(_ state: RemoteState) throws(ArchiveError) -> RemoteContent {
    let stored = RemoteContent(state.bytes)
    guard !stored.isNewer else {
      throw ArchiveError(.unsupportedFeature, location: main.location)
    }
    return stored
  }
}
