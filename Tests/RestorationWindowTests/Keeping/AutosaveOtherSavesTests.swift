import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What an autosave does after saves that somebody else has called.
@MainActor
final class AutosaveOtherSavesTests: AutosavePollTestCase {
  /// Sees that a change which nobody tells is found by a poll.
  ///
  /// A save that stored nothing is followed by no interval.
  private func assertIsPolled(
    _ keeper: StateKeeper, afterTheInterval: Bool = true
  ) async throws {
    let count = events.count
    if afterTheInterval { try await passInterval() }
    plain.value = "found"
    try await pass(afterTheInterval ? .milliseconds(1750) : .seconds(2))
    try await told(count + 1)
    XCTAssertEqual(outcomes.last, "saved")
    try await keeper.closed(finding: "found", in: launch)
  }

  // MARK: Saves that fail

  func testWhatASaveOfTheAppCouldNotStoreIsSavedAllTheSame() async throws {
    let keeper = try await keeper()
    let autosave = try await polled(keeper)
    disk.failures = 1
    plain.value = "1"
    let failure = await restorationError { _ = try await keeper.save([self.plain]) }
    XCTAssertEqual(failure?.archive?.code, .storageFull)
    XCTAssertTrue(autosave.needsSave)
    try await told(2)
    XCTAssertEqual(outcomes, ["saved", "saved"])
    XCTAssertFalse(autosave.needsSave)
    try await assertIsPolled(keeper)
  }

  func testItIsToldAndTriedAgainWhileTheDiskIsFull() async throws {
    let keeper = try await keeper()
    _ = try await polled(keeper)
    disk.failures = 3
    plain.value = "1"
    _ = await restorationError { _ = try await keeper.save([self.plain]) }
    try await told(2)
    try await pass(.milliseconds(250))
    try await pass(.milliseconds(500))
    try await told(3)
    XCTAssertEqual(outcomes, ["saved", "failed full", "saved"])
    try await assertIsPolled(keeper)
  }

  func testANodeThatSaysWhenItChangesIsHeardAfterASaveThatFailed() async throws {
    for isCalledByTheApp in [false, true] {
      (events, node.value) = ([], "")
      try launch.removeState()
      let keeper = try await keeper()
      let autosave = try await idle(keeper)
      keeper.policy.nodeLimit = 0
      // A save does not ask a node that has not changed.
      node.value = "1"
      if isCalledByTheApp {
        let failure = await restorationError { _ = try await keeper.save([self.node]) }
        XCTAssertEqual(failure?.code, .tooManyNodes)
      }
      try await told(2)
      XCTAssertEqual(outcomes.last, "failed \(RestorationError.Code.tooManyNodes)")
      XCTAssertTrue(autosave.needsSave)
      try await passInterval()
      await settle()
      XCTAssertEqual(clock.sleeps, [])
      keeper.policy.nodeLimit = 10
      node.value = "2"
      try await told(3)
      XCTAssertEqual(outcomes.last, "saved")
      try await pauses([Self.interval])
      try await assertStored("2", by: keeper)
    }
  }

  func testANodeThatSaysWhenItChangesIsHeardAfterASaveThatWasDeclined() async throws {
    let delegate = TestDelegate()
    let keeper = try await keeper()
    keeper.delegate = delegate
    _ = try await idle(keeper)
    delegate.saves = false
    node.value = "1"
    try await told(2)
    try await passInterval()
    // The walk of the save is over when the next one is declined, too.
    node.value = "2"
    try await passInterval()
    await settle()
    delegate.saves = true
    node.value = "3"
    try await told(3)
    XCTAssertEqual(outcomes, ["saved", "withheld [declined]", "saved"])
    try await assertStored("3", by: keeper)
  }

  func testADeclinedSaveOfTheAppIsTold() async throws {
    let delegate = TestDelegate()
    let keeper = try await keeper()
    keeper.delegate = delegate
    _ = try await polled(keeper)
    delegate.saves = false
    _ = try await keeper.save([plain])
    try await told(2)
    XCTAssertEqual(outcomes, ["saved", "withheld [declined]"])
    await keeper.close()
  }

  // MARK: Saves that succeed

  func testASaveOfTheAppThatIsStoredBeginsThePollsAgain() async throws {
    let delegate = TestDelegate()
    delegate.saves = false
    let keeper = try await keeper()
    keeper.delegate = delegate
    let autosave = autosave(keeper, of: plain)
    try await told(1)
    try await passInterval()
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    delegate.saves = true
    _ = try await keeper.save([plain])
    // The save of the autosave stores nothing more, which nobody is told.
    try await pauses([.seconds(2)])
    XCTAssertEqual(outcomes, ["withheld [declined]"])
    XCTAssertFalse(autosave.needsSave)
    try await assertIsPolled(keeper, afterTheInterval: false)
  }

  func testNodesThatASaveOfTheAppHasMetFirstArePolled() async throws {
    let keeper = try await keeper()
    let roots = PolledRoots()
    keeper.autosave(every: Self.interval, clock: clock) {
      roots.nodes
    } told: { [unowned self] in
      events.append($0)
    }
    try await told(1)
    try await passInterval()
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    roots.nodes = [plain]
    _ = try await keeper.save(roots.nodes)
    try await pauses([.seconds(2)])
    plain.value = "1"
    clock.advance(by: .seconds(2))
    try await told(2)
    await keeper.close()
  }

  func testASaveOfTheAppBeginsNoPollsWhereAllSayWhenTheyChange() async throws {
    let keeper = try await keeper()
    _ = try await idle(keeper)
    node.isQuiet = true
    node.value = "1"
    _ = try await keeper.saveEverything([node])
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    XCTAssertEqual(outcomes, ["saved"])
    await keeper.close()
  }

  // MARK: Delegates

  func testAfterADelegateThatIsGoneAnotherOneBeginsThePollsAgain() async throws {
    let delegates: [TestDelegate?] = [TestDelegate(), nil]
    for next in delegates {
      (events, plain.value) = ([], "")
      let keeper = try await keeper()
      var gone: TestDelegate? = TestDelegate()
      keeper.delegate = gone
      _ = try await polled(keeper)
      gone = nil
      try await pass(.seconds(2))
      // A save by time says once that the delegate is gone.
      try await told(2)
      try await passInterval()
      await settle()
      XCTAssertEqual(clock.sleeps, [])
      plain.value = "1"
      keeper.delegate = next
      try await told(3)
      XCTAssertEqual(outcomes, ["saved", "withheld [delegateGone]", "saved"])
      try await assertIsPolled(keeper)
    }
  }

  func testASaveOfTheAppWithoutItsDelegateIsTold() async throws {
    let keeper = try await keeper()
    var gone: TestDelegate? = TestDelegate()
    keeper.delegate = gone
    let autosave = try await polled(keeper)
    gone = nil
    _ = try await keeper.save([plain])
    try await told(2)
    XCTAssertEqual(outcomes, ["saved", "withheld [delegateGone]"])
    XCTAssertTrue(autosave.needsSave)
    await keeper.close()
  }

  // MARK: Scenes

  func testASceneThatTheAppCouldNotSaveIsSavedAllTheSame() async throws {
    let app = SceneLaunch()
    let host = SceneHost(
      try StateKeeper(
        application: Launch.application, directory: disk.directory(app.launch.store),
        keys: app.launch.keys))
    app.prepare = { [plain] in $0.roots = [plain] }
    host.register(SceneConfiguration { app.makeDelegate() })
    try await host.launch()
    let scene = try await host.open()
    let autosave = host.autosave(clock: clock) { [unowned self] in events.append($0) }
    try await told(1)
    try await passInterval()
    disk.failures = 1
    plain.value = "1"
    let failure = await restorationError { _ = try await host.background(scene) }
    XCTAssertEqual(failure?.archive?.code, .storageFull)
    XCTAssertTrue(autosave.needsSave)
    try await told(2)
    XCTAssertEqual(outcomes, ["saved", "saved"])
    XCTAssertFalse(scene.needsSave)
    try await passInterval()
    plain.value = "2"
    try await pass(.milliseconds(1750))
    try await told(3)
    XCTAssertEqual(try app.storedValue(of: scene), "2")
    await host.close()
  }
}

@MainActor
private final class PolledRoots {
  var nodes: [any RestorableNode] = []
}

@MainActor
extension StateKeeper {
  /// Lets the state go, and sees what the next launch finds in its root.
  fileprivate func closed(finding value: String, in launch: Launch) async throws {
    await close()
    let stored = PlainNode("root")
    _ = try await launch.keeper().restore(into: [stored])
    XCTAssertEqual(stored.value, value)
  }
}
