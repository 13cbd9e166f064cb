import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What is stored of windows, which lie in the state of their keeper.
@MainActor
final class WindowTests: XCTestCase {
  private let app = SceneLaunch()
  private let root = TestNode("app", value: "app")

  /// Each stored element but the application's, with its value.
  private var stored: [String: String?] {
    get throws {
      let elements = try app.launch.storedRecords()?.elements ?? []
      return Dictionary(uniqueKeysWithValues: try elements.map { ($0.path, try $0.value) })
    }
  }

  /// Opens windows whose roots have the values 1, 2 and so on.
  private func open(_ count: Int, in host: SceneHost) async throws -> [RestorableScene] {
    var scenes: [RestorableScene] = []
    for number in 1...count {
      let scene = try await host.open()
      app.delegates[app.delegates.count - 1].roots = [
        TestNode("root", value: "\(number)", trace: app.calls)
      ]
      scenes.append(scene)
    }
    return scenes
  }

  private func path(_ scene: RestorableScene) -> String {
    "\(scene.session.persistentIdentifier)/root"
  }

  // MARK: Saves

  func testASaveOfAWindowAsksThatWindowAlone() async throws {
    let host = try await app.host()
    let scenes = try await open(2, in: host)
    _ = try await host.keeper.save([root])
    for scene in scenes { scene.testRoot?.value = "changed" }
    root.value = "changed"
    app.calls.clear()
    try await host.save(scenes[1])
    XCTAssertEqual(
      app.calls.events, ["stateRestorationActivity 2", "restorationRoots 2", "encode root"])
    XCTAssertEqual(try stored["app"], "app")
    XCTAssertEqual(try stored[path(scenes[0])], "1")
    XCTAssertEqual(try stored[path(scenes[1])], "changed")
  }

  func testWhatElsewhereHasSaidThatItHasChangedIsAskedByTheNextSave() async throws {
    let host = try await app.host()
    let scenes = try await open(2, in: host)
    let (own, other) = (TrackedNode("own"), TrackedNode("other"))
    app.delegates[0].roots = [other]
    _ = try await host.keeper.save([own])
    (own.value, other.value) = ("typed", "typed")
    try await host.save(scenes[1])
    let otherPath = "\(scenes[0].session.persistentIdentifier)/other"
    XCTAssertEqual(try stored["own"], "")
    XCTAssertEqual(try stored[otherPath], "")
    _ = try await host.keeper.save([own])
    XCTAssertEqual(try stored["own"], "typed")
    XCTAssertEqual(try stored[otherPath], "typed")
  }

  func testTwoWindowsThatChangedAreInOneCommit() async throws {
    let host = try await app.host()
    let scenes = try await open(2, in: host)
    let before = try await host.keeper.save([root])
    for scene in scenes { scene.testRoot?.value = "typed" }
    let after = try await host.keeper.save([root])
    XCTAssertEqual(after.version?.generation, before.version.map { $0.generation + 1 })
    XCTAssertEqual(try scenes.map { try stored[path($0)] }, ["typed", "typed"])
  }

  func testASaveOfTheRootsLeavesWindowsThatAreNotConnected() async throws {
    let first = try await app.host()
    let scenes = try await open(2, in: first)
    _ = try await first.keeper.save([root])
    let second = try await app.host()
    app.prepare = { $0.roots = [TestNode("root")] }
    _ = try await second.keeper.restore(into: [root])
    root.value = "typed"
    _ = try await second.keeper.save([root])
    try await second.connect(second.openSessions[0])
    _ = try await second.keeper.save([root])
    _ = try await second.keeper.save([])
    XCTAssertEqual(
      try stored,
      [
        path(scenes[0]): "1", path(scenes[1]): "2",
        scenes[0].session.persistentIdentifier: nil, scenes[1].session.persistentIdentifier: nil,
      ])
  }

  func testWhatLivesOnBehindAWindowThatWasDisconnectedIsNotAsked() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let node = TrackedNode("root")
    app.delegates[0].roots = [node]
    try await host.disconnect(scene)
    node.value = "too late"
    _ = try await host.keeper.save([root])
    XCTAssertEqual(try stored[path(scene)], "")
    XCTAssertEqual(node.encodeCount, 1)
  }

  // MARK: Coming back

  func testAWindowHasNoBound() async throws {
    let first = try await app.host()
    let count = 200
    for _ in 1...count {
      let scene = try await first.open()
      app.delegates[app.delegates.count - 1].roots = [
        TestNode("root", value: String(repeating: "x", count: 100_000))
      ]
      try await first.disconnect(scene)
    }
    app.launch.now += 13 * 31 * 86_400
    let second = try await app.host()
    (second.keeper.policy.keptAge, second.keeper.policy.keptByteCount) = (86_400, 1_000)
    _ = try await second.keeper.save([root])
    root.value = "typed"
    _ = try await second.keeper.save([root])
    let third = try await app.host()
    var nodes: [TestNode] = []
    app.prepare = { delegate in
      nodes.append(TestNode("root"))
      delegate.roots = [nodes[nodes.count - 1]]
    }
    let failures = await third.restoreScenes()
    XCTAssertTrue(failures.isEmpty)
    XCTAssertEqual(nodes.map { $0.value?.count }, Array(repeating: 100_000, count: count))
  }

  func testANodeThatIsNotBackStaysStoredInItsWindow() async throws {
    let first = try await app.host()
    let scene = try await first.open()
    app.delegates[0].roots = [
      TestNode("root", value: "1", children: [TestNode("late", value: "kept")])
    ]
    try await first.disconnect(scene)
    let second = try await app.host()
    let node = TestNode("root")
    app.prepare = { $0.roots = [node] }
    let back = try await second.connect(second.openSessions[0])
    node.value = "2"
    try await second.save(back)
    XCTAssertEqual(try stored[path(scene)], "2")
    XCTAssertEqual(try stored[path(scene) + "/late"], "kept")
    let late = TestNode("late")
    node.restorationChildren = [late]
    try await back.restore(late: late, below: node)
    XCTAssertEqual(late.value, "kept")
  }

  func testAWindowWhoseSessionCannotBeReadStaysStoredAndTheOthersComeBack() async throws {
    let first = try await app.host()
    let scenes = try await open(2, in: first)
    _ = try await first.keeper.save([root])
    let identifier = scenes[0].session.persistentIdentifier
    let element = try XCTUnwrap(
      app.launch.storedRecords()?.elements.first { $0.path == identifier })
    let key = try XCTUnwrap(app.launch.keys.key(creating: false))
    app.launch.endProcess()
    try { () throws in
      let writer = try ArchiveWriter.open(
        app.launch.store.memory(named: "main"), key: key,
        context: ArchiveContext([Launch.application, "main"]))
      let builder = writer.builder()
      try builder.append(record: element.record * 2) { $0.encode("no scene", forKey: "scene") }
      try writer.append(builder.finish())
    }()
    let second = try await app.host()
    XCTAssertEqual(
      second.openSessions.map(\.persistentIdentifier), [scenes[1].session.persistentIdentifier])
    XCTAssertEqual(second.unreadSessions[identifier]?.code, .archive)
    await second.restoreScenes()
    _ = try await second.keeper.save([root])
    XCTAssertEqual(try stored[path(scenes[0])], "1")
  }

  func testAWindowInWhichTwoLaunchesCrashedIsLeftOutInTheThird() async throws {
    let first = try await app.host()
    let scenes = try await open(2, in: first)
    _ = try await first.keeper.save([root])
    let identifier = scenes[0].session.persistentIdentifier
    for _ in 1...2 {
      var crashed: LaunchDisk?
      app.prepare = { [app] delegate in
        delegate.roots = [TestNode("root")]
        delegate.onConnect = { scene in
          if scene.session.persistentIdentifier == identifier { crashed = app.launch.disk }
        }
      }
      await (try await app.host()).restoreScenes()
      app.launch.disk = try XCTUnwrap(crashed)
    }
    app.prepare = { $0.roots = [TestNode("root")] }
    let third = try await app.host()
    let failures = await third.restoreScenes()
    XCTAssertEqual(
      failures.map { [$0.persistentIdentifier: $1.code] }, [[identifier: .notConnected]])
    XCTAssertEqual(third.connectedScenes.map { $0.testRoot?.value }, ["2"])
    XCTAssertEqual(third.openSessions.count, 2)
    _ = try await third.keeper.save([root])
    XCTAssertEqual(try stored[path(scenes[0])], "1")
    try await third.keeper.retrySkippedNodes()
    let fourth = try await app.host()
    await fourth.restoreScenes()
    XCTAssertEqual(fourth.connectedScenes.map { $0.testRoot?.value }, ["2", "1"])
  }

  func testTheAutosaveOfAKeeperSavesWindows() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let node = TrackedNode("root")
    app.delegates[0].roots = [node]
    let autosave = host.keeper.autosave { [root] in [root] }
    _ = await autosave.flush()
    node.value = "typed"
    _ = await autosave.flush()
    XCTAssertEqual(try stored[path(scene)], "typed")
    try await host.disconnect(scene)
    scene.session.userInfo = ["pinned": true]
    _ = await autosave.flush()
    let next = try await app.host()
    XCTAssertEqual(next.openSessions[0].userInfo, ["pinned": true])
    await host.close()
  }

  // MARK: Going

  func testAWindowThatCannotBeSavedIsClosedAllTheSameAndTheNextSaveSaysSo() async throws {
    let directory = HookedDirectory()
    let first = try await host(directory)
    first.closedSceneCount = 10
    let scene = try await open(1, in: first)[0]
    try await first.save(scene)
    scene.testRoot?.value = "lost"
    directory.hear { _, call throws(ArchiveError) in
      if call == .write { throw ArchiveError(.storageFull) }
    }
    let error = await restorationError { try await first.close(scene) }
    XCTAssertEqual(error?.archive?.code, .storageFull)
    XCTAssertEqual(first.openSessions, [])
    XCTAssertEqual(first.closedSessions, [scene.session])
    directory.hear(nil)
    _ = try await first.keeper.save([root])
    let second = try await host(try directory.afterKill(), closedCount: 10)
    XCTAssertEqual(second.openSessions, [])
    app.prepare = { $0.roots = [TestNode("root")] }
    let again = try await second.reopen(try XCTUnwrap(second.closedSessions.first))
    XCTAssertEqual(again.testRoot?.value, "1")
    XCTAssertEqual(second.openSessions, [again.session])
    _ = try await second.keeper.save([root])
    XCTAssertNil(again.session.closedAt)
  }

  func testASessionThatIsGoneConnectsNoMore() async throws {
    let host = try await app.host()
    let scene = try await open(1, in: host)[0]
    try await host.close(scene)
    let error = await restorationError { try await host.connect(scene.session) }
    XCTAssertEqual(error?.code, .notConnected)
    XCTAssertEqual(host.openSessions, [])
    XCTAssertEqual(try stored.count, 0)
  }

  func testASessionThatIsDiscardedWhileItIsShownDoesNotComeBack() async throws {
    let first = try await app.host()
    let scene = try await open(1, in: first)[0]
    try await first.disconnect(scene)
    let host = try await app.host()
    var discarding: Task<Void, any Error>?
    app.prepare = { delegate in
      delegate.roots = [TestNode("root")]
      delegate.onConnect = { scene in
        discarding = Task { @MainActor in try await host.discard([scene.session]) }
      }
    }
    _ = try? await host.connect(host.openSessions[0])
    try await discarding?.value
    _ = try await host.keeper.save([root])
    XCTAssertEqual(host.openSessions, [])
    XCTAssertEqual(host.connectedScenes.count, 0)
    XCTAssertEqual(try stored, ["app": "app"])
  }

  func testAClosedWindowGoesWithAllBelowItAndLeavesTheOthers() async throws {
    let host = try await app.host()
    let scenes = try await open(3, in: host)
    _ = try await host.keeper.save([root])
    try await host.disconnect(scenes[2])
    try await host.discard([scenes[0].session, scenes[2].session])
    XCTAssertEqual(
      app.hostDelegate.discarded, [[scenes[0], scenes[2]].map(\.session.persistentIdentifier)])
    XCTAssertEqual(
      try stored,
      ["app": "app", path(scenes[1]): "2", scenes[1].session.persistentIdentifier: nil])
    XCTAssertEqual(host.openSessions, [scenes[1].session])
    _ = try await host.keeper.save([root])
    XCTAssertEqual(try stored.count, 3)
  }

  /// A host over a directory, with a window of the value 1.
  private func host(
    _ directory: any StateDirectory, closedCount: Int = 0
  ) async throws -> SceneHost {
    let keeper = try StateKeeper(
      application: Launch.application, directory: directory, keys: app.launch.keys)
    let host = SceneHost(keeper)
    host.closedSceneCount = closedCount
    host.delegate = app.hostDelegate
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    return host
  }

  /// The files of a directory in which a window has anything.
  private func traces(of identifier: String, in directory: HookedDirectory) throws -> [String] {
    let key = try XCTUnwrap(app.launch.keys.key(creating: false))
    return try directory.base.names().filter { name in
      let storage = directory.base.memory(named: name)
      guard !name.hasSuffix(".lock"), let bytes = storage.bytes, !bytes.isEmpty else {
        return false
      }
      var found = false
      // What every commit in the file says, be it the last one or not: none has less than 100 bytes.
      for count in stride(from: 0, to: bytes.count, by: 100) + [bytes.count] {
        let part = MemoryStorage()
        try part.replace { sink throws(ArchiveError) in try sink.write(Array(bytes[..<count])) }
        let archive = try? Archive.open(
          part, key: key, context: ArchiveContext([Launch.application, "main"]), recovery: .recover)
        let records = try archive.map { try TestSupport.StoredRecords($0) }
        if records?.elements.contains(where: { $0.path.hasPrefix(identifier) }) == true {
          found = true
        }
      }
      return found
    }
  }

  func testAClosedWindowLeavesNoTraceInAnyFileAlsoAfterAKillAtEachCall() async throws {
    var (call, isWhole, kept, gone) = (0, false, 0, 0)
    while !isWhole {
      let directory = HookedDirectory()
      let first = try await host(directory)
      let scenes = try await open(2, in: first)
      _ = try await first.keeper.save([root])
      scenes[0].testRoot?.value = "typed"
      _ = try await first.keeper.save([root])
      let (identifier, other) = (
        scenes[0].session.persistentIdentifier, scenes[1].session.persistentIdentifier
      )
      let left = Mutex(call)
      directory.hear { _, call throws(ArchiveError) in
        guard call.isChange else { return }
        let isOver = left.withLock { left in
          left -= 1
          return left < 0
        }
        if isOver { throw ArchiveError(.inputOutput, systemError: 5) }
      }
      do {
        try await first.close(scenes[0])
        isWhole = true
        XCTAssertEqual(try traces(of: identifier, in: directory), [], "\(call)")
      } catch {}
      let next = try directory.afterKill()
      let second = try await host(next)
      let found = Set(second.openSessions.map(\.persistentIdentifier))
      XCTAssertEqual(Set(first.openSessions.map(\.persistentIdentifier)), found, "\(call)")
      if found == [identifier, other] {
        kept += 1
      } else {
        gone += 1
        XCTAssertEqual(found, [other])
        XCTAssertEqual(try traces(of: identifier, in: next), [], "\(call)")
      }
      call += 1
    }
    XCTAssertGreaterThan(kept, 0)
    XCTAssertGreaterThan(gone, 1)
  }
}
