import ArchiveCodec
import RestorationKit
import Synchronization
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
    host.closedSceneBound = ClosedSceneBound()
    try await changeSilently(host) { scene in _ = try await host.close(scene) }
    let root = TestNode("root")
    app.prepare = { $0.roots = [root] }
    let next = SceneHost(
      try StateKeeper(application: Launch.application, directory: store, keys: app.launch.keys))
    next.closedSceneBound = ClosedSceneBound()
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
    #if RESTORATION_NEXT
    XCTAssertEqual(saveCount, 1, "What changes before the nodes are asked is in the same save.")
    #else
    XCTAssertEqual(saveCount, 5, "Once, and four times again.")
    #endif
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

  #if !RESTORATION_NEXT
  func testAValueThatIsSetOnADisconnectedSceneGoesToTheSession() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let model = DraftModel(scene)
    model.draft = "saved"
    try await host.disconnect(scene)
    model.draft = "set later"
    try await host.saveSessions()
    await host.close()
    let next = try await app.host(endsLast: false)
    await next.restoreScenes()
    XCTAssertEqual(DraftModel(next.connectedScenes[0]).draft, "set later")
    await next.close()

    // Another scene of the session has its own values.
    let again = try await host.connect(scene.session)
    let newModel = DraftModel(again)
    newModel.draft = "of the new scene"
    try await host.save(again)
    model.draft = "of the old one"
    try await host.saveSessions()
    await host.close()
    let last = try await app.host()
    await last.restoreScenes()
    XCTAssertEqual(DraftModel(last.connectedScenes[0]).draft, "of the new scene")
  }

  func testASceneThatIsClosedDuringASaveLeavesNoFile() async throws {
    let host = try await slowHost()
    let scene = try await host.open()
    gate.holdUp()
    let saving = Task { @MainActor in try await host.background(scene) }
    try await waitUntil("the scene is in the background") { scene.activationState == .background }
    let closing = Task { @MainActor in try await host.close(scene) }
    try await waitUntil("the scene is unattached") { scene.activationState == .unattached }
    gate.goOn()
    _ = try await closing.value
    _ = await saving.result
    XCTAssertEqual(try store.names(), ["main.scenes"])
    let next = try await slowHost()
    XCTAssertEqual(next.openSessions, [])
  }
  #endif

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
    #if RESTORATION_NEXT
    // The one that is being saved goes, and the session has another one at once.
    let connecting = Task { @MainActor in _ = try await host.connect(scene.session) }
    gate.goOn()
    _ = try await leaving.value
    try await connecting.value
    let back = try XCTUnwrap(scene.session.scene)
    XCTAssertEqual(scene.activationState, .unattached)
    #else
    let back = try await host.connect(scene.session)
    gate.goOn()
    _ = try await leaving.value
    XCTAssertTrue(back === scene)
    #endif
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

  #if !RESTORATION_NEXT
  /// A host that has read its list and cannot read the file of a scene, whose opening can be held up.
  private func lockedHost(of stored: String) async throws -> SceneHost {
    let gate = gate
    let store = HookedStore(app.launch.store) { name, call in
      if call == .open, name.hasSuffix(stored) { gate.pass() }
    }
    let host = SceneHost(
      try StateKeeper(application: Launch.application, directory: store, keys: app.launch.keys))
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    app.launch.keys.lock(after: 1)
    try await host.launch()
    return host
  }

  func testASaveDuringTheRestoreOfAnUnlockedSceneWaitsForItsEnd() async throws {
    let stored = try await app.store(1, in: try await app.host())
    let host = try await lockedHost(of: stored)
    let root = TestNode("root", value: "fresh")
    app.prepare = { $0.roots = [root] }
    let scene = try await host.connect(host.openSessions[0])
    app.launch.keys.isLocked = false
    gate.holdUp()
    let unlocking = Task { @MainActor in try await host.protectedDataDidBecomeAvailable() }
    try await waitUntil("a write is held up") { gate.isWaitedFor }
    let saving = Task { @MainActor in try await host.save(scene) }
    for _ in 0..<100 { await Task.yield() }
    gate.goOn()
    try await unlocking.value
    let report = try await saving.value
    XCTAssertEqual(report.outcome, .saved)
    XCTAssertEqual(root.value, "1")
  }

  func testASceneThatGoesWhileItsSaveWaitsForARestoreIsDisconnected() async throws {
    let stored = try await app.store(1, in: try await app.host())
    let host = try await lockedHost(of: stored)
    let scene = try await host.connect(host.openSessions[0])
    app.launch.keys.isLocked = false
    gate.holdUp()
    let unlocking = Task { @MainActor in try await host.protectedDataDidBecomeAvailable() }
    try await waitUntil("a read is held up") { gate.isWaitedFor }
    scene.needsSave = true
    let saving = Task { @MainActor in try await host.saveChangedScenes().map(\.value.description) }
    for _ in 0..<100 { await Task.yield() }
    let discarding = Task { @MainActor in try await host.discard(scene.session) }
    try await waitUntil("the scene is let go") { scene.activationState == .unattached }
    gate.goOn()
    _ = await unlocking.result
    let reports = try await saving.value
    XCTAssertEqual(
      reports, ["Nothing saved: the scene was disconnected or discarded meanwhile."])
    try await discarding.value
    let failure = await restorationError { _ = try await host.save(scene) }
    XCTAssertEqual(failure?.code, .notConnected)
  }

  func testAWindowThatIsClosedWhileTheListIsWrittenDoesNotComeBack() async throws {
    let gate = gate
    let store = HookedStore { name, call in
      if call == .replace, name == "main.scenes" { gate.pass() }
    }
    let first = try await host(over: store)
    let kept = try await first.open()
    try await first.save(kept)
    let closed = try await first.open()
    gate.holdUp()
    // The list with both is under way when the one without is wanted again.
    let saving = Task { @MainActor in _ = try await first.save(closed) }
    try await waitUntil("the closed scene is saved") { closed.session.savedAt != nil }
    let closing = Task { @MainActor in try await first.close(closed) }
    try await waitUntil("the scene is unattached") { closed.activationState == .unattached }
    gate.goOn()
    _ = await saving.result
    _ = try await closing.value
    await first.close()
    let second = try await host(over: store)
    XCTAssertEqual(second.openSessions, [kept.session])
  }

  func testTheFilesOfAWindowGoOnlyWhenTheListSaysSo() async throws {
    let (removal, list) = (Gate(), Gate())
    let calls = Mutex<[String]>([])
    let store = HookedStore { name, call in
      if call == .remove, name.contains(".scene-") {
        calls.withLock { $0.append("remove \(name)") }
        removal.pass()
      }
      if call.isWrite, name == "main.scenes" { list.pass() }
    }
    let host = try await host(over: store)
    let (one, two) = (try await host.open(), try await host.open())
    try await host.saveChangedScenes()
    calls.withLock { $0 = [] }
    removal.holdUp()
    let first = Task { @MainActor in try await host.discard(one.session) }
    try await waitUntil("the files of the first window go") { removal.isWaitedFor }
    list.holdUp()
    let second = Task { @MainActor in try await host.discard(two.session) }
    try await waitUntil("the list without the second one is written") { list.isWaitedFor }
    removal.goOn()
    let identifier = two.session.persistentIdentifier
    for _ in 0..<200 { await Task.yield() }
    XCTAssertEqual(calls.withLock { $0.filter { $0.contains(identifier) } }, [])
    list.goOn()
    try await first.value
    try await second.value
    XCTAssertTrue(calls.withLock { $0.contains("remove main.scene-\(identifier)") })
  }

  func testAListThatIsWantedWhileAnotherIsWrittenIsTheOneThatStays() async throws {
    let gate = gate
    let isWriting = Flag()
    let store = HookedStore { name, call in
      guard call == .replace, name == "main.scenes" else { return }
      isWriting.isSet = true
      gate.pass()
    }
    let first = try await host(over: store)
    let (one, two) = (try await first.open(), try await first.open())
    try await first.saveChangedScenes()
    isWriting.isSet = false
    gate.holdUp()
    try await first.connect(one.session)
    let forward = Task { @MainActor in try await first.saveSessions() }
    try await waitUntil("a save writes") { isWriting.isSet }
    // The list is again as it was when the other one was begun.
    try await first.connect(two.session)
    let back = Task { @MainActor in try await first.saveSessions() }
    await Task.yield()
    gate.goOn()
    try await forward.value
    try await back.value
    await first.close()
    let second = try await host(over: store)
    XCTAssertEqual(second.openSessions, [two.session, one.session])
  }

  func testASaveThatFailsLeavesTheSceneMarkedAndTheListSaysWhatWasSet() async throws {
    let isFull = Flag()
    let store = HookedStore(app.launch.store) { name, call throws(ArchiveError) in
      if isFull.isSet, call.isWrite, name.contains(".scene-") {
        throw ArchiveError(.inputOutput)
      }
    }
    let host = SceneHost(
      try StateKeeper(application: Launch.application, directory: store, keys: app.launch.keys))
    host.declaredActivityTypes = ["product"]
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    let scene = try await host.open()
    try await host.save(scene)
    isFull.isSet = true
    scene.session.userInfo = ["set": 1]
    DraftModel(scene).draft = "x"
    await assertThrows(WholeError(ArchiveError(.inputOutput, location: "memory"))) {
      try await host.saveChangedScenes()
    }
    XCTAssertTrue(scene.needsSave)
    try await host.saveSessions()
    await host.close()
    let after = try await app.host()
    XCTAssertEqual(after.openSessions[0].userInfo, ["set": 1])
    await after.close()
    isFull.isSet = false
    try await host.saveChangedScenes()
    XCTAssertFalse(scene.needsSave)
    await host.close()
    let last = try await app.host()
    let back = try await last.connect(last.openSessions[0])
    XCTAssertEqual(DraftModel(back).draft, "x")
  }
  #endif

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
