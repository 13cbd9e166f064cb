import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

@MainActor
final class RestoreOverlapTests: XCTestCase {
  /// What happened, on whatever thread, without repetitions in a row.
  private final class Log: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) {
      lines.withLock { if $0.last != line { $0.append(line) } }
    }
  }

  func testRestoresAtOnceFollowOneAnotherAndASaveIsInTheMidstOfNone() async throws {
    let launch = Launch()
    _ = try await launch.keeper().save([TestNode("a", value: "x")])
    for _ in 1...20 {
      let log = Log()
      let store = HookedStore(launch.store) { name, call in
        guard name == "main", call == .open || call.isChange else { return }
        log.add(call.isChange ? "write" : "read")
      }
      let keeper = try StateKeeper(
        application: Launch.application, directory: store, keys: launch.keys)
      let nodes = (1...4).map { _ in TestNode("a") }
      let restores = nodes.map { node in
        node.onDecode = { _ in log.add("decode") }
        return Task { @MainActor in _ = try await keeper.restore(into: [node]) }
      }
      await Task.yield()
      let save = Task { @MainActor in _ = try await keeper.save([nodes[0]]) }
      for restore in restores { try await restore.value }
      try await save.value
      XCTAssertEqual(nodes.map(\.value), ["x", "x", "x", "x"])
      let decodes = zip(log.all, log.all.dropFirst()).filter { $1 == "decode" }
      XCTAssertEqual(decodes.map(\.0), Array(repeating: "read", count: 4), "\(log.all)")
      // A save writes nothing where nothing has changed.
      XCTAssertLessThanOrEqual(log.all.count { $0 == "write" }, 1)
    }
  }

  func testASaveThatHasWalkedBeforeARestoreIsWrittenBeforeIt() async throws {
    // Who of both gets the state first is a matter of chance.
    for _ in 1...8 {
      let launch = Launch()
      _ = try await launch.keeper().save([TestNode("a", value: "real")])
      let stored = try XCTUnwrap(launch.storedBytes)
      launch.endProcess()
      let keeper = try StateKeeper(
        application: Launch.application, directory: launch.store, keys: launch.keys)
      keeper.policy.isSingleInstance = true
      // Another instance has the state, and lets it go while both wait.
      var lock: (any ArchiveLock)? = try launch.store.storage(named: "main").lock()
      XCTAssertNotNil(lock)
      let walked = TestNode("a", value: "default")
      var isRestoring = false
      walked.onEncode = { _ in isRestoring = true }
      let save = Task { @MainActor in try await keeper.save([walked]) }
      try await waitUntil("the save has walked") { isRestoring }
      let back = TestNode("a")
      let restore = Task { @MainActor in try await keeper.restore(into: [back]) }
      try await Task.sleep(for: .milliseconds(20))
      lock = nil
      let saved = try await save.value
      let restored = try await restore.value
      XCTAssertEqual(saved.outcome, .saved)
      XCTAssertEqual(saved.setAside, launch.asideLocation)
      XCTAssertEqual(saved.notes, [.notRestoredBefore])
      XCTAssertEqual(launch.setAside, [stored])
      XCTAssertEqual(restored.outcome, .restored)
      XCTAssertEqual(back.value, "default")
    }
  }
}
