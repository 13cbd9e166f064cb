import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class SceneTests: XCTestCase {
  private let app = SceneLaunch()

  func testAllWhoTakePartInASaveAreCalledInOrder() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(1)
    let owner = TestActivityOwner(["owner": 1], app.calls)
    product.delegate = owner
    app.delegates[0].activity = product
    app.delegates[0].roots = [TestNode("root", trace: app.calls)]
    let responders = [TestResponder(["a": 1], app.calls), TestResponder(["b": 2], app.calls)]
    for responder in responders { scene.setActivity(product, of: responder) }
    app.delegates[0].onUpdate = { $0.addUserInfoEntries(from: ["last": true]) }
    app.calls.clear()
    let report = try await host.background(scene)
    XCTAssertEqual(
      app.calls.events,
      [
        "sceneWillResignActive 1", "sceneDidEnterBackground 1", "stateRestorationActivity 1",
        #"userActivityWillSave, Product 1 ["id"]"#, "updateUserActivityState, Product 1 []",
        #"updateUserActivityState, Product 1 ["a"]"#, #"didUpdate 1, Product 1 ["a", "b"]"#,
        "restorationRoots 1", "encode root",
      ])
    // Neither the activity nor the scene keeps these alive.
    withExtendedLifetime((owner, responders)) {}
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(
      scene.session.stateRestorationActivity?.userInfo, ["a": 1, "b": 2, "last": true])
    let next = try await app.host()
    XCTAssertEqual(
      next.openSessions[0].stateRestorationActivity?.userInfo, ["a": 1, "b": 2, "last": true])
  }

  func testTheHostTellsOfEveryCallThatItMakesInOrder() async throws {
    let first = try await app.host()
    let scene = try await first.open()
    let product = app.activity(1)
    let (owner, responder) = (TestActivityOwner([:], app.calls), TestResponder([:], app.calls))
    product.delegate = owner
    scene.setActivity(product, of: responder)
    app.delegates[0].activity = product
    try await first.connect(scene.session, activity: product)
    try await first.disconnect(scene)
    withExtendedLifetime((owner, responder)) {}
    let opened = (app.trace, app.calls.events)
    let second = try await app.host()
    await second.restoreScenes()
    try await second.close(second.connectedScenes[0])
    for (told, called) in [opened, (app.trace, app.calls.events)] {
      XCTAssertEqual(told, called.map { String($0.prefix { $0.isLetter }) })
      XCTAssertGreaterThan(told.count, 8)
    }
  }

  func testEveryCallFindsTheSceneInTheStateThatItIsAbout() async throws {
    let host = try await app.host()
    var states: [String] = []
    app.prepare = { [app] delegate in
      delegate.activity = app.activity(1)
      delegate.onCall = { states.append("\($0): \($1.activationState)") }
    }
    let scene = try await host.open()
    try await host.disconnect(scene)
    try await host.connect(scene.session)
    let saved = ["stateRestorationActivity", "didUpdate", "restorationRoots"]
    let leaving =
      ["sceneWillResignActive: foregroundInactive", "sceneDidEnterBackground: background"]
      + saved.map { "\($0): background" } + ["sceneDidDisconnect: unattached"]
    XCTAssertEqual(
      states,
      [
        "willConnectTo: background", "sceneWillEnterForeground: foregroundInactive",
        "sceneDidBecomeActive: foregroundActive",
      ] + leaving + [
        "willConnectTo: background", "sceneWillEnterForeground: foregroundInactive",
        "restorationRoots: foregroundInactive", "restoreInteractionState: foregroundInactive",
        "sceneDidBecomeActive: foregroundActive",
      ])
  }

  func testASceneThatIsInTheBackgroundIsOnlySavedAgain() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    try await host.background(scene)
    app.calls.clear()
    try await host.background(scene)
    XCTAssertEqual(app.calls.events, ["stateRestorationActivity 1", "restorationRoots 1"])
    XCTAssertEqual(scene.activationState, .background)
    app.calls.clear()
    try await host.connect(scene.session)
    XCTAssertEqual(app.calls.events, ["sceneWillEnterForeground 1", "sceneDidBecomeActive 1"])
    app.calls.clear()
    try await host.connect(scene.session)
    XCTAssertEqual(app.calls.events, [])
  }

  func testUserInfoStaysWithoutRespondersAndIsEmptiedForOneThatWritesNothing() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(5)
    app.delegates[0].activity = product
    try await host.save(scene)
    XCTAssertEqual(scene.session.stateRestorationActivity?.id, 5)
    let silent = TestResponder([:])
    scene.setActivity(product, of: silent)
    try await host.save(scene)
    XCTAssertEqual(scene.session.stateRestorationActivity?.userInfo, [:])
    scene.setActivity(nil, of: silent)
    XCTAssertFalse(product.isValid)
  }

  func testAResponderThatIsGoneCountsNoMore() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(5)
    app.delegates[0].activity = product
    let living = TestResponder(["a": 1])
    do {
      let passing = TestResponder(["b": 2])
      scene.setActivity(product, of: passing)
      scene.setActivity(product, of: living)
      withExtendedLifetime(passing) {}
    }
    try await host.save(scene)
    XCTAssertEqual(scene.session.stateRestorationActivity?.userInfo, ["a": 1])
    XCTAssertTrue(product.isValid)
    scene.setActivity(nil, of: living)
    XCTAssertFalse(product.isValid)
  }

  func testTheStoredActivityIsACopy() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(1)
    app.delegates[0].activity = product
    try await host.save(scene)
    product.userInfo = ["id": 2]
    XCTAssertEqual(scene.session.stateRestorationActivity?.id, 1)
    scene.session.stateRestorationActivity?.userInfo = ["id": 3]
    XCTAssertEqual(scene.session.stateRestorationActivity?.id, 1)
  }

  func testNoActivityClearsTheStoredOne() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    try await host.save(scene)
    XCTAssertNil(scene.session.stateRestorationActivity)
    app.delegates[0].activity = app.activity(1)
    try await host.save(scene)
    app.delegates[0].activity = nil
    try await host.save(scene)
    XCTAssertNil(scene.session.stateRestorationActivity)
  }

  func testAnUndeclaredTypeAndALargeActivityAreReported() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    app.delegates[0].activity = UserActivity(activityType: "other")
    let undeclared = try await host.save(scene)
    XCTAssertEqual(undeclared.problems, [.undeclaredActivityType("other")])
    XCTAssertNil(scene.session.stateRestorationActivity)
    host.activityByteLimit = 10
    app.delegates[0].activity = app.activity(1)
    let large = try await host.save(scene)
    guard case .largeActivity(_, limit: 10) = large.problems.first else {
      return XCTFail("\(large.problems)")
    }
    XCTAssertEqual(scene.session.stateRestorationActivity?.id, 1)
  }

  func testRequiredKeysAreAllThatIsStoredAndOneThatIsMissingIsReported() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(1)
    product.addUserInfoEntries(from: ["more": 2])
    product.requiredUserInfoKeys = ["id", "missing"]
    app.delegates[0].activity = product
    let report = try await host.save(scene)
    XCTAssertEqual(report.problems, [.requiredKeysMissing(["missing"])])
    XCTAssertEqual(scene.session.stateRestorationActivity?.userInfo, ["id": 1])
  }

  func testAnInvalidActivityIsNotStored() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let product = app.activity(1)
    product.invalidate()
    app.delegates[0].activity = product
    let report = try await host.save(scene)
    XCTAssertEqual(report.problems, [.invalidActivity("product")])
    XCTAssertNil(scene.session.stateRestorationActivity)
  }

  func testAnActivityThatHasExpiredDoesNotComeBack() async throws {
    let first = try await app.host()
    let scene = try await first.open()
    let product = app.activity(1)
    product.expirationDate = app.launch.now + 60
    app.delegates[0].activity = product
    try await first.disconnect(scene)
    app.launch.now += 59
    let early = try await app.host()
    XCTAssertEqual(early.openSessions[0].stateRestorationActivity?.id, 1)
    app.launch.now += 1
    let late = try await app.host()
    XCTAssertNil(late.openSessions[0].stateRestorationActivity)
    try await late.connect(late.openSessions[0])
    XCTAssertEqual(app.delegates[1].interactions.count, 0)
  }

  func testStoredActivitiesAreDeletedByTheirPersistentIdentifier() async throws {
    let first = try await app.host()
    for number in 1...3 {
      let scene = try await first.open()
      let product = app.activity(number)
      product.persistentIdentifier = "p\(number)"
      app.delegates[number - 1].activity = product
      scene.session.userInfo = ["kept": true]
      try await first.disconnect(scene)
    }
    let second = try await app.host()
    try await second.deleteSavedUserActivities(withPersistentIdentifiers: ["p1", "p3", "p9"])
    XCTAssertEqual(second.openSessions.map(\.title), [nil, "Product 2", nil])
    let third = try await app.host()
    XCTAssertEqual(third.openSessions.map { $0.stateRestorationActivity?.id }, [nil, 2, nil])
    XCTAssertTrue(third.openSessions.allSatisfy { $0.userInfo == ["kept": true] })
    await third.restoreScenes()
    XCTAssertEqual(app.delegates[3...].flatMap(\.interactions).map(\.id), [2])
  }

  func testTwoScenesComeBackEachWithItsOwnStateMostRecentFirst() async throws {
    let first = try await app.host()
    for number in 1...2 {
      let scene = try await first.open()
      app.delegates[number - 1].activity = app.activity(number)
      app.delegates[number - 1].roots = [TestNode("root", value: "\(number)")]
      try await first.background(scene)
    }
    app.delegates = []
    let second = try await app.host()
    XCTAssertEqual(second.restoreReason, .recover)
    XCTAssertEqual(second.openSessions.map(\.title), ["Product 2", "Product 1"])
    XCTAssertTrue(
      second.openSessions.allSatisfy { $0.byteCount > 0 && $0.savedAt == app.launch.now })
    for session in second.openSessions.reversed() {
      XCTAssertNil(session.scene)
      try await second.connect(session)
    }
    XCTAssertEqual(app.delegates.flatMap(\.interactions).map { $0.id }, [1, 2])
    XCTAssertEqual(second.openSessions.map(\.title), ["Product 2", "Product 1"])
  }

  func testTheOrderOfAConnectionWithNodesAndAnActivity() async throws {
    let first = try await app.host()
    let scene = try await first.open()
    app.delegates[0].activity = app.activity(1)
    app.delegates[0].roots = [TestNode("root", value: "x")]
    try await first.disconnect(scene)
    XCTAssertEqual(scene.activationState, .unattached)
    let node = TestNode("root")
    node.trace = app.calls
    let identifier = scene.session.persistentIdentifier

    let second = SceneHost(try app.launch.keeper())
    second.register(
      SceneConfiguration { [unowned self] in
        let made = app.makeDelegate()
        made.roots = [node]
        return made
      })
    try await second.launch()
    app.calls.clear()
    let back = try await second.connect(second.openSessions[0])
    XCTAssertEqual(
      app.calls.events,
      [
        #"willConnectTo 1, stored Product 1 ["id"]"#, "sceneWillEnterForeground 1",
        "restorationRoots 1", "load root", "decode root", "finished root",
        #"restoreInteractionState 1, Product 1 ["id"]"#, "sceneDidBecomeActive 1",
      ])
    XCTAssertEqual(back.session.persistentIdentifier, identifier)
    XCTAssertFalse(back === scene)
    XCTAssertEqual(node.value, "x")
  }

  func testASessionThatConnectsTwiceAtOnceGetsOneScene() async throws {
    let first = try await app.host()
    try await first.background(try await first.open())
    let second = try await app.host()
    let session = second.openSessions[0]
    let tasks = (1...3).map { _ in
      Task { @MainActor in ObjectIdentifier(try await second.connect(session)) }
    }
    var scenes: [ObjectIdentifier] = []
    for task in tasks { scenes.append(try await task.value) }
    XCTAssertEqual(Set(scenes).count, 1)
    XCTAssertEqual(
      app.calls.events,
      [
        "willConnectTo 1", "sceneWillEnterForeground 1", "restorationRoots 1",
        "sceneDidBecomeActive 1",
      ])
  }

  func testWithoutActivityInteractionStateIsNotRestored() async throws {
    _ = try await app.host().open()
    XCTAssertEqual(
      app.calls.events,
      [
        "configurationForConnecting 1", "willConnectTo 1", "sceneWillEnterForeground 1",
        "sceneDidBecomeActive 1",
      ])
  }

  func testAnIncomingActivityBeatsTheStoredOne() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    app.delegates[0].activity = app.activity(1)
    try await host.disconnect(scene)
    try await host.connect(scene.session, activity: app.activity(2))
    let (session, options) = try XCTUnwrap(app.delegates[1].connected.first)
    XCTAssertEqual(session.stateRestorationActivity?.id, 1)
    XCTAssertEqual(options.activity(restoring: session)?.id, 2)
  }

  func testWhatIsSetOnADisconnectedSessionIsWhatConnectsAlsoInTheNextLaunch() async throws {
    let first = try await app.host()
    let scene = try await first.open()
    app.delegates[0].activity = app.activity(1)
    try await first.disconnect(scene)
    scene.session.stateRestorationActivity = app.activity(7)
    scene.session.userInfo = ["pinned": true]
    try await first.saveSessions()
    let second = try await app.host()
    let session = second.openSessions[0]
    XCTAssertEqual(session.stateRestorationActivity?.id, 7)
    try await second.connect(session)
    XCTAssertEqual(session.stateRestorationActivity?.id, 7)
    XCTAssertEqual(session.userInfo, ["pinned": true])
  }

  func testClosingASceneRemovesItsFileAndTellsTheApp() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    try await host.save(scene)
    let identifier = scene.session.persistentIdentifier
    XCTAssertNotNil(app.launch.store.memory(named: "main.scene-\(identifier)").bytes)
    app.calls.clear()
    try await host.close(scene)
    XCTAssertEqual(app.calls.events, ["sceneDidDisconnect 1", "didDiscardSceneSessions [1]"])
    XCTAssertNil(app.launch.store.memory(named: "main.scene-\(identifier)").bytes)
    XCTAssertEqual(app.hostDelegate.discarded, [[identifier]])
    XCTAssertEqual(host.openSessions, [])
    let next = try await app.host()
    XCTAssertEqual(next.openSessions, [])
  }

  func testADisconnectedSceneIsNotDiscarded() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    try await host.disconnect(scene)
    XCTAssertEqual(app.hostDelegate.discarded, [])
    XCTAssertEqual(host.openSessions, [scene.session])
    XCTAssertTrue(host.connectedScenes.isEmpty)
  }

  func testScenesDiscardedWhileTheAppIsNotRunningAreToldOnceTogether() async throws {
    let first = try await app.host()
    for _ in 1...3 { try await first.background(try await first.open()) }
    let gone = first.openSessions.prefix(2).map(\.persistentIdentifier)
    try await app.host(launching: false).discardWhileNotRunning(gone)
    let second = try await app.host()
    XCTAssertEqual(app.hostDelegate.discarded, [gone])
    XCTAssertEqual(second.openSessions.count, 1)
    _ = try await app.host()
    XCTAssertEqual(app.hostDelegate.discarded, [gone])
  }

  func testAConfigurationOfAnotherRoleIsRefused() async throws {
    let host = try await app.host()
    app.hostDelegate.configuration = SceneConfiguration(role: SceneRole(rawValue: "external")) {
      TestSceneDelegate()
    }
    do {
      try await host.open()
      XCTFail("It opened.")
    } catch {
      XCTAssertEqual(error.code, .noConfiguration)
    }
    XCTAssertTrue(app.delegates.isEmpty)
  }

  func testAnActivityGoesToTheSceneThatPrefersItThenToOneThatCanThenToANewOne() async throws {
    let host = try await app.host()
    let (any, fan) = (try await host.open(), try await host.open())
    fan.session.activationConditions = SceneActivationConditions(prefersToActivate: ["x"])
    try await host.disconnect(fan)
    let incoming = app.activity(1)
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
    let host = try await app.host()
    let one = try await host.open(showing: "one")
    let two = try await host.open(showing: "two")
    let again = try await host.open(showing: "one")
    XCTAssertTrue(again === one && one !== two)
    XCTAssertEqual(host.openSessions, [one.session, two.session])
    try one.session.setWindowValue("changed")
    try await host.save(one)
    let next = try await app.host()
    XCTAssertEqual(next.openSessions[0].windowValue(String.self), "changed")
    XCTAssertNil(next.openSessions[0].windowValue(Int.self))
  }

  func testAPolicySaysWhatComesBackForWhichReason() async throws {
    let policy = SceneRestorationPolicy([.launch: .all, .recover: [.nodes]])
    let first = try await app.host(restoration: policy)
    XCTAssertEqual(first.restoreReason, .pristine)
    let scene = try await first.open()
    app.delegates[0].activity = app.activity(1)
    try await first.background(scene)
    let crashed = try await app.host(restoration: policy)
    XCTAssertEqual(crashed.restoreReason, .recover)
    try await crashed.connect(crashed.openSessions[0])
    XCTAssertNil(crashed.openSessions[0].stateRestorationActivity)
    try await crashed.terminate()
    let clean = try await app.host(restoration: policy)
    XCTAssertEqual(clean.restoreReason, .launch)
    XCTAssertEqual(clean.openSessions.count, 1)
    let session = SceneHost(try app.launch.keeper())
    session.delegate = app.hostDelegate
    session.register(SceneConfiguration(restoration: policy) { TestSceneDelegate() })
    try await session.launch(asSession: true)
    XCTAssertEqual(session.restoreReason, .session)
    XCTAssertEqual(session.openSessions, [])
    XCTAssertEqual(app.hostDelegate.discarded.count, 1)
  }

  func testUserInfoOfTheDeepestNestingIsStored() async throws {
    var deep: Any = 1
    for _ in 0..<PropertyListValue.deepestNesting { deep = [deep] }
    let host = try await app.host()
    let scene = try await host.open()
    scene.session.userInfo = ["deep": try PropertyListValue(deep)]
    let product = app.activity(1)
    try product.setUserInfo(["deep": deep])
    app.delegates[0].activity = product
    let report = try await host.save(scene)
    XCTAssertEqual(report.problems, [])
    let next = try await app.host()
    XCTAssertEqual(next.openSessions[0].userInfo, scene.session.userInfo)
    XCTAssertEqual(next.openSessions[0].stateRestorationActivity?.userInfo, product.userInfo)
  }

  func testAValueThatCannotBeStoredIsReportedAndKeepsNothingElseFromIt() async throws {
    var secret: PropertyListValue = "do not print me"
    for _ in 0..<60 { secret = [secret] }
    let host = try await app.host()
    let scene = try await host.open()
    let longKey = String(repeating: "k", count: 3000)
    scene.session.userInfo = ["deep": secret, "kept": 1, longKey: 2]
    let product = app.activity(1)
    product.userInfo["deep"] = secret
    app.delegates[0].activity = product
    app.delegates[0].roots = [TestNode("root", value: "kept")]
    let report = try await host.save(scene)
    guard case .activityEncodingFailed("product", let activityReason) = report.problems.first,
      let deep = report.problems.first(where: {
        if case .userInfoEncodingFailed(key: "deep", _) = $0 { true } else { false }
      }), case .userInfoEncodingFailed(_, let reason) = deep
    else { return XCTFail("\(report)") }
    for text in [activityReason, reason, "\(report)"] {
      XCTAssertTrue(text.contains(" cannot be encoded at "), text)
      XCTAssertFalse(text.contains("print me"), text)
    }
    XCTAssertEqual(report.problems.count, 3)
    XCTAssertEqual(report.nodes.savedPaths, ["root"])
    let next = try await app.host()
    XCTAssertEqual(next.openSessions[0].userInfo, ["kept": 1])
  }
}
