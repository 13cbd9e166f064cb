import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class SceneTests: XCTestCase {
  private let launch = Launch()
  private let hostDelegate = TestHostDelegate()
  private var delegates: [TestSceneDelegate] = []
  private var trace: [String] = []

  private func host(
    restoration: SceneRestorationPolicy = .always, launching: Bool = true
  ) async throws -> SceneHost {
    let host = SceneHost(try launch.keeper())
    host.delegate = hostDelegate
    host.declaredActivityTypes = ["product"]
    host.trace = { [unowned self] in trace.append($0) }
    host.register(
      SceneConfiguration(restoration: restoration) { [unowned self] in
        delegates.append(TestSceneDelegate())
        return delegates[delegates.count - 1]
      })
    if launching { try await host.launch() }
    trace = []
    return host
  }

  private func activity(_ id: Int) -> UserActivity {
    let activity = UserActivity(activityType: "product")
    activity.title = "Product \(id)"
    activity.userInfo = ["id": .integer(id)]
    return activity
  }

  private func id(_ activity: UserActivity?) -> Int? { activity?.userInfo["id"]?.integerValue }

  func testTheWholeTraceOfASave() async throws {
    let host = try await host()
    let scene = try await host.open()
    let product = activity(1)
    let owner = Owner()
    product.delegate = owner
    delegates[0].activity = product
    let responders = [TestResponder(["a": 1]), TestResponder(["b": 2])]
    for responder in responders { scene.setActivity(product, of: responder) }
    delegates[0].onUpdate = { $0.addUserInfoEntries(from: ["last": true]) }
    trace = []
    let report = try await host.background(scene)
    XCTAssertEqual(
      trace,
      [
        "sceneWillResignActive", "sceneDidEnterBackground", "stateRestorationActivity",
        "userActivityWillSave", "updateUserActivityState", "updateUserActivityState", "didUpdate",
      ])
    // Neither the activity nor the scene keeps these alive.
    withExtendedLifetime((owner, responders)) {}
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(
      scene.session.stateRestorationActivity?.userInfo, ["a": 1, "b": 2, "last": true])
  }

  func testUserInfoStaysWithoutRespondersAndIsEmptiedForOneThatWritesNothing() async throws {
    let host = try await host()
    let scene = try await host.open()
    let product = activity(5)
    delegates[0].activity = product
    try await host.save(scene)
    XCTAssertEqual(id(scene.session.stateRestorationActivity), 5)
    let silent = TestResponder([:])
    scene.setActivity(product, of: silent)
    try await host.save(scene)
    XCTAssertEqual(scene.session.stateRestorationActivity?.userInfo, [:])
    scene.setActivity(nil, of: silent)
    XCTAssertFalse(product.isValid)
  }

  func testTheStoredActivityIsACopy() async throws {
    let host = try await host()
    let scene = try await host.open()
    let product = activity(1)
    delegates[0].activity = product
    try await host.save(scene)
    product.userInfo = ["id": 2]
    XCTAssertEqual(id(scene.session.stateRestorationActivity), 1)
    scene.session.stateRestorationActivity?.userInfo = ["id": 3]
    XCTAssertEqual(id(scene.session.stateRestorationActivity), 1)
  }

  func testNoActivityClearsTheStoredOne() async throws {
    let host = try await host()
    let scene = try await host.open()
    try await host.save(scene)
    XCTAssertNil(scene.session.stateRestorationActivity)
    delegates[0].activity = activity(1)
    try await host.save(scene)
    delegates[0].activity = nil
    try await host.save(scene)
    XCTAssertNil(scene.session.stateRestorationActivity)
  }

  func testAnUndeclaredTypeAndALargeActivityAreReported() async throws {
    let host = try await host()
    let scene = try await host.open()
    delegates[0].activity = UserActivity(activityType: "other")
    let undeclared = try await host.save(scene)
    XCTAssertEqual(undeclared.problems, [.undeclaredActivityType("other")])
    XCTAssertNil(scene.session.stateRestorationActivity)
    host.activityByteLimit = 10
    delegates[0].activity = activity(1)
    let large = try await host.save(scene)
    guard case .largeActivity(_, limit: 10) = large.problems.first else {
      return XCTFail("\(large.problems)")
    }
    XCTAssertEqual(id(scene.session.stateRestorationActivity), 1)
  }

  func testTwoScenesComeBackEachWithItsOwnStateMostRecentFirst() async throws {
    let first = try await host()
    for number in 1...2 {
      let scene = try await first.open()
      delegates[number - 1].activity = activity(number)
      delegates[number - 1].roots = [TestNode("root", value: "\(number)")]
      try await first.background(scene)
    }
    delegates = []
    let second = try await host()
    XCTAssertEqual(second.restoreReason, .recover)
    XCTAssertEqual(second.openSessions.map(\.title), ["Product 2", "Product 1"])
    XCTAssertTrue(second.openSessions.allSatisfy { $0.byteCount > 0 && $0.savedAt == launch.now })
    for session in second.openSessions.reversed() {
      XCTAssertNil(session.scene)
      try await second.connect(session)
    }
    XCTAssertEqual(delegates.flatMap(\.interactions).map { id($0) }, [1, 2])
    XCTAssertEqual(second.openSessions.map(\.title), ["Product 2", "Product 1"])
  }

  func testTheOrderOfAConnectionWithNodesAndAnActivity() async throws {
    let first = try await host()
    let scene = try await first.open()
    delegates[0].activity = activity(1)
    delegates[0].roots = [TestNode("root", value: "x")]
    try await first.disconnect(scene)
    XCTAssertEqual(scene.activationState, .unattached)
    let node = TestNode("root")
    node.onDecode = { [unowned self] _ in trace.append("decode") }
    let identifier = scene.session.persistentIdentifier

    let second = SceneHost(try launch.keeper())
    second.register(
      SceneConfiguration { [unowned self] in
        let made = TestSceneDelegate()
        made.roots = [node]
        delegates.append(made)
        return made
      })
    try await second.launch()
    second.trace = { [unowned self] in trace.append($0) }
    trace = []
    let back = try await second.connect(second.openSessions[0])
    XCTAssertEqual(
      trace,
      [
        "willConnectTo", "sceneWillEnterForeground", "decode", "restoreInteractionState",
        "sceneDidBecomeActive",
      ])
    XCTAssertEqual(back.session.persistentIdentifier, identifier)
    XCTAssertFalse(back === scene)
    XCTAssertEqual(node.value, "x")
  }

  func testASessionThatConnectsTwiceAtOnceGetsOneScene() async throws {
    let first = try await host()
    try await first.background(try await first.open())
    let second = try await host()
    let session = second.openSessions[0]
    let tasks = (1...3).map { _ in
      Task { @MainActor in ObjectIdentifier(try await second.connect(session)) }
    }
    var scenes: [ObjectIdentifier] = []
    for task in tasks { scenes.append(try await task.value) }
    XCTAssertEqual(Set(scenes).count, 1)
    XCTAssertEqual(trace.filter { $0 == "willConnectTo" }.count, 1)
  }

  func testWithoutActivityInteractionStateIsNotRestored() async throws {
    _ = try await host().open()
    XCTAssertEqual(
      trace,
      [
        "configurationForConnecting", "willConnectTo", "sceneWillEnterForeground",
        "sceneDidBecomeActive",
      ])
  }

  func testAnIncomingActivityBeatsTheStoredOne() async throws {
    let host = try await host()
    let scene = try await host.open()
    delegates[0].activity = activity(1)
    try await host.disconnect(scene)
    try await host.connect(scene.session, activity: activity(2))
    let (session, options) = try XCTUnwrap(delegates[1].connected.first)
    XCTAssertEqual(id(session.stateRestorationActivity), 1)
    XCTAssertEqual(id(options.activity(restoring: session)), 2)
  }

  func testWhatIsSetOnADisconnectedSessionIsWhatConnectsAlsoInTheNextLaunch() async throws {
    let first = try await host()
    let scene = try await first.open()
    delegates[0].activity = activity(1)
    try await first.disconnect(scene)
    scene.session.stateRestorationActivity = activity(7)
    scene.session.userInfo = ["pinned": true]
    try await first.saveSessions()
    let second = try await host()
    let session = second.openSessions[0]
    XCTAssertEqual(id(session.stateRestorationActivity), 7)
    try await second.connect(session)
    XCTAssertEqual(id(session.stateRestorationActivity), 7)
    XCTAssertEqual(session.userInfo, ["pinned": true])
  }

  func testClosingASceneRemovesItsFileAndTellsTheApp() async throws {
    let host = try await host()
    let scene = try await host.open()
    try await host.save(scene)
    let identifier = scene.session.persistentIdentifier
    XCTAssertNotNil(launch.store.memory(named: "main.scene-\(identifier)").bytes)
    trace = []
    try await host.close(scene)
    XCTAssertEqual(trace, ["sceneDidDisconnect", "didDiscardSceneSessions"])
    XCTAssertNil(launch.store.memory(named: "main.scene-\(identifier)").bytes)
    XCTAssertEqual(hostDelegate.discarded, [[identifier]])
    XCTAssertEqual(host.openSessions, [])
    let next = try await self.host()
    XCTAssertEqual(next.openSessions, [])
  }

  func testADisconnectedSceneIsNotDiscarded() async throws {
    let host = try await host()
    let scene = try await host.open()
    try await host.disconnect(scene)
    XCTAssertEqual(hostDelegate.discarded, [])
    XCTAssertEqual(host.openSessions, [scene.session])
    XCTAssertTrue(host.connectedScenes.isEmpty)
  }

  func testScenesDiscardedWhileTheAppIsNotRunningAreToldOnceTogether() async throws {
    let first = try await host()
    for _ in 1...3 { try await first.background(try await first.open()) }
    let gone = first.openSessions.prefix(2).map(\.persistentIdentifier)
    try await host(launching: false).discardWhileNotRunning(gone)
    let second = try await host()
    XCTAssertEqual(hostDelegate.discarded, [gone])
    XCTAssertEqual(second.openSessions.count, 1)
    _ = try await host()
    XCTAssertEqual(hostDelegate.discarded, [gone])
  }

  func testAConfigurationOfAnotherRoleIsRefused() async throws {
    let host = try await host()
    hostDelegate.configuration = SceneConfiguration(role: SceneRole(rawValue: "external")) {
      TestSceneDelegate()
    }
    do {
      try await host.open()
      XCTFail("It opened.")
    } catch {
      XCTAssertEqual(error.code, .noConfiguration)
    }
    XCTAssertTrue(delegates.isEmpty)
  }

  func testAnActivityGoesToTheSceneThatPrefersItThenToOneThatCanThenToANewOne() async throws {
    let host = try await host()
    let (any, fan) = (try await host.open(), try await host.open())
    fan.session.activationConditions = SceneActivationConditions(prefersToActivate: ["x"])
    try await host.disconnect(fan)
    let incoming = activity(1)
    incoming.targetContentIdentifier = "X"
    let taken = try await host.continueActivity(incoming)
    XCTAssertEqual(taken.session, fan.session)
    incoming.targetContentIdentifier = "y"
    host.openSessions.forEach {
      $0.activationConditions = SceneActivationConditions(canActivate: .none)
    }
    any.session.activationConditions = SceneActivationConditions(canActivate: ["y"])
    let able = try await host.continueActivity(incoming)
    XCTAssertTrue(able === any)
    any.session.activationConditions = SceneActivationConditions(canActivate: .none)
    let new = try await host.continueActivity(incoming)
    XCTAssertEqual(host.openSessions.count, 3)
    XCTAssertEqual(host.openSessions.first, new.session)
  }

  func testAValueThatIsShownComesToTheFront() async throws {
    let host = try await host()
    let one = try await host.open(showing: "one")
    let two = try await host.open(showing: "two")
    let again = try await host.open(showing: "one")
    XCTAssertTrue(again === one && one !== two)
    XCTAssertEqual(host.openSessions, [one.session, two.session])
    try one.session.setWindowValue("changed")
    try await host.save(one)
    let next = try await self.host()
    XCTAssertEqual(next.openSessions[0].windowValue(String.self), "changed")
    XCTAssertNil(next.openSessions[0].windowValue(Int.self))
  }

  func testAPolicySaysWhatComesBackForWhichReason() async throws {
    let policy = SceneRestorationPolicy([.launch: .all, .recover: [.nodes]])
    let first = try await host(restoration: policy)
    XCTAssertEqual(first.restoreReason, .pristine)
    let scene = try await first.open()
    delegates[0].activity = activity(1)
    try await first.background(scene)
    let crashed = try await host(restoration: policy)
    XCTAssertEqual(crashed.restoreReason, .recover)
    try await crashed.connect(crashed.openSessions[0])
    XCTAssertNil(crashed.openSessions[0].stateRestorationActivity)
    try await crashed.terminate()
    let clean = try await host(restoration: policy)
    XCTAssertEqual(clean.restoreReason, .launch)
    XCTAssertEqual(clean.openSessions.count, 1)
    let session = SceneHost(try launch.keeper())
    session.delegate = hostDelegate
    session.register(SceneConfiguration(restoration: policy) { TestSceneDelegate() })
    try await session.launch(asSession: true)
    XCTAssertEqual(session.restoreReason, .session)
    XCTAssertEqual(session.openSessions, [])
    XCTAssertEqual(hostDelegate.discarded.count, 1)
  }
}

@MainActor
private final class Owner: @MainActor UserActivityDelegate {
  func userActivityWillSave(_ activity: UserActivity) {}
}
