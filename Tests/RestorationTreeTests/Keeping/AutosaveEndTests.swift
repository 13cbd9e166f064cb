import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// How an autosave ends, and what it saves then.
@MainActor
final class AutosaveEndTests: AutosaveTestCase {
  func testAFlushSavesAtOnceWhatIsUnsavedAndWhatNobodyTold() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    let plain = PlainNode("plain")
    node.below = [plain]
    let isStored = await autosave.flush()
    XCTAssertTrue(isStored)
    XCTAssertEqual(disk.writes, 2)
    plain.value = "untold"
    let isStoredAgain = await autosave.flush()
    XCTAssertTrue(isStoredAgain)
    XCTAssertEqual(disk.writes, 3)
    let isStoredStill = await autosave.flush()
    XCTAssertTrue(isStoredStill)
    XCTAssertEqual(disk.writes, 3)
  }

  func testAFlushWaitsForTheSaveUnderWayAndSavesWhatCameAfterIt() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    try await holdUpSave(of: "1")
    node.value = "2"
    let flush = Task { await autosave.flush() }
    try await pauses([.seconds(5)])
    disk.gate.goOn()
    let isStored = await flush.value
    XCTAssertTrue(isStored)
    try await assertStored("2", by: keeper)
  }

  func testAFlushWaitsNoLongerThanItMay() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    try await holdUpSave(of: "1")
    let flush = Task { await autosave.flush(within: .seconds(2)) }
    try await pauses([.seconds(2)])
    clock.advance(by: .seconds(2))
    let isStored = await flush.value
    XCTAssertFalse(isStored)
    disk.gate.goOn()
    try await told(2)
    XCTAssertEqual(outcomes, ["saved", "saved"])
  }

  func testAnyDurationIsOneThatCanBeWaitedFor() async throws {
    // With the clock of the machine, which reckons with the time that has passed.
    for duration in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
      let keeper = try await keeper()
      let autosave = keeper.autosave(every: duration) { [node] in [node] }
      let isStored = await autosave.flush(within: duration)
      XCTAssertTrue(isStored || duration <= .zero)
      autosave.stop()
    }
  }

  func testALastFailureDoesNotHoldUpTheEnd() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    disk.failures = .max
    node.value = "1"
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    XCTAssertTrue(autosave.needsSave)
    XCTAssertEqual(outcomes, ["saved", "failed full"])
  }

  func testAfterAStopNothingIsSaved() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    autosave.stop()
    XCTAssertEqual(disk.writes, 1)
    try await pauses([])
    node.value = "1"
    autosave.setNeedsSave()
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    await settle()
    XCTAssertEqual(disk.writes, 1)
  }

  func testAClosedKeeperSavesNothingByItself() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    await keeper.close()
    node.value = "1"
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    XCTAssertEqual(disk.writes, 1)
  }

  func testItEndsWhenItIsLetGoAndLetsGoOfAllThatItHeld() async throws {
    weak var keeper: StateKeeper?
    weak var root: TrackedNode?
    do {
      let made = try await self.keeper()
      let node = TrackedNode("root")
      (keeper, root) = (made, node)
      var autosave: Autosave? = autosave(made, of: node)
      try await told(1)
      XCTAssertNotNil(autosave)
      autosave = nil
    }
    try await waitUntil("all is let go") { keeper == nil && root == nil }
    try await pauses([])
    XCTAssertEqual(outcomes, ["saved"])
  }

  func testItSavesOnTheActorThatBeganIt() async throws {
    let editor = try Editor(disk.directory(launch.store), launch.keys, clock)
    try await editor.begin()
    try await waitUntil("the first save is told") { await editor.eventCount == 1 }
    try await passInterval()
    await editor.edit()
    try await waitUntil("the next save is told") { await editor.eventCount == 2 }
    XCTAssertEqual(disk.writes, 2)
    await editor.end()
  }
}

/// An actor of its own that has a keeper.
private actor Editor {
  private let keeper: StateKeeper
  private let clock: TestClock
  private let node = ActorNode()
  private var autosave: Autosave?
  private(set) var eventCount = 0

  init(_ directory: HookedStore, _ keys: MemoryKeyProvider, _ clock: TestClock) throws {
    keeper = try StateKeeper(application: "org.example.test", directory: directory, keys: keys)
    self.clock = clock
  }

  func begin() async throws {
    _ = try await keeper.restore(into: [node])
    autosave = keeper.autosave(clock: clock) { [node] in
      self.assertIsolated()
      return [node]
    } told: { _ in
      self.eventCount += 1
    }
  }

  func end() { autosave = nil }

  func edit() {
    node.value += 1
    node.invalidateRestorableState()
  }
}

private final class ActorNode: RestorableNode {
  static var stateTracking: StateTracking { .invalidated }

  let restorationIdentifier: String? = "node"
  var value = 0

  func encodeRestorableState(with coder: StateEncoder) {
    coder.encode(value, forKey: "value")
  }
}
