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
    XCTAssertEqual(start.problems.map(\.description), [])
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
    let stored = try await app.store(count: 2)
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

  #if !RESTORATION_NEXT
  func testAListThatCannotBeReadIsAProblemAndTheScenesAreBack() async throws {
    let stored = try await app.store(count: 2)
    app.launch.store.memory(named: "main.scenes").bytes = [1, 2, 3]
    app.prepare = { $0.roots = [TestNode("root")] }
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
    let stored = try await app.store(count: 2)
    app.launch.store.memory(named: "main.scene-\(stored[0])").bytes?[40] ^= 1
    app.prepare = { $0.roots = [TestNode("root")] }
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
    let stored = try await app.store(count: 1)
    var scene: RestorableScene?
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
      scene = start.restoredScenes.first
      guard case .crashed = scene?.restorationStatus else { continue }
      XCTAssertEqual(start.problems.count, 1)
      XCTAssertEqual(start.problems[0].session?.persistentIdentifier, stored[0])
      XCTAssertEqual(start.problems[0].reason, scene?.restorationStatus.description)
      break
    }
    guard case .crashed = scene?.restorationStatus else {
      return XCTFail("\(String(describing: scene?.restorationStatus))")
    }
  }
  #endif

  // MARK: What is back and not as it was

  #if !RESTORATION_NEXT
  /// A root with two screens below it.
  private func screens() -> TestNode {
    TestNode("root", children: [TestNode("first"), TestNode("second")])
  }

  /// Saves a scene in several versions of the app, and gives its identifier.
  private func save(inVersions versions: [String]) async throws -> String {
    app.prepare = { [unowned self] in $0.roots = [screens()] }
    for version in versions {
      app.launch.environment = ApplicationEnvironment(
        applicationVersion: version, systemVersion: "6.1")
      let host = try await nextHost()
      let start = try await host.start()
      let scene = try XCTUnwrap(start.restoredScenes.first ?? start.openedScene)
      scene.testRoot?.value = version
      try await host.saveEverything(of: scene)
    }
    return try XCTUnwrap(app.delegates.last?.connected.last?.session.persistentIdentifier)
  }

  /// The reason of the only problem, with the report of the scene that has it.
  private func onlyProblem(
    of identifier: String, line: UInt = #line
  ) async throws -> (reason: String, report: RestorationReport?) {
    let start = try await nextHost().start()
    XCTAssertEqual(start.problems.count, 1, line: line)
    let reason = try XCTUnwrap(start.problems.first?.reason, line: line)
    XCTAssertEqual(start.problems[0].session?.persistentIdentifier, identifier, line: line)
    let head = "Restored 1 scene, 1 of them with problems.\nScene \(identifier): \(reason)\n"
    XCTAssertTrue("\(start)\n".hasPrefix(head), start.description, line: line)
    XCTAssertNil(start.openedScene, line: line)
    guard case .success(let report) = start.restoredScenes.first?.restoration else {
      return (reason, nil)
    }
    return (reason, report)
  }

  func testASceneThatIsBackFromAGenerationIsAProblem() async throws {
    let identifier = try await save(inVersions: ["1", "2"])
    app.launch.store.memory(named: "main.scene-\(identifier)").bytes?[40] ^= 1
    let (reason, report) = try await onlyProblem(of: identifier)
    XCTAssertEqual(app.delegates.last?.roots.first.flatMap { ($0 as? TestNode)?.value }, "1")
    let source = try XCTUnwrap(report?.source)
    XCTAssertEqual(
      reason,
      "Restored 3 of 3 nodes. It is an older generation, \(source.location), saved \(app.launch.now). "
        + source.passedOver.map(\.description).joined())
  }

  func testASceneWhoseStateHasADamagedEndIsAProblem() async throws {
    let identifier = try await save(inVersions: ["1"])
    let stored = app.launch.store.memory(named: "main.scene-\(identifier)")
    let whole = try XCTUnwrap(stored.bytes)
    let host = try await nextHost()
    let start = try await host.start()
    let scene = try XCTUnwrap(start.restoredScenes.first)
    scene.testRoot?.value = "later"
    try await host.save(scene)
    let longer = try XCTUnwrap(stored.bytes)
    XCTAssertEqual(Array(longer.prefix(whole.count)), whole)
    stored.bytes = longer.dropLast(10) + [UInt8](repeating: 0, count: 10)
    let (reason, report) = try await onlyProblem(of: identifier)
    let problem = try XCTUnwrap(report?.launchProblem)
    XCTAssertEqual(reason, "Restored 3 of 3 nodes. Problem of the launch: \(problem)")
    XCTAssertTrue(problem.hasPrefix("The end of the state is damaged"), problem)
  }

  /// A launch that crashes while it decodes a node.
  private func crash() async throws {
    app.prepare = { [unowned self] delegate in
      let root = screens()
      // The process ends while this one is decoded.
      (root.restorationChildren[1] as? TestNode)?.onDecode = { [app] _ in
        app.launch.endProcess()
      }
      delegate.roots = [root]
    }
    _ = try await nextHost().start()
    app.prepare = { [unowned self] in $0.roots = [screens()] }
  }

  func testOnRequestScenesTryAgainWhatTheyLeaveOut() async throws {
    _ = try await save(inVersions: ["1"])
    for _ in 1...2 { try await crash() }
    let host = try await app.host()
    let session = try XCTUnwrap(host.openSessions.first)
    for isRequested in [false, false, true] {
      if isRequested { try await host.retrySkippedNodes() }
      let scene = try await host.connect(session)
      let report = try XCTUnwrap(scene.restoration).get()
      XCTAssertEqual(
        report.outcome(of: "root/second"), isRequested ? .restored(by: .existing) : .skipped)
      try await host.disconnect(scene)
    }
    try await host.retrySkippedNodes()
  }
  #endif

  func testARequestThatCannotBeNotedIsThrownWhenAllSessionsWereTried() async throws {
    try await app.store(count: 2)
    let host = try await app.host()
    app.launch.keys.isLocked = true
    let failure = await restorationError { try await host.retrySkippedNodes() }
    XCTAssertEqual(failure?.archive?.code, .keyLocked)
  }

  #if !RESTORATION_NEXT
  func testASceneWithNodesThatAreLeftOutIsAProblem() async throws {
    let identifier = try await save(inVersions: ["1"])
    for _ in 1...2 { try await crash() }
    let (reason, report) = try await onlyProblem(of: identifier)
    XCTAssertEqual(reason, "Restored 2 of 3 nodes, 1 with problems.")
    XCTAssertEqual(report?.outcome(of: "root/second"), .skipped)
  }

  func testASceneThatCrashedIsAProblem() async throws {
    let identifier = try await save(inVersions: ["1"])
    for _ in 1...2 {
      app.prepare = { [unowned self] delegate in
        delegate.roots = [screens()]
        delegate.onCall = { [app] call, _ in
          if call == "restorationRoots" { app.launch.endProcess() }
        }
      }
      _ = try await nextHost().start()
    }
    app.prepare = { [unowned self] in $0.roots = [screens()] }
    let host = try await nextHost()
    let start = try await host.start()
    let scene = try XCTUnwrap(host.connectedScenes.first)
    XCTAssertEqual(scene.session.persistentIdentifier, identifier)
    XCTAssertEqual(start.problems.map(\.reason), [scene.restorationStatus.description])
    guard case .crashed = scene.restorationStatus else {
      return XCTFail("\(scene.restorationStatus)")
    }
  }

  func testAGateOfASceneThatSaysNoIsNoMistake() async throws {
    let delegate = RefusingDelegate()
    let first = try await app.host(launching: false)
    try await first.start()
    try await first.save(first.connectedScenes[0])
    let host = SceneHost(try app.launch.keeper())
    let start = try await host.start(SceneConfiguration { delegate })
    XCTAssertEqual(
      start.problems.map(\.reason), ["Nothing was restored, because the restore gate said no."])
  }
  #endif

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
    keeper.policy.instances = .single
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
    guard case .success(let report) = start.restoredScenes.first?.restoration else {
      return XCTFail("It was not read.")
    }
    XCTAssertEqual(start.description, "Restored 1 scene.\nScene \(stored[0]): \(report)")
    XCTAssertFalse(start.description.contains("Product"))
  }
}

/// A scene's delegate that wants nothing back.
@MainActor
private final class RefusingDelegate: @MainActor SceneDelegate, @MainActor StateDelegate {
  func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {}

  func shouldRestoreApplicationState(with coder: StateDecoder) -> Bool { false }
}
