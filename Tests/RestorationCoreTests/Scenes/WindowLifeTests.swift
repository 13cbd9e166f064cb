import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// How an app with windows begins and ends, and what it leaves behind.
@MainActor
final class WindowLifeTests: XCTestCase {
  private let app = SceneLaunch()

  private func open(_ value: String, in host: SceneHost) async throws -> RestorableScene {
    let scene = try await host.open()
    try XCTUnwrap(app.delegates.last).roots = [TestNode("root", value: value)]
    return scene
  }

  /// All that the stored file says, also in records that nothing reads.
  private func text() throws -> String {
    let key = try XCTUnwrap(try app.launch.keys.key(creating: false))
    let archive = try XCTUnwrap(
      try Archive.open(
        app.launch.store.memory(named: "main"), key: key,
        context: ArchiveContext([Launch.application, "main"])))
    return try archive.readAll().map { record in
      let (frame, names) = try record.content.get().unsealed
      return String(decoding: frame, as: UTF8.self) + names.joined()
    }.joined()
  }

  func testOfAWindowThatIsNotRestorableTheNameAloneIsStored() async throws {
    let host = try await app.host()
    let scene = try await open("a private node", in: host)
    let session = scene.session
    app.delegates[0].activity = app.activity(7)
    app.delegates[0].activity?.title = "a private title"
    DraftModel(scene).draft = "a private draft"
    session.userInfo = ["secret": "a private thing"]
    try session.setWindowValue("a private value")
    try await host.save(scene)
    XCTAssertTrue(try text().contains("private"))
    session.isRestorable = false
    let autosave = host.autosave()
    _ = await autosave.flush()
    XCTAssertFalse(try text().contains("private"), "also in what a compaction has left behind")
    XCTAssertTrue(try text().contains(session.persistentIdentifier))
    DraftModel(scene).draft = "another private draft"
    session.userInfo = ["secret": "another private thing"]
    _ = await autosave.flush()
    try await host.disconnect(scene)
    session.userInfo = ["secret": "a third private thing"]
    try await host.saveSessions()
    XCTAssertFalse(try text().contains("private"))
    await host.close()
    let next = try await app.host()
    XCTAssertEqual(next.openSessions, [])
    XCTAssertEqual(app.hostDelegate.discarded, [[session.persistentIdentifier]])
    XCTAssertFalse(try text().contains(session.persistentIdentifier))
  }

  func testAStateThatIsDiscardedWhileAWindowHasBecomePrivateStaysDiscarded() async throws {
    let host = try await app.host()
    let scene = try await open("1", in: host)
    let autosave = host.autosave()
    _ = await autosave.flush()
    scene.session.isRestorable = false
    try await host.keeper.discardState()
    _ = await autosave.flush()
    XCTAssertEqual(try app.launch.storedPaths(), [])
  }

  func testPutBackBringsTheWindowsOfAnOlderStateBack() async throws {
    let host = try await app.host()
    _ = try await open("1", in: host)
    try await host.terminate()
    let second = try await app.host(launching: false)
    second.keeper.policy.historyCounts[.session] = 3
    try await second.launch()
    app.prepare = { $0.roots = [TestNode("root")] }
    await second.restoreScenes()
    let first = try XCTUnwrap(second.connectedScenes.first)
    first.testRoot?.value = "later"
    app.prepare = nil
    _ = try await open("2", in: second)
    try await second.saveSessions()
    let moment = try await second.keeper.history().first { $0.reason == .session }
    try await second.putBack(try XCTUnwrap(moment))
    XCTAssertEqual(second.openSessions, [first.session])
    app.prepare = { $0.roots = [TestNode("root")] }
    await second.restoreScenes()
    XCTAssertEqual(second.connectedScenes.map { $0.testRoot?.value }, ["1"])
  }

  func testACrashInWhatAWindowDoesWithItsActivityCountsAsOneOfTheWindow() async throws {
    let stored = try await app.store(count: 2)
    for _ in 1...2 {
      var crashed: LaunchDisk?
      app.prepare = { [app] delegate in
        delegate.roots = [TestNode("root")]
        delegate.onCall = { call, scene in
          guard call == "restoreInteractionState" else { return }
          if scene.session.persistentIdentifier == stored[0] { crashed = app.launch.disk }
        }
      }
      await (try await app.host()).restoreScenes()
      app.launch.disk = try XCTUnwrap(crashed)
    }
    let third = try await app.host()
    let failures = await third.restoreScenes()
    XCTAssertEqual(failures.keys.map(\.persistentIdentifier), [stored[0]])
  }

  func testASaveThatBlocksTheActorInAHookOfAWindowAsksNobody() async throws {
    let host = try await app.host()
    let scene = try await open("1", in: host)
    var (asked, isStored) = (0, true)
    app.delegates[0].onCall = { call, _ in
      guard call == "stateRestorationActivity" else { return }
      asked += 1
      if asked == 1 { isStored = host.endNow() }
    }
    try await host.save(scene)
    XCTAssertEqual(asked, 1)
    XCTAssertFalse(isStored)
  }

  func testAnAutosaveOfAChangedNodeAsksForTheActivityOfItsWindowAndOfNoOther() async throws {
    let host = try await app.host()
    var nodes: [TrackedNode] = []
    for number in 0..<2 {
      _ = try await host.open()
      nodes.append(TrackedNode("root"))
      app.delegates[number].roots = [nodes[number]]
    }
    let autosave = host.autosave()
    _ = await autosave.flush()
    app.calls.clear()
    app.delegates[0].activity = app.activity(7)
    nodes[0].value = "typed"
    _ = await autosave.flush()
    XCTAssertEqual(
      app.calls.events.filter { $0.hasPrefix("stateRestorationActivity") },
      ["stateRestorationActivity 1"])
    let identifier = try XCTUnwrap(app.delegates[0].connected.first).session.persistentIdentifier
    XCTAssertEqual(try app.storedScene(identifier)?.activity?.userInfo, ["id": 7])
    XCTAssertEqual(try app.launch.storedRecords()?["\(identifier)/root"]?.value, "typed")
  }

  func testAHostOfAnAppThatHasBegunIsKeptAndSavesByItself() async throws {
    let (store, keys) = (app.launch.store, app.launch.keys)
    var identifier = ""
    try await RestorationSession.launch(in: store, keys) {
      let keeper = try await Restoration.begin(Launch.application, signals: [])
      weak var kept: SceneHost?
      do {
        let host = SceneHost(keeper)
        host.register(SceneConfiguration { [app] in app.makeDelegate() })
        try await host.launch()
        let scene = try await open("typed", in: host)
        (identifier, kept) = (scene.session.persistentIdentifier, host)
      }
      XCTAssertNotNil(kept)
      await Restoration.end()
      XCTAssertNil(kept)
    }
    XCTAssertEqual(try app.launch.storedRecords()?["\(identifier)/root"]?.value, "typed")
  }
}
