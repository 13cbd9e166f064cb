import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Scenes while the key is locked.
@MainActor
final class SceneLockedTests: XCTestCase {
  private let app = SceneLaunch()
  private var keys: MemoryKeyProvider { app.launch.keys }

  /// All that is stored.
  private func files() throws -> [String: [UInt8]?] {
    let names = try app.launch.store.names().map { ($0, app.launch.store.memory(named: $0).bytes) }
    return Dictionary(uniqueKeysWithValues: names).filter { !$0.key.hasSuffix(".launch") }
  }

  func testALockedLaunchHasNoSessionsAndChangesNothingUntilTheKeyIsThere() async throws {
    let stored = try await app.store(1, in: try await app.host())
    let disk = try files()
    keys.isLocked = true
    let host = try await app.host()
    XCTAssertTrue(host.isLocked)
    XCTAssertEqual(host.openSessions, [])
    let scene = try await host.open()
    let report = try await host.save(scene)
    XCTAssertEqual(report.outcome, .locked)
    XCTAssertEqual(try files(), disk)

    try await host.protectedDataDidBecomeAvailable()
    XCTAssertTrue(host.isLocked)
    keys.isLocked = false
    try await host.protectedDataDidBecomeAvailable()
    XCTAssertFalse(host.isLocked)
    XCTAssertEqual(host.restoreReason, .recover)
    XCTAssertEqual(
      host.openSessions.map(\.persistentIdentifier), [scene.session.persistentIdentifier, stored])
    XCTAssertEqual(host.openSessions[1].stateRestorationActivity?.id, 1)
    let saved = try await host.save(scene)
    XCTAssertEqual(saved.outcome, .saved)
    let next = try await app.host()
    XCTAssertEqual(next.openSessions, host.openSessions)
  }

  #if !RESTORATION_NEXT
  func testASceneThatConnectsLockedGetsItsStateWhenTheKeyIsThere() async throws {
    let stored = try await app.store(1, in: try await app.host())
    let disk = try XCTUnwrap(app.bytes(of: stored))
    // The list can still be read, and the scene's file cannot.
    let host = try await app.host(launching: false)
    keys.lock(after: 1)
    try await host.launch()
    let session = try XCTUnwrap(host.openSessions.first)
    XCTAssertEqual(session.title, "Product 1")
    XCTAssertTrue(host.isLocked)
    let node = TestNode("root", value: "fresh")
    app.prepare = { $0.roots = [node] }
    let scene = try await host.connect(session)
    XCTAssertNil(session.stateRestorationActivity)
    XCTAssertEqual(DraftModel(scene).draft, "")
    let delegate = app.delegates[1]
    XCTAssertEqual(delegate.interactions.count, 0)
    DraftModel(scene).tags = ["set": [1]]
    session.userInfo = ["set": true]

    app.calls.clear()
    scene.needsSave = false
    let locked = try await host.save(scene)
    XCTAssertEqual(locked.outcome, .locked)
    XCTAssertFalse(scene.needsSave, "Nobody was asked, so nobody knows of a change.")
    XCTAssertEqual(app.calls.events, [])
    XCTAssertEqual(app.bytes(of: stored), disk)

    keys.isLocked = false
    try await host.protectedDataDidBecomeAvailable()
    XCTAssertEqual(
      app.calls.events,
      [
        "sceneStateDidBecomeAvailable 1", "restorationRoots 1",
        #"restoreInteractionState 1, Product 1 ["id"]"#,
      ])
    XCTAssertEqual(session.stateRestorationActivity?.id, 1)
    XCTAssertEqual(delegate.becameAvailable, 1)
    XCTAssertEqual(delegate.interactions.map(\.id), [1])
    XCTAssertEqual(node.value, "1")
    XCTAssertEqual(DraftModel(scene).draft, "draft 1")
    XCTAssertEqual(DraftModel(scene).tags, ["set": [1]])
    XCTAssertEqual(session.userInfo, ["set": true])
    XCTAssertFalse(host.isLocked)
    try await host.protectedDataDidBecomeAvailable()
    XCTAssertEqual(delegate.becameAvailable, 1)

    delegate.activity = session.stateRestorationActivity
    let saved = try await host.save(scene)
    XCTAssertEqual(saved.outcome, .saved)
    XCTAssertNil(saved.setAside)
    let next = try await app.host()
    XCTAssertEqual(next.openSessions[0].userInfo, ["set": true])
  }

  func testASceneThatIsLockedAfterTheLaunchHasItsActivityAndGetsItsNodesLater() async throws {
    try await app.store(1, in: try await app.host())
    let host = try await app.host()
    keys.isLocked = true
    let node = TestNode("root", value: "fresh")
    app.prepare = { $0.roots = [node] }
    let scene = try await host.connect(host.openSessions[0])
    XCTAssertEqual(scene.session.stateRestorationActivity?.id, 1)
    XCTAssertEqual(DraftModel(scene).draft, "draft 1")
    XCTAssertEqual(node.value, "fresh")
    keys.isLocked = false
    try await host.protectedDataDidBecomeAvailable()
    XCTAssertEqual(node.value, "1")
    // Once in the life of a scene.
    XCTAssertEqual(app.delegates[1].interactions.map(\.id), [1])
  }
  #endif

  func testASceneThatCannotBeSavedNowStaysConnected() async throws {
    let host = try await app.host()
    let root = TestNode("root", value: "early")
    app.prepare = { $0.roots = [root] }
    let scene = try await host.open()
    try await host.save(scene)
    root.value = "late"
    keys.isLocked = true
    let locked = try await host.disconnect(scene)
    XCTAssertEqual(locked.outcome, .locked)
    XCTAssertEqual(scene.activationState, .background)
    keys.isLocked = false
    let saved = try await host.disconnect(scene)
    XCTAssertEqual(saved.outcome, .saved)
    XCTAssertEqual(scene.activationState, .unattached)
    root.value = nil
    try await host.connect(scene.session)
    XCTAssertEqual(root.value, "late")
  }

  #if !RESTORATION_NEXT
  func testWhatIsSetWhileTheFileIsLockedAddsToWhatWasSetBefore() async throws {
    try await app.store(1, in: try await app.host())
    let second = try await app.host()
    second.openSessions[0].userInfo = ["set": 1]
    try await second.saveSessions()
    // The list can be read, then written, and the file cannot.
    let third = try await app.host(launching: false)
    keys.lock(after: 1)
    try await third.launch()
    third.openSessions[0].stateRestorationActivity = app.activity(2)
    XCTAssertTrue(third.openSessions[0].failure != nil)
    keys.isLocked = false
    try await third.saveSessions()
    let fourth = try await app.host()
    XCTAssertEqual(fourth.openSessions[0].userInfo, ["set": 1])
    XCTAssertEqual(fourth.openSessions[0].stateRestorationActivity?.id, 2)
    let scene = try await fourth.connect(fourth.openSessions[0])
    XCTAssertEqual(DraftModel(scene).draft, "draft 1")
  }

  func testAFileThatTurnsOutDamagedAfterUnlockingIsSaidByItsScene() async throws {
    let stored = try await app.store(1, in: try await app.host())
    let file = app.launch.store.memory(named: "main.scene-\(stored)")
    let host = try await app.host(launching: false)
    keys.lock(after: 1)
    try await host.launch()
    let node = TestNode("root", value: "fresh")
    app.prepare = { $0.roots = [node] }
    let scene = try await host.connect(host.openSessions[0])
    guard case .success(let locked) = scene.restoration else {
      return XCTFail("\(String(describing: scene.restoration))")
    }
    XCTAssertEqual(locked.outcome, .locked)
    XCTAssertEqual(scene.session.failure.map(WholeError.init), WholeError(.keyLocked()))

    let bytes = try XCTUnwrap(file.bytes)
    file.bytes = bytes.dropLast(10)
    keys.isLocked = false
    app.calls.clear()
    try await host.protectedDataDidBecomeAvailable()
    guard case .failure(let error) = scene.restoration else {
      return XCTFail("\(String(describing: scene.restoration))")
    }
    let cause = ArchiveError(.truncated, offset: bytes.count - 10, location: "memory")
    XCTAssertEqual(WholeError(error), WholeError(notRestored: cause))
    XCTAssertEqual(scene.session.failure, error)
    XCTAssertEqual(app.calls.events, [])
    XCTAssertEqual(node.value, "fresh")
    XCTAssertFalse(host.isLocked)

    let report = try await host.save(scene)
    XCTAssertEqual(report.notes, [.unreadable(cause.description)])
    XCTAssertEqual(file.setAsideBytes, [bytes.dropLast(10)])
  }

  func testASceneThatStartsAfreshWhenTheKeyIsThereIsLockedNoMore() async throws {
    for hasCrashed in [false, true] {
      let app = SceneLaunch()
      let stored = try await app.store(1, in: try await app.host())
      let file = app.launch.store.memory(named: "main.scene-\(stored)")
      let marker = app.launch.store.memory(named: "main.scene-\(stored).launch")
      for _ in 1...2 where hasCrashed {
        var marked: [UInt8]?
        app.prepare = { $0.onConnect = { _ in marked = marker.bytes } }
        await (try await app.host()).restoreScenes()
        marker.bytes = try XCTUnwrap(marked)
      }
      app.prepare = nil
      let host = try await app.host(launching: false)
      app.launch.keys.lock(after: 1)
      try await host.launch()
      let scene = try await host.connect(host.openSessions[0])
      XCTAssertEqual(try scene.restoration?.get().outcome, .locked)
      XCTAssertTrue(host.isLocked)

      if !hasCrashed { file.bytes = nil }
      app.launch.keys.isLocked = false
      try await host.protectedDataDidBecomeAvailable()
      XCTAssertEqual(
        try scene.restoration?.get().outcome,
        hasCrashed ? .crashed(setAsideAt: "memory 1") : .noArchive)
      XCTAssertNil(scene.session.failure)
      XCTAssertFalse(host.isLocked)
      let report = try await host.save(scene)
      XCTAssertEqual(report.outcome, .saved)
      XCTAssertEqual(file.setAsideBytes.count, hasCrashed ? 1 : 0)
    }
  }

  func testWhatWasChangedStaysSetWhenASaveFindsTheKeyLocked() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    app.delegates[0].activity = app.activity(1)
    try await host.save(scene)
    let disk = app.bytes(of: scene.session.persistentIdentifier)
    scene.session.userInfo = ["set": 1]
    try scene.session.setWindowValue("shown")
    DraftModel(scene).draft = "typed"
    app.delegates[0].activity = app.activity(2)
    keys.isLocked = true
    let report = try await host.save(scene)
    XCTAssertEqual(report.outcome, .locked)
    XCTAssertTrue(scene.needsSave)
    XCTAssertEqual(app.bytes(of: scene.session.persistentIdentifier), disk)
    XCTAssertEqual(host.listFailure.map(WholeError.init), WholeError(.keyLocked(at: "keyring")))

    // The app is killed after the list is written, and before the scene is.
    keys.isLocked = false
    try await host.saveSessions()
    XCTAssertNil(host.listFailure)
    XCTAssertEqual(app.bytes(of: scene.session.persistentIdentifier), disk)
    let next = try await app.host()
    let session = next.openSessions[0]
    XCTAssertEqual(session.userInfo, ["set": 1])
    XCTAssertEqual(session.windowValue(String.self), "shown")
    XCTAssertEqual(session.stateRestorationActivity?.id, 2)
    let back = try await next.connect(session)
    XCTAssertEqual(DraftModel(back).draft, "typed")
  }

  func testAListThatFoundTheKeyLockedIsWrittenByTheNextCall() async throws {
    let host = try await app.host()
    let (one, two) = (try await host.open(), try await host.open())
    for scene in [one, two] { try await host.save(scene) }
    let list = app.launch.store.memory(named: "main.scenes")
    let stored = list.bytes
    try await host.connect(one.session)
    keys.isLocked = true
    for _ in 1...2 {
      let error = await restorationError { try await host.saveSessions() }
      XCTAssertEqual(error, WholeError(.keyLocked(at: "keyring")))
      XCTAssertEqual(list.bytes, stored)
    }
    keys.isLocked = false
    try await host.saveSessions()
    XCTAssertNotEqual(list.bytes, stored)
    let next = try await app.host()
    XCTAssertEqual(next.openSessions, [one.session, two.session])
  }
  #endif

  func testUnlockingTwiceAtOnceReadsEverySessionOnce() async throws {
    let first = try await app.host()
    for number in 1...3 { try await app.store(number, in: first) }
    keys.isLocked = true
    let host = try await app.host()
    keys.isLocked = false
    let tasks = (1...3).map { _ in
      Task { @MainActor in try await host.protectedDataDidBecomeAvailable() }
    }
    for task in tasks { try await task.value }
    XCTAssertEqual(host.openSessions.map(\.title), ["Product 3", "Product 2", "Product 1"])
    XCTAssertEqual(app.hostDelegate.discarded, [])
  }

  #if !RESTORATION_NEXT
  func testASceneThatIsClosedWhileItIsUnlockedStaysClosed() async throws {
    try await app.store(1, in: try await app.host())
    let host = try await app.host(launching: false)
    keys.lock(after: 1)
    try await host.launch()
    let scene = try await host.connect(host.openSessions[0])
    keys.isLocked = false
    let unlocking = Task { @MainActor in try await host.protectedDataDidBecomeAvailable() }
    try await host.close(scene)
    try await unlocking.value
    XCTAssertEqual(host.openSessions, [])
    let next = try await app.host()
    XCTAssertEqual(next.openSessions, [])
    XCTAssertEqual(app.hostDelegate.discarded.count, 1)
  }
  #endif
}
