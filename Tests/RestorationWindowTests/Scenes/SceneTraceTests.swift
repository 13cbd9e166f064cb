import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What the trace of a host says, and when.
@MainActor
final class SceneTraceTests: XCTestCase {
  func testTheTraceSaysEachCallJustBeforeItIsMade() async throws {
    let launch = Launch()
    let log = Trace()
    func host() async throws -> SceneHost {
      let host = SceneHost(try launch.keeper())
      host.delegate = log.hostDelegate
      host.declaredActivityTypes = ["product"]
      host.trace = { log.events.append($0.call.rawValue) }
      host.register(SceneConfiguration { LoggingSceneDelegate(log) })
      try await host.launch()
      return host
    }
    let first = try await host()
    let scene = try await first.open()
    XCTAssertEqual(
      log.take(),
      [
        "configurationForConnecting", "willConnectTo", "sceneWillEnterForeground",
        "sceneDidBecomeActive",
      ])
    let again = UserActivity(activityType: "product")
    try await first.connect(scene.session, activity: again)
    XCTAssertEqual(log.take(), ["continue"])
    try await first.background(scene)
    let leave = ["sceneWillResignActive", "sceneDidEnterBackground"]
    let save = [
      "stateRestorationActivity", "userActivityWillSave", "updateUserActivityState", "didUpdate",
      "restorationRoots",
    ]
    XCTAssertEqual(log.take(), leave + save)
    try await first.terminate()
    XCTAssertEqual(log.take(), [])

    let second = try await host()
    await second.restoreScenes()
    XCTAssertEqual(
      log.take(),
      [
        "shouldRestore", "willConnectTo", "sceneWillEnterForeground", "restorationRoots",
        "restoreInteractionState",
        "sceneDidBecomeActive", "hostDidFinishRestoringScenes",
      ])
    let back = try XCTUnwrap(second.connectedScenes.first)
    try await second.disconnect(back)
    XCTAssertEqual(log.take(), leave + save + ["sceneDidDisconnect"])
    try await second.discard(second.openSessions)
    XCTAssertEqual(log.take(), ["didDiscardSceneSessions"])
  }

  func testATraceSaysOfWhichSessionItIsAndAsksForNoSecondClosure() async throws {
    let scenes = SceneLaunch()
    let keeper = try scenes.launch.keeper()
    var told: [RestorationTrace] = []
    keeper.trace = { told.append($0) }
    let host = SceneHost(keeper)
    host.trace = keeper.trace
    host.register(SceneConfiguration { scenes.makeDelegate() })
    try await host.launch()
    for _ in 0..<2 {
      let scene = try await host.open()
      scenes.delegates[scenes.delegates.count - 1].roots = [TestNode("root")]
      told = []
      try await host.save(scene)
      let session = scene.session.persistentIdentifier
      let expected = [
        "stateRestorationActivity \(session)", "restorationRoots \(session)",
        "encodeRestorableState \(session) root",
      ]
      XCTAssertEqual(told.map(\.description), expected)
      XCTAssertEqual(told.map(\.session), [session, session, session])
    }
    told = []
    await host.restoreScenes()
    XCTAssertEqual(told.map(\.description), ["hostDidFinishRestoringScenes"])
    XCTAssertEqual(
      try JSONDecoder().decode([RestorationTrace].self, from: JSONEncoder().encode(told)), told)
    told = []
    _ = try await keeper.save([TestNode("own")])
    XCTAssertEqual(told.map(\.description), ["encodeRestorableState own"])
  }
}

/// What the trace says and what is called, one after the other.
@MainActor
private final class Trace {
  var events: [String] = []
  private(set) lazy var hostDelegate = LoggingHostDelegate(self)
  let activity = UserActivity(activityType: "product")

  func call(_ name: String) { events.append("\(name) is called") }

  /// What was said since the last time, each followed by its call.
  func take(file: StaticString = #filePath, line: UInt = #line) -> [String] {
    let said = events.filter { !$0.hasSuffix(" is called") }
    XCTAssertEqual(events, said.flatMap { [$0, "\($0) is called"] }, file: file, line: line)
    events = []
    return said
  }
}

@MainActor
private final class LoggingHostDelegate: @MainActor SceneHostDelegate {
  private unowned let log: Trace

  init(_ log: Trace) {
    self.log = log
  }

  func host(_ host: SceneHost, shouldRestore session: SceneSession) -> Bool {
    log.call("shouldRestore")
    return true
  }

  func hostDidFinishRestoringScenes(_ host: SceneHost) { log.call("hostDidFinishRestoringScenes") }

  func host(
    _ host: SceneHost, configurationForConnecting session: SceneSession,
    options: SceneConnectionOptions
  ) -> SceneConfiguration? {
    log.call("configurationForConnecting")
    return nil
  }

  func host(_ host: SceneHost, didDiscardSceneSessions sessions: [SceneSession]) {
    log.call("didDiscardSceneSessions")
  }
}

/// Also the owner and the responder of its activity.
@MainActor
private final class LoggingSceneDelegate: @MainActor SceneDelegate,
  @MainActor UserActivityDelegate, @MainActor UserActivityResponder
{
  private let log: Trace

  init(_ log: Trace) {
    self.log = log
  }

  func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    log.activity.delegate = self
    scene.setActivity(log.activity, of: self)
    log.call("willConnectTo")
  }

  func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] {
    log.call("restorationRoots")
    return []
  }

  func stateRestorationActivity(for scene: RestorableScene) -> UserActivity? {
    log.call("stateRestorationActivity")
    return log.activity
  }

  func userActivityWillSave(_ activity: UserActivity) { log.call("userActivityWillSave") }
  func updateUserActivityState(_ activity: UserActivity) { log.call("updateUserActivityState") }
  func scene(_ scene: RestorableScene, didUpdate userActivity: UserActivity) {
    log.call("didUpdate")
  }
  func scene(_ scene: RestorableScene, restoreInteractionStateWith userActivity: UserActivity) {
    log.call("restoreInteractionState")
  }
  func scene(_ scene: RestorableScene, continue userActivity: UserActivity) { log.call("continue") }
  func sceneWillEnterForeground(_ scene: RestorableScene) { log.call("sceneWillEnterForeground") }
  func sceneDidBecomeActive(_ scene: RestorableScene) { log.call("sceneDidBecomeActive") }
  func sceneWillResignActive(_ scene: RestorableScene) { log.call("sceneWillResignActive") }
  func sceneDidEnterBackground(_ scene: RestorableScene) { log.call("sceneDidEnterBackground") }
  func sceneDidDisconnect(_ scene: RestorableScene) { log.call("sceneDidDisconnect") }
}
