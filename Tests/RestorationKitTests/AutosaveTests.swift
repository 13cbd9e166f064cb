import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

@MainActor
final class AutosaveTests: XCTestCase {
  private let launch = Launch()
  private let clock = TestClock()
  private let disk = AutosaveDisk()
  private let node = TrackedNode("root")
  private var events: [Autosave.Event] = []

  /// A keeper whose writes are counted, after its restore.
  private func keeper() async throws -> StateKeeper {
    let keeper = try newKeeper()
    _ = try await keeper.restore(into: [node])
    return keeper
  }

  private func newKeeper() throws -> StateKeeper {
    try StateKeeper(
      application: Launch.application, directory: disk.directory(launch.store), keys: launch.keys)
  }

  private func autosave(_ keeper: StateKeeper, every interval: Duration = .milliseconds(250))
    -> Autosave
  {
    keeper.autosave(every: interval, clock: clock) { [unowned self] in
      [node]
    } told: { [unowned self] in
      events.append($0)
    }
  }

  /// One that has made its first save.
  private func begun(_ keeper: StateKeeper) async -> Autosave {
    let autosave = autosave(keeper)
    await told(1)
    await pauses([.milliseconds(250)])
    return autosave
  }

  /// Waits for so many events.
  private func told(_ count: Int) async {
    while events.count < count { await Task.yield() }
  }

  /// Waits until those who sleep do so for so long.
  private func pauses(_ sleeps: [Duration]) async {
    while clock.sleeps != sleeps { await Task.yield() }
  }

  /// Gives all that could happen now the time to do so.
  private func settle() async {
    for _ in 0..<100 { await Task.yield() }
  }

  private func storedValue() async throws -> String {
    let stored = TrackedNode("root")
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [stored])
    return stored.value
  }

  private var outcomes: [String] {
    events.map { event in
      switch event {
      case .saved: "saved"
      case .withheld(let reports): "withheld [\(reports.map { "\($0.outcome)" }.joined())]"
      case .failed(let error):
        "failed \(error.archive?.code == .storageFull ? "full" : "\(error.code)")"
      }
    }
  }

  // MARK: When it saves

  func testItSavesOnceAtTheStartAndTheFirstChangeAtOnce() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
    clock.advance(by: .milliseconds(250))
    node.value = "1"
    await told(2)
    XCTAssertEqual(disk.writes, 2)
    XCTAssertFalse(autosave.needsSave)
    await keeper.close()
    let stored = try await storedValue()
    XCTAssertEqual(stored, "1")
  }

  func testWhatFollowsIsSavedTogetherWhenTheIntervalIsOver() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
    for number in 1...100 { node.value = "\(number)" }
    await settle()
    clock.advance(by: .milliseconds(249))
    await settle()
    XCTAssertEqual(disk.writes, 1)
    XCTAssertTrue(autosave.needsSave)
    clock.advance(by: .milliseconds(1))
    await told(2)
    XCTAssertEqual(disk.writes, 2)
    XCTAssertFalse(autosave.needsSave)
    await keeper.close()
    let stored = try await storedValue()
    XCTAssertEqual(stored, "100")
  }

  func testNothingHappensWithoutAChange() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
    clock.advance(by: .milliseconds(250))
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    clock.advance(by: .seconds(3600))
    await settle()
    XCTAssertEqual(outcomes, ["saved"])
    XCTAssertFalse(autosave.needsSave)
  }

  func testAChangeDuringASaveIsSavedByTheNextOneAndOneIsUnderWayAtATime() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
    clock.advance(by: .milliseconds(250))
    disk.gate.holdUp()
    node.value = "1"
    while !disk.gate.isWaitedFor { await Task.yield() }
    node.value = "2"
    clock.advance(by: .seconds(10))
    await settle()
    disk.gate.goOn()
    await told(2)
    XCTAssertTrue(autosave.needsSave)
    await pauses([.milliseconds(250)])
    clock.advance(by: .milliseconds(250))
    await told(3)
    XCTAssertEqual(disk.writes, 3)
    XCTAssertFalse(autosave.needsSave)
    await keeper.close()
    let stored = try await storedValue()
    XCTAssertEqual(stored, "2")
  }

  func testANodeThatDoesNotTrackIsSavedWhenSomebodySaysSo() async throws {
    let keeper = try newKeeper()
    _ = try await keeper.restore()
    let plain = PlainNode("root")
    let autosave = keeper.autosave(clock: clock) {
      [plain]
    } told: { [unowned self] in
      events.append($0)
    }
    await told(1)
    await pauses([.milliseconds(250)])
    clock.advance(by: .milliseconds(250))
    plain.value = "1"
    await settle()
    XCTAssertEqual(disk.writes, 1)
    autosave.setNeedsSave()
    await told(2)
    XCTAssertEqual(disk.writes, 2)
    await keeper.close()
    let stored = try await storedValue()
    XCTAssertEqual(stored, "1")
  }

  func testAnObservedNodeSaysItself() async throws {
    let keeper = try newKeeper()
    _ = try await keeper.restore()
    let observed = ObservedNode("root")
    let autosave = keeper.autosave(clock: clock) {
      [observed]
    } told: { [unowned self] in
      events.append($0)
    }
    await told(1)
    await pauses([.milliseconds(250)])
    clock.advance(by: .milliseconds(250))
    observed.value = "1"
    await told(2)
    XCTAssertEqual(disk.writes, 2)
    withExtendedLifetime(autosave) {}
  }

  func testNothingIsSavedBeforeTheRestore() async throws {
    try await storeValue("stored")
    let keeper = try newKeeper()
    let autosave = autosave(keeper)
    await told(1)
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    XCTAssertEqual(outcomes, ["withheld []"])
    XCTAssertEqual(disk.writes, 0)
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "stored")
    await pauses([.milliseconds(250)])
    clock.advance(by: .milliseconds(250))
    await told(2)
    XCTAssertEqual(outcomes, ["withheld []", "saved"])
    guard case .saved(let reports)? = events.last else { return XCTFail("\(events)") }
    XCTAssertEqual(reports.map(\.setAside), [nil])
  }

  private func storeValue(_ value: String) async throws {
    let keeper = try launch.keeper()
    let node = TrackedNode("root")
    node.value = value
    _ = try await keeper.save([node])
    await keeper.close()
  }

  // MARK: Failures

  func testAFailureIsToldOnceAndTriedAgainWithLongerPauses() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
    clock.advance(by: .milliseconds(250))
    disk.failures = 9
    node.value = "1"
    var pauses: [Duration] = []
    for _ in 1...9 {
      while clock.sleeps.isEmpty { await Task.yield() }
      pauses += clock.sleeps
      // It does not make the pause shorter.
      node.value += "."
      await settle()
      XCTAssertEqual(events.count, 2)
      clock.advance(by: clock.sleeps[0])
    }
    await told(3)
    XCTAssertEqual(outcomes, ["saved", "failed full", "saved"])
    XCTAssertEqual(
      pauses,
      [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000].map { .milliseconds($0) })
    XCTAssertFalse(autosave.needsSave)
    await self.pauses([.milliseconds(250)])
    await keeper.close()
    let stored = try await storedValue()
    XCTAssertEqual(stored, "1.........")
  }

  func testAFailureThatComesAgainLaterIsToldAgain() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
    for number in 1...2 {
      disk.failures = 1
      clock.advance(by: .milliseconds(250))
      node.value = "\(number)"
      await told(number * 2)
      await pauses([.milliseconds(250)])
      clock.advance(by: .milliseconds(250))
      await told(number * 2 + 1)
      await pauses([.milliseconds(250)])
    }
    XCTAssertEqual(outcomes, ["saved", "failed full", "saved", "failed full", "saved"])
    XCTAssertFalse(autosave.needsSave)
  }

  func testWhatTheDiskIsNotToBlameForWaitsForAChange() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
    clock.advance(by: .milliseconds(250))
    keeper.nodeLimit = 0
    node.value = "1"
    await told(2)
    await pauses([.milliseconds(250)])
    clock.advance(by: .milliseconds(250))
    await settle()
    XCTAssertEqual(outcomes, ["saved", "failed \(RestorationError.Code.tooManyNodes)"])
    XCTAssertEqual(clock.sleeps, [])
    XCTAssertTrue(autosave.needsSave)
    keeper.nodeLimit = 10
    autosave.setNeedsSave()
    await told(3)
    XCTAssertEqual(outcomes.last, "saved")
  }

  func testADeclinedSaveIsNoFailure() async throws {
    let delegate = TestDelegate()
    let keeper = try await keeper()
    keeper.delegate = delegate
    let autosave = await begun(keeper)
    delegate.saves = false
    clock.advance(by: .milliseconds(250))
    node.value = "1"
    await told(2)
    await pauses([.milliseconds(250)])
    clock.advance(by: .milliseconds(250))
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    XCTAssertEqual(outcomes, ["saved", "withheld [declined]"])
    delegate.saves = true
    let isStoredNow = await autosave.flush()
    XCTAssertTrue(isStoredNow)
  }

  func testALockedStateIsSavedAfterTheRestoreThatUnlocksIt() async throws {
    launch.keys.isLocked = true
    let keeper = try await keeper()
    let autosave = autosave(keeper)
    await told(1)
    await pauses([.milliseconds(250)])
    clock.advance(by: .milliseconds(250))
    await settle()
    XCTAssertEqual(outcomes, ["withheld [locked]"])
    XCTAssertEqual(clock.sleeps, [])
    launch.keys.isLocked = false
    _ = try await keeper.restore(into: [node])
    await told(2)
    XCTAssertEqual(outcomes.last, "saved")
    XCTAssertFalse(autosave.needsSave)
  }

  func testAStateThatAnotherInstanceHasIsTriedWithTheNextChange() async throws {
    let first = try await keeper()
    _ = try await first.save([node])
    let keeper = try newKeeper()
    keeper.instancePolicy = .single
    _ = try await keeper.restore(into: [node])
    let autosave = autosave(keeper)
    await told(1)
    await pauses([.milliseconds(250)])
    clock.advance(by: .milliseconds(250))
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    guard case .withheld(let reports)? = events.first, case .inUse? = reports.first?.outcome
    else { return XCTFail("\(events)") }
    await first.close()
    autosave.setNeedsSave()
    await told(2)
    XCTAssertEqual(outcomes.last, "saved")
  }

  // MARK: The end

  func testAFlushSavesAtOnceWhatIsUnsavedAndWhatNobodyTold() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
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
    let autosave = await begun(keeper)
    clock.advance(by: .milliseconds(250))
    disk.gate.holdUp()
    node.value = "1"
    while !disk.gate.isWaitedFor { await Task.yield() }
    node.value = "2"
    let flush = Task { await autosave.flush() }
    await pauses([.seconds(5)])
    disk.gate.goOn()
    let isStored = await flush.value
    XCTAssertTrue(isStored)
    await keeper.close()
    let stored = try await storedValue()
    XCTAssertEqual(stored, "2")
  }

  func testAFlushWaitsNoLongerThanItMay() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
    clock.advance(by: .milliseconds(250))
    disk.gate.holdUp()
    node.value = "1"
    while !disk.gate.isWaitedFor { await Task.yield() }
    let flush = Task { await autosave.flush(within: .seconds(2)) }
    await pauses([.seconds(2)])
    clock.advance(by: .seconds(2))
    let isStored = await flush.value
    XCTAssertFalse(isStored)
    disk.gate.goOn()
    await told(2)
    XCTAssertEqual(outcomes, ["saved", "saved"])
  }

  func testALastFailureDoesNotHoldUpTheEnd() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
    disk.failures = .max
    node.value = "1"
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    XCTAssertTrue(autosave.needsSave)
    XCTAssertEqual(outcomes, ["saved", "failed full"])
  }

  func testAfterAStopNothingIsSaved() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
    autosave.stop()
    XCTAssertEqual(disk.writes, 1)
    await pauses([])
    node.value = "1"
    autosave.setNeedsSave()
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    await settle()
    XCTAssertEqual(disk.writes, 1)
  }

  func testAClosedKeeperSavesNothingByItself() async throws {
    let keeper = try await keeper()
    let autosave = await begun(keeper)
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
      var autosave: Autosave? = made.autosave(clock: clock) {
        [node]
      } told: { [unowned self] in
        events.append($0)
      }
      await told(1)
      XCTAssertNotNil(autosave)
      autosave = nil
    }
    while keeper != nil || root != nil { await Task.yield() }
    await pauses([])
    XCTAssertEqual(outcomes, ["saved"])
  }

  func testItSavesOnTheActorThatBeganIt() async throws {
    let editor = try Editor(disk.directory(launch.store), launch.keys, clock)
    try await editor.begin()
    while await editor.eventCount < 1 { await Task.yield() }
    await pauses([.milliseconds(250)])
    clock.advance(by: .milliseconds(250))
    await editor.edit()
    while await editor.eventCount < 2 { await Task.yield() }
    XCTAssertEqual(disk.writes, 2)
    await editor.end()
  }

  // MARK: What has changed

  func testChangesAreASequenceThatEndsWithTheKeeper() async throws {
    let keeper = try await keeper()
    _ = try await keeper.save([node])
    let changes = keeper.needsSaveChanges
    node.value = "1"
    node.value = "2"
    var iterator = changes.makeAsyncIterator()
    let first: Void? = await iterator.next()
    XCTAssertNotNil(first)
    await keeper.close()
    let end: Void? = await iterator.next()
    XCTAssertNil(end)
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

/// Counts the writes of states, fails as often as it is told, and holds them up.
final class AutosaveDisk: Sendable {
  private struct State {
    var writes = 0
    var failures = 0
  }

  private let state = Mutex(State())
  let gate = Gate()

  var writes: Int { state.withLock(\.writes) }
  var failures: Int {
    get { state.withLock(\.failures) }
    set { state.withLock { $0.failures = newValue } }
  }

  func directory(_ store: MemoryStateDirectory) -> HookedStore {
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
