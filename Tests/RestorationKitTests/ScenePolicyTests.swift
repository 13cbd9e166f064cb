import RestorationKit
import TestSupport
import XCTest

/// Which parts of a scene come back.
@MainActor
final class ScenePolicyTests: XCTestCase {
  func testExactlyThePartsOfThePolicyComeBack() async throws {
    let parts: [SceneRestorationPolicy.Parts] = [.activity, .nodes, .storage]
    for number in 0..<8 {
      let isBack = parts.indices.map { number & (1 << $0) != 0 }
      let chosen = SceneRestorationPolicy.Parts(zip(parts, isBack).filter(\.1).map(\.0))
      let app = SceneLaunch()
      try await app.store(1, in: try await app.host())
      let node = TestNode("root")
      app.prepare = { $0.roots = [node] }
      let host = try await app.host(
        restoration: SceneRestorationPolicy(
          Dictionary(uniqueKeysWithValues: RestoreReason.allCases.map { ($0, chosen) })))
      let scene = try await host.connect(try XCTUnwrap(host.openSessions.first))
      XCTAssertEqual(
        [scene.session.stateRestorationActivity?.id == 1, node.value == "1"]
          + [DraftModel(scene).draft == "draft 1"], isBack)
    }
  }
}
