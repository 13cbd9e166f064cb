import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class SceneAutosaveTests: AutosaveTestCase {
  private let app = SceneLaunch()

  private func autosave(_ host: SceneHost) -> Autosave {
    host.autosave(clock: clock) { [unowned self] in events.append($0) }
  }

  /// Waits for so many events, and until nothing is left to do.
  private func settled(after count: Int) async throws {
    try await told(count)
    try await passInterval()
    await settle()
  }

  private var lastReports: [PreservationReport] {
    if case .success(let report)? = events.last, report.outcome == .saved { [report] } else { [] }
  }

  /// A scene with a tracked node.
  private func open(_ host: SceneHost) async throws -> (
    RestorableScene, TestSceneDelegate, TrackedNode
  ) {
    let scene = try await host.open()
    let delegate = try XCTUnwrap(app.delegates.last)
    let node = TrackedNode("root")
    delegate.roots = [node]
    return (scene, delegate, node)
  }

  func testWhateverSaysThatASceneHasChangedSavesThatScene() async throws {
    let host = try await app.host()
    let (scene, _, node) = try await open(host)
    _ = try await open(host)
    let autosave = autosave(host)
    try await settled(after: 1)
    XCTAssertEqual(lastReports.count, 1, "One commit has all scenes.")

    let activity = app.activity(1)
    let changes: [(String, () -> Void)] = [
      ("needsSave", { scene.needsSave = true }),
      ("storage", { DraftModel(scene).draft = "1" }),
      ("node", { node.value = "1" }),
      (
        "activity that needs it",
        {
          activity.userInfo = ["id": .integer(2)]
          activity.needsSave = true
          scene.userActivity = activity
        }
      ),
      (
        "activity",
        {
          activity.userInfo = ["id": .integer(3)]
          activity.needsSave = true
        }
      ),
    ]
    for (place, (name, change)) in changes.enumerated() {
      app.delegates[0].activity = activity
      change()
      try await settled(after: place + 2)
      XCTAssertEqual(lastReports.count, 1, name)
      XCTAssertFalse(scene.needsSave, name)
    }
    XCTAssertEqual(events.count, changes.count + 1)
    XCTAssertFalse(autosave.needsSave)
  }

  func testTheFirstChangeIsSavedAtOnceIfNoSceneHadAnythingToStore() async throws {
    let host = try await app.host()
    let (scene, _, node) = try await open(host)
    try await host.save(scene)
    let autosave = autosave(host)
    try await waitUntil("the first save has ended") { !autosave.needsSave }
    XCTAssertEqual(clock.sleeps, [])
    scene.needsSave = true
    try await waitUntil("the scene is saved") { !scene.needsSave && !autosave.needsSave }
    XCTAssertEqual(clock.sleeps, [])
    XCTAssertEqual(events, [])
    node.value = "1"
    try await told(1)
    XCTAssertEqual(lastReports.count, 1)
    try await pauses([Self.interval])
  }

  func testASceneThatIsOpenedLaterIsSavedAndItsNodesAreHeard() async throws {
    let host = try await app.host()
    let autosave = autosave(host)
    try await waitUntil("the first save has ended") { !autosave.needsSave }
    let (scene, _, node) = try await open(host)
    try await settled(after: 1)
    XCTAssertNotNil(app.bytes(of: scene.session.persistentIdentifier))
    node.value = "1"
    try await settled(after: 2)
    XCTAssertEqual(lastReports.map(\.writtenByteCount).filter { $0 > 0 }.count, 1)
    XCTAssertFalse(autosave.needsSave)
  }

  func testNodesOfASceneThatWasRestoredAreHeard() async throws {
    let before = try await app.host()
    let (scene, _, node) = try await open(before)
    node.value = "1"
    try await before.background(scene)
    try await before.terminate()

    let restored = TrackedNode("root")
    app.prepare = { $0.roots = [restored] }
    let host = try await app.host()
    _ = await host.restoreScenes()
    XCTAssertEqual(restored.value, "1")
    let autosave = autosave(host)
    // On a state that has all windows nothing has changed since the launch before.
    try await waitUntil("the first save has ended") { !autosave.needsSave }
    restored.value = "2"
    try await settled(after: 1)
    XCTAssertEqual(lastReports.count, 1)
    XCTAssertFalse(autosave.needsSave)
  }

  func testASceneWhoseNodesNeverSayWhenTheyChangeIsSavedOnceAndPolled() async throws {
    let first = try await app.host()
    try await app.store(1, in: first)
    try await first.terminate()
    let root = PlainNode("root")
    app.prepare = { $0.roots = [root] }
    let host = try await app.host()
    _ = await host.restoreScenes()
    app.prepare = { $0.roots = [PlainNode("root")] }
    let other = try await host.open()
    let autosave = autosave(host)
    try await settled(after: 1)
    XCTAssertEqual(lastReports.count, 1, "One commit has all scenes.")
    try await pauses([.milliseconds(1750)])
    clock.advance(by: .milliseconds(1750))
    try await pauses([.seconds(2)])
    app.calls.clear()
    clock.advance(by: .seconds(2))
    try await pauses([.seconds(2)])
    XCTAssertEqual(app.calls.events.filter { !$0.hasPrefix("restorationRoots") }, [])
    XCTAssertEqual(events.count, 1)
    root.value = "1"
    clock.advance(by: .seconds(2))
    try await settled(after: 2)
    XCTAssertEqual(lastReports.count, 1)
    XCTAssertFalse(autosave.needsSave)
    try await host.disconnect(other)
    await host.close()

    var restored: [PlainNode] = []
    app.prepare = { delegate in
      restored.append(PlainNode("root"))
      delegate.roots = restored.suffix(1)
    }
    _ = await (try await app.host()).restoreScenes()
    XCTAssertEqual(restored.map(\.value), ["", "1"])
  }

  func testAFlushAndTheEndFindWhatNobodyTold() async throws {
    let root = PlainNode("root")
    app.prepare = { $0.roots = [root] }
    let host = try await app.host()
    _ = try await host.open()
    let autosave = autosave(host)
    try await settled(after: 1)
    root.value = "1"
    let isStored = await autosave.flush()
    XCTAssertTrue(isStored)
    XCTAssertEqual(lastReports.count, 1)
    root.value = "2"
    try await host.terminate()
    let restored = PlainNode("root")
    app.prepare = { $0.roots = [restored] }
    _ = await (try await app.host()).restoreScenes()
    XCTAssertEqual(restored.value, "2")
  }

  /// A host with a scene that shows a node, of which the calls for its launches can be held up.
  private func host(
    showing root: PlainNode, holdingUpLaunches gate: Gate
  ) async throws -> (SceneHost, RestorableScene) {
    let directory = HookedStore(disk.directory(app.launch.store)) { name, _ in
      if name.hasSuffix(".launch") { gate.pass() }
    }
    let host = SceneHost(
      try StateKeeper(
        application: Launch.application, directory: directory, keys: app.launch.keys))
    app.prepare = { $0.roots = [root] }
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    return (host, try await host.open())
  }

  private func storedValue(of scene: RestorableScene) throws -> String? {
    try app.storedValue(of: scene)
  }

  func testAFlushFindsWhatNobodyToldThoughAnotherCallIsUnderWay() async throws {
    let (root, gate) = (PlainNode("root"), Gate())
    let (host, scene) = try await host(showing: root, holdingUpLaunches: gate)
    let autosave = autosave(host)
    try await settled(after: 1)
    gate.holdUp()
    let retrying = Task { try await host.retrySkippedNodes() }
    try await waitUntil("a call is held up") { gate.isWaitedFor }
    root.value = "1"
    let flush = Task { await autosave.flush() }
    await settle()
    gate.goOn()
    try await retrying.value
    let isStored = await flush.value
    XCTAssertTrue(isStored)
    XCTAssertEqual(try storedValue(of: scene), "1")
    await host.close()
  }

  func testASceneThatGoesIsSavedAsItWasLastThoughAnotherCallIsUnderWay() async throws {
    let (root, gate) = (PlainNode("root"), Gate())
    let (host, scene) = try await host(showing: root, holdingUpLaunches: gate)
    try await host.save(scene)
    root.value = "1"
    disk.gate.holdUp()
    let leaving = Task { try await host.disconnect(scene) }
    try await waitUntil("a write is held up") { disk.gate.isWaitedFor }
    root.value = "2"
    gate.holdUp()
    let retrying = Task { try await host.retrySkippedNodes() }
    await settle()
    disk.gate.goOn()
    try await waitUntil("a call is held up") { gate.isWaitedFor }
    await settle()
    gate.goOn()
    try await retrying.value
    let report = try await leaving.value
    XCTAssertEqual(report.outcome, .saved)
    XCTAssertEqual(try storedValue(of: scene), "2")
    await host.close()
  }

  func testWithoutPollsAHostAsksNobodyUntilAFlushOrItsEnd() async throws {
    let root = PlainNode("root")
    app.prepare = { $0.roots = [root] }
    let host = try await app.host()
    _ = try await host.open()
    let autosave = host.autosave(polling: nil, clock: clock) { [unowned self] in events.append($0) }
    try await settled(after: 1)
    XCTAssertEqual(clock.sleeps, [])
    let encodeCount = root.encodeCount
    root.value = "1"
    clock.advance(by: .seconds(3600))
    await settle()
    XCTAssertEqual(root.encodeCount, encodeCount)
    let isStored = await autosave.flush()
    XCTAssertTrue(isStored)
    XCTAssertEqual(lastReports.count, 1)
    root.value = "2"
    try await host.terminate()
    let restored = PlainNode("root")
    app.prepare = { $0.roots = [restored] }
    _ = await (try await app.host()).restoreScenes()
    XCTAssertEqual(restored.value, "2")
  }

  func testASecondAutosaveOfAHostReplacesTheFirst() async throws {
    let host = try await app.host()
    let (_, _, node) = try await open(host)
    let first = autosave(host)
    try await settled(after: 1)
    var other: [Result<PreservationReport, RestorationError>] = []
    let second = host.autosave(clock: clock) { other.append($0) }
    let isStored = await first.flush()
    XCTAssertFalse(isStored)
    node.value = "1"
    let isStoredBySecond = await second.flush()
    XCTAssertTrue(isStoredBySecond)
    try await waitUntil("the second one has told its save") { other.count == 1 }
    XCTAssertEqual(events.count, 1)
    await host.close()
  }

  func testHoweverOftenASceneConnectsAgainAFlushStoresWhatItsNodesDoNotTell() async throws {
    var root = PlainNode("root")
    app.prepare = {
      root = PlainNode("root")
      $0.roots = [root]
    }
    let host = try await app.host()
    let session = try await host.open().session
    let autosave = autosave(host)
    try await settled(after: 1)
    var last = ""
    for round in 1...12 {
      let scene = try await host.connect(session)
      XCTAssertEqual(root.value, last, "round \(round)")
      // Before the first save of this scene, or after it; and while none, or another one, is due.
      if round % 2 == 0 { _ = await autosave.flush() }
      if round % 3 == 0 { clock.advance(by: .seconds(3)) }
      last = "\(round)"
      root.value = last
      if round % 4 == 0 { autosave.setNeedsSave() }
      let isStored = await autosave.flush()
      XCTAssertTrue(isStored, "round \(round)")
      let stored = try XCTUnwrap(app.bytes(of: session.persistentIdentifier))
      try await host.disconnect(scene)
      XCTAssertEqual(
        app.bytes(of: session.persistentIdentifier), stored, "round \(round): it was stored before")
    }
    await host.close()
    app.prepare = { $0.roots = [root] }
    root = PlainNode("root")
    _ = await (try await app.host()).restoreScenes()
    XCTAssertEqual(root.value, last)
  }

  func testASceneThatCannotBeSavedIsTriedAgainAndToldOnce() async throws {
    let host = SceneHost(
      try StateKeeper(
        application: Launch.application, directory: disk.directory(app.launch.store),
        keys: app.launch.keys))
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    let (_, _, node) = try await open(host)
    let autosave = autosave(host)
    try await settled(after: 1)
    disk.failures = .max
    node.value = "1"
    for pause in [250, 500, 1000] {
      try await pauses([.milliseconds(pause)])
      clock.advance(by: .milliseconds(pause))
      await settle()
    }
    // Its last try has failed, too, so it waits for the next one.
    try await pauses([.seconds(2)])
    guard case .failure? = events.last else { return XCTFail("\(events)") }
    XCTAssertEqual(events.count, 2)
    disk.failures = 0
    clock.advance(by: .seconds(2))
    try await settled(after: 3)
    XCTAssertEqual(lastReports.count, 1, "\(events)")
    XCTAssertEqual(events.count, 3)
    XCTAssertFalse(autosave.needsSave)
  }

  func testALockedSceneIsNotTriedUntilItIsUnlocked() async throws {
    let first = try await app.host()
    try await app.store(1, in: first)
    try await first.terminate()
    app.prepare = { $0.roots = [TrackedNode("root")] }
    let host = try await app.host()
    app.launch.keys.isLocked = true
    _ = await host.restoreScenes()
    try XCTUnwrap(host.connectedScenes.first).needsSave = true
    let autosave = autosave(host)
    try await settled(after: 1)
    guard case .success(let report)? = events.first else { return XCTFail("\(events)") }
    XCTAssertEqual(report.outcome, .locked)
    // It does not try by itself.
    XCTAssertEqual(clock.sleeps, [])
    XCTAssertTrue(autosave.needsSave)
    app.launch.keys.isLocked = false
    try await host.protectedDataDidBecomeAvailable()
    try await settled(after: 2)
    XCTAssertEqual(lastReports.map(\.outcome), [.saved])
    XCTAssertFalse(autosave.needsSave)
  }

  func testAHostThatHasEndedSavesNothingByItself() async throws {
    let host = try await app.host()
    let (scene, _, _) = try await open(host)
    let autosave = autosave(host)
    try await settled(after: 1)
    try await host.terminate()
    scene.needsSave = true
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    XCTAssertEqual(events.count, 1)
  }
}
