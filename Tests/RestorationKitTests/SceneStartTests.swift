import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// The start of an app with windows in one call.
@MainActor
final class SceneStartTests: XCTestCase {
  private let app = SceneLaunch()

  private func nextHost() async throws -> SceneHost { try await app.host(launching: false) }

  /// Lets an app be killed that has scenes with products 1, 2 and so on; the last one is at
  /// the front.
  @discardableResult
  private func store(_ count: Int) async throws -> [String] {
    let host = try await app.host()
    var identifiers: [String] = []
    for number in 1...count { identifiers.append(try await app.store(number, in: host)) }
    return identifiers
  }

  func testTheFirstStartOpensOneSceneWhichIsActive() async throws {
    let host = try await nextHost()
    let start = try await host.start()
    XCTAssertEqual(host.connectedScenes.count, 1)
    XCTAssertTrue(start.openedScene === host.connectedScenes.first)
    XCTAssertEqual(start.openedScene?.activationState, .foregroundActive)
    XCTAssertEqual(start.restoredScenes.count, 0)
    XCTAssertEqual(start.problems.map(\.description), [])
    XCTAssertEqual(
      app.calls.events,
      [
        "hostDidFinishRestoringScenes", "configurationForConnecting 1", "willConnectTo 1",
        "sceneWillEnterForeground 1", "sceneDidBecomeActive 1",
      ])
  }

  func testAStartBringsBackAllScenesAndOpensNoOther() async throws {
    let stored = try await store(3)
    let host = try await nextHost()
    app.prepare = { $0.roots = [TestNode("root")] }
    let start = try await host.start()
    XCTAssertNil(start.openedScene)
    XCTAssertEqual(start.problems.map(\.description), [])
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
    let panel = SceneRole(rawValue: "panel")
    var made: [String] = []
    func configuration(_ role: SceneRole, _ maker: String) -> SceneConfiguration {
      SceneConfiguration(role: role) { [app] in
        made.append(maker)
        return app.makeDelegate()
      }
    }
    host.register(configuration(.windowApplication, "replaced"))
    host.register(configuration(panel, "panel"))
    try await host.start(configuration(.windowApplication, "window"), declaring: ["order"])
    try await host.open(panel)
    XCTAssertEqual(made, ["window", "panel"])
    XCTAssertEqual(host.declaredActivityTypes, ["product", "order"])
  }

  func testASceneIsOpenedWhereTheDelegateWantsNoneBack() async throws {
    let stored = try await store(2)
    let host = try await nextHost()
    app.hostDelegate.skipped = Set(stored)
    let start = try await host.start()
    let opened = try XCTUnwrap(start.openedScene)
    XCTAssertEqual(start.problems.map(\.description), [])
    XCTAssertEqual(
      host.openSessions.map(\.persistentIdentifier),
      [opened.session.persistentIdentifier] + stored.reversed())
  }

  // MARK: What cannot be read

  func testAListThatCannotBeReadIsAProblemAndTheScenesAreBack() async throws {
    let stored = try await store(2)
    app.launch.store.memory(named: "main.scenes").bytes = [1, 2, 3]
    let host = try await nextHost()
    let start = try await host.start()
    XCTAssertEqual(Set(start.restoredScenes.map(\.session.persistentIdentifier)), Set(stored))
    XCTAssertNil(start.openedScene)
    XCTAssertEqual(start.problems.count, 1)
    let problem = try XCTUnwrap(start.problems.first)
    XCTAssertNil(problem.session)
    let other = try await app.host(launching: false)
    app.launch.store.memory(named: "main.scenes").bytes = [1, 2, 3]
    do {
      try await other.launch()
      XCTFail("Nothing was thrown.")
    } catch {
      XCTAssertEqual(problem.reason, error.description)
    }
  }

  func testASceneThatCannotBeReadIsThereAfreshAndAProblem() async throws {
    let stored = try await store(2)
    app.launch.store.memory(named: "main.scene-\(stored[0])").bytes?[40] ^= 1
    let host = try await nextHost()
    let start = try await host.start()
    XCTAssertEqual(
      start.restoredScenes.map(\.session.persistentIdentifier), Array(stored.reversed()))
    XCTAssertEqual(start.problems.map(\.session?.persistentIdentifier), [stored[0]])
    guard case .failure(let error) = start.restoredScenes[1].restoration else {
      return XCTFail("It was read.")
    }
    XCTAssertEqual(start.problems.first?.reason, error.description)
    XCTAssertEqual(start.problems.first?.description, "Scene \(stored[0]): \(error)")
    let head = "Restored 2 scenes, 1 of them with problems.\nScene \(stored[0]): "
    XCTAssertTrue(start.description.hasPrefix(head), start.description)
  }

  func testASceneWhoseRestoreCrashedIsAProblem() async throws {
    let stored = try await store(1)
    var scene: Scene?
    app.prepare = { [app] delegate in
      delegate.roots = [TestNode("root")]
      // The process ends in the midst of the restore.
      delegate.onCall = { call, _ in
        if call == "restorationRoots" { app.launch.endProcess() }
      }
    }
    for _ in 1...5 {
      let host = try await nextHost()
      let start = try await host.start()
      guard start.problems.count == 1 else { continue }
      scene = start.restoredScenes.first
      XCTAssertEqual(start.problems[0].session?.persistentIdentifier, stored[0])
      XCTAssertEqual(start.problems[0].reason, scene?.restorationStatus.description)
      break
    }
    guard case .crashed = scene?.restorationStatus else {
      return XCTFail("\(String(describing: scene?.restorationStatus))")
    }
  }

  func testASceneThatCannotBeMadeIsAProblemAndStaysStored() async throws {
    struct NoDelegate: Error {}
    let stored = try await store(3)
    let bytes = stored.map(app.bytes(of:))
    let host = SceneHost(try app.launch.keeper())
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
    let stored = try await store(2)
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
    let stored = try await store(1)
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
    keeper.instancePolicy = .single
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

  func testAStrictHostThrowsTheFirstProblemWhenAllScenesAreThere() async throws {
    let stored = try await store(3)
    let keeper = try app.launch.keeper()
    keeper.isStrict = true
    let host = SceneHost(keeper)
    // Their stored nodes are not found.
    do {
      try await host.start(SceneConfiguration { [app] in app.makeDelegate() })
      XCTFail("Nothing was thrown.")
    } catch {
      XCTAssertEqual(error.code, .strict)
    }
    XCTAssertEqual(
      host.connectedScenes.map(\.session.persistentIdentifier), Array(stored.reversed()))
  }

  // MARK: What it says

  func testItsDescriptionHasEveryReportAndNoTitle() async throws {
    let stored = try await store(1)
    let host = try await nextHost()
    app.prepare = { $0.roots = [TestNode("root")] }
    let start = try await host.start()
    guard case .success(let report) = start.restoredScenes.first?.restoration else {
      return XCTFail("It was not read.")
    }
    XCTAssertEqual(start.description, "Restored 1 scene.\nScene \(stored[0]): \(report)")
    XCTAssertFalse(start.description.contains("Product"))
  }
}
