import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What happens to scenes while others wait for a disk.
@MainActor
final class SceneOverlapTests: XCTestCase {
  private let app = SceneLaunch()
  private let gate = Gate()
  private lazy var store = HookedStore { [gate] name, call in
    if call.isWrite, name.contains(".scene-") || name == "main" { gate.pass() }
  }

  /// A host whose files of scenes can be held up.
  private func slowHost() async throws -> SceneHost { try await host(over: store) }

  private func host(over store: HookedStore) async throws -> SceneHost {
    let host = SceneHost(
      try StateKeeper(application: Launch.application, directory: store, keys: app.launch.keys))
    host.delegate = app.hostDelegate
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    return host
  }

  func testOfSavesAtOnceTheLastOneStays() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let model = DraftModel(scene)
    let saves = (1...20).map { number in
      Task { @MainActor in
        model.draft = "\(number)"
        app.delegates[0].activity = app.activity(number)
        try await host.save(scene)
      }
    }
    for save in saves { try await save.value }
    let last = model.draft
    let next = try await app.host()
    await next.restoreScenes()
    XCTAssertEqual(DraftModel(next.connectedScenes[0]).draft, last)
    XCTAssertEqual(
      next.openSessions[0].stateRestorationActivity?.id.map(String.init), last)
  }

  func testWhatIsSetDuringASaveIsStoredToo() async throws {
    let host = try await slowHost()
    let scene = try await host.open()
    gate.holdUp()
    let leaving = Task { @MainActor in try await host.disconnect(scene) }
    try await waitUntil("the scene is in the background") { scene.activationState == .background }
    scene.session.userInfo = ["late": true]
    gate.goOn()
    _ = try await leaving.value
    try await host.saveSessions()
    await host.close()
    let next = try await slowHost()
    XCTAssertEqual(next.openSessions[0].userInfo, ["late": true])
  }

  /// What the next launch brings back of the first session.
  private func restored() async throws -> (draft: String, node: String?) {
    let root = TestNode("root")
    app.prepare = { $0.roots = [root] }
    defer { app.prepare = nil }
    let host = try await slowHost()
    try await host.connect(host.openSessions[0])
    return (DraftModel(host.connectedScenes[0]).draft, root.value)
  }

  func testWhatChangesWhileADisconnectWritesIsSavedToo() async throws {
    let host = try await slowHost()
    let root = TestNode("root", value: "early")
    app.prepare = { $0.roots = [root] }
    let scene = try await host.open()
    let model = DraftModel(scene)
    gate.holdUp()
    let leaving = Task { @MainActor in try await host.disconnect(scene) }
    try await waitUntil("a write is held up") { gate.isWaitedFor }
    (model.draft, root.value) = ("late", "late")
    gate.goOn()
    _ = try await leaving.value
    await host.close()
    let (draft, node) = try await restored()
    XCTAssertEqual([draft, node], ["late", "late"])
  }

  /// Changes a node, which tells nobody, while the save is written that lets its scene go.
  private func changeSilently(
    _ host: SceneHost,
    _ leave: @escaping @MainActor (RestorableScene) async throws -> Void
  ) async throws {
    let root = TestNode("root", value: "early")
    app.prepare = { $0.roots = [root] }
    let scene = try await host.open()
    gate.holdUp()
    let leaving = Task { @MainActor in try await leave(scene) }
    try await waitUntil("a write is held up") { gate.isWaitedFor }
    root.value = "late"
    gate.goOn()
    try await leaving.value
    XCTAssertEqual(scene.activationState, .unattached)
    await host.close()
  }

  func testWhatNobodyTellsWhileADisconnectWritesIsSavedToo() async throws {
    let host = try await slowHost()
    try await changeSilently(host) { scene in _ = try await host.disconnect(scene) }
    let (_, node) = try await restored()
    XCTAssertEqual(node, "late")
  }

  func testWhatNobodyTellsWhileACloseWritesIsSavedToo() async throws {
    let host = try await slowHost()
    host.closedSceneCount = 10
    try await changeSilently(host) { scene in _ = try await host.close(scene) }
    let root = TestNode("root")
    app.prepare = { $0.roots = [root] }
    let next = SceneHost(
      try StateKeeper(application: Launch.application, directory: store, keys: app.launch.keys))
    next.closedSceneCount = 10
    next.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await next.launch()
    try await next.reopen(try XCTUnwrap(next.closedSessions.first))
    XCTAssertEqual(root.value, "late")
  }

  func testASceneThatChangesWithEverySaveIsDisconnectedAllTheSame() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let model = DraftModel(scene)
    app.delegates[0].activity = app.activity(1)
    var saveCount = 0
    app.delegates[0].onUpdate = { _ in
      saveCount += 1
      // It ends, so that the test does.
      if saveCount < 100 { model.draft = "draft \(saveCount)" }
    }
    try await host.disconnect(scene)
    XCTAssertEqual(scene.activationState, .unattached)
    XCTAssertEqual(saveCount, 1, "What changes before the nodes are asked is in the same save.")
    let next = try await app.host()
    await next.restoreScenes()
    XCTAssertEqual(DraftModel(next.connectedScenes[0]).draft, model.draft)
  }

  func testWhatChangesWhileTheLastSaveOfAllIsWrittenGoesToTheSession() async throws {
    let host = try await app.host()
    let node = TestNode("root")
    app.prepare = { $0.roots = [node] }
    let scene = try await host.open()
    app.prepare = nil
    let model = DraftModel(scene)
    var saveCount = 0
    // The values of the scene were taken before.
    node.onEncode = { _ in
      saveCount += 1
      if saveCount < 100 { model.draft = "draft \(saveCount)" }
    }
    try await host.disconnect(scene)
    XCTAssertEqual(model.draft, "draft 5")
    let next = try await app.host()
    await next.restoreScenes()
    XCTAssertEqual(DraftModel(next.connectedScenes[0]).draft, "draft 5")
  }

  func testASceneIsTornDownOnceHoweverManyWantIt() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let tasks = (1...5).map { _ in Task { @MainActor in try await host.disconnect(scene) } }
    for task in tasks { _ = await task.result }
    try await host.discard(scene.session)
    XCTAssertEqual(app.calls.events.filter { $0 == "sceneDidDisconnect 1" }.count, 1)
    XCTAssertEqual(app.hostDelegate.discarded.count, 1)
  }

  func testASceneThatComesToTheFrontWhileItIsDisconnectedStays() async throws {
    let host = try await slowHost()
    let scene = try await host.open()
    gate.holdUp()
    let leaving = Task { @MainActor in try await host.disconnect(scene) }
    try await waitUntil("the scene is in the background") { scene.activationState == .background }
    // The one that is being saved goes, and the session has another one at once.
    let connecting = Task { @MainActor in _ = try await host.connect(scene.session) }
    gate.goOn()
    _ = try await leaving.value
    try await connecting.value
    let back = try XCTUnwrap(scene.session.scene)
    XCTAssertEqual(scene.activationState, .unattached)
    XCTAssertEqual(back.activationState, .foregroundActive)
    XCTAssertTrue(scene.session.scene === back)
  }

  func testADiscardWaitsForASceneThatConnects() async throws {
    try await app.store(1, in: try await app.host())
    let host = try await app.host()
    let session = host.openSessions[0]
    let connecting = Task { @MainActor in _ = try await host.connect(session) }
    await Task.yield()
    try await host.discard(session)
    _ = await connecting.result
    XCTAssertNil(session.scene)
    XCTAssertEqual(host.openSessions, [])
    XCTAssertNil(app.bytes(of: session.persistentIdentifier))
  }

  func testASaveDuringARestoreStoresAllThatTheSceneHas() async throws {
    let stored = try await app.store(1, in: try await app.host())
    let host = try await app.host()
    app.prepare = { [app] in $0.activity = app.activity(1) }
    var saving: Task<PreservationReport, any Error>?
    let node = TestNode("root")
    app.prepare = { [app] delegate in
      delegate.activity = app.activity(1)
      delegate.roots = [node]
    }
    node.onDecode = { _ in
      saving = Task { @MainActor in try await host.save(host.connectedScenes[0]) }
    }
    await host.restoreScenes()
    let report = try await XCTUnwrap(saving).value
    XCTAssertEqual(report.outcome, .saved)
    let next = try await app.host()
    XCTAssertEqual(next.openSessions[0].persistentIdentifier, stored)
    XCTAssertEqual(next.openSessions[0].stateRestorationActivity?.id, 1)
    let back = try await next.connect(next.openSessions[0])
    XCTAssertEqual(DraftModel(back).draft, "draft 1")
  }

  func testTheDelegateIsToldOnceOfEachWindowThatIsClosedWithOthers() async throws {
    let host = try await app.host()
    var scenes: [RestorableScene] = []
    for _ in 0..<3 {
      scenes.append(try await host.open())
      try await host.save(scenes[scenes.count - 1])
    }
    let closings = scenes.map { scene in
      Task { @MainActor in _ = try await host.close(scene) }
    }
    for closing in closings { try await closing.value }
    let told = app.hostDelegate.discarded.flatMap(\.self)
    XCTAssertEqual(told.count, 3, "\(app.hostDelegate.discarded)")
    XCTAssertEqual(Set(told), Set(scenes.map(\.session.persistentIdentifier)))
  }
}
