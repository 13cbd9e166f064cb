import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

#if RESTORATION_NEXT
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
    await scene.discardKeptState(of: root)
    let none = try await host.save(scene).kept
    XCTAssertEqual(none, [])
  }
}
#else
/// States that were set aside, and how they come back.
@MainActor
final class SetAsideStateTests: XCTestCase {
  private let launch = Launch()

  private func save(_ value: String) async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    _ = try await keeper.save([TestNode("a", value: value)])
  }

  /// Saves without having read, so that what is stored is set aside.
  private func saveUnread(_ value: String) async throws {
    _ = try await launch.keeper().save([TestNode("a", value: value)])
  }

  private func restore(_ keeper: StateKeeper) async throws -> String? {
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    return node.value
  }

  /// A launch that has set aside a state that crashed.
  private func crashed(_ value: String = "typed for hours") async throws -> StateKeeper {
    try await save(value)
    for _ in 1...2 { try await launch.crash() }
    let keeper = try launch.keeper()
    let report = try await keeper.restore()
    XCTAssertEqual(report.outcome, .crashed(setAsideAt: "memory 1"))
    return keeper
  }

  func testAStateThatCrashedIsListedAsThatAndComesBack() async throws {
    let keeper = try await crashed()
    let kept = try await keeper.setAsideStates()
    XCTAssertEqual(kept.map(\.reason), [.crashed])
    XCTAssertEqual(kept.map(\.date), [launch.now])
    XCTAssertEqual(kept.map(\.location), ["memory 1"])
    try await keeper.putBack(try XCTUnwrap(kept.first))
    XCTAssertEqual(keeper.status, .notRestoredYet)
    XCTAssertNil(launch.markerBytes)
    let value = try await restore(keeper)
    XCTAssertEqual(value, "typed for hours")
    let left = try await keeper.setAsideStates()
    XCTAssertEqual(left, [])
  }

  func testEveryReasonIsTold() async throws {
    try await save("first")
    try await saveUnread("second")
    launch.storedBytes?[100] ^= 1
    try await saveUnread("third")
    let kept = try await launch.keeper().setAsideStates()
    XCTAssertEqual(kept.map(\.reason), [.unread, .unreadable])
    XCTAssertEqual(Set(kept.map(\.id)).count, 2)
  }

  func testTheStateThatMakesRoomIsKeptAndCanComeBackAgain() async throws {
    let keeper = try await crashed("old")
    _ = try await keeper.save([TestNode("a", value: "new")])
    for expected in ["old", "new", "old"] {
      let kept = try await keeper.setAsideStates()
      XCTAssertEqual(kept.count, 1)
      try await keeper.putBack(try XCTUnwrap(kept.first))
      let value = try await restore(keeper)
      XCTAssertEqual(value, expected)
    }
    let kept = try await keeper.setAsideStates()
    XCTAssertEqual(kept.map(\.reason), [.replaced])
  }

  func testASaveAfterAStateWasPutBackSetsItAsideAndDoesNotReplaceIt() async throws {
    let keeper = try await crashed()
    _ = try await keeper.save([TestNode("a", value: "new")])
    let kept = try await keeper.setAsideStates()
    try await keeper.putBack(try XCTUnwrap(kept.first))
    let report = try await keeper.save([TestNode("a", value: "newer")])
    XCTAssertNotNil(report.setAside)
    let reasons = try await keeper.setAsideStates().map(\.reason)
    XCTAssertEqual(reasons, [.replaced, .unread])
  }

  func testAStateThatCannotBeReadStaysWhereItIs() async throws {
    try await save("first")
    launch.storedBytes?[100] ^= 1
    try await saveUnread("second")
    let before = launch.storedBytes
    let keeper = try launch.keeper()
    let kept = try await keeper.setAsideStates()
    let first = try XCTUnwrap(kept.first)
    await assertThrows(
      WholeError(ArchiveError(.damaged, offset: 32, subject: "header", location: "memory 1"))
    ) {
      try await keeper.putBack(first)
    }
    XCTAssertEqual(launch.storedBytes, before)
    let after = try await keeper.setAsideStates()
    XCTAssertEqual(after, kept)

    launch.keys.isLocked = true
    await assertThrows(WholeError(ArchiveError.keyLocked(at: "keyring"))) {
      try await keeper.putBack(first)
    }
    XCTAssertEqual(launch.storedBytes, before)
  }

  func testAStateThatIsGoneIsAnErrorAndChangesNothing() async throws {
    let keeper = try await crashed()
    _ = try await keeper.save([TestNode("a", value: "new")])
    let before = launch.storedBytes
    let kept = try await keeper.setAsideStates()
    let first = try XCTUnwrap(kept.first)
    try await keeper.removeSetAside(first)
    try await keeper.removeSetAside(first)
    let left = try await keeper.setAsideStates()
    XCTAssertEqual(left, [])
    await assertThrows(
      WholeError(
        .setAsideStateMissing, "The state is not there any more. Ask for setAsideStates() again.")
    ) {
      try await keeper.putBack(first)
    }
    XCTAssertEqual(launch.storedBytes, before)
  }

  func testWhateverFailsWhileAStateIsPutBackBothAreThere() async throws {
    for failing in [HookedStore.Call.replace, .removeSetAside] {
      let launch = Launch()
      _ = try await launch.keeper().save([TestNode("a", value: "one")])
      let second = try launch.keeper()
      _ = try await second.save([TestNode("a", value: "two")])
      // What a thread still has of a keeper that is gone keeps its state.
      await second.close()
      let before = launch.storedBytes
      let stored = Set(([before] + launch.setAside).compactMap(\.self))
      XCTAssertEqual(stored.count, 2)
      let store = HookedStore(launch.store) { _, call throws(ArchiveError) in
        if call == failing { throw ArchiveError(.inputOutput) }
      }
      let keeper = try StateKeeper(
        application: Launch.application, directory: store, keys: launch.keys)
      let kept = try await keeper.setAsideStates()
      let first = try XCTUnwrap(kept.first)
      if failing == .removeSetAside {
        // It is in its place, and set aside as well.
        try await keeper.putBack(first)
        XCTAssertEqual(launch.setAside.count, 2)
        XCTAssertNotEqual(launch.storedBytes, before)
      } else {
        await assertThrows(WholeError(ArchiveError(.inputOutput))) {
          try await keeper.putBack(first)
        }
        XCTAssertEqual(launch.setAside.count, 1)
        XCTAssertEqual(launch.storedBytes, before)
      }
      let left = Set(([launch.storedBytes] + launch.setAside).compactMap(\.self))
      XCTAssertEqual(left, stored)
    }
  }

  func testOnAFullDiskAStateThatIsPutBackStaysWhereItIs() async throws {
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
    let kept = try await next.setAsideStates()
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
    XCTAssertNil(saved.setAside)
    try await next.putBack(try XCTUnwrap(kept.first))
    _ = try await next.restore(into: [root])
    XCTAssertEqual(root.value, "one")
  }

  // MARK: The bound

  private let day: TimeInterval = 24 * 3600

  /// Sets a state aside on each of the days, and says of which day those are
  /// that stay.
  private func days(
    _ days: [Double], bound: SetAsideBound? = nil
  ) async throws -> [Double] {
    let launch = Launch()
    let start = launch.now
    _ = try await launch.keeper().save([TestNode("a")])
    for number in days {
      launch.now = start + number * day
      let keeper = try launch.keeper()
      if let bound { keeper.policy.setAsideBound = bound }
      let report = try await keeper.save([TestNode("a")])
      XCTAssertNotNil(report.setAside)
    }
    return try await launch.keeper().setAsideStates().map { $0.date.timeIntervalSince(start) / day }
  }

  func testTheOldestAndTheTwoNewestStayAndAllOfTheLastThirtyDays() async throws {
    let old = try await days([0, 1, 2, 3, 100, 101, 102])
    XCTAssertEqual(old, [0, 100, 101, 102])
    let rare = try await days([0, 100, 200, 300, 400])
    XCTAssertEqual(rare, [0, 300, 400])
    let many = try await days((0..<40).map { Double($0) / 2 })
    XCTAssertEqual(many.count, 40, "None is older than 30 days.")
    let atTheLimit = try await days([0, 1, 30.9, 31])
    XCTAssertEqual(atTheLimit, [0, 30.9, 31])
  }

  func testAnAppSetsItsOwnBound() async throws {
    let one = try await days(
      [0, 1, 2, 3], bound: SetAsideBound(oldestCount: 0, newestCount: 1, age: 0))
    XCTAssertEqual(one, [3])
    let noOldest = try await days([0, 100, 200, 300], bound: SetAsideBound(oldestCount: 0))
    XCTAssertEqual(noOldest, [200, 300])
    let oldest = try await days(
      [0, 1, 2, 3], bound: SetAsideBound(oldestCount: 2, newestCount: -1, age: 0))
    XCTAssertEqual(oldest, [0, 1, 3], "The one that was set aside last stays for now.")
    let none = try await days(
      [0, 1, 2], bound: SetAsideBound(oldestCount: .min, newestCount: .min, age: -.infinity))
    XCTAssertEqual(none, [2])
    let all = try await days(
      [0, 100, 200, 300], bound: SetAsideBound(oldestCount: .max, newestCount: .max, age: .nan))
    XCTAssertEqual(all, [0, 100, 200, 300])
    let noAge = try await days(
      [0, 100, 200, 300], bound: SetAsideBound(oldestCount: 0, newestCount: 0, age: .nan))
    XCTAssertEqual(noAge, [0, 100, 200, 300])
  }

  func testAClockThatIsSetBackRemovesNothing() async throws {
    let back = try await days([100, 101, 102, 103, 0])
    XCTAssertEqual(back.sorted(), [0, 100, 101, 102, 103])
  }

  func testTheBoundOfOneStateLeavesOthersAlone() async throws {
    let bound = SetAsideBound(oldestCount: 0, newestCount: 0, age: 0)
    for name in ["main", "other"] {
      for _ in 1...2 {
        let keeper = try StateKeeper(
          application: Launch.application, name: name, directory: launch.store, keys: launch.keys)
        keeper.policy.setAsideBound = bound
        _ = try await keeper.save([TestNode("a")])
      }
    }
    XCTAssertEqual(launch.store.memory(named: "main").setAsideBytes.count, 1)
    XCTAssertEqual(launch.store.memory(named: "other").setAsideBytes.count, 1)
  }

  // MARK: Discarding and closing

  func testADiscardedStateLeavesWhatWasSetAsideUnlessItIsToGo() async throws {
    let keeper = try await crashed()
    try await keeper.discardState()
    let kept = try await keeper.setAsideStates()
    XCTAssertEqual(kept.count, 1)
    try await keeper.discardState(includingSetAside: true)
    let left = try await keeper.setAsideStates()
    XCTAssertEqual(left, [])
  }

  /// A host that has set aside the state of a scene, which crashed, and the scene
  /// that connected without it.
  private func crashedScene(_ app: SceneLaunch) async throws -> (SceneHost, RestorableScene) {
    let stored = try await app.store(7, in: try await app.host())
    let marker = app.launch.store.memory(named: "main.scene-\(stored).launch")
    // Two more than the threshold, since nothing says where they crashed.
    for _ in 1...4 {
      var marked: [UInt8]?
      app.prepare = { delegate in
        let root = TestNode("root")
        root.onDecode = { _ in marked = marker.bytes }
        delegate.roots = [root]
      }
      await (try await app.host()).restoreScenes()
      marker.bytes = try XCTUnwrap(marked).dropLast(8)
    }
    app.prepare = nil
    let host = try await app.host()
    await host.restoreScenes()
    let scene = try XCTUnwrap(host.connectedScenes.first)
    XCTAssertEqual(try scene.restoration?.get().outcome, .crashed(setAsideAt: "memory 1"))
    scene.session.userInfo = ["fresh": .bool(true)]
    try await host.save(scene)
    return (host, scene)
  }

  func testAStateOfASceneComesBackWhenItIsConnectedAgain() async throws {
    let app = SceneLaunch()
    let (host, scene) = try await crashedScene(app)
    let session = scene.session
    let kept = try await host.setAsideStates(of: session)
    XCTAssertEqual(kept.map(\.reason), [.crashed])
    let first = try XCTUnwrap(kept.first)
    await assertThrows(
      WholeError(
        .connected,
        "The session has a scene, which would save over its state. Disconnect the scene first.")
    ) {
      try await host.putBack(first, of: session)
    }
    try await host.disconnect(scene)
    try await host.putBack(first, of: session)
    XCTAssertEqual(session.stateRestorationActivity?.id, 7)
    XCTAssertEqual(session.userInfo, ["kept": .integer(7)])
    let root = TestNode("root")
    app.prepare = { $0.roots = [root] }
    let again = try await host.connect(session)
    XCTAssertEqual(root.value, "7")
    XCTAssertEqual(DraftModel(again).draft, "draft 7")
    let left = try await host.setAsideStates(of: session)
    XCTAssertEqual(left.map(\.reason), [.replaced])
    try await host.removeSetAside(try XCTUnwrap(left.first), of: session)
    let none = try await host.setAsideStates(of: session)
    XCTAssertEqual(none, [])
  }

  func testTheGenerationOfAWindowThatANewerVersionHasReplacedIsListedAndPutBack() async throws {
    let app = SceneLaunch()
    try await app.store(7, in: app.host())
    app.launch.environment = ApplicationEnvironment(applicationVersion: "12")
    let root = TestNode("root")
    app.prepare = { $0.roots = [root] }
    let host = try await app.host()
    let session = try XCTUnwrap(host.openSessions.first)
    let scene = try await host.connect(session)
    root.value = "newer"
    try await host.save(scene)
    let generations = try await host.generations(of: session)
    XCTAssertEqual(generations.map(\.reason), [.upgraded])
    try await host.disconnect(scene)
    try await host.putBack(try XCTUnwrap(generations.first), of: session)
    try await host.connect(session)
    XCTAssertEqual(root.value, "7")
    let other = SceneLaunch()
    try await other.store(8, in: other.host())
    let others = try await other.host()
    let stranger = try XCTUnwrap(others.openSessions.first)
    let none = try await host.generations(of: stranger)
    XCTAssertEqual(none, [])
  }

  func testAWindowGivesUpTheStateThatItsNodeHasKept() async throws {
    let app = SceneLaunch()
    try await app.store(7, in: app.host())
    let root = TestNode("root")
    root.onDecode = { $0.keep(because: "It is locked.") }
    app.prepare = { $0.roots = [root] }
    let host = try await app.host()
    let scene = try await host.connect(try XCTUnwrap(host.openSessions.first))
    let kept = try await host.save(scene).kept
    XCTAssertEqual(kept.map(\.path.description), ["root"])
    await scene.discardKeptState(of: root)
    let none = try await host.save(scene).kept
    XCTAssertEqual(none, [])
  }

  func testOfAClosedWindowNothingStaysThatWasSetAside() async throws {
    for isClosedByTheEnd in [false, true] {
      let app = SceneLaunch()
      let (host, scene) = try await crashedScene(app)
      let session = scene.session
      let name = "main.scene-\(session.persistentIdentifier)"
      XCTAssertEqual(app.launch.store.memory(named: name).setAsideBytes.count, 1)
      if isClosedByTheEnd {
        try await host.terminate(closingScenes: true)
      } else {
        try await host.close(scene)
      }
      XCTAssertEqual(app.launch.store.memory(named: name).setAsideBytes, [])
      let kept = try await host.setAsideStates(of: session)
      XCTAssertEqual(kept, [])
    }
  }

  // MARK: Files

  /// The file of the lock without the note behind each of its two archives.
  private func withoutNotes(_ file: [UInt8]) -> [UInt8] {
    var file = file
    for slot in [128, 2112] {
      let count = file[slot + 16..<slot + 20].reversed().reduce(0) { $0 << 8 | Int($1) }
      for byte in slot + 36 + count..<slot + 44 + count { file[byte] = 0 }
    }
    return file
  }

  func testAStateInAFileThatCrashedIsReadableUnderANameThatSaysSo() async throws {
    let directory = try TemporaryDirectory()
    let store = FileStateDirectory(path: directory.path)
    func keeper() throws -> StateKeeper {
      try StateKeeper(
        application: Launch.application, directory: store, keys: launch.keys,
        now: { [launch] in launch.now })
    }
    _ = try await keeper().save([TestNode("a", value: "typed for hours")])
    // Two more than the threshold, since nothing says where they crashed.
    for _ in 1...4 {
      let node = TestNode("a")
      var marker: [UInt8]?
      node.onDecode = { _ in marker = try directory.bytes(of: ".main.rka.lock") }
      let crashing = try keeper()
      _ = try await crashing.restore(into: [node])
      await crashing.close()
      try directory.write(withoutNotes(try XCTUnwrap(marker)), to: ".main.rka.lock")
    }
    let crashed = try keeper()
    let report = try await crashed.restore()
    let kept = try await crashed.setAsideStates()
    let first = try XCTUnwrap(kept.first)
    XCTAssertEqual(report.outcome, .crashed(setAsideAt: first.location))
    XCTAssertEqual(kept.map(\.reason), [.crashed])
    XCTAssertEqual(kept.map(\.date), [launch.now])
    XCTAssertTrue(first.location.hasPrefix(directory.child("main.rka.crashed-")))
    await crashed.close()
    XCTAssertEqual(try directory.names().count, 1)

    _ = try await crashed.save([TestNode("a", value: "new")])
    try await crashed.putBack(first)
    let value = try await restore(crashed)
    XCTAssertEqual(value, "typed for hours")
    let left = try await crashed.setAsideStates()
    XCTAssertEqual(left.map(\.reason), [.replaced])
    await crashed.close()
    XCTAssertEqual(try directory.names().filter { $0 != ".main.rka.lock" }.count, 2)
  }
}
#endif
