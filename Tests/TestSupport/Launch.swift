package import ArchiveCodec
package import Foundation
package import RestorationKit
import RestorationTesting
import Synchronization

/// Launches of one application over one store, without a process.
@MainActor
package final class Launch {
  package let store = MemoryStateDirectory()
  package let keys = MemoryKeyProvider()
  package var now = Date(timeIntervalSinceReferenceDate: 800_000_000)
  package var environment = ApplicationEnvironment(
    applicationVersion: "11", userInterfaceIdiom: "test", systemVersion: "6.1")

  /// Kept alive, which a keeper does not do.
  private var delegates: [(any StateDelegate)?] = []
  private var process: ProcessDirectory?

  package init() {}

  package static let application = "org.example.test"

  /// A keeper of a new launch; what was stored before is there.
  ///
  /// - Parameters:
  ///   - delegate: Takes part in saves and restores.
  ///   - endsLast: Whether the process of the launch before has ended.
  /// - Returns: The keeper.
  /// - Throws: Nothing that a test expects.
  package func keeper(
    delegate: (any StateDelegate)? = nil, endsLast: Bool = true
  ) throws -> StateKeeper {
    if endsLast { endProcess() }
    let process = ProcessDirectory(store)
    self.process = process
    let keeper = try StateKeeper(
      application: Self.application, directory: process, keys: keys,
      environment: environment, now: { [self] in now })
    try keeper.register(restorationClass: TestFactory.self)
    keeper.delegate = delegate
    delegates.append(delegate)
    return keeper
  }

  /// Kills the process of the last launch.
  ///
  /// Keep its keeper until then: one that goes ends its restore.
  package func endProcess() {
    process?.end()
    process = nil
  }

  package var storedBytes: [UInt8]? {
    get { store.memory(named: "main").bytes }
    set { store.memory(named: "main").bytes = newValue }
  }

  /// Takes away what is stored, and what was kept of it.
  package func removeState() throws {
    try removeSetAside()
    storedBytes = nil
  }

  /// The stored archive, to look at its records.
  package func archive() throws -> Archive? {
    guard let key = try keys.key(creating: false) else { return nil }
    return try Archive.open(
      store.memory(named: "main"), key: key, context: ArchiveContext([Self.application, "main"]))
  }
}

extension PreservationReport {
  /// The paths of the nodes that are in the archive.
  package var savedPaths: [String] {
    entries.filter { $0.path.count > 0 && $0.outcome == .saved }.map(\.path.description)
  }

  /// All notes, in the order of the entries.
  package var notes: [ReportNote] { entries.flatMap(\.notes) }

  package func outcome(of path: String) -> NodeOutcome? {
    entries.first { $0.path.description == path }?.outcome
  }
}

extension RestorationReport {
  /// All notes, in the order of the entries.
  package var notes: [ReportNote] { entries.flatMap(\.notes) }

  package func outcome(of path: String) -> NodeOutcome? {
    entries.first { $0.path.description == path }?.outcome
  }
}

/// Other names that tests have for what reports say.
extension PreservationReport {
  package typealias NodeOutcome = ElementOutcome
}

extension RestorationReport {
  package typealias NodeOutcome = ElementOutcome
}

extension ReportNote {
  package static func applicationNotEncoded(_ error: String) -> ReportNote { .encodeFailed(error) }

  package static func unstored(
    _ key: String, _ className: String, isView: Bool = false
  ) -> ReportNote {
    .referenceNotStored(key: key, className: className)
  }
}

extension ElementOutcome {
  package static func crowdedOut(since: Date, byteCount: Int) -> ElementOutcome {
    .expired(since: since, byteCount: byteCount)
  }
}

/// What a keeper says if nothing was restored.
package enum KeeperProblem {
  package static let notRestoredYet = "Nothing was restored yet. Call restore(into:) at launch."
  package static let locked =
    "Nothing restored: the key is locked. Restore again when it is unlocked."

  package static func tooOld(setAsideAt location: String?) -> String {
    "Nothing restored: the state is older than policy.maximumAge."
      + (location.map { " What was stored is set aside at \($0)." }
        ?? " The next save sets it aside.")
  }

  package static func inUse(by process: String) -> String {
    "Nothing restored: \(process) has the state. End that one, and launch again."
  }
}

/// A key that is made when it is first needed, and can be locked and lost.
package final class MemoryKeyProvider: KeyProvider {
  private let stored = Mutex<ArchiveKey?>(nil)
  /// How often the key is given out before it is locked.
  private let locked = Mutex(Int.max)

  package init() {}

  package let location: String? = "keyring"

  package var isLocked: Bool {
    get { locked.withLock { $0 == 0 } }
    set { locked.withLock { $0 = newValue ? 0 : .max } }
  }

  /// Locks when the key has been given out so often.
  package func lock(after count: Int) {
    locked.withLock { $0 = count }
  }

  package func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
    let isGivenOut = locked.withLock { left in
      defer { if left > 0, left < .max { left -= 1 } }
      return left > 0
    }
    guard isGivenOut else { throw .keyLocked(at: location) }
    return try stored.withLock { stored throws(ArchiveError) in
      if stored == nil, creating { stored = try ArchiveKey() }
      return stored
    }
  }

  package func lose() {
    stored.withLock { $0 = nil }
  }

  /// Gives another key from now on: a new one, or one of before.
  ///
  /// - Returns: The key of before.
  /// - Throws: Nothing that a test expects.
  @discardableResult
  package func exchange(by other: ArchiveKey? = nil) throws -> ArchiveKey? {
    let other = if let other { other } else { try ArchiveKey() }
    return stored.withLock { stored in
      defer { stored = other }
      return stored
    }
  }
}
