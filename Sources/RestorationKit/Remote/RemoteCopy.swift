internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import Synchronization

/// One state of a store, as it is worked on here, and what is known of the store.
///
/// The engine reads and writes the storages of the copy as those of any state. Only it calls
/// what is here, from the actor that writes them.
final class RemoteCopy: Sendable {
  /// What the store had when it was last seen.
  struct Base: Equatable, Sendable {
    var version: RemoteVersion
    /// The last parcel; nil if there was no whole one.
    var id: RemoteParcel.ID?
    var parcelCount: Int
    /// The size of the archive that they make.
    var byteCount: Int
    /// Whether it is a place for a state that has not come yet.
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

  /// What is to be written to the store.
  struct Outgoing: Sendable {
    enum Write: Sendable {
      case replace([UInt8], expecting: RemoteVersion?)
      case append([UInt8], expecting: RemoteVersion)
      case remove(RemoteVersion)
    }

    let write: Write
    let attempt: Attempt
  }

  /// A write whose answer is not there, or is about to come.
  struct Attempt: Sendable {
    let id: RemoteParcel.ID
    let isWhole: Bool
    let parcelCount: Int
    let byteCount: Int
    /// The changes that it brings to the store; nil if it brings none.
    let changes: Changes?
    /// The lease that it takes; nil if it leaves that as it is.
    var lease: StoredLease?
    /// Whether it makes a place for a state, and stores none.
    var isPlace = false
  }

  struct Changes: Equatable, Sendable {
    var main: UInt64 = 0
    var secrets: UInt64 = 0
  }

  struct Content {
    /// Whether the store was asked what it has.
    var isFetched = false
    var base: Base? {
      didSet {
        past.removeAll { $0 == base?.id }
        guard isFetched, oldValue?.id != base?.id else { return }
        past.append(oldValue?.id)
        if past.count > RemoteCopy.largestPast { past.removeFirst() }
      }
    }
    /// The last parcels of what the store had before, nil where it had nothing.
    private(set) var past: [RemoteParcel.ID?] = []
    /// Whether what is here is no longer what the store has with something at its end.
    var needsWhole = false
    /// The changes that the store has.
    var sent = Changes()
    /// The changes after which the state was removed here.
    var removed: Changes?
    /// The changes after which the store was to have nothing, also no lease.
    var unwanted: Changes?
    var attempts: [Attempt] = []
    /// The lease that the store has.
    var lease: StoredLease?
    /// Whether the lease is let go when the store has what is here.
    var endsLease = false
    /// What somebody else has stored; nil for removed.
    var theirs: RemoteState??
    /// What is here and what was noted; nil as long as nobody has compared them.
    var finding: LocalFinding?
    /// Whether what is here goes on without subkeys that the store has: even if it begins with
    /// what the store has, it must not take its place.
    var opposes = false
    /// Whether the store has a state that goes on here with other subkeys.
    var mergesSubkeys = false
    /// Which versions are here, as far as is known, and which of them the note names.
    var here = Here()
    var noted: Here?
  }

  /// So many saves a replica may be behind.
  private static let largestPast = 64

  let name: String
  let store: any RemoteStateStore
  let main: TrackedStorage
  let secrets: TrackedStorage
  /// Whether what is here outlasts the process.
  let isLasting: Bool
  /// Takes the lease of it; nil if nobody needs one.
  let leasing: Leasing?
  let now: @Sendable () -> Date
  /// Where a lasting copy notes what is known of the store.
  let note: any ArchiveStorage
  let content = Mutex(Content())
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
    // It need not be durable: without it the store says what it has.
    note = directory.launchStorage(ofStateNamed: name + StateClaim.remoteSuffix)
    if !isLasting { finding = .trusted }
    readNote()
  }

  deinit {
    told.withLock { told in
      for listener in told.listeners.values { listener.finish() }
    }
  }

  var isFetched: Bool { content.withLock { $0.isFetched } }

  /// Whether something is here that the store has not said it has.
  var isUnsent: Bool {
    content.withLock { $0.sent != changes || $0.theirs != nil }
  }

  /// Whether the store has the subkeys that are here.
  var hasSentSubkeys: Bool {
    content.withLock { $0.sent.secrets == changes.secrets && $0.theirs == nil && $0.base != nil }
  }

  /// Whether the write whose answer is awaited has all that is here.
  var isBeingSent: Bool {
    content.withLock { $0.theirs == nil && $0.attempts.last?.changes == changes } && !isLeaseDue
  }

  var version: RemoteVersion? { content.withLock { $0.base?.version } }

  /// What somebody else has stored, if that stands against what is here.
  var theirs: RemoteState?? { content.withLock { $0.theirs } }

  /// What has changed here.
  var changes: Changes {
    Changes(main: main.changes.count, secrets: secrets.changes.count)
  }

  /// What tells whether anything has happened here while the store was asked.
  struct Moment: Equatable {
    let version: RemoteVersion?
    let changes: Changes
  }

  var moment: Moment { Moment(version: version, changes: changes) }

  // MARK: From the store

  /// Whether what the store has comes in place of what is here: it is another one, and nothing
  /// here was not sent.
  func isSupersededBy(_ state: RemoteState?) -> Bool {
    guard !isUnsent else { return false }
    return content.withLock { content in
      !content.isFetched || content.base?.version != state?.version
    }
  }

  /// Makes what the store has what is here, whatever was here.
  ///
  /// - Parameters:
  ///   - state: What the store has; nil for nothing.
  ///   - hasSubkeys: Whether the subkeys are here already, and are others than those of the store.
  /// - Throws: What the storage throws, and `unsupportedFeature` for a later format.
  func take(_ state: RemoteState?, hasSubkeys: Bool) throws(ArchiveError) {
    let stored = try state.map { (state) throws(ArchiveError) in try read(state) }
    // The subkeys first: a state without its own loses its secrets.
    if !hasSubkeys {
      try secrets.adopt(stored.flatMap { $0.secrets.isEmpty ? nil : $0.secrets })
    }
    if stored?.state == nil, version != nil {
      // Older ones of a state that somebody has discarded must not come back for it.
      for generation in try main.generations() { try generation.storage.remove() }
    }
    try main.adopt(stored?.state)
    content.withLock { content in
      content.base = state.flatMap { state in stored.map { Base(state.version, $0) } }
      content.lease = stored?.lease
      content.isFetched = true
      content.needsWhole = stored.map { $0.isDamaged || $0.state == nil } ?? false
      content.sent = changes
      if hasSubkeys { content.sent.secrets = .max }
      (content.attempts, content.theirs) = ([], nil)
      (content.finding, content.opposes, content.mergesSubkeys) = (.trusted, false, false)
    }
    writeNote()
  }

  /// What the store has, if this version of the software knows its format.
  func read(_ state: RemoteState) throws(ArchiveError) -> RemoteContent {
    let stored = RemoteContent(state.bytes)
    guard !stored.isNewer else {
      throw ArchiveError(.unsupportedFeature, location: main.location)
    }
    return stored
  }

  /// Says that the store was asked, or need not be.
  func markFetched() { content.withLock { $0.isFetched = true } }
}
