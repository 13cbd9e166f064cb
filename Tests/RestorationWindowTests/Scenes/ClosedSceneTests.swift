import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Scenes that were closed and can be opened again.
@MainActor
final class ClosedSceneTests: XCTestCase {
  private let app = SceneLaunch()

  private func host(_ count: Int = 10, age: TimeInterval? = nil) async throws -> SceneHost {
    let host = try await app.host(launching: false)
    host.closedSceneCount = count
    if let age { host.closedSceneAge = age }
    try await host.launch()
    app.hostDelegate.discarded = []
    return host
  }

  /// A scene with a node of its number, which was saved.
  private func open(_ id: Int, in host: SceneHost) async throws -> RestorableScene {
    let identifier = try await app.store(id, in: host)
    return try XCTUnwrap(
      host.connectedScenes.first { $0.session.persistentIdentifier == identifier })
  }

  private func root(of scene: RestorableScene) throws -> TestNode {
    let delegate = try XCTUnwrap(scene.delegate as? TestSceneDelegate)
    return try XCTUnwrap(delegate.roots.first as? TestNode)
  }

  /// Connects scenes with an empty root.
  private func prepareRoots() {
    app.prepare = { $0.roots = [TestNode("root")] }
  }

  func testWithoutABoundAClosedSceneIsGone() async throws {
    let host = try await host(0)
    let scene = try await open(1, in: host)
    try await host.close(scene)
    XCTAssertEqual(host.closedSessions, [])
    XCTAssertFalse(try isStored(scene.session.persistentIdentifier))
  }

  /// Whether anything of a scene is stored.
  private func isStored(_ identifier: String) throws -> Bool {
    try app.launch.storedPaths().contains { $0.hasPrefix(identifier) }
  }

  func testATimeThatIsNoNumberCountsAsThatOfTheLaunch() async throws {
    let first = try await host()
    let scene = try await open(1, in: first)
    let identifier = scene.session.persistentIdentifier
    let elements = try XCTUnwrap(try app.launch.storedRecords()).elements
    let element = try XCTUnwrap(elements.first { $0.path == identifier })
    let key = try XCTUnwrap(app.launch.keys.key(creating: false))
    app.launch.endProcess()
    try { () throws in
      let writer = try ArchiveWriter.open(
        app.launch.store.memory(named: "main"), key: key,
        context: ArchiveContext([Launch.application, "main"]))
      let builder = writer.builder()
      try builder.append(record: element.record * 2) { coder in
        coder.encodeContainer(forKey: SceneContent.key) { scene in
          scene.encode("windowApplication", forKey: "role")
          scene.encodeContainer(forKey: "userInfo") { _ in }
          scene.encode(0, forKey: "turn")
          scene.encode(Date(timeIntervalSinceReferenceDate: .nan), forKey: "closedAt")
          scene.encode(true, forKey: "isRestorable")
        }
      }
      try writer.append(builder.finish())
    }()
    app.launch.now += 60
    let second = try await host()
    XCTAssertEqual(second.closedSessions.map(\.persistentIdentifier), [identifier])
    // A date that is no number compares as equal with any other, and cannot be described.
    let seconds = second.closedSessions.first?.closedAt?.timeIntervalSince(app.launch.now)
    XCTAssertEqual(seconds, 0)
  }

  func testALaunchReadsAllThatIsStoredOfASession() async throws {
    let host = try await host()
    host.register(SceneConfiguration(name: "notes") { [app] in app.makeDelegate() })
    let scene = try await host.open(configurationName: "notes")
    app.delegates[0].activity = app.activity(5)
    scene.session.userInfo = ["text": "a", "count": 1, "list": ["b", ["deep": true]]]
    try scene.session.setWindowValue("shown")
    try await host.close(scene)
    let records = try app.launch.storedRecords()
    let state = try XCTUnwrap(records?[scene.session.persistentIdentifier]?.state)
    let stored = try XCTUnwrap(state.container(forKey: SceneContent.key))
    XCTAssertEqual(
      stored.keys.sorted(),
      [
        "activity", "closedAt", "configurationName", "isRestorable", "role", "turn", "userInfo",
        "windowValue",
      ])
    XCTAssertEqual(
      try SceneContent(stored), try state.decode(SceneContent.self, forKey: SceneContent.key))
  }

  func testAClosedSceneIsOpenedAgainAsItWasAlsoInAnotherLaunch() async throws {
    for isRelaunched in [false, true] {
      var host = try await host()
      let scene = try await open(1, in: host)
      let identifier = scene.session.persistentIdentifier
      try root(of: scene).value = "typed at last"
      scene.needsSave = true
      DraftModel(scene).draft = "last draft"
      let other = try await open(2, in: host)
      try await host.close(scene)
      XCTAssertEqual(host.closedSessions.map(\.persistentIdentifier), [identifier])
      XCTAssertEqual(host.openSessions, [other.session])
      XCTAssertEqual(scene.activationState, .unattached)
      XCTAssertEqual(app.hostDelegate.discarded, [])
      if isRelaunched { host = try await self.host() }
      XCTAssertEqual(host.openSessions.count, 1)
      let closed = try XCTUnwrap(host.closedSessions.first)
      XCTAssertEqual(closed.persistentIdentifier, identifier)
      XCTAssertEqual(closed.title, "Product 1")
      XCTAssertEqual(closed.closedAt, app.launch.now)

      prepareRoots()
      let again = try await host.reopen(closed)
      XCTAssertEqual(again.session.persistentIdentifier, identifier)
      XCTAssertEqual(try root(of: again).value, "typed at last")
      XCTAssertEqual(DraftModel(again).draft, "last draft")
      XCTAssertEqual(host.closedSessions, [])
      XCTAssertNil(closed.closedAt)
      XCTAssertEqual(host.openSessions.first, again.session)
      try await host.discard(host.openSessions + host.closedSessions)
      await host.close()
      app.prepare = nil
    }
  }

  func testOfMoreThanTheBoundTheFirstGoAndTheAppIsTold() async throws {
    let host = try await host(2)
    var identifiers: [String] = []
    for id in 1...3 {
      let scene = try await open(id, in: host)
      identifiers.append(scene.session.persistentIdentifier)
      try await host.close(scene)
    }
    XCTAssertEqual(
      host.closedSessions.map(\.persistentIdentifier), [identifiers[2], identifiers[1]])
    XCTAssertEqual(app.hostDelegate.discarded, [[identifiers[0]]])
    XCTAssertEqual(try identifiers.map(isStored), [false, true, true])
  }

  func testAHostThatAllowsNoneAnyMoreDiscardsThoseThatWereClosedWithTheNextOne() async throws {
    let host = try await host()
    let scenes = [try await open(1, in: host), try await open(2, in: host)]
    try await host.close(scenes[0])
    host.closedSceneCount = 0
    try await host.close(scenes[1])
    XCTAssertEqual(host.closedSessions, [])
    XCTAssertEqual(
      try scenes.map { try isStored($0.session.persistentIdentifier) }, [false, false])
  }

  func testWhatIsClosedForTooLongOrWithoutABoundGoesAtLaunch() async throws {
    for (count, age, seconds, stays) in [
      (10, 60, 60, true), (10, 60, 61, false), (10, 60, -1000, true), (0, 60, 0, false),
      (10, nil, 86_400, true), (10, nil, 86_401, false),
    ] as [(Int, TimeInterval?, TimeInterval, Bool)] {
      let first = try await host()
      let scene = try await open(1, in: first)
      let identifier = scene.session.persistentIdentifier
      try await first.close(scene)
      app.launch.now += seconds
      let next = try await host(count, age: age)
      XCTAssertEqual(next.closedSessions.count, stays ? 1 : 0, "\(seconds)")
      XCTAssertEqual(next.openSessions, [])
      XCTAssertEqual(try isStored(identifier), stays)
      try await next.discard(next.openSessions + next.closedSessions)
      await next.close()
    }
  }

  func testASceneThatIsOpenedAgainIsToBeSavedSoThatItsFileSaysThatItIsOpen() async throws {
    let first = try await host()
    let scene = try await open(1, in: first)
    try await first.close(scene)
    prepareRoots()
    let again = try await first.reopen(scene.session)
    XCTAssertTrue(again.needsSave)
    let reports = try await first.saveChangedScenes()
    XCTAssertEqual(reports.mapValues(\.outcome), [scene.session: .saved])
    // Only its file says now whether it is open.
    app.launch.store.memory(named: "main.scenes").bytes = nil
    let next = try await host()
    XCTAssertEqual(next.openSessions, [scene.session])
    XCTAssertEqual(next.closedSessions, [])
  }

  func testADiscardedClosedSceneIsGone() async throws {
    let host = try await host()
    let scene = try await open(1, in: host)
    let identifier = scene.session.persistentIdentifier
    try await host.close(scene)
    try await host.discard([scene.session])
    XCTAssertEqual(host.closedSessions, [])
    XCTAssertFalse(try isStored(identifier))
    XCTAssertEqual(app.hostDelegate.discarded, [[identifier]])
    let error = await restorationError { _ = try await host.reopen(scene.session) }
    XCTAssertEqual(error?.code, .notConnected)
  }

  func testAnEndThatClosesAllScenesLeavesNoneToBeOpenedAgain() async throws {
    let first = try await host()
    let scene = try await open(1, in: first)
    _ = try await open(2, in: first)
    try await first.close(scene)
    try await first.terminate(closingScenes: true)
    let next = try await host()
    XCTAssertEqual(next.openSessions, [])
    XCTAssertEqual(next.closedSessions, [])
    XCTAssertNil(app.bytes(of: scene.session.persistentIdentifier))
  }

  func testASceneThatIsNotRestorableIsGoneWhenItIsClosed() async throws {
    let host = try await host()
    let scene = try await open(1, in: host)
    scene.session.isRestorable = false
    try await host.close(scene)
    XCTAssertEqual(host.closedSessions, [])
    XCTAssertNil(app.bytes(of: scene.session.persistentIdentifier))
  }

  func testASceneThatCannotBeSavedIsClosedAllTheSameAndComesBackAsItIsStored() async throws {
    let host = try await host()
    let scene = try await open(1, in: host)
    try root(of: scene).value = "lost"
    scene.needsSave = true
    app.launch.keys.isLocked = true
    let error = await restorationError { try await host.close(scene) }
    XCTAssertEqual(error?.archive?.code, .keyLocked)
    app.launch.keys.isLocked = false
    XCTAssertEqual(host.closedSessions, [scene.session])
    XCTAssertEqual(host.openSessions, [])
    prepareRoots()
    let again = try await host.reopen(scene.session)
    XCTAssertEqual(try root(of: again).value, "1")
  }

  func testASessionThatCannotBeOpenedAgainStaysClosed() async throws {
    let first = try await host()
    let scene = try await open(1, in: first)
    try await first.close(scene)
    let next = SceneHost(try app.launch.keeper())
    next.closedSceneCount = 10
    try await next.launch()
    let closed = try XCTUnwrap(next.closedSessions.first)
    let error = await restorationError { _ = try await next.reopen(closed) }
    XCTAssertEqual(error?.code, .noConfiguration)
    XCTAssertEqual(next.closedSessions, [closed])
    XCTAssertEqual(next.openSessions, [])
    XCTAssertEqual(closed.closedAt, app.launch.now)
  }
}
