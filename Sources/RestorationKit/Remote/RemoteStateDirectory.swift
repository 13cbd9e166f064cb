public import ArchiveCodec
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
internal import Synchronization

/// States in a store that several machines share.
///
/// Give it to a ``StateKeeper``, or through one to a ``SceneHost``, as any other directory:
///
///     let states = RemoteStateDirectory(store)
///     let keeper = try StateKeeper(
///       application: "org.example.kiosk", name: session, directory: states, keys: keys)
///
/// A restore asks the store, and a save returns when the store has the state; between them
/// the keeper works in memory. A save sends what has changed, and one at a time: those that
/// come meanwhile are sent together.
///
/// **Conflicts.** When another machine has saved since, nothing is overwritten: see
/// ``PreservationReport/Outcome-swift.enum/conflict(_:)`` and
/// ``StateKeeper/resolveConflict(keeping:)``.
///
/// **With a local copy** a launch need not wait for the network. It restores what is here, and
/// ``StateKeeper/remoteStatus`` says when something newer is in the store. Saves are kept
/// here, and sent when the store can be reached.
///
/// What belongs to one machine, as the note of a launch, stays on it.
public final class RemoteStateDirectory: StateDirectory {
  private struct Weak {
    weak var copy: RemoteCopy?
  }

  private struct Tasks {
    var listening: Task<Void, Never>?
    var renewing: Task<Void, Never>?
  }

  /// The store.
  public let store: any RemoteStateStore

  private let copies = Mutex<[String: Weak]>([:])
  /// What goes on as long as the directory is there.
  private let tasks = Mutex<Tasks>(Tasks())
  private let lookout = RemoteLookout()
  private let leasing: Leasing?
  private let now: @Sendable () -> Date
  let clock: any Clock<Duration>
  private let localCopy: (any StateDirectory)?
  private let launches: any StateDirectory
  /// Whether nothing is on this machine that outlasts the process.
  let isInMemory: Bool

  /// Creates a directory of what is in a store.
  ///
  /// - Parameters:
  ///   - store: Where the states are.
  ///   - localCopy: Where states are kept on this machine, too; nil to keep them in memory
  ///     as long as a keeper has them. No other program may use the directory.
  ///   - launches: Where it is noted that a restore has begun, so that a state that crashes
  ///     the process is found; see ``StateKeeper/crashThreshold``. If nil, that is the local
  ///     copy; without one, crashes of the process are not counted.
  ///   - lease: Takes a lease on each state that is restored or saved; nil for none. It
  ///     costs a write with the first restore, and one for each half of its duration.
  ///   - now: The clock for leases, and for what first saves leave that did not go on.
  public convenience init(
    _ store: any RemoteStateStore, localCopy: (any StateDirectory)? = nil,
    launches: (any StateDirectory)? = nil, lease: RemoteLease? = nil,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.init(
      store, localCopy: localCopy, launches: launches, lease: lease, clock: ContinuousClock(),
      now: now)
  }

  /// The same with a clock for the pauses before a store is asked again.
  package init(
    _ store: any RemoteStateStore, localCopy: (any StateDirectory)?,
    launches: (any StateDirectory)?, lease: RemoteLease?, clock: any Clock<Duration>,
    now: @escaping @Sendable () -> Date
  ) {
    self.clock = clock
    self.store = store
    self.now = now
    leasing = lease.map { Leasing(lease: $0, now: now) }
    self.localCopy = localCopy
    isInMemory = launches == nil && localCopy == nil
    self.launches = launches ?? localCopy ?? MemoryStateDirectory()
  }

  deinit {
    tasks.withLock { tasks in
      tasks.listening?.cancel()
      tasks.renewing?.cancel()
    }
  }

  /// The storage in which a state is worked on.
  public func storage(named name: String) -> any ArchiveStorage {
    guard let state = name.droppingSuffix(StateClaim.secretsSuffix) else {
      return copy(of: name)
    }
    return copy(of: state).secrets
  }

  /// The storage for notes of launches, on this machine.
  public func launchStorage(ofStateNamed name: String) -> any ArchiveStorage {
    launches.launchStorage(ofStateNamed: name)
  }

  /// Whether what is on this machine outlasts the process.
  var isCopyLasting: Bool { localCopy != nil }

  /// The names of the states of which there is a local copy.
  public func names() throws(ArchiveError) -> [String] { try localCopy?.names() ?? [] }

  /// Removes what killed saves have left in the local copy.
  public func removeLeftovers(where isOwn: (_ name: String) -> Bool) throws(ArchiveError) {
    try localCopy?.removeLeftovers(where: isOwn)
  }

  /// The copy of a state; the same one as long as somebody has it.
  func copy(of name: String) -> RemoteCopy {
    copies.withLock { copies in
      if let copy = copies[name]?.copy { return copy }
      let copy = RemoteCopy(
        name, of: store, in: localCopy ?? MemoryStateDirectory(), isLasting: localCopy != nil,
        leasing: leasing, now: now)
      if copies.count > 2 * smallestTable, copies.count.nonzeroBitCount == 1 {
        copies = copies.filter { $0.value.copy != nil }
      }
      copies[name] = Weak(copy: copy)
      return copy
    }
  }
}

extension RemoteStateDirectory {
  /// Lets copies hear of changes that the store tells.
  func listen() {
    tasks.withLock { tasks in
      guard tasks.listening == nil else { return }
      let changes = store.changes()
      tasks.listening = Task { [weak self] in
        for await change in changes {
          guard let self else { return }
          lookout.look(after: copies(of: change))
        }
      }
    }
  }

  /// Those of which the store may have something newer.
  private func copies(of change: RemoteChange) -> [RemoteCopy] {
    let copies = copies.withLock { copies in
      guard let name = change.name else { return copies.values.compactMap(\.copy) }
      return [copies[name]?.copy].compactMap(\.self)
    }
    return copies.filter { copy in
      !copy.isUnclear && (change.version == nil || copy.version != change.version)
    }
  }

  /// Renews leases, each at half of its time.
  func renewLeases() {
    guard let leasing else { return }
    tasks.withLock { tasks in
      guard tasks.renewing == nil else { return }
      tasks.renewing = Task { [weak self] in
        while !Task.isCancelled {
          do { try await Task.sleep(for: leasing.lease.duration / 4) } catch { return }
          guard let copies = self?.copies.withLock({ $0.values.compactMap(\.copy) }) else { return }
          self?.lookout.look(after: copies.filter(\.isRenewalDue))
        }
      }
    }
  }
}

/// A table that is smaller is not worth going through.
private let smallestTable = 64

extension String {
  /// What is before a suffix; nil if it does not end in it.
  fileprivate func droppingSuffix(_ suffix: String) -> String? {
    hasSuffix(suffix) ? String(dropLast(suffix.count)) : nil
  }
}
