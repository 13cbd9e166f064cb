internal import ArchiveCodec
package import Foundation
package import RestorationKit
package import RestorationSharing
import Synchronization

/// The time of a device.
private final class DeviceTime: Sendable {
  private let date = Mutex(Date(timeIntervalSinceReferenceDate: 800_000_000))

  func withLock<Value: Sendable>(_ body: (inout sending Date) -> sending Value) -> Value {
    date.withLock(body)
  }
}

/// A machine that shares states with others through a store.
@MainActor
package final class Device {
  package let name: String
  package let store: any RemoteStateStore
  package let keys: any KeyProvider
  /// What outlasts a launch on this machine; nil if nothing does.
  package let localCopy: (any StateDirectory)?
  package var now: Date {
    get { clock.withLock { $0 } }
    set { clock.withLock { $0 = newValue } }
  }
  package var lease: RemoteLease?
  /// The clock of the pauses before the store is asked again.
  package var pauses: any Clock<Duration> = ContinuousClock()
  private let clock = DeviceTime()

  package init(
    _ name: String, _ store: any RemoteStateStore, keys: any KeyProvider,
    localCopy: (any StateDirectory)? = nil
  ) {
    (self.name, self.store, self.keys, self.localCopy) = (name, store, keys, localCopy)
  }

  /// A keeper of a new process; what the store and the local copy have is there.
  package func launch(_ state: String = "main") throws -> StateKeeper {
    try StateKeeper(
      application: Launch.application, name: state,
      directory: RemoteStateDirectory(
        store, localCopy: localCopy, launches: nil, lease: lease, clock: pauses,
        now: { [clock] in clock.withLock { $0 } }),
      keys: keys,
      environment: ApplicationEnvironment(
        applicationVersion: "11", userInterfaceIdiom: "test", systemVersion: "6.1",
        deviceName: name),
      now: { [self] in now })
  }

  /// How many bytes the archive has in what a store has of a state.
  package static func archiveByteCount(
    of stored: [UInt8], keys: any KeyProvider
  ) async throws -> Int {
    let (store, copy) = (MemoryRemoteStateStore(), MemoryStateDirectory())
    store[bytes: "main"] = stored
    _ = try await Device("reader", store, keys: keys, localCopy: copy).launch().restore()
    return copy.memory(named: "main").bytes?.count ?? 0
  }

  /// What a new process brings back of a node named `root`.
  package func restoredValue(_ state: String = "main") async throws -> String? {
    let root = TestNode("root")
    _ = try await launch(state).restore(into: [root])
    return root.value
  }
}

extension MemoryStateDirectory {
  /// The bytes of the older states of `main` that no restore may try, the oldest first.
  package func asideBytes() throws -> [[UInt8]] {
    let prefix = "main.history-"
    return try names().filter { $0.hasPrefix(prefix) }.sorted().compactMap { name in
      let moment = Moment(id: String(name.dropFirst(prefix.count)))
      return moment?.reason.isRestorable == false ? memory(named: name).bytes : nil
    }
  }

  /// Whether `main` is not there, or was discarded: then it has nothing but the bytes of an empty archive.
  package var isMainGone: Bool {
    (memory(named: "main").bytes?.count ?? 0) < Self.largestEmpty
  }

  private static let largestEmpty = 450
}

extension StateKeeper {
  /// The older states that a restore may try.
  package func generations() async throws(RestorationError) -> [Moment] {
    try await history().filter(\.reason.isRestorable)
  }
}

extension Moment.Reason {
  package static var unreadable: Moment.Reason { .damaged }
}

extension RemoteStateStore {
  /// The names of the older states of `main` in the store.
  package func asides(_ reason: String = "") async throws -> [String] {
    try await names(prefix: "main.history-").filter { $0.contains("-\(reason)") }
  }
}
