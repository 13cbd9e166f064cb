import ArchiveCodec
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// The end of an app that cannot wait for anything but a blocked thread.
@MainActor
final class EndNowTests: AutosaveTestCase {
  /// Long enough for any machine.
  private static let limit = Duration.seconds(60)

  private struct Broken: Error {}

  func testAChangeIsStoredWhenItReturnsAndTheAutosaveHasEnded() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    node.value = "1"
    XCTAssertTrue(keeper.endNow(within: Self.limit))
    XCTAssertEqual(disk.writes, 2)
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    XCTAssertFalse(keeper.endNow(within: Self.limit))
    try await assertStored("1", by: keeper)
  }

  func testItAsksNodesThatSayNothingAndAppendsWhatHasChanged() async throws {
    let keeper = try await keeper()
    let plain = PlainNode("plain")
    node.below = [plain]
    _ = try await begun(keeper)
    plain.value = "untold"
    let byteCount = try XCTUnwrap(launch.storedBytes).count
    XCTAssertTrue(keeper.endNow(within: Self.limit))
    XCTAssertLessThan(try XCTUnwrap(launch.storedBytes).count, 2 * byteCount)
    await keeper.close()
    let stored = PlainNode("plain")
    let root = TrackedNode("root")
    root.below = [stored]
    _ = try await launch.keeper().restore(into: [root])
    XCTAssertEqual(stored.value, "untold")
  }

  func testWithRootsItNeedsNoAutosave() async throws {
    let keeper = try await keeper()
    node.value = "1"
    XCTAssertFalse(keeper.endNow(within: Self.limit))
    XCTAssertEqual(disk.writes, 0)
    XCTAssertTrue(keeper.endNow(saving: [node], within: Self.limit))
    XCTAssertTrue(keeper.endNow(saving: [node], within: Self.limit))
    XCTAssertEqual(disk.writes, 1)
    try await assertStored("1", by: keeper)
  }

  // MARK: What is under way

  func testASaveWhoseEndIsNotKnownIsFollowedByAnother() async throws {
    let keeper = try await keeper()
    _ = try await idle(keeper)
    try await holdUpSave(of: "1")
    node.value = "2"
    // It goes on while this thread is blocked, and its task cannot.
    disk.gate.goOn()
    XCTAssertTrue(keeper.endNow(within: Self.limit))
    await settle()
    node.value = "3"
    _ = try await keeper.save([node])
    _ = try await keeper.save([node])
    try await assertStored("3", by: keeper)
  }

  func testAThreadThatHangsIsWaitedForNoLongerThanTheLimit() async throws {
    let keeper = try await keeper()
    _ = try await idle(keeper)
    try await holdUpSave(of: "1")
    node.value = "2"
    XCTAssertFalse(keeper.endNow(within: .milliseconds(20)))
    disk.gate.goOn()
    try await told(2)
    _ = try await keeper.save([node])
    try await assertStored("2", by: keeper)
  }

  func testAWriteThatHangsIsWaitedForNoLongerThanTheLimitAndGoesOn() async throws {
    let keeper = try await keeper()
    _ = try await idle(keeper)
    disk.gate.holdUp()
    node.value = "1"
    XCTAssertFalse(keeper.endNow(within: .milliseconds(20)))
    node.value = "2"
    disk.gate.goOn()
    _ = try await keeper.save([node])
    try await assertStored("2", by: keeper)
  }

  func testNothingIsStoredBeforeTheRestoreOrDuringIt() async throws {
    let first = try await keeper()
    node.value = "stored"
    _ = try await first.save([node])
    await first.close()
    let gate = Gate()
    let isHeldUp = Flag()
    let directory = HookedStore(disk.directory(launch.store)) { _, call throws(ArchiveError) in
      if call == .open, isHeldUp.isSet { gate.pass() }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: directory, keys: launch.keys)
    let restored = TrackedNode("root")
    XCTAssertFalse(keeper.endNow(saving: [restored], within: Self.limit))
    gate.holdUp()
    isHeldUp.isSet = true
    let restore = Task { try await keeper.restore(into: [restored]) }
    try await waitUntil("the restore reads") { gate.isWaitedFor }
    // The call waits for the file, which the restore has, and writes nothing.
    XCTAssertFalse(keeper.endNow(saving: [restored], within: .milliseconds(200)))
    gate.goOn()
    _ = try await restore.value
    XCTAssertEqual(restored.value, "stored")
    XCTAssertEqual(disk.writes, 1)
    await keeper.close()
  }

  func testAClosedKeeperStoresNothing() async throws {
    let keeper = try await keeper()
    _ = try await begun(keeper)
    await keeper.close()
    node.value = "1"
    XCTAssertFalse(keeper.endNow(within: Self.limit))
    XCTAssertEqual(disk.writes, 1)
  }

  // MARK: What is withheld

  func testALockedStateIsNotStored() async throws {
    launch.keys.isLocked = true
    let keeper = try await keeper()
    XCTAssertFalse(keeper.endNow(saving: [node], within: Self.limit))
    XCTAssertEqual(disk.writes, 0)
  }

  func testAStateThatAnotherInstanceHasIsNotStored() async throws {
    let first = try await keeper()
    _ = try await first.save([node])
    let keeper = try newKeeper()
    keeper.policy.isSingleInstance = true
    _ = try await keeper.restore(into: [node])
    XCTAssertFalse(keeper.endNow(saving: [node], within: Self.limit))
    XCTAssertEqual(disk.writes, 1)
    await first.close()
    XCTAssertTrue(keeper.endNow(saving: [node], within: Self.limit))
  }

  func testADeclinedStateIsNotStored() async throws {
    let keeper = try await keeper()
    var delegate: TestDelegate? = TestDelegate()
    keeper.delegate = delegate
    _ = try await keeper.save([node])
    XCTAssertFalse(launch.store.isMainGone)
    delegate?.saves = false
    XCTAssertFalse(keeper.endNow(saving: [node], within: Self.limit))
    // As by any save that is declined.
    XCTAssertTrue(launch.store.isMainGone)
    delegate = nil
    XCTAssertFalse(keeper.endNow(saving: [node], within: Self.limit))
    XCTAssertTrue(launch.store.isMainGone)
  }

  func testAFullDiskIsNoEndWithoutAnAnswer() async throws {
    let keeper = try await keeper()
    disk.failures = 1
    XCTAssertFalse(keeper.endNow(saving: [node], within: Self.limit))
    XCTAssertTrue(keeper.endNow(saving: [node], within: Self.limit))
  }

  // MARK: What a save reads

  func testANodeThatCannotBeEncodedKeepsItsLastState() async throws {
    let first = try await keeper()
    let good = TestNode("a", value: "good", children: [TestNode("b", value: "one")])
    _ = try await first.save([good])
    await first.close()
    let child = TestNode("b")
    let back = TestNode("a", children: [child])
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [back])
    back.onEncode = { _ in throw Broken() }
    child.value = "two"
    XCTAssertFalse(keeper.endNow(saving: [back], within: Self.limit))
    await keeper.close()
    let (storedChild, stored) = (TestNode("b"), TestNode("a"))
    stored.restorationChildren = [storedChild]
    _ = try await launch.keeper().restore(into: [stored])
    XCTAssertEqual([stored.value, storedChild.value], ["good", "two"])
  }

  // MARK: Stores

  func testAStoreHasWhatIsInMemoryHere() async throws {
    let base = MemoryRemoteStateStore()
    let network = NetworkStore(base)
    let here = Device("here", network, keys: launch.keys)
    let keeper = try here.launch()
    let root = TestNode("root", value: "1")
    _ = try await keeper.restore(into: [root])
    XCTAssertTrue(keeper.endNow(saving: [root], within: Self.limit))
    let there = Device("there", base, keys: launch.keys)
    var value = try await there.restoredValue()
    XCTAssertEqual(value, "1")
    network.answers = false
    root.value = "2"
    XCTAssertFalse(keeper.endNow(saving: [root], within: .milliseconds(20)))
    network.answers = true
    await keeper.close()
    value = try await there.restoredValue()
    XCTAssertNotNil(value)
  }

  func testALocalCopyHasAStateThatTheStoreDoesNotAnswerFor() async throws {
    let network = NetworkStore(MemoryRemoteStateStore())
    let here = Device("here", network, keys: launch.keys, localCopy: launch.store)
    let keeper = try here.launch()
    let root = TestNode("root", value: "1")
    _ = try await keeper.restore(into: [root])
    network.answers = false
    XCTAssertTrue(keeper.endNow(saving: [root], within: .milliseconds(200)))
    XCTAssertNotNil(launch.storedBytes)
    network.answers = true
    await keeper.close()
    let value = try await here.restoredValue()
    XCTAssertEqual(value, "1")
  }

  // MARK: Other actors

  func testItSavesOnTheActorOfTheKeeper() async throws {
    let editor = try EndingEditor(disk.directory(launch.store), launch.keys)
    try await editor.begin()
    let isStored = await editor.end("1")
    XCTAssertTrue(isStored)
    let value = try await editor.restoredValue()
    XCTAssertEqual(value, "1")
  }

  nonisolated func testItSavesWhereThereIsNoActor() async throws {
    let (store, keys) = (MemoryStateDirectory(), MemoryKeyProvider())
    let keeper = try StateKeeper(application: "org.example.test", directory: store, keys: keys)
    let node = EditedNode()
    _ = try await keeper.restore(into: [node])
    node.value = "1"
    XCTAssertTrue(Self.end(keeper, node))
    await keeper.close()
    let stored = EditedNode()
    _ = try await StateKeeper(application: "org.example.test", directory: store, keys: keys)
      .restore(into: [stored])
    XCTAssertEqual(stored.value, "1")
  }

  nonisolated private static func end(_ keeper: StateKeeper, _ node: EditedNode) -> Bool {
    keeper.endNow(saving: [node], within: .seconds(60))
  }
}

/// An actor of its own that has a keeper.
private actor EndingEditor {
  private let keeper: StateKeeper
  private let next: StateKeeper
  private let node = EditedNode()

  init(_ directory: HookedStore, _ keys: MemoryKeyProvider) throws {
    keeper = try StateKeeper(application: "org.example.test", directory: directory, keys: keys)
    next = try StateKeeper(application: "org.example.test", directory: directory, keys: keys)
  }

  func begin() async throws {
    node.asked = { self.assertIsolated() }
    _ = try await keeper.restore(into: [node])
    keeper.autosave(every: .seconds(3600)) { [node] in [node] }
  }

  func end(_ value: String) -> Bool {
    node.value = value
    return keeper.endNow(within: .seconds(60))
  }

  func restoredValue() async throws -> String {
    await keeper.close()
    let stored = EditedNode()
    _ = try await next.restore(into: [stored])
    return stored.value
  }
}

private final class EditedNode: RestorableNode {
  let restorationIdentifier: String? = "node"
  var value = ""
  var asked: () -> Void = {}

  func encodeRestorableState(with coder: StateEncoder) {
    asked()
    coder.encode(value, forKey: "value")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decodeIfPresent(forKey: "value") ?? ""
  }
}
