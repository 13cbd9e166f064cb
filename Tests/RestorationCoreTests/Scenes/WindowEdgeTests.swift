import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Windows where calls cross, and where something fails.
@MainActor
final class WindowEdgeTests: XCTestCase {
  private let app = SceneLaunch()
  private let directory = HookedDirectory()
  private let root = TestNode("app", value: "app")

  /// A host over the directory; its windows have a root of that name.
  private func host(_ directory: HookedDirectory? = nil) async throws -> SceneHost {
    let keeper = try StateKeeper(
      application: Launch.application, directory: directory ?? self.directory,
      keys: app.launch.keys, now: { [app] in app.launch.now })
    let host = SceneHost(keeper)
    host.register(
      SceneConfiguration { [app] in
        let delegate = app.makeDelegate()
        if delegate.roots.isEmpty { delegate.roots = [TestNode("root")] }
        return delegate
      })
    try await host.launch()
    return host
  }

  /// A window whose root has a value, which is saved.
  private func open(
    _ value: String, in host: SceneHost, children: [any RestorableNode] = []
  ) async throws -> RestorableScene {
    let scene = try await host.open()
    app.delegates[app.delegates.count - 1].roots = [
      TestNode("root", value: value, children: children)
    ]
    try await host.save(scene)
    return scene
  }

  private func stored(in directory: HookedDirectory? = nil) throws -> [String: String?] {
    let key = try XCTUnwrap(app.launch.keys.key(creating: false))
    let archive = try Archive.open(
      (directory ?? self.directory).base.memory(named: "main"), key: key,
      context: ArchiveContext([Launch.application, "main"]))
    let elements = try archive.map { try TestSupport.StoredRecords($0).elements } ?? []
    return try elements.reduce(into: [:]) { $0[$1.path] = .some(try $1.value) }
  }

  private func path(_ scene: RestorableScene, _ name: String = "root") -> String {
    "\(scene.session.persistentIdentifier)/\(name)"
  }

  // MARK: Connecting

  func testAWindowThatCannotBeReadIsNotShownAndStaysStored() async throws {
    let first = try await host()
    let scene = try await open("1", in: first)
    let next = try directory.afterKill()
    let second = try await host(next)
    _ = try await second.keeper.save([root])
    await second.keeper.close()
    next.hear { _, call throws(ArchiveError) in
      if [.open, .openForAppending].contains(call) { throw ArchiveError(.inputOutput) }
    }
    let shown = app.delegates.map(\.connected.count).reduce(0, +)
    let session = second.openSessions[0]
    let error = await restorationError { try await second.connect(session) }
    XCTAssertEqual(error?.archive?.code, .inputOutput)
    XCTAssertEqual(app.delegates.map(\.connected.count).reduce(0, +), shown)
    next.hear(nil)
    _ = try await second.keeper.save([root])
    XCTAssertEqual(try stored(in: next)[path(scene)], "1")
    let back = try await second.connect(session)
    XCTAssertEqual(back.testRoot?.value, "1")
  }

  func testADelegateThatIsMadeOpensAnotherWindow() async throws {
    let first = try await host()
    _ = try await open("1", in: first)
    let host = SceneHost(
      try StateKeeper(
        application: Launch.application, directory: try directory.afterKill(), keys: app.launch.keys
      ))
    var hasOpened = false
    host.register(
      SceneConfiguration { [app] in
        if !hasOpened {
          hasOpened = true
          try await host.open()
        }
        return app.makeDelegate()
      })
    try await host.launch()
    let failures = await host.restoreScenes()
    XCTAssertTrue(failures.isEmpty)
    XCTAssertEqual(host.connectedScenes.count, 2)
  }

  func testAWindowConnectsAgainAfterADelegateOfTheKeeperWasGone() async throws {
    let first = try await host()
    let scene = try await open("1", in: first)
    try await first.disconnect(scene)
    var delegate: TestDelegate? = TestDelegate()
    first.keeper.delegate = delegate
    delegate = nil
    withExtendedLifetime(delegate) {}
    let error = await restorationError { try await first.connect(scene.session) }
    XCTAssertNotNil(error)
    XCTAssertNil(scene.session.scene)
    first.keeper.delegate = nil
    let back = try await first.connect(scene.session)
    XCTAssertEqual(back.testRoot?.value, "1")
  }

  func testASaveThatBlocksTheActorWhileAWindowIsShownLeavesItAsItIsStored() async throws {
    let first = try await host()
    let scene = try await open("1", in: first)
    let next = try directory.afterKill()
    let second = try await host(next)
    _ = try await second.keeper.save([root])
    app.prepare = { [root] delegate in
      delegate.onCall = { call, _ in
        guard call == "sceneWillEnterForeground" else { return }
        XCTAssertFalse(second.keeper.endNow(saving: [root]))
      }
    }
    let back = try await second.connect(second.openSessions[0])
    XCTAssertEqual(back.testRoot?.value, "1")
    XCTAssertEqual(try stored(in: next)[path(scene)], "1")
  }

  // MARK: Saving

  func testANewWindowOfNodesThatSayWhenTheyChangeIsSaved() async throws {
    let host = try await host()
    let node = TrackedNode("own")
    _ = try await host.keeper.save([node])
    let scene = try await host.open()
    app.delegates[0].roots = [TrackedNode("root")]
    _ = try await host.keeper.save([node])
    XCTAssertEqual(try stored()[path(scene)], "")
  }

  func testOtherRootsOfAWindowAreFoundThoughAllSayWhenTheyChange() async throws {
    let host = try await host()
    let scene = try await host.open()
    let (one, two) = (TrackedNode("one"), TrackedNode("two"))
    app.delegates[0].roots = [one, two]
    _ = try await host.keeper.save([])
    app.delegates[0].roots = [two]
    _ = try await host.keeper.save([])
    XCTAssertEqual(
      try stored().keys.sorted(), [path(scene, "two"), scene.session.persistentIdentifier].sorted())
  }

  func testWhatChangesWhileAWindowIsSavedForTheLastTimeIsStored() async throws {
    let host = try await host()
    let scene = try await host.open()
    let node = TrackedNode("root")
    app.delegates[0].roots = [node]
    try await host.save(scene)
    node.value = "first"
    let isWriting = Flag()
    directory.hear { _, call throws(ArchiveError) in
      guard call == .write, !isWriting.isSet else { return }
      isWriting.isSet = true
      Thread.sleep(forTimeInterval: 0.1)
    }
    let leaving = Task { try await host.disconnect(scene) }
    while !isWriting.isSet { await Task.yield() }
    node.value = "last"
    _ = try await leaving.value
    XCTAssertEqual(try stored()[path(scene)], "last")
  }

  // MARK: Going

  func testAWindowThatIsDiscardedWhileASaveWaitsStaysGone() async throws {
    for isConnected in [true, false] {
      let host = try await host()
      let scene = try await open("1", in: host)
      if !isConnected {
        try await host.disconnect(scene)
        scene.session.userInfo = ["changed": true]
      }
      let closing = Task { try await host.discard([scene.session]) }
      let saving = Task { [root] in try await host.keeper.save([root]) }
      try await closing.value
      _ = try await saving.value
      _ = try await host.keeper.save([root])
      XCTAssertEqual(try stored().keys.sorted(), ["app"])
      await host.close()
    }
  }

  func testASaveThatBlocksTheActorDoesNotBringADiscardedWindowBack() async throws {
    let host = try await host()
    let scene = try await open("1", in: host)
    _ = try await host.keeper.save([root])
    let isWriting = Flag()
    directory.hear { _, call throws(ArchiveError) in
      guard call == .write, !isWriting.isSet else { return }
      isWriting.isSet = true
      Thread.sleep(forTimeInterval: 0.1)
    }
    let closing = Task { try await host.discard([scene.session]) }
    while !isWriting.isSet { await Task.yield() }
    root.value = "typed"
    XCTAssertTrue(host.keeper.endNow(saving: [root]))
    try await closing.value
    XCTAssertEqual(try stored(), ["app": "typed"])
    XCTAssertEqual(host.openSessions, [])
  }

  func testAWindowWhoseCommitIsThereIsGoneThoughItsFileCouldNotBeWrittenAnew() async throws {
    let host = try await host()
    let scene = try await open("1", in: host)
    try await host.disconnect(scene)
    directory.hear { _, call throws(ArchiveError) in
      if call == .replace { throw ArchiveError(.storageFull) }
    }
    let error = await restorationError { try await host.discard([scene.session]) }
    XCTAssertEqual(error?.archive?.code, .storageFull)
    XCTAssertEqual(host.openSessions, [])
    directory.hear(nil)
    _ = try await host.keeper.save([root])
    XCTAssertEqual(try stored(), ["app": "app"])
  }

  func testADiscardedStateLeavesNoSessionButThoseThatAreConnected() async throws {
    let host = try await host()
    let scene = try await open("1", in: host)
    let other = try await open("2", in: host)
    try await host.disconnect(scene)
    try await host.keeper.discardState()
    XCTAssertEqual(host.openSessions, [other.session])
    _ = try await host.keeper.save([root])
    XCTAssertEqual(
      try stored().keys.sorted(),
      [other.session.persistentIdentifier, path(other), "app"].sorted())
  }

  func testADiscardThatWritesNothingLeavesTheHistory() async throws {
    let host = try await host()
    let scene = try await open("1", in: host)
    directory.hear { _, call throws(ArchiveError) in
      if call == .write { throw ArchiveError(.storageFull) }
    }
    let error = await restorationError { try await host.close(scene) }
    XCTAssertEqual(error?.archive?.code, .storageFull)
    XCTAssertEqual(host.openSessions, [scene.session])
    let isReplaced = Flag()
    directory.hear { _, call throws(ArchiveError) in
      if call == .replace { isReplaced.isSet = true }
    }
    _ = try await host.keeper.save([root])
    XCTAssertFalse(isReplaced.isSet)
  }

  func testASceneOfBeforeClosesNothing() async throws {
    let host = try await host()
    let scene = try await open("1", in: host)
    try await host.disconnect(scene)
    let again = try await host.connect(scene.session)
    let error = await restorationError { try await host.close(scene) }
    XCTAssertEqual(error?.code, .notConnected)
    XCTAssertEqual(host.connectedScenes.count, 1)
    XCTAssertEqual(again.testRoot?.value, "1")
  }

  func testWindowsAreNotSavedWhereNothingIsKnownOfTheState() async throws {
    let first = try await host()
    let scene = try await open("1", in: first)
    _ = try await first.keeper.save([root])
    let next = try directory.afterKill()
    let host = SceneHost(
      try StateKeeper(application: Launch.application, directory: next, keys: app.launch.keys))
    let error = await restorationError { try await host.saveSessions() }
    XCTAssertEqual(error?.code, .notConnected)
    XCTAssertEqual(try stored(in: next)[path(scene)], "1")
  }

  func testAnAutosaveHearsOfANewWindow() async throws {
    let host = try await host()
    let autosave = host.keeper.autosave { [] }
    _ = await autosave.flush()
    app.prepare = { $0.roots = [TrackedNode("root")] }
    let scene = try await host.open()
    let end = ContinuousClock.now + .seconds(10)
    while try stored()[path(scene)] == nil, ContinuousClock.now < end {
      try await Task.sleep(for: .milliseconds(20))
    }
    XCTAssertEqual(try stored()[path(scene)], "")
    await host.close()
  }

  func testTwoLaunchesAtOnceReadEachSessionOnce() async throws {
    let first = try await host()
    _ = try await open("1", in: first)
    let host = SceneHost(
      try StateKeeper(
        application: Launch.application, directory: try directory.afterKill(), keys: app.launch.keys
      ))
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    _ = try await host.keeper.restore(into: [root])
    _ = try await host.keeper.save([root])
    let launches = (1...2).map { _ in
      Task { @MainActor in
        try await host.launch()
        await host.restoreScenes()
      }
    }
    for launch in launches { try await launch.value }
    XCTAssertEqual(host.connectedScenes.count, 1)
  }

  func testAWindowIsSavedAloneAfterTheStateWasDiscarded() async throws {
    let host = try await host()
    let scene = try await open("1", in: host)
    let autosave = host.keeper.autosave { [] }
    _ = await autosave.flush()
    try await host.keeper.discardState()
    scene.testRoot?.value = "typed"
    try await host.save(scene)
    XCTAssertEqual(try stored()[path(scene)], "typed")
    await host.close()
  }

  func testADelegateThatIsMadeHandsOnAnActivity() async throws {
    let first = try await host()
    _ = try await open("1", in: first)
    let host = SceneHost(
      try StateKeeper(
        application: Launch.application, directory: try directory.afterKill(),
        keys: app.launch.keys))
    var hasHandedOn = false
    host.register(
      SceneConfiguration { [app] in
        if !hasHandedOn {
          hasHandedOn = true
          try await host.continueActivity(app.activity(1))
        }
        return app.makeDelegate()
      })
    try await host.launch()
    await host.restoreScenes()
    XCTAssertEqual(host.connectedScenes.count, 2)
  }

  // MARK: References

  /// Two windows, saved, whose roots refer to one node.
  private func openTwo(
    referringTo shared: PlainNode, in host: SceneHost
  ) async throws -> [RestorableScene] {
    var scenes: [RestorableScene] = []
    for _ in 1...2 {
      let scene = try await host.open()
      let node = TrackedNode("root")
      node.references = [shared]
      app.delegates[app.delegates.count - 1].roots = [node]
      scenes.append(scene)
    }
    _ = try await host.keeper.save([root])
    return scenes
  }

  func testADiscardedWindowLeavesWhatAnotherOneRefersTo() async throws {
    let first = try await host()
    let shared = PlainNode("shared")
    shared.value = "shared"
    let scenes = try await openTwo(referringTo: shared, in: first)
    let next = try directory.afterKill()
    let second = try await host(next)
    let owner = try stored(in: next).keys.contains(path(scenes[0], "root/shared")) ? 0 : 1
    let session = try XCTUnwrap(
      second.openSessions.first {
        $0.persistentIdentifier == scenes[owner].session.persistentIdentifier
      })
    try await second.discard([session])
    XCTAssertEqual(try stored(in: next)[path(scenes[1 - owner], "root/shared")], "shared")
  }

  func testWhatAnotherWindowRefersToIsAskedAlsoWhenItsOwnerIsDisconnected() async throws {
    let host = try await host()
    let shared = TrackedNode("shared")
    let scenes = try await openTwo(referringTo: shared, in: host)
    let owner = try stored().keys.contains(path(scenes[0], "root/shared")) ? 0 : 1
    try await host.disconnect(scenes[owner])
    shared.value = "typed"
    (app.delegates[1 - owner].roots[0] as? TrackedNode)?.value = "also"
    _ = try await host.keeper.save([root])
    XCTAssertEqual(
      try stored().filter { $0.key.hasSuffix("shared") },
      [path(scenes[owner], "root/shared"): "typed"])
  }

  // MARK: The keeper

  func testTheKeeperRestoresAndPutsBackNothingWhileWindowsAreConnected() async throws {
    let host = try await host()
    let scene = try await open("1", in: host)
    let moment = Moment(.session, at: app.launch.now, after: nil, byteCount: 1)
    for call in [
      { _ = try await host.keeper.restore(into: [self.root]) },
      { try await host.keeper.putBack(moment) },
    ] as [() async throws -> Void] {
      let error = await restorationError { try await call() }
      XCTAssertEqual(
        error?.description, "Windows are connected. Disconnect them first, and connect them again.")
    }
    try await host.disconnect(scene)
    scene.session.userInfo = ["changed": true]
    let report = try await host.keeper.restore(into: [root])
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertEqual(host.openSessions[0].userInfo, ["changed": true])
    let back = try await host.connect(host.openSessions[0])
    XCTAssertEqual(back.testRoot?.value, "1")
  }

  func testWhatIsKeptInAWindowThatIsNotConnectedHasNoBound() async throws {
    let first = try await host()
    let scene = try await open("1", in: first, children: [TestNode("late", value: "kept")])
    let next = try directory.afterKill()
    let second = try await host(next)
    let back = try await second.connect(second.openSessions[0])
    back.testRoot?.value = "2"
    try await second.save(back)
    XCTAssertEqual(try stored(in: next)[path(scene, "root/late")], "kept")
    try await second.disconnect(back)
    app.launch.now += 13 * 31 * 86_400
    root.value = "typed"
    _ = try await second.keeper.save([root])
    XCTAssertEqual(try stored(in: next)[path(scene, "root/late")], "kept")
  }

  func testASecondLaunchOfAHostLeavesItsSessions() async throws {
    let host = try await host()
    let scene = try await open("1", in: host)
    try await host.disconnect(scene)
    try await host.launch()
    scene.session.userInfo = ["pinned": true]
    _ = try await host.keeper.save([root])
    let second = try await self.host(try directory.afterKill())
    XCTAssertEqual(second.openSessions.map(\.userInfo), [["pinned": true]])
  }

  func testReportsListWhatIsInAWindowAndNotTheWindow() async throws {
    let first = try await host()
    let scene = try await first.open()
    app.delegates[0].roots = [TestNode("root", value: "x")]
    let saved = try await first.save(scene)
    XCTAssertEqual(saved.entries.map(\.path.description), ["root"])
    await first.close()
    let next = try await host()
    let restored = try await next.connect(try XCTUnwrap(next.openSessions.first)).restoration
    XCTAssertEqual(restored?.description.hasPrefix("Restored 1 of 1 nodes."), true)
  }
}
