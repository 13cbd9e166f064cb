public import ArchiveCodec
public import RestorationFoundation
public import RestorationKit
internal import Synchronization

/// States in a store that several machines share.
///
/// A ``/RestorationKit/StateKeeper`` takes this directory as any other:
///
///     let states = RemoteStateDirectory(store)
///     let keeper = try StateKeeper(
///       application: "org.example.kiosk", name: session, directory: states, keys: keys)
///
/// A restore asks the store, and a save returns when the store has the state; between
/// them the keeper works in memory. A save sends only changes. One save is sent at a
/// time, and the saves that come meanwhile are sent together.
///
/// **Conflicts.** When another machine has saved since, nothing is overwritten: see
/// ``RestorationKit/PreservationReport/conflict`` and
/// ``RestorationKit/StateKeeper/resolveConflict(keeping:)``.
///
/// **With a local copy** a launch need not wait for the network. It restores the local
/// state, and ``RestorationKit/StateKeeper/remoteStatus`` says when the store has a newer one. Saves
/// are kept here, and sent when the store can be reached.
///
/// Files that belong to one machine, such as the note of a launch, stay on it.
public final class RemoteStateDirectory: StateDirectory {
  /// The store.
  public let store: any RemoteStateStore

  private let copies = Mutex(WeakObjects<String, RemoteCopy>())
  /// The tasks that run as long as the directory is there, once somebody needs them.
  private let listening = Mutex<Task<Void, Never>?>(nil)
  private let renewing = Mutex<Task<Void, Never>?>(nil)
  private let lookout = RemoteLookout()
  private let leasing: Leasing?
  private let now: @Sendable () -> Date
  let clock: any Clock<Duration>
  private let localCopy: (any StateDirectory)?
  private let launches: (any StateDirectory)?
  /// Whether nothing on this machine outlasts the process.
  package var isInMemory: Bool { launches == nil }

  /// Creates a directory of the states in a store.
  ///
  /// - Parameters:
  ///   - store: The store of the states.
  ///   - localCopy: The directory for local copies of the states; nil to keep them in
  ///     memory as long as a keeper has them. No other program may use the directory.
  ///   - launches: The directory for notes that a restore has begun, so that a state
  ///     that crashes the process is found; see ``/RestorationKit/StatePolicy/crashThreshold``. Nil
  ///     stands for the local copy; without one, crashes of the process are not
  ///     counted. With a local copy in files, the file that locks a state has its note.
  ///   - lease: Takes a lease on each state that is restored or saved; nil for none. A
  ///     lease costs a write with the first restore, and one for each half of its
  ///     duration.
  ///   - now: The clock for leases, and for the places that first saves make.
  public convenience init(
    _ store: any RemoteStateStore, localCopy: (any StateDirectory)? = nil,
    launches: (any StateDirectory)? = nil, lease: RemoteLease? = nil,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.init(
      store, localCopy: localCopy, launches: launches, lease: lease, clock: ContinuousClock(),
      now: now)
  }

  /// Creates a directory with a clock for the pauses before a store is asked again.
  package init(
    _ store: any RemoteStateStore, localCopy: (any StateDirectory)?,
    launches: (any StateDirectory)?, lease: RemoteLease?, clock: any Clock<Duration>,
    now: @escaping @Sendable () -> Date
  ) {
    self.clock = clock
    self.store = store
    self.now = now
    leasing = lease.map { Leasing(lease: $0) }
    self.localCopy = localCopy
    self.launches = launches ?? localCopy
  }

  deinit {
    listening.withLock { $0?.cancel() }
    renewing.withLock { $0?.cancel() }
  }

  /// The storage of the local copy of a state, or of what belongs to this machine alone.
  public func storage(named name: String) -> any ArchiveStorage {
    // The record of a launch need not be durable, nor is it in the store; in memory it goes with the keeper.
    name.hasSuffix(".launch") ? Self.brief(name, in: launches) : copy(of: name)
  }

  /// A storage whose content need not survive a power cut.
  private static func brief(_ name: String, in directory: (any StateDirectory)?)
    -> any ArchiveStorage
  {
    guard let files = directory as? FileStateDirectory else {
      return (directory ?? MemoryStateDirectory()).storage(named: name)
    }
    return FileStorage(path: "\(files.path)/\(name).rka", isDurable: false)
  }

  /// The names of the states that have a local copy.
  public func names() throws(ArchiveError) -> [String] { try localCopy?.names() ?? [] }

  /// The copy of a state; the same one as long as somebody has it.
  func copy(of name: String) -> RemoteCopy {
    copies.withLock { copies in
      if let copy = copies[name] { return copy }
      let directory = localCopy ?? MemoryStateDirectory()
      let files = RemoteCopy.Files(
        main: directory.storage(named: name), moments: directory.moments(of: name),
        note: localCopy.map { Self.brief("\(name).remote.launch", in: $0) })
      let copy = RemoteCopy(name, of: store, files, leasing: leasing, now: now)
      copies[name] = copy
      return copy
    }
  }
}

extension RemoteStateDirectory: LinkedDirectory {
  package var isCopyLasting: Bool { localCopy != nil }

  package func linkedMoments(of name: String) -> MomentStore { copy(of: name).moments }

  package func link(
    _ file: StateFile, look: @escaping @Sendable () async -> Void
  ) -> any StateLink {
    StoreLink(file, in: self, look)
  }
}

extension RemoteStateDirectory {
  /// Lets the copies hear of changes in the store.
  func listen() {
    listening.withLock { listening in
      guard listening == nil else { return }
      let changes = store.changes()
      listening = Task { [weak self] in
        for await change in changes {
          guard let self else { return }
          lookout.look(after: copies(of: change))
        }
      }
    }
  }

  /// The copies that a change may concern.
  private func copies(of change: RemoteChange) -> [RemoteCopy] {
    let copies = copies.withLock { copies in
      guard let name = change.name else { return copies.objects }
      return [copies[name]].compactMap(\.self)
    }
    return copies.filter { copy in
      !copy.isUnclear && (change.version == nil || copy.version != change.version)
    }
  }

  /// Renews leases, each at half of its time.
  func renewLeases() {
    guard let leasing else { return }
    renewing.withLock { renewing in
      guard renewing == nil else { return }
      renewing = Task { [weak self] in
        while !Task.isCancelled {
          do { try await Task.sleep(for: leasing.lease.duration / 4) } catch { return }
          guard let copies = self?.copies.withLock({ $0.objects }) else { return }
          self?.lookout.look(after: copies.filter(\.isRenewalDue))
        }
      }
    }
  }
}
