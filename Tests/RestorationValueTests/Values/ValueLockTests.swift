import Foundation
import Observation
import RestorationKit
import RestorationTesting
import Synchronization
import TestSupport
import XCTest

/// Values and fields that several threads change at once, each change in one step.
@MainActor
final class ValueLockTests: XCTestCase {
  private let tester = RestorationTester()

  private nonisolated static let changes = 2000

  private func begin(roots: @escaping @MainActor () -> [any RestorableNode] = { [] }) async throws {
    try await Restoration.begin("org.example.lock", signals: [], roots: roots)
  }

  /// Runs a body many times, on all threads of the machine.
  private nonisolated func onThreads(_ body: @escaping @Sendable () -> Void) async {
    await withTaskGroup { group in
      for _ in 0..<Self.changes { group.addTask { body() } }
    }
  }

  private struct App: Sendable {
    @Restored("wrapped") var wrapped = 0

    func add() { _wrapped.withLock { $0 += 1 } }
  }

  func testNoChangeOfAValueIsLost() async throws {
    try await tester.launch {
      try await begin()
      let count = RestoredValue("count", default: 0)
      await onThreads { count.withLock { $0 += 1 } }
      let app = App()
      await onThreads { app.add() }
      await Restoration.end()
    }
    try await tester.launch {
      try await begin()
      XCTAssertEqual(RestoredValue("count", default: 0).value, Self.changes)
      XCTAssertEqual(App().wrapped, Self.changes)
    }
  }

  /// Unchecked, since all that it has are fields with a lock.
  private final class Screen: RestorableScreen, @unchecked Sendable {
    @Restored var count = 0
    @Restored("lines") var lines: [String] = []

    func add() { withLock(\._count) { $0 += 1 } }
    func append(_ line: String) { withLock(\._lines) { $0.append(line) } }
  }

  func testNoChangeOfAFieldIsLostAndEachIsAnnounced() async throws {
    let long = Array(repeating: String(repeating: "x", count: 100), count: 100)
    try await tester.launch {
      let screen = Screen()
      try await begin { [screen] }
      screen.lines = long
      let autosave = try XCTUnwrap(Restoration.keeper).autosave(every: .seconds(3600)) { [screen] }
      await autosave.flush()
      await onThreads { screen.add() }
      XCTAssertTrue(autosave.needsSave)
      await autosave.flush()
      XCTAssertFalse(autosave.needsSave)
      // A long field has a record of its own.
      screen.append("last")
      XCTAssertTrue(autosave.needsSave)
      await autosave.flush()
    }
    try await tester.launch {
      let screen = Screen()
      try await begin { [screen] }
      XCTAssertEqual(screen.count, Self.changes)
      XCTAssertEqual(screen.lines, long + ["last"])
    }
  }

  func testTheFirstUseOfAFieldMayBeALock() async throws {
    try await tester.launch {
      let screen = Screen()
      try await begin { [screen] }
      screen.add()
      screen.append("first")
      await Restoration.end()
      XCTAssertEqual(Restoration.problems, [])
    }
    try await tester.launch {
      let screen = Screen()
      try await begin { [screen] }
      XCTAssertEqual(screen.count, 1)
      XCTAssertEqual(screen.lines, ["first"])
    }
  }

  func testASetOfAnotherThreadComesBeforeOrAfterTheBody() async throws {
    try await tester.launch {
      try await begin()
      let count = RestoredValue("count", default: 0)
      let isSet = DispatchSemaphore(value: 0)
      let setting = count.withLock { value in
        let setting = Task { @concurrent in
          count.value = 100
          isSet.signal()
        }
        XCTAssertEqual(isSet.wait(timeout: .now() + .milliseconds(50)), .timedOut)
        value += 1
        return setting
      }
      await setting.value
      XCTAssertEqual(count.value, 100)
    }
  }

  func testABodyMayReadAndThrowAndHasAResult() async throws {
    struct Own: Error, Equatable {}
    try await tester.launch {
      try await begin()
      let count = RestoredValue("count", default: 5)
      let before = count.withLock { value in
        defer { value += count.value }
        return value
      }
      XCTAssertEqual([before, count.value], [5, 10])
      do throws(Own) {
        try count.withLock { value throws(Own) in
          value = 0
          throw Own()
        }
        XCTFail("It did not throw.")
      } catch {
        XCTAssertEqual(error, Own())
      }
      XCTAssertEqual(count.value, 10)
    }
  }

  func testObservationSeesAChange() async throws {
    try await tester.launch {
      try await begin()
      let count = RestoredValue("count", default: 0)
      let changes = Mutex(0)
      withObservationTracking {
        _ = count.value
      } onChange: {
        // Code that reads the value in the midst of the change must not wait for it.
        let value = count.value
        changes.withLock { $0 += value + 1 }
      }
      count.withLock { $0 += 1 }
      XCTAssertEqual(changes.withLock { $0 }, 1)
    }
  }
}
