import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// When an autosave saves, and what.
@MainActor
final class AutosaveTests: AutosaveTestCase {
  func testItSavesOnceAtTheStartAndTheFirstChangeAtOnce() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    node.value = "1"
    try await told(2)
    XCTAssertEqual(disk.writes, 2)
    XCTAssertFalse(autosave.needsSave)
    try await assertStored("1", by: keeper)
  }

  /// A keeper whose first save by itself has nothing to store.
  private func savedKeeper() async throws -> StateKeeper {
    let keeper = try await keeper()
    _ = try await keeper.save([node])
    disk.writes = 0
    return keeper
  }

  func testTheFirstChangeIsSavedAtOnceIfTheSaveAtTheStartStoresNothing() async throws {
    let keeper = try await savedKeeper()
    let autosave = autosave(keeper)
    try await waitUntil("the first save has ended") { !autosave.needsSave }
    XCTAssertEqual(clock.sleeps, [])
    node.value = "1"
    try await told(1)
    XCTAssertEqual(disk.writes, 1)
    XCTAssertEqual(outcomes, ["saved"])
    try await pauses([Self.interval])
    try await assertStored("1", by: keeper)
  }

  func testASaveThatStoresNothingIsNotToldAndAFlushReturnsTrueAllTheSame() async throws {
    let keeper = try await savedKeeper()
    let autosave = autosave(keeper)
    for _ in 0..<3 {
      autosave.setNeedsSave()
      let isStored = await autosave.flush()
      XCTAssertTrue(isStored)
    }
    XCTAssertEqual(outcomes, [])
    XCTAssertEqual(disk.writes, 0)
    XCTAssertFalse(autosave.needsSave)
  }

  func testANodeThatChangesInEverySaveIsAskedOnceInAnInterval() async throws {
    let restless = RestlessNode()
    let keeper = try await keeper()
    _ = try await keeper.save([restless])
    let autosave = autosave(keeper, of: restless)
    for _ in 0..<3 {
      try await pauses([Self.interval])
      let encodeCount = restless.encodeCount
      await settle()
      XCTAssertEqual(restless.encodeCount, encodeCount)
      clock.advance(by: Self.interval)
      try await waitUntil("it is asked again") { restless.encodeCount > encodeCount }
    }
    XCTAssertEqual(outcomes, [])
    autosave.stop()
  }

  func testWhatFollowsIsSavedTogetherWhenTheIntervalIsOver() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    for number in 1...100 { node.value = "\(number)" }
    await settle()
    clock.advance(by: .milliseconds(249))
    await settle()
    XCTAssertEqual(disk.writes, 1)
    XCTAssertTrue(autosave.needsSave)
    clock.advance(by: .milliseconds(1))
    try await told(2)
    XCTAssertEqual(disk.writes, 2)
    XCTAssertFalse(autosave.needsSave)
    try await assertStored("100", by: keeper)
  }

  func testNothingHappensWithoutAChange() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    clock.advance(by: .seconds(3600))
    await settle()
    XCTAssertEqual(outcomes, ["saved"])
    XCTAssertFalse(autosave.needsSave)
  }

  func testAChangeDuringASaveIsSavedByTheNextOneAndOneIsUnderWayAtATime() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    try await holdUpSave(of: "1")
    node.value = "2"
    clock.advance(by: .seconds(10))
    await settle()
    disk.gate.goOn()
    try await told(2)
    XCTAssertTrue(autosave.needsSave)
    try await passInterval()
    try await told(3)
    XCTAssertEqual(disk.writes, 3)
    XCTAssertFalse(autosave.needsSave)
    try await assertStored("2", by: keeper)
  }

  func testANodeThatDoesNotTrackIsSavedWhenSomebodySaysSo() async throws {
    let keeper = try newKeeper()
    _ = try await keeper.restore()
    let plain = PlainNode("root")
    let autosave = try await idle(keeper, of: plain)
    plain.value = "1"
    await settle()
    XCTAssertEqual(disk.writes, 1)
    autosave.setNeedsSave()
    try await told(2)
    XCTAssertEqual(disk.writes, 2)
    try await assertStored("1", by: keeper)
  }

  func testAnObservedNodeSaysItself() async throws {
    let keeper = try newKeeper()
    _ = try await keeper.restore()
    let observed = ObservedNode("root")
    let autosave = try await idle(keeper, of: observed)
    observed.value = "1"
    try await told(2)
    XCTAssertEqual(disk.writes, 2)
    withExtendedLifetime(autosave) {}
  }

  func testNothingIsSavedBeforeTheRestore() async throws {
    try await storeValue("stored")
    let keeper = try newKeeper()
    let autosave = autosave(keeper)
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    XCTAssertEqual(outcomes, [])
    XCTAssertEqual(disk.writes, 0)
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "stored")
    try await passInterval()
    try await told(1)
    XCTAssertEqual(outcomes, ["saved"])
    guard case .success(let report)? = events.last else { return XCTFail("\(events)") }
    XCTAssertNil(report.setAside)
  }

  private func storeValue(_ value: String) async throws {
    let keeper = try launch.keeper()
    let node = TrackedNode("root")
    node.value = value
    _ = try await keeper.save([node])
    await keeper.close()
  }

  // MARK: Changes that must not be lost

  /// Waits until something is stored, while hours go by.
  private func stores(_ what: String, _ isSo: () throws -> Bool) async throws {
    try await waitUntil(what) {
      clock.advance(by: .seconds(1))
      return try isSo()
    }
  }

  /// Sees that a node that had no identifier is stored when it has one.
  private func assertIsStoredWhenNamed(_ child: any HistoryNode) async throws {
    node.below = [child]
    let keeper = try await keeper()
    _ = try await begun(keeper)
    XCTAssertEqual(try launch.storedPaths(), ["root"])
    child.name = "named"
    try await stores("it is stored") { try launch.storedPaths() == ["root", "root/named"] }
    await keeper.close()
  }

  func testATrackedNodeThatGetsItsIdentifierLateIsStored() async throws {
    try await assertIsStoredWhenNamed(TrackedNode(nil))
  }

  func testAnObservedNodeThatGetsItsIdentifierLateIsStored() async throws {
    try await assertIsStoredWhenNamed(ObservedNode(nil))
  }

  func testARootThatIsRestoredLateIsHeard() async throws {
    let (first, before) = (try newKeeper(), TrackedNode("second"))
    before.value = "1"
    _ = try await first.save([node, before])
    await first.close()
    let keeper = try await keeper()
    let roots = LateRoots([node])
    let autosave = keeper.autosave(every: Self.interval, clock: clock) {
      roots.nodes
    } told: { [unowned self] in
      events.append($0)
    }
    try await waitUntil("the save at the start is over") { !autosave.needsSave }
    let second = TrackedNode("second")
    roots.nodes.append(second)
    _ = try await keeper.restore(late: second)
    XCTAssertEqual(second.value, "1")
    await settle()
    clock.advance(by: .seconds(3600))
    await settle()
    second.value = "2"
    try await stores("the change of it is stored") {
      try launch.storedRecords()?["second"]?.value == "2"
    }
    await keeper.close()
  }

  func testANodeIsHeardThatTheFirstSaveHadMetBeforeThereWereTooMany() async throws {
    let keeper = try await keeper()
    keeper.policy.nodeLimit = 1
    node.below = [TrackedNode("below")]
    _ = autosave(keeper)
    try await told(1)
    XCTAssertEqual(outcomes, ["failed \(RestorationError.Code.tooManyNodes)"])
    try await passInterval()
    await settle()
    node.below = []
    try await stores("it is stored") { try launch.storedPaths() == ["root"] }
    await keeper.close()
  }
}

/// A node that says in every save that it has changed.
@MainActor
private final class RestlessNode: @MainActor RestorableNode {
  static var stateTracking: StateTracking { .invalidated }

  let restorationIdentifier: String? = "root"
  private(set) var encodeCount = 0

  func encodeRestorableState(with coder: StateEncoder) {
    encodeCount += 1
    invalidateRestorableState()
  }
}

@MainActor
private final class LateRoots {
  var nodes: [any RestorableNode]

  init(_ nodes: [any RestorableNode]) {
    self.nodes = nodes
  }
}
