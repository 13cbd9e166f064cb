package import Foundation
package import RestorationKit
package import RestorationSharing
import Synchronization

/// The time of a device.
private final class Moment: Sendable {
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
  private let clock = Moment()

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

  /// What a new process brings back of a node named `root`.
  package func restoredValue(_ state: String = "main") async throws -> String? {
    let root = TestNode("root")
    _ = try await launch(state).restore(into: [root])
    return root.value
  }
}

extension RemoteStateStore {
  /// The names of the older states of `main`, as each core gives them.
  package func asides(_ reason: String = "") async throws -> [String] {
    #if RESTORATION_NEXT
    try await names(prefix: "main.history-").filter { $0.contains("-\(reason)") }
    #else
    try await names(prefix: "main.aside.\(reason)")
    #endif
  }
}
