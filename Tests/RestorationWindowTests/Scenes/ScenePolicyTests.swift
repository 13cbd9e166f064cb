import RestorationKit
import TestSupport
import XCTest

/// What of a scene comes back, by the parts that its configuration names.
@MainActor
final class ScenePolicyTests: XCTestCase {
  private typealias Parts = SceneRestorationPolicy.Parts

  func testOfAScenesPartsThoseComeBackThatThePolicyNames() async throws {
    for bits in 0..<8 {
      let isBack = (0..<3).map { bits & 1 << $0 != 0 }
      let parts = Parts(zip([.activity, .nodes, .storage], isBack).filter(\.1).map(\.0))
      let app = SceneLaunch()
      let policy = SceneRestorationPolicy([.pristine: .all, .recover: parts])
      try await app.store(1, in: try await app.host(restoration: policy))
      let node = TestNode("root", value: "default")
      app.prepare = { $0.roots = [node] }
      let host = try await app.host(restoration: policy)
      XCTAssertEqual(host.restoreReason, .recover)
      let scene = try await host.connect(host.openSessions[0])
      let (hasActivity, hasNodes) = (isBack[0], isBack[1])
      XCTAssertEqual(scene.session.stateRestorationActivity?.id, hasActivity ? 1 : nil, "\(parts)")
      XCTAssertEqual(node.value, hasNodes ? "1" : "default", "\(parts)")
      XCTAssertEqual(
        DraftModel(scene).draft, isBack[2] ? "draft 1" : "", "\(parts)")
      // They belong to the session and not to its state.
      XCTAssertEqual(scene.session.userInfo, ["kept": 1], "\(parts)")
      XCTAssertEqual(
        app.calls.events,
        [hasActivity ? #"willConnectTo 1, stored Product 1 ["id"]"# : "willConnectTo 1"]
          + ["sceneWillEnterForeground 1"] + (hasNodes ? ["restorationRoots 1"] : [])
          + (hasActivity ? [#"restoreInteractionState 1, Product 1 ["id"]"#] : [])
          + ["sceneDidBecomeActive 1"])
    }
  }

  func testAPolicyThatDoesNotNameTheReasonDiscardsTheScene() async throws {
    for named in RestoreReason.allCases {
      let app = SceneLaunch()
      let policy = SceneRestorationPolicy([named: .all])
      let stored = try await app.store(1, in: try await app.host(restoration: policy))
      let host = try await app.host(restoration: policy)
      let isBack = named == .recover
      XCTAssertEqual(host.openSessions.map(\.persistentIdentifier), isBack ? [stored] : [])
      XCTAssertEqual(app.hostDelegate.discarded, isBack ? [] : [[stored]])
      XCTAssertEqual(app.bytes(of: stored) == nil, !isBack)
    }
  }
}
