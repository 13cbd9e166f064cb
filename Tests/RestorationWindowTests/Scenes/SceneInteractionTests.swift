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
    private(set) var outcomes: [RestorationReport.Outcome?] = []

    func scene(_ scene: RestorableScene, restoreInteractionStateWith userActivity: UserActivity) {
      outcomes.append(try? scene.restoration?.get().outcome)
    }
  }

  #if !RESTORATION_NEXT
  /// A scene that was stored, and that is connected while the key is locked.
  private func locked() async throws -> (
    host: SceneHost, scene: RestorableScene, delegate: TestSceneDelegate
  ) {
    try await app.store(1, in: try await app.host())
    let host = try await app.host(launching: false)
    // The list can still be read, and the scene's file cannot.
    keys.lock(after: 1)
    try await host.launch()
    let scene = try await host.connect(try XCTUnwrap(host.openSessions.first))
    return (host, scene, try XCTUnwrap(app.delegates.last))
  }

  func testAnActivityThatIsSetWhileLockedComesBackThoughTheFileIsGone() async throws {
    let (host, scene, delegate) = try await locked()
    scene.session.stateRestorationActivity = app.activity(2)
    app.launch.store.memory(named: "main.scene-\(scene.session.persistentIdentifier)").bytes = nil
    keys.isLocked = false
    try await host.protectedDataDidBecomeAvailable()
    XCTAssertEqual(delegate.interactions.map(\.id), [2])
  }

  func testAFileThatIsDamagedWhenItIsUnlockedIsSaidBySessionAndKeptBySaves() async throws {
    let (host, scene, delegate) = try await locked()
    scene.session.stateRestorationActivity = app.activity(2)
    let file = app.launch.store.memory(
      named: "main.scene-\(scene.session.persistentIdentifier)")
    file.bytes = [1, 2, 3]
    keys.isLocked = false
    try await host.protectedDataDidBecomeAvailable()
    XCTAssertEqual(scene.session.failure?.archive?.code, .notAnArchive)
    XCTAssertEqual(delegate.interactions.map(\.id), [2])
    let report = try await host.save(scene)
    XCTAssertNotNil(report.setAside)
    XCTAssertEqual(file.setAsideBytes, [[1, 2, 3]])
  }
  #endif
}
