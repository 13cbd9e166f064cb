import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Sessions that get another scene while the one before it is being saved.
@MainActor
final class SceneReconnectTests: XCTestCase {
  private let app = SceneLaunch()

  private func node(of scene: RestorableScene) throws -> TrackedNode {
    let delegate = try XCTUnwrap(scene.delegate as? TestSceneDelegate)
    return try XCTUnwrap(delegate.roots.first as? TrackedNode)
  }

  /// The value of the only scene's node, in the next launch.
  private func storedValue() async throws -> String {
    let next = try await app.host()
    app.prepare = { $0.roots = [TrackedNode("root")] }
    defer { app.prepare = nil }
    await next.restoreScenes()
    return try node(of: try XCTUnwrap(next.connectedScenes.first)).value
  }

  private func host(_ hook: @escaping HookedStore.Hook) async throws -> SceneHost {
    let store = HookedStore(app.launch.store, before: hook)
    let host = SceneHost(
      try StateKeeper(application: Launch.application, directory: store, keys: app.launch.keys))
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    return host
  }

  // MARK: What is heard

  func testASceneThatConnectsBesideSavesOfItsOldSelfIsHeardAndTheOldOneIsAskedNoMore() async throws
  {
    let host = try await app.host()
    app.prepare = { $0.roots = [TrackedNode("root")] }
    var scene = try await host.open()
    for round in 1...20 {
      let old = scene
      let oldNode = try node(of: old)
      let saves = (1...2).map { _ in
        Task { @MainActor in
          while old.activationState != .unattached {
            do throws(RestorationError) { try await host.save(old) } catch {
              XCTAssertEqual(error.code, .notConnected)
            }
            await Task.yield()
          }
        }
      }
      try await host.disconnect(old)
      let askCount = oldNode.encodeCount
      scene = try await host.connect(old.session)
      for save in saves { await save.value }
      XCTAssertEqual(oldNode.encodeCount, askCount, "round \(round)")
      try node(of: scene).value = "\(round)"
      let reports = try await host.saveChangedScenes()
      XCTAssertEqual(reports.map(\.value.outcome), [.saved], "round \(round)")
    }
    let stored = try await storedValue()
    XCTAssertEqual(stored, "20")
  }

  func testNodesOfASceneThatCameBackAreHeardBeforeItsFirstSave() async throws {
    let first = try await app.host()
    app.prepare = { $0.roots = [TrackedNode("root")] }
    try await first.save(try await first.open())
    let host = try await app.host()
    await host.restoreScenes()
    try node(of: host.connectedScenes[0]).value = "typed"
    try await host.terminate()
    let stored = try await storedValue()
    XCTAssertEqual(stored, "typed")
  }

  func testAChangeDuringASaveIsInTheSaveOfChangedScenesThatFollows() async throws {
    let gate = Gate()
    let host = try await host { name, call in
      if call.isWrite, name.contains(".scene-") || name == "main" { gate.pass() }
    }
    app.prepare = { $0.roots = [TrackedNode("root")] }
    let scene = try await host.open()
    gate.holdUp()
    let saving = Task { @MainActor in try await host.save(scene) }
    try await waitUntil("a write is held up") { gate.isWaitedFor }
    try node(of: scene).value = "typed meanwhile"
    let ending = Task { @MainActor in try await host.terminate() }
    for _ in 0..<100 { await Task.yield() }
    gate.goOn()
    _ = try await saving.value
    try await ending.value
    let stored = try await storedValue()
    XCTAssertEqual(stored, "typed meanwhile")
  }

  // MARK: What a scene takes with it

  /// Lets a save of a scene fail that walks while one that lets the scene go is written.
  private func failSaveBeside(
    _ leave: @escaping @MainActor (SceneHost, RestorableScene) async throws -> Void
  ) async throws {
    let (first, second) = (Gate(), Gate())
    let count = Mutex(0)
    let host = try await host { name, call throws(ArchiveError) in
      guard call.isWrite, name.contains(".scene-") || name == "main" else { return }
      switch count.withLock({ count in
        count += 1
        return count
      }) {
      case 2: first.pass()
      case 3:
        second.pass()
        throw ArchiveError(.storageFull, location: name)
      default: break
      }
    }
    host.closedSceneCount = 10
    app.prepare = { $0.roots = [TrackedNode("root")] }
    let scene = try await host.open()
    try await host.save(scene)
    try node(of: scene).value = "first"
    first.holdUp()
    second.holdUp()
    let leaving = Task { @MainActor in try await leave(host, scene) }
    try await waitUntil("the first write is held up") { first.isWaitedFor }
    let changed = try node(of: scene)
    changed.value = "second"
    let saving = Task { @MainActor in try await host.save(scene) }
    for _ in 0..<100 { await Task.yield() }
    first.goOn()
    try await waitUntil("the second write is held up") { second.isWaitedFor }
    for _ in 0..<100 { await Task.yield() }
    second.goOn()
    let failure = await restorationError { _ = try await saving.value }
    XCTAssertEqual(failure?.archive?.code, .storageFull)
    try await leaving.value
    XCTAssertEqual(scene.activationState, .unattached)
    await host.close()
  }

  func testWhatASaveBesideADisconnectCouldNotStoreIsStoredBeforeTheSceneGoes() async throws {
    try await failSaveBeside { host, scene in _ = try await host.disconnect(scene) }
    let stored = try await storedValue()
    XCTAssertEqual(stored, "second")
  }

  func testWhatASaveBesideACloseCouldNotStoreIsThereWhenTheSceneIsOpenedAgain() async throws {
    try await failSaveBeside { host, scene in _ = try await host.close(scene) }
    let next = try await app.host(launching: false)
    next.closedSceneCount = 10
    try await next.launch()
    let again = try await next.reopen(try XCTUnwrap(next.closedSessions.first))
    XCTAssertEqual(try node(of: again).value, "second")
  }

  // MARK: All of it at once

  func testHoweverSavesComingsAndGoingsOverlapTheLastChangeIsStored() async throws {
    var random = SeededGenerator()
    let host = try await app.host(launching: false)
    host.closedSceneCount = 10
    try await host.launch()
    app.prepare = { $0.roots = [TrackedNode("root")] }
    let session = try await host.open().session
    var last = ""
    for round in 1...100 {
      let what = "round \(round), seed \(random.seed)"
      let calls = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        Int.random(in: 0..<6, using: &random)
      }
      let tasks = calls.map { call in
        Task { @MainActor in
          let scene = session.scene
          switch call {
          case 0: if let scene { try await host.save(scene) }
          case 1: if let scene { try await host.disconnect(scene) }
          case 2: try await host.connect(session)
          case 3: if let scene { try await host.close(scene) }
          case 4: try await host.reopen(session)
          default: try await host.saveChangedScenes()
          }
        }
      }
      // Some of the calls come when they cannot do anything any more.
      for task in tasks {
        if case .failure(let error) = await task.result {
          XCTAssertEqual((error as? RestorationError)?.code, .notConnected, what)
        }
      }
      if host.closedSessions.contains(session) { try await host.reopen(session) }
      let scene = try await host.connect(session)
      XCTAssertEqual(host.connectedScenes.map { $0 === scene }, [true], what)
      XCTAssertEqual(try node(of: scene).value, last, "\(what): \(calls)")
      last = "\(round)"
      try node(of: scene).value = last
      let reports = try await host.saveChangedScenes()
      XCTAssertEqual(reports[session]?.outcome, .saved, "\(what): \(calls)")
    }
    let stored = try await storedValue()
    XCTAssertEqual(stored, last, "seed \(random.seed)")
  }

  func testASceneThatIsClosedWhileAnotherOneOfItsSessionConnectsLeavesThatOneAlone() async throws {
    let host = try await app.host(launching: false)
    host.closedSceneCount = 10
    try await host.launch()
    app.prepare = { $0.roots = [TrackedNode("root")] }
    var scene = try await host.open()
    for round in 0..<60 {
      let (old, session) = (scene, scene.session)
      let saves = (1...2).map { _ in
        Task { @MainActor in
          while old.activationState != .unattached {
            try await host.save(old)
            // A save that finds nothing waits for nobody.
            await Task.yield()
          }
        }
      }
      let leaving = Task { @MainActor in try await host.disconnect(old) }
      for _ in 0..<round { await Task.yield() }
      let closing = Task { @MainActor in try await host.close(old) }
      let coming = Task { @MainActor in
        try await waitUntil("the scene is let go") { old.activationState == .unattached }
        try await host.connect(session)
      }
      _ = (await leaving.result, await closing.result, await coming.result)
      for save in saves { _ = await save.result }
      if let connected = session.scene {
        XCTAssertEqual(host.openSessions, [session], "round \(round)")
        XCTAssertEqual(host.closedSessions, [], "round \(round)")
        XCTAssertTrue(host.connectedScenes.first === connected, "round \(round)")
        scene = connected
      } else {
        XCTAssertEqual(host.openSessions, [], "round \(round)")
        XCTAssertEqual(host.closedSessions, [session], "round \(round)")
        scene = try await host.reopen(session)
      }
    }
  }
}
