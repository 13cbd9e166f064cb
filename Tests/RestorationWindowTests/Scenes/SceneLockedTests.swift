import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Scenes while the key is locked.
@MainActor
final class SceneLockedTests: XCTestCase {
  private let app = SceneLaunch()
  private var keys: MemoryKeyProvider { app.launch.keys }

  /// All that is stored.
  private func files() throws -> [String: [UInt8]?] {
    let names = try app.launch.store.names().map { ($0, app.launch.store.memory(named: $0).bytes) }
    return Dictionary(uniqueKeysWithValues: names).filter { !$0.key.hasSuffix(".launch") }
  }

  func testALockedLaunchHasNoSessionsAndChangesNothingUntilTheKeyIsThere() async throws {
    let stored = try await app.store(1, in: try await app.host())
    let disk = try files()
    keys.isLocked = true
    let host = try await app.host()
    XCTAssertTrue(host.isLocked)
    XCTAssertFalse(host.followsCrash, "nobody knows yet")
    XCTAssertEqual(host.openSessions, [])
    let scene = try await host.open()
    let report = try await host.save(scene)
    XCTAssertEqual(report.outcome, .locked)
    XCTAssertEqual(try files(), disk)

    try await host.protectedDataDidBecomeAvailable()
    XCTAssertTrue(host.isLocked)
    keys.isLocked = false
    try await host.protectedDataDidBecomeAvailable()
    XCTAssertFalse(host.isLocked)
    XCTAssertTrue(host.followsCrash)
    XCTAssertEqual(
      host.openSessions.map(\.persistentIdentifier), [scene.session.persistentIdentifier, stored])
    XCTAssertEqual(host.openSessions[1].stateRestorationActivity?.id, 1)
    let saved = try await host.save(scene)
    XCTAssertEqual(saved.outcome, .saved)
    let next = try await app.host()
    XCTAssertEqual(next.openSessions, host.openSessions)
  }

  func testASceneThatCannotBeSavedNowStaysConnected() async throws {
    let host = try await app.host()
    let root = TestNode("root", value: "early")
    app.prepare = { $0.roots = [root] }
    let scene = try await host.open()
    try await host.save(scene)
    root.value = "late"
    keys.isLocked = true
    let locked = try await host.disconnect(scene)
    XCTAssertEqual(locked.outcome, .locked)
    XCTAssertEqual(scene.activationState, .background)
    keys.isLocked = false
    let saved = try await host.disconnect(scene)
    XCTAssertEqual(saved.outcome, .saved)
    XCTAssertEqual(scene.activationState, .unattached)
    root.value = nil
    try await host.connect(scene.session)
    XCTAssertEqual(root.value, "late")
  }

  func testUnlockingTwiceAtOnceReadsEverySessionOnce() async throws {
    let first = try await app.host()
    for number in 1...3 { try await app.store(number, in: first) }
    keys.isLocked = true
    let host = try await app.host()
    keys.isLocked = false
    let tasks = (1...3).map { _ in
      Task { @MainActor in try await host.protectedDataDidBecomeAvailable() }
    }
    for task in tasks { try await task.value }
    XCTAssertEqual(host.openSessions.map(\.title), ["Product 3", "Product 2", "Product 1"])
    XCTAssertEqual(app.hostDelegate.discarded, [])
  }
}
