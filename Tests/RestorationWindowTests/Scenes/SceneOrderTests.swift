import RestorationKit
import TestSupport
import XCTest

/// Which scene is at the front, and which calls that takes.
@MainActor
final class SceneOrderTests: XCTestCase {
  private let app = SceneLaunch()

  /// A host of a new launch that knows three sessions; the first one is at the
  /// back.
  private func stored() async throws -> (host: SceneHost, sessions: [SceneSession]) {
    let first = try await app.host()
    for number in 1...3 { try await app.store(number, in: first) }
    let host = try await app.host()
    return (host, host.openSessions.reversed())
  }

  func testASessionThatConnectsComesToTheFrontWhetherItHasASceneOrNot() async throws {
    let (host, sessions) = try await stored()
    let (one, two, three) = (sessions[0], sessions[1], sessions[2])
    for session in [two, one, two] {
      try await host.connect(session)
      XCTAssertEqual(host.openSessions.first, session)
    }
    XCTAssertEqual(host.openSessions, [two, one, three])
    XCTAssertEqual(host.connectedScenes.map(\.session), [two, one])
  }

  func testRestoringLeavesScenesThatAreThereAsTheyAreAndAllInTheirPlaces() async throws {
    let (host, sessions) = try await stored()
    let hidden = try await host.connect(sessions[1])
    try await host.background(hidden)
    let order = host.openSessions
    app.calls.clear()
    let failures = await host.restoreScenes()
    XCTAssertEqual(failures, [:])
    XCTAssertEqual(hidden.activationState, .background)
    XCTAssertEqual(host.openSessions, order)
    XCTAssertEqual(
      app.calls.events,
      [3, 1].flatMap { number in
        [
          "shouldRestore \(number)", #"willConnectTo \#(number), stored Product \#(number) ["id"]"#,
          "sceneWillEnterForeground \(number)", "restorationRoots \(number)",
          #"restoreInteractionState \#(number), Product \#(number) ["id"]"#,
          "sceneDidBecomeActive \(number)",
        ]
      } + ["hostDidFinishRestoringScenes"])
  }

  func testAnEqualValueOfAnotherRoleOrConfigurationIsShownInASceneOfItsOwn() async throws {
    let host = SceneHost(try app.launch.keeper())
    let (window, other) = ("windowApplication", "external")
    for (role, name) in [(window, "a"), (window, "b"), (other, "a")] {
      host.register(SceneConfiguration(role: role, name: name) { [app] in app.makeDelegate() })
    }
    try await host.launch()
    let scenes = [
      try await host.open(showing: "x", configurationName: "a"),
      try await host.open(showing: "x", configurationName: "b"),
      try await host.open(showing: "x", other),
    ]
    XCTAssertEqual(host.openSessions.count, 3)
    XCTAssertEqual(scenes.map(\.session.role), [window, window, other])
    XCTAssertEqual(scenes.map(\.session.configurationName), ["a", "b", "a"])
    let again = [
      try await host.open(showing: "x", configurationName: "a"),
      try await host.open(showing: "x", configurationName: "b"),
      try await host.open(showing: "x", other),
    ]
    XCTAssertTrue(again.elementsEqual(scenes) { $0 === $1 })
    // Of several the one that was used last.
    let any = try await host.open(showing: "x")
    XCTAssertTrue(any === scenes[1])
    XCTAssertEqual(host.openSessions.count, 3)
  }
}
