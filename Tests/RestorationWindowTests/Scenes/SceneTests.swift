import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class SceneTests: XCTestCase {
  private let app = SceneLaunch()

  // Seed: UIScene State Restoration with NSUserActivity and SwiftUI on iOS 13 (iPadOS)
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

  func testDelegatesAreCalledInOrder() async throws {
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
    let leaving = [
      "sceneWillResignActive", "sceneDidEnterBackground", "stateRestorationActivity",
      "userActivityWillSave", "updateUserActivityState", "didUpdate", "restorationRoots",
      "sceneDidDisconnect",
    ]
    XCTAssertEqual(
      names,
      [
        "configurationForConnecting", "willConnectTo", "sceneWillEnterForeground",
        "sceneDidBecomeActive", "continue",
      ] + leaving)
    let second = try await app.host()
    await second.restoreScenes()
    try await second.close(second.connectedScenes[0])
    XCTAssertEqual(
      names,
      [
        "shouldRestore", "willConnectTo", "sceneWillEnterForeground", "restorationRoots",
        "restoreInteractionState", "sceneDidBecomeActive", "hostDidFinishRestoringScenes",
        "sceneDidDisconnect", "didDiscardSceneSessions",
      ])
  }

  private var names: [String] { app.calls.events.map { String($0.prefix { $0.isLetter }) } }

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

  func testTwoScenesComeBackEachWithItsOwnStateMostRecentFirst() async throws {
    let first = try await app.host()
    for number in 1...2 {
      let scene = try await first.open()
      app.delegates[number - 1].activity = app.activity(number)
      app.delegates[number - 1].roots = [TestNode("root", value: "\(number)")]
      try await first.background(scene)
    }
    app.delegates = []
    var nodes: [TestNode] = []
    app.prepare = { delegate in
      nodes.append(TestNode("root"))
      delegate.roots = [nodes[nodes.count - 1]]
    }
    let second = try await app.host()
    XCTAssertEqual(second.openSessions.map(\.title), ["Product 2", "Product 1"])
    for session in second.openSessions.reversed() {
      XCTAssertNil(session.scene)
      try await second.connect(session)
    }
    XCTAssertEqual(app.delegates.flatMap(\.interactions).map { $0.id }, [1, 2])
    XCTAssertEqual(nodes.map(\.value), ["1", "2"])
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

  // Seed: UIScene State Restoration with NSUserActivity and SwiftUI on iOS 13 (iPadOS)
  func testASessionThatConnectsAgainInTheSameLaunchHasItsActivityAndItsTree() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    app.delegates[0].activity = app.activity(1)
    app.delegates[0].roots = [TestNode("root", children: [TestNode("child", value: "typed")])]
    try await host.disconnect(scene)
    XCTAssertNil(scene.session.scene)
    let child = TestNode("child")
    app.prepare = { $0.roots = [TestNode("root", children: [child])] }
    let back = try await host.connect(scene.session)
    XCTAssertFalse(back === scene)
    XCTAssertTrue(back.session === scene.session)
    XCTAssertEqual(app.delegates[1].interactions.map(\.id), [1])
    XCTAssertEqual(child.value, "typed")
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
    XCTAssertEqual(options.userActivities.map(\.id), [2])
    XCTAssertEqual(options.activity(restoring: session)?.id, 2)
    XCTAssertEqual(app.delegates[1].interactions.map(\.id), [1])
  }

  func testWhatIsSetOnADisconnectedSessionIsWhatConnectsAlsoInTheNextLaunch() async throws {
    let first = try await app.host()
    let scene = try await first.open()
    app.delegates[0].activity = app.activity(1)
    try await first.disconnect(scene)
    scene.session.stateRestorationActivity = app.activity(7)
    scene.session.userInfo = ["pinned": true]
    try await first.saveSessions()
    let calls = [
      #"willConnectTo 1, stored Product 7 ["id"]"#, "sceneWillEnterForeground 1",
      "restorationRoots 1", #"restoreInteractionState 1, Product 7 ["id"]"#,
      "sceneDidBecomeActive 1",
    ]
    app.calls.clear()
    try await first.connect(scene.session)
    XCTAssertEqual(app.calls.events, calls)
    let second = try await app.host()
    let session = second.openSessions[0]
    XCTAssertEqual(session.stateRestorationActivity?.id, 7)
    try await second.connect(session)
    XCTAssertEqual(app.calls.events, calls)
    XCTAssertEqual(app.delegates[2].interactions.map(\.id), [7])
    XCTAssertEqual(session.stateRestorationActivity?.id, 7)
    XCTAssertEqual(session.userInfo, ["pinned": true])
  }

  func testClosingASceneRemovesItsFileAndTellsTheApp() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    try await host.save(scene)
    let identifier = scene.session.persistentIdentifier
    XCTAssertEqual(try app.launch.storedPaths(), [identifier])
    app.calls.clear()
    try await host.close(scene)
    XCTAssertEqual(app.calls.events, ["sceneDidDisconnect 1", "didDiscardSceneSessions [1]"])
    XCTAssertEqual(try app.launch.storedPaths(), [])
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
    let next = try await app.host()
    XCTAssertEqual(next.openSessions, [scene.session])
    XCTAssertEqual(app.hostDelegate.discarded, [])
  }

  func testAConfigurationOfAnotherRoleIsRefused() async throws {
    let host = try await app.host()
    app.hostDelegate.configuration = SceneConfiguration(role: "external") {
      TestSceneDelegate()
    }
    let error = await restorationError { try await host.open() }
    XCTAssertEqual(
      error,
      WholeError(
        .noConfiguration,
        "The configuration is for the role “external”,"
          + " and the session for “windowApplication”."))
    XCTAssertEqual(app.calls.events, ["configurationForConnecting 1"])
    XCTAssertEqual(host.openSessions, [])
  }

  func testAnActivityGoesToTheSceneThatWasUsedLastOrElseToANewOne() async throws {
    let host = try await app.host()
    let incoming = app.activity(1)
    let new = try await host.continueActivity(incoming)
    XCTAssertEqual(host.openSessions, [new.session])
    XCTAssertEqual(
      app.calls.events,
      [
        #"configurationForConnecting 1, for ["Product 1 [\"id\"]"]"#,
        #"willConnectTo 1, for ["Product 1 [\"id\"]"]"#, "sceneWillEnterForeground 1",
        "sceneDidBecomeActive 1",
      ])
    let other = try await host.open()
    for scene in [new, other] {
      try await host.connect(scene.session)
      app.calls.clear()
      let taken = try await host.continueActivity(incoming)
      XCTAssertTrue(taken === scene)
      XCTAssertEqual(
        app.calls.events, [#"continue \#(scene === new ? 1 : 2), Product 1 ["id"]"#])
    }
    try await host.disconnect(other)
    app.calls.clear()
    let again = try await host.continueActivity(incoming)
    XCTAssertEqual(again.session, other.session)
    XCTAssertEqual(
      app.calls.events,
      [
        #"willConnectTo 2, for ["Product 1 [\"id\"]"]"#, "sceneWillEnterForeground 2",
        "restorationRoots 2", "sceneDidBecomeActive 2",
      ])
    XCTAssertEqual(host.openSessions, [other.session, new.session])
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

  private struct Unstorable: Hashable, Codable {
    init() {}
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws { throw CancellationError() }
  }

  func testAValueThatCannotBeShownIsRefusedAndOpensNothing() async throws {
    let host = try await app.host()
    var error = await restorationError { try await host.open(showing: Unstorable()) }
    XCTAssertEqual(error?.code, .unsupportedValue)
    error = await restorationError {
      try await host.open(showing: "one", configurationName: "unknown")
    }
    XCTAssertEqual(error?.code, .noConfiguration)
    XCTAssertEqual(host.openSessions, [])
  }

  private final class BareDelegate: @MainActor SceneDelegate {}
  private final class BareHostDelegate: @MainActor SceneHostDelegate {}

  func testDelegatesThatImplementNothingAreEnough() async throws {
    var identifiers: [String] = []
    for _ in 1...2 {
      let host = SceneHost(try app.launch.keeper())
      let (delegate, hostDelegate) = (BareDelegate(), BareHostDelegate())
      host.delegate = hostDelegate
      host.register(SceneConfiguration { delegate })
      try await host.launch()
      await host.restoreScenes()
      XCTAssertEqual(host.connectedScenes.map(\.session.persistentIdentifier), identifiers)
      let scene = try await host.continueActivity(app.activity(1))
      _ = try await host.continueActivity(app.activity(2))
      identifiers = [scene.session.persistentIdentifier]
      let report = try await host.save(scene)
      XCTAssertEqual(report.outcome, .saved)
      await host.close()
      withExtendedLifetime(hostDelegate) {}
    }
  }

  func testTheHostSaysWhetherItFollowsACrash() async throws {
    let first = try await app.host()
    XCTAssertFalse(first.followsCrash, "there was no run")
    let scene = try await first.open()
    app.delegates[0].activity = app.activity(1)
    try await first.background(scene)
    let crashed = try await app.host()
    XCTAssertTrue(crashed.followsCrash)
    try await crashed.connect(crashed.openSessions[0])
    XCTAssertEqual(
      app.delegates.map { $0.connected[0].options.followsCrash }, [false, true])
    try await crashed.terminate()
    let clean = try await app.host()
    XCTAssertFalse(clean.followsCrash)
    XCTAssertEqual(clean.openSessions.count, 1)
  }

  func testAHostWithoutWindowsFollowsACrashIfItsKeeperHasRestoredBefore() async throws {
    let (directory, keys) = (MemoryStateDirectory(), MemoryKeyProvider())
    var followsCrash: [Bool] = []
    for ends in [false, true, true] {
      let keeper = try StateKeeper(
        application: "org.example.notes", directory: directory, keys: keys)
      let root = TestNode("root")
      try await keeper.restore(into: [root])
      let host = SceneHost(keeper)
      try await host.launch()
      followsCrash.append(host.followsCrash)
      try await keeper.save([root])
      if ends { try await host.terminate() }
      await keeper.close()
    }
    XCTAssertEqual(followsCrash, [false, true, false])
  }

  func testAnAppThatHasEndedWithItsRestorationIsLaunchedAndNotRecovered() async throws {
    let (directory, keys) = (MemoryStateDirectory(), MemoryKeyProvider())
    var followCrashes: [Bool] = []
    for _ in 1...2 {
      try await RestorationSession.launch(in: directory, keys) {
        let host = SceneHost(try await Restoration.begin("org.example.notes", signals: []))
        try await host.start(SceneConfiguration { BareDelegate() })
        followCrashes.append(host.followsCrash)
      }
    }
    XCTAssertEqual(followCrashes, [false, false])
  }
}
