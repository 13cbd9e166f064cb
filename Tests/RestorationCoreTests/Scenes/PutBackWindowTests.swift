import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Older states with windows, and how these come back.
@MainActor
final class PutBackWindowTests: XCTestCase {
  private let app = SceneLaunch()

  private func host(sessionCount: Int = 5) async throws -> SceneHost {
    let host = try await app.host(launching: false)
    host.keeper.policy.historyCounts[.session] = sessionCount
    app.prepare = { $0.roots = [TestNode("root", value: "new")] }
    try await host.launch()
    return host
  }

  private func show(_ value: String, in scene: RestorableScene) {
    scene.testRoot?.value = value
    (scene.delegate as? TestSceneDelegate)?.activity = app.activity(value.count)
    DraftModel(scene).draft = "draft \(value)"
    scene.needsSave = true
  }

  private func shown(_ host: SceneHost) -> [String?] {
    host.connectedScenes.map { scene in
      scene.testRoot?.value.map { "\($0), \(DraftModel(scene).draft)" }
    }
  }

  /// A launch with windows that is killed.
  private func launchWindows(_ values: [String]) async throws {
    let host = try await host()
    for value in values { show(value, in: try await host.open()) }
    _ = try await host.saveChangedScenes()
    await host.close()
  }

  func testTheWindowsOfASessionComeBackAsTheyWereAndThoseOfTodayInTurn() async throws {
    try await launchWindows(["a", "b"])
    let today = try await host()
    await today.restoreScenes()
    XCTAssertEqual(shown(today), ["b, draft b", "a, draft a"])
    show("b of today", in: today.connectedScenes[0])
    show("c", in: try await today.open())
    _ = try await today.saveChangedScenes()
    let session = try await today.keeper.history().first { $0.reason == .session }
    // What was not saved yet is stored before it gives way.
    show("a of today", in: try XCTUnwrap(today.connectedScenes.last))
    try await today.putBack(try XCTUnwrap(session))
    XCTAssertEqual(today.connectedScenes.count, 0)
    XCTAssertEqual(today.openSessions.compactMap(\.title), ["Product 1", "Product 1"])
    await today.restoreScenes()
    XCTAssertEqual(shown(today), ["b, draft b", "a, draft a"])

    let putBack = try await today.keeper.history().last { $0.reason == .putBack }
    try await today.putBack(try XCTUnwrap(putBack))
    await today.restoreScenes()
    XCTAssertEqual(
      Set(shown(today)),
      ["b of today, draft b of today", "a of today, draft a of today", "c, draft c"])
    await today.close()
    let next = try await host()
    await next.restoreScenes()
    XCTAssertEqual(next.connectedScenes.count, 3)
  }

  func testAStateThatIsPutBackIsNotOneTooManyWhenTheWindowsAreSavedBefore() async throws {
    for value in ["a", "b", "c"] {
      let host = try await host(sessionCount: 1)
      await host.restoreScenes()
      show(
        value, in: host.connectedScenes.isEmpty ? try await host.open() : host.connectedScenes[0])
      if value == "c" {
        // The window is saved as it is disconnected, and the state of the launch before becomes a moment.
        let first = try await host.keeper.history().first { $0.reason == .session }
        try await host.putBack(try XCTUnwrap(first))
        await host.restoreScenes()
        XCTAssertEqual(shown(host), ["a, draft a"])
      } else {
        _ = try await host.saveChangedScenes()
      }
      await host.close()
    }
  }

  func testTwoCallsAtOnceOpenEachWindowOnce() async throws {
    try await launchWindows(["a", "b", "c"])
    let today = try await host()
    await today.restoreScenes()
    show("c of today", in: today.connectedScenes[0])
    _ = try await today.saveChangedScenes()
    let found = try await today.keeper.history().first { $0.reason == .session }
    let session = try XCTUnwrap(found)
    let calls = (0..<2).map { _ in Task { @MainActor in try await today.putBack(session) } }
    for call in calls {
      // The windows may be disconnected by the other call.
      if case .failure(let error) = await call.result {
        XCTAssertEqual((error as? RestorationError)?.code, .notConnected)
      }
    }
    await today.restoreScenes()
    XCTAssertEqual(shown(today), ["c, draft c", "b, draft b", "a, draft a"])
  }
}
