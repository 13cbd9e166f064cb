import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// The start of an app with windows in one call.
@MainActor
final class SceneStartTests: XCTestCase {
  private let app = SceneLaunch()

  private func nextHost() async throws -> SceneHost { try await app.host(launching: false) }

  func testTheFirstStartOpensOneSceneWhichIsActive() async throws {
    let host = try await nextHost()
    let start = try await host.start()
    XCTAssertEqual(host.connectedScenes.count, 1)
    XCTAssertTrue(start.openedScene === host.connectedScenes.first)
    XCTAssertEqual(start.openedScene?.activationState, .foregroundActive)
    XCTAssertEqual(start.restoredScenes.count, 0)
    XCTAssertEqual(start.problems.map(\.reason), [])
    XCTAssertEqual(
      app.calls.events,
      [
        "hostDidFinishRestoringScenes", "configurationForConnecting 1", "willConnectTo 1",
        "sceneWillEnterForeground 1", "sceneDidBecomeActive 1",
      ])
  }

  func testAStartBringsBackAllScenesAndOpensNoOther() async throws {
    let stored = try await app.store(count: 3)
    let host = try await nextHost()
    app.prepare = { $0.roots = [TestNode("root")] }
    let start = try await host.start()
    XCTAssertNil(start.openedScene)
    XCTAssertEqual(start.problems.map(\.reason), [])
    XCTAssertEqual(
      start.restoredScenes.map(\.session.persistentIdentifier), Array(stored.reversed()))
    XCTAssertEqual(host.connectedScenes.count, 3)
    XCTAssertEqual(
      app.delegates.suffix(3).map { ($0.roots.first as? TestNode)?.value }, ["3", "2", "1"])
    XCTAssertEqual(
      start.restoredScenes.map { DraftModel($0).draft }, ["draft 3", "draft 2", "draft 1"])
  }

  func testItsConfigurationsAndActivityTypesComeToThoseThatAreThere() async throws {
    let host = SceneHost(try app.launch.keeper())
    host.declaredActivityTypes = ["product"]
    let panel = "panel"
    var made: [String] = []
    func configuration(_ role: String, _ maker: String) -> SceneConfiguration {
      SceneConfiguration(role: role) { [app] in
        made.append(maker)
        return app.makeDelegate()
      }
    }
    host.register(configuration("windowApplication", "replaced"))
    host.register(configuration(panel, "panel"))
    try await host.start(configuration("windowApplication", "window"), declaring: ["order"])
    try await host.open(panel)
    XCTAssertEqual(made, ["window", "panel"])
    XCTAssertEqual(host.declaredActivityTypes, ["product", "order"])
  }

  func testASceneIsOpenedWhereTheDelegateWantsNoneBack() async throws {
    let stored = try await app.store(count: 2)
    let host = try await nextHost()
    app.hostDelegate.skipped = Set(stored)
    let start = try await host.start()
    let opened = try XCTUnwrap(start.openedScene)
    XCTAssertEqual(start.problems.map(\.reason), [])
    XCTAssertEqual(
      host.openSessions.map(\.persistentIdentifier),
      [opened.session.persistentIdentifier] + stored.reversed())
  }

  // MARK: What is left out

  /// Starts an app that crashes when it shows a window.
  private func crash(showing identifier: String) async throws {
    var crashed: LaunchDisk?
    app.prepare = { [app] delegate in
      delegate.roots = [TestNode("root")]
      delegate.onConnect = { scene in
        if scene.session.persistentIdentifier == identifier { crashed = app.launch.disk }
      }
    }
    try await nextHost().start()
    app.prepare = { $0.roots = [TestNode("root")] }
    app.launch.disk = try XCTUnwrap(crashed)
  }

  func testAWindowThatIsLeftOutIsAProblemAndTheNextLaunchTriesItAgainOnRequest() async throws {
    for isRequested in [false, true] {
      try app.launch.removeState()
      let stored = try await app.store(count: 2)
      for _ in 1...2 { try await crash(showing: stored[0]) }
      func start(_ restored: [String]) async throws -> SceneHost {
        let host = try await nextHost()
        let start = try await host.start()
        XCTAssertEqual(start.restoredScenes.map(\.session.persistentIdentifier), restored)
        let failed = start.problems.map(\.session?.persistentIdentifier)
        XCTAssertEqual(failed, restored.count == 2 ? [] : [stored[0]])
        return host
      }
      _ = try await start([stored[1]])
      // It is tried again by itself, and then left out twice.
      try await crash(showing: stored[0])
      let host = try await start([stored[1]])
      if isRequested { try await host.keeper.retrySkippedNodes() }
      let next = try await start(isRequested ? stored.reversed() : [stored[1]])
      XCTAssertEqual(next.openSessions.count, 2)
      if isRequested {
        XCTAssertEqual(next.connectedScenes.map { $0.testRoot?.value }, ["2", "1"])
      }
    }
  }
  // MARK: What is back and not as it was

  func testARequestThatCannotBeNotedIsThrownWhenAllSessionsWereTried() async throws {
    try await app.store(count: 2)
    let host = try await app.host()
    app.launch.keys.isLocked = true
    let failure = await restorationError { try await host.retrySkippedNodes() }
    XCTAssertEqual(failure?.archive?.code, .keyLocked)
  }

  func testASceneThatCannotBeMadeIsAProblemAndStaysStored() async throws {
    struct NoDelegate: Error {}
    let stored = try await app.store(count: 3)
    let bytes = stored.map(app.bytes(of:))
    let host = SceneHost(try app.launch.keeper())
    app.prepare = { $0.roots = [TestNode("root")] }
    var count = 0
    let start = try await host.start(
      SceneConfiguration { [app] in
        count += 1
        if count == 2 { throw NoDelegate() }
        return app.makeDelegate()
      })
    XCTAssertEqual(
      start.restoredScenes.map(\.session.persistentIdentifier), [stored[2], stored[0]])
    XCTAssertEqual(start.problems.map(\.session?.persistentIdentifier), [stored[1]])
    XCTAssertNil(start.openedScene)
    XCTAssertEqual(stored.map(app.bytes(of:)), bytes)
  }

  func testAStartThatCannotMakeAnySceneThrowsAndLeavesAllStored() async throws {
    struct NoDelegate: Error {}
    let stored = try await app.store(count: 2)
    let bytes = stored.map(app.bytes(of:))
    for configurations in [true, false] {
      let host = SceneHost(try app.launch.keeper())
      do {
        if configurations {
          try await host.start(SceneConfiguration { throw NoDelegate() })
        } else {
          try await host.start()
        }
        XCTFail("Nothing was thrown.")
      } catch {
        XCTAssertEqual(error.code, configurations ? .noDelegate : .noConfiguration)
      }
      XCTAssertEqual(host.openSessions.map(\.persistentIdentifier), Array(stored.reversed()))
      XCTAssertEqual(stored.map(app.bytes(of:)), bytes)
    }
  }

  func testADirectoryThatFailsIsAProblemAndASceneIsThere() async throws {
    let store = HookedStore(app.launch.store) { name, _ throws(ArchiveError) in
      throw ArchiveError(.inputOutput, location: name)
    }
    let host = SceneHost(
      try StateKeeper(application: Launch.application, directory: store, keys: app.launch.keys))
    let start = try await host.start(SceneConfiguration { [app] in app.makeDelegate() })
    XCTAssertEqual(start.problems.count, 1)
    XCTAssertNil(start.problems.first?.session)
    XCTAssertEqual(start.openedScene?.activationState, .foregroundActive)
  }

  func testALockedKeyIsAProblemAndTheScenesComeWhenItIsThere() async throws {
    let stored = try await app.store(count: 1)
    let host = try await nextHost()
    app.launch.keys.isLocked = true
    let start = try await host.start()
    let opened = try XCTUnwrap(start.openedScene)
    XCTAssertEqual(start.problems.map(\.reason).count, 1)
    XCTAssertTrue(start.problems[0].reason.contains("lock"), start.problems[0].reason)
    app.launch.keys.isLocked = false
    try await host.protectedDataDidBecomeAvailable()
    XCTAssertEqual(
      host.openSessions.map(\.persistentIdentifier),
      [opened.session.persistentIdentifier] + stored)
  }

  // MARK: What is thrown

  func testASecondInstanceThatIsToBeTheOnlyOneThrowsAndHasNoScene() async throws {
    let first = try await app.host()
    try await app.store(1, in: first)
    let keeper = try app.launch.keeper(endsLast: false)
    keeper.policy.isSingleInstance = true
    let second = SceneHost(keeper)
    do {
      try await second.start(SceneConfiguration { [app] in app.makeDelegate() })
      XCTFail("Nothing was thrown.")
    } catch {
      XCTAssertEqual(error.code, .inUse)
    }
    XCTAssertEqual(second.connectedScenes.count, 0)
    await first.close()
  }

  // MARK: What it says

  func testItsDescriptionHasEveryReportAndNoTitle() async throws {
    let stored = try await app.store(count: 1)
    let host = try await nextHost()
    app.prepare = { $0.roots = [TestNode("root")] }
    let start = try await host.start()
    let report = try XCTUnwrap(start.restoredScenes.first?.restoration)
    XCTAssertEqual(start.description, "Restored 1 scene.\nScene \(stored[0]): \(report)")
    XCTAssertFalse(start.description.contains("Product"))
  }
}
