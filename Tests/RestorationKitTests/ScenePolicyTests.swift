import RestorationKit
import TestSupport
import XCTest

/// Which parts of a scene come back.
@MainActor
final class ScenePolicyTests: XCTestCase {
  func testExactlyThePartsOfThePolicyComeBack() async throws {
    for number in 0..<8 {
      let policy = [SceneRestorationPolicy.Parts.activity, .nodes, .storage].enumerated()
        .reduce(into: SceneRestorationPolicy.Parts()) { parts, part in
          if number & (1 << part.offset) != 0 { parts.insert(part.element) }
        }
      let app = SceneLaunch()
      try await app.store(1, in: try await app.host())
      let node = TestNode("root")
      app.prepare = { $0.roots = [node] }
      let host = try await app.host(
        restoration: SceneRestorationPolicy(
          Dictionary(uniqueKeysWithValues: RestoreReason.allCases.map { ($0, policy) })))
      let scene = try await host.connect(try XCTUnwrap(host.openSessions.first))
      XCTAssertEqual(
        scene.session.stateRestorationActivity?.id, policy.contains(.activity) ? 1 : nil)
      XCTAssertEqual(node.value, policy.contains(.nodes) ? "1" : nil)
      XCTAssertEqual(DraftModel(scene).draft, policy.contains(.storage) ? "draft 1" : "")
    }
  }
}
