import ArchiveCodec
package import RestorationKit
import Synchronization
public import XCTest

/// What the tests of saves by themselves share.
@MainActor
open class AutosaveTestCase: XCTestCase {
  package static let interval = Duration.milliseconds(250)

  package let launch = Launch()
  package let clock = TestClock()
  package let disk = AutosaveDisk()
  package let node = TrackedNode("root")
  package var events: [Result<PreservationReport, RestorationError>] = []

  /// A keeper whose writes are counted, after its restore.
  package func keeper() async throws -> StateKeeper {
    let keeper = try newKeeper()
    _ = try await keeper.restore(into: [node])
    return keeper
  }

  package func newKeeper() throws -> StateKeeper {
    try StateKeeper(
      application: Launch.application, directory: disk.directory(launch.store), keys: launch.keys)
  }

  /// One of the test's node, or of another one.
  package func autosave(_ keeper: StateKeeper, of other: (any RestorableNode)? = nil) -> Autosave {
    keeper.autosave(every: Self.interval, clock: clock) { [unowned self] in
      [other ?? node]
    } told: { [unowned self] in
      events.append($0)
    }
  }

  /// One that has made its first save.
  package func begun(
    _ keeper: StateKeeper, of other: (any RestorableNode)? = nil
  ) async throws -> Autosave {
    let autosave = autosave(keeper, of: other)
    try await told(1)
    try await pauses([Self.interval])
    return autosave
  }

  /// One that has made its first save, and makes the next one at once.
  package func idle(
    _ keeper: StateKeeper, of other: (any RestorableNode)? = nil
  ) async throws -> Autosave {
    let autosave = try await begun(keeper, of: other)
    clock.advance(by: Self.interval)
    return autosave
  }

  package func told(_ count: Int) async throws {
    try await waitUntil("\(count) events are told") { events.count >= count }
  }

  /// Waits until those who sleep do so for so long.
  package func pauses(_ sleeps: [Duration]) async throws {
    try await waitUntil("the sleeps are \(sleeps)") { clock.sleeps == sleeps }
  }

  /// Lets the time after a save go by.
  package func passInterval() async throws {
    try await pauses([Self.interval])
    clock.advance(by: Self.interval)
  }

  /// Changes the node, and waits until the save of that is held up.
  package func holdUpSave(of value: String) async throws {
    disk.gate.holdUp()
    node.value = value
    try await waitUntil("a write is held up") { disk.gate.isWaitedFor }
  }

  /// Gives all that could happen now the time to do so.
  package func settle() async {
    for _ in 0..<100 { await Task.yield() }
  }

  /// What the next launch finds when the keeper is closed.
  package func assertStored(
    _ value: String, by keeper: StateKeeper, line: UInt = #line
  ) async throws {
    await keeper.close()
    let stored = TrackedNode("root")
    _ = try await launch.keeper().restore(into: [stored])
    XCTAssertEqual(stored.value, value, line: line)
  }

  package var outcomes: [String] {
    events.map { event in
      switch event {
      case .success(let report): report.outcome == .saved ? "saved" : "withheld [\(report.outcome)]"
      case .failure(let error):
        "failed \(error.archive?.code == .storageFull ? "full" : "\(error.code)")"
      }
    }
  }
}

/// Counts the writes of states, fails as often as it is told, and holds them up.
package final class AutosaveDisk: Sendable {
  private struct State {
    var writes = 0
    var failures = 0
  }

  private let state = Mutex(State())
  package let gate = Gate()

  package init() {}

  package var writes: Int {
    get { state.withLock(\.writes) }
    set { state.withLock { $0.writes = newValue } }
  }
  package var failures: Int {
    get { state.withLock(\.failures) }
    set { state.withLock { $0.failures = newValue } }
  }

  package func directory(_ store: MemoryStateDirectory) -> HookedStore {
    HookedStore(store) { [self] name, call throws(ArchiveError) in
      guard call.isWrite, !name.contains("launch") else { return }
      gate.pass()
      if isFull() { throw ArchiveError(.storageFull) }
    }
  }

  private func isFull() -> Bool {
    state.withLock { state in
      guard state.failures > 0 else {
        state.writes += 1
        return false
      }
      if state.failures < .max { state.failures -= 1 }
      return true
    }
  }
}
