internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import RestorationKit
internal import Synchronization

/// The local copy of one state of a store, and the knowledge of the store's state.
///
/// The engine reads and writes the storages of the copy as those of any state. Only the
/// engine calls the copy, from the actor that writes the storages.
final class RemoteCopy: Sendable {
  /// The state of the store when it was last seen.
  struct Base: Equatable, Sendable {
    var version: RemoteVersion
    /// The last parcel; nil if no parcel was whole.
    var id: RemoteParcel.ID?
    var parcelCount: Int
    /// The size in bytes of the archive in the parcels.
    var byteCount: Int
    /// Whether the store has only a place, and no state yet.
    var isPlace: Bool

    init(_ version: RemoteVersion, _ content: RemoteContent) {
      self.version = version
      (id, parcelCount) = (content.ids.last, content.ids.count)
      (byteCount, isPlace) = (content.archive.count, content.isPlace)
    }

    init(_ version: RemoteVersion, after attempt: Attempt) {
      self.version = version
      (id, parcelCount, byteCount) = (attempt.id, attempt.parcelCount, attempt.byteCount)
      isPlace = attempt.isPlace
    }

    init(
      _ version: RemoteVersion, id: RemoteParcel.ID? = nil, parcelCount: Int = 0,
      byteCount: Int = 0, isPlace: Bool = false
    ) {
      self.version = version
      (self.id, self.parcelCount, self.byteCount) = (id, parcelCount, byteCount)
      self.isPlace = isPlace
    }
  }

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

  /// A write that is being sent, or whose answer was lost.
  struct Attempt: Sendable {
    let id: RemoteParcel.ID
    let isWhole: Bool
    let parcelCount: Int
    let byteCount: Int
    /// The changes that the write brings to the store; nil if it brings none.
    let changes: Changes?
    /// The lease that the write takes; nil if the lease stays as it is.
    var lease: StoredLease?
    /// Whether the write makes a place for a state, and stores none.
    var isPlace = false
  }

  struct Changes: Equatable, Sendable {
    var main: UInt64 = 0
    var secrets: UInt64 = 0
  }

  /// What was seen of the state in the store.
  struct Seen {
    /// Whether the store was asked for its state, or need not be.
    var isFetched = false
    var base: Base? {
      didSet {
        past.removeAll { $0 == base?.id }
        guard isFetched, oldValue?.id != base?.id else { return }
        past.append(oldValue?.id)
        if past.count > RemoteCopy.largestPast { past.removeFirst() }
      }
    }
    /// The last parcels of earlier states of the store; nil where it had nothing.
    private(set) var past: [RemoteParcel.ID?] = []
    /// The lease that the store has.
    var lease: StoredLease?
  }

  struct Knowledge {
    var seen = Seen()
    /// Whether the local archive no longer begins with the one in the store, so
    /// that it is sent whole.
    var needsWhole = false
    /// The changes that the store has.
    var sent = Changes()
    /// The changes after which the state was removed here.
    var removed: Changes?
    /// The changes after which the store was to have nothing, also no lease.
    var unwanted: Changes?
    var attempts: [Attempt] = []
    /// Whether the lease is let go as soon as the store has the local state.
    var endsLease = false
    /// The state that another machine has stored and that is in conflict; the
    /// inner nil is a removal.
    var theirs: RemoteState??
    /// The result of the proof; nil before it.
    var finding: LocalFinding?
    /// Whether the local state goes on without subkeys that the store has.
    ///
    /// Then it must not replace the state of the store, even if it begins with that.
    var opposes = false
    /// Whether the state goes on here from the store's, but with other subkeys.
    var mergesSubkeys = false
    /// The local versions, as far as they are known, and the versions that the note names.
    var versions: (here: Here, noted: Here?) = (Here(), nil)
  }

  /// A replica may be so many saves behind.
  private static let largestPast = 64

  let name: String
  let store: any RemoteStateStore
  let main: TrackedStorage
  let secrets: TrackedStorage
  /// Whether the local copy outlasts the process.
  let isLasting: Bool
  /// Takes the lease of the state; nil if the directory takes none.
  let leasing: Leasing?
  let now: @Sendable () -> Date
  /// The storage for the note of a lasting copy.
  let note: any ArchiveStorage
  let content = Mutex(Knowledge())
  let told = Mutex(Told())
  let asides = Mutex(Asides())
  let opener = Mutex<Opener?>(nil)

  init(
    _ name: String, of store: any RemoteStateStore, in directory: any StateDirectory,
    isLasting: Bool, leasing: Leasing?, now: @escaping @Sendable () -> Date
  ) {
    (self.name, self.store, self.isLasting) = (name, store, isLasting)
    (self.leasing, self.now) = (leasing, now)
    let location = "\(store.location), “\(name)”"
    main = TrackedStorage(
      directory.storage(named: name), location: location, keepsGenerations: isLasting)
    secrets = TrackedStorage(
      directory.storage(named: name + StateClaim.secretsSuffix), location: location,
      keepsGenerations: isLasting)
    // The note need not be durable: without it the store is asked.
    note = directory.launchStorage(ofStateNamed: name + StateClaim.copySuffix)
    if !isLasting { finding = .trusted }
    readNote()
  }

  deinit {
    told.withLock { told in
      for listener in told.listeners.values { listener.finish() }
    }
  }

  var isFetched: Bool { content.withLock { $0.seen.isFetched } }

  /// Whether the store has not confirmed the whole local state.
  var isUnsent: Bool {
    content.withLock { $0.sent != changes || $0.theirs != nil }
  }

  /// Whether the store has the local subkeys.
  var hasSentSubkeys: Bool {
    content.withLock {
      $0.sent.secrets == changes.secrets && $0.theirs == nil && $0.seen.base != nil
    }
  }

  /// Whether the write that waits for its answer has the whole local state.
  var isBeingSent: Bool {
    content.withLock { $0.theirs == nil && $0.attempts.last?.changes == changes } && !isLeaseDue
  }

  var version: RemoteVersion? { content.withLock { $0.seen.base?.version } }

  /// The state of another machine that is in conflict with the local one; the
  /// inner nil is a removal.
  var theirs: RemoteState?? { content.withLock { $0.theirs } }

  /// The counts of local changes.
  var changes: Changes {
    Changes(main: main.changes.count, secrets: secrets.changes.count)
  }

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
    guard !isUnsent else { return false }
    return content.withLock { content in
      !content.seen.isFetched || content.seen.base?.version != state?.version
    }
  }

  /// Replaces the local state by that of the store, without conditions.
  ///
  /// - Parameters:
  ///   - state: The state of the store; nil for nothing.
  ///   - hasSubkeys: Whether the subkeys are here already, and differ from those of the
  ///     store.
  /// - Throws: The errors of the storage, and `unsupportedFeature` for a later format.
  func take(_ state: RemoteState?, hasSubkeys: Bool) throws(ArchiveError) {
    let stored = try state.map { (state) throws(ArchiveError) in try read(state) }
    // The subkeys come first: a state without its own subkeys loses its secrets.
    if !hasSubkeys {
      try secrets.adopt(stored.flatMap { $0.secrets.isEmpty ? nil : $0.secrets })
    }
    if stored?.state == nil, version != nil {
      // Generations of a state that somebody has discarded must not come back.
      for generation in try main.generations() { try generation.storage.remove() }
    }
    try main.adopt(stored?.state)
    content.withLock { content in
      content.seen.base = state.flatMap { state in stored.map { Base(state.version, $0) } }
      content.seen.lease = stored?.lease
      content.seen.isFetched = true
      content.needsWhole = stored.map { $0.isDamaged || $0.state == nil } ?? false
      content.sent = changes
      if hasSubkeys { content.sent.secrets = .max }
      (content.attempts, content.theirs) = ([], nil)
      (content.finding, content.opposes, content.mergesSubkeys) = (.trusted, false, false)
    }
    writeNote()
  }

  /// The content of the store's state, if this version of the software knows the format.
  func read(_ state: RemoteState) throws(ArchiveError) -> RemoteContent {
    let stored = RemoteContent(state.bytes)
    guard !stored.isNewer else {
      throw ArchiveError(.unsupportedFeature, location: main.location)
    }
    return stored
  }

  /// Notes that the store was asked, or need not be.
  func markFetched() { content.withLock { $0.seen.isFetched = true } }
}
