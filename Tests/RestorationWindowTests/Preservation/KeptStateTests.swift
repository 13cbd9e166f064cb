import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// States in the history, and how they come back.
@MainActor
final class SetAsideStateTests: XCTestCase {
  private let launch = Launch()

  func testAMomentThatIsGoneIsAnErrorAndChangesNothing() async throws {
    for value in ["old", "new"] {
      _ = try await launch.keeper().save([TestNode("a", value: value)])
    }
    let before = launch.storedBytes
    let keeper = try launch.keeper()
    let kept = try await keeper.history()
    let first = try XCTUnwrap(kept.first)
    try await keeper.remove(first)
    try await keeper.remove(first)
    let left = try await keeper.history()
    XCTAssertEqual(left, [])
    let error = await restorationError { try await keeper.putBack(first) }
    XCTAssertNotNil(error)
    XCTAssertEqual(launch.storedBytes, before)
  }

  func testOnAFullDiskAMomentThatIsPutBackStaysWhereItIs() async throws {
    let (disk, keys) = (FaultyDisk(seed: 1), MemoryKeyProvider())
    @MainActor func keeper() throws -> StateKeeper {
      try StateKeeper(application: Launch.application, directory: disk.process(), keys: keys)
    }
    for value in ["one", "two"] {
      let keeper = try keeper()
      _ = try await keeper.save([TestNode("a", value: value)])
      await keeper.close()
    }
    let next = try keeper()
    let root = TestNode("a")
    _ = try await next.restore(into: [root])
    XCTAssertEqual(root.value, "two")
    let kept = try await next.history()
    let before = disk.names.map { disk.bytes(of: $0) }
    disk.isFull = true
    await assertThrows(WholeError(ArchiveError(.storageFull, systemError: ENOSPC))) {
      try await next.putBack(try XCTUnwrap(kept.first))
    }
    XCTAssertEqual(disk.names.map { disk.bytes(of: $0) }, before)
    disk.isFull = false
    // The state that stays is still the one that was restored.
    root.value = "three"
    let saved = try await next.save([root])
    XCTAssertEqual(saved.problems, [])
    try await next.putBack(try XCTUnwrap(kept.first))
    _ = try await next.restore(into: [root])
    XCTAssertEqual(root.value, "one")
  }

  func testTheBoundOfOneStateLeavesOthersAlone() async throws {
    let start = launch.now
    for name in ["main", "other"] {
      for day in [0.0, 100, 200, 300, 400] {
        let keeper = try StateKeeper(
          application: Launch.application, name: name, directory: launch.store, keys: launch.keys,
          now: { start + day * 24 * 3600 })
        _ = try await keeper.save([TestNode("a", value: "\(day)")])
        await keeper.close()
      }
    }
    for name in ["main", "other"] {
      let keeper = try StateKeeper(
        application: Launch.application, name: name, directory: launch.store, keys: launch.keys)
      let kept = try await keeper.history()
      let days = kept.map { $0.date.timeIntervalSince(start) / 24 / 3600 }
      XCTAssertEqual(days, [100, 300, 400], "The oldest and the two newest stay.")
      XCTAssertEqual(kept.map(\.reason), [.unread, .unread, .unread])
    }
  }

  func testAWindowGivesUpTheStateThatItsNodeHasNotRead() async throws {
    struct Locked: Error {}
    let app = SceneLaunch()
    try await app.store(7, in: app.host())
    let root = TestNode("root")
    root.onDecode = { _ in throw Locked() }
    app.prepare = { $0.roots = [root] }
    let host = try await app.host()
    let scene = try await host.connect(try XCTUnwrap(host.openSessions.first))
    root.value = "typed"
    let kept = try await host.save(scene).kept
    XCTAssertEqual(kept.map(\.path.description), ["root"])
    await host.keeper.discardKeptState(of: root)
    let none = try await host.save(scene).kept
    XCTAssertEqual(none, [])
  }
}
