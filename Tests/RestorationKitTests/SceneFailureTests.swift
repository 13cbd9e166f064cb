import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Scenes of which some cannot be stored.
@MainActor
final class SceneFailureTests: XCTestCase {
  private let app = SceneLaunch()

  func testOfSeveralScenesThatCannotBeSavedTheFirstErrorIsThrown() async throws {
    let store = HookedStore(app.launch.store) { name, call throws(ArchiveError) in
      guard call == .replace, name.hasPrefix("main.scene-") else { return }
      throw ArchiveError(.storageFull, location: name)
    }
    let host = SceneHost(
      try StateKeeper(application: Launch.application, store: store, keys: app.launch.keys))
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    for _ in 1...3 { try await host.open() }
    let first = try XCTUnwrap(host.connectedScenes.first).session.persistentIdentifier
    do {
      try await host.saveChangedScenes()
      XCTFail("Nothing was thrown.")
    } catch {
      XCTAssertEqual(
        error.archive, ArchiveError(.storageFull, location: "main.scene-\(first)"))
    }
  }
}
