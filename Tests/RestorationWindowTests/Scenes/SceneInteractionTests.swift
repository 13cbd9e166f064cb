import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// When the interaction state of a scene comes back.
@MainActor
final class SceneInteractionTests: XCTestCase {
  private let app = SceneLaunch()
  private var keys: MemoryKeyProvider { app.launch.keys }

  func testTheReportOfTheRestoreIsThereWhenTheInteractionStateComesBack() async throws {
    try await app.store(1, in: try await app.host())
    let delegate = Delegate()
    let host = SceneHost(try app.launch.keeper())
    host.register(SceneConfiguration { delegate })
    try await host.launch()
    try await host.connect(try XCTUnwrap(host.openSessions.first))
    XCTAssertEqual(delegate.outcomes, [.restored])
  }

  private final class Delegate: @MainActor SceneDelegate {
    private(set) var outcomes: [ReportOutcome?] = []

    func scene(_ scene: RestorableScene, restoreInteractionStateWith userActivity: UserActivity) {
      outcomes.append(scene.restoration?.outcome)
    }
  }
}
