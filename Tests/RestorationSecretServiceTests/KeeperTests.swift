#if SecretService
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSecretService
import TestSupport
import XCTest

/// A keeper whose key is in the keyring, from end to end.
@MainActor
final class KeeperTests: DesktopTestCase {
  private let application = "org.example.test"

  /// A keeper of another launch.
  private func keeper(fallback: KeyFile? = nil) throws -> StateKeeper {
    try StateKeeper(
      application: application, directory: FileStateDirectory(path: desktop.path("states")),
      keys: SecretServiceKeyProvider(application: application, fallback: fallback))
  }

  private func save(_ value: String, fallback: KeyFile? = nil) async throws {
    let keeper = try keeper(fallback: fallback)
    _ = try await keeper.restore()
    let report = try await keeper.save([TestNode("a", value: value)])
    XCTAssertEqual(report.outcome, .saved)
    await keeper.close()
  }

  private func restored(fallback: KeyFile? = nil) async throws -> String? {
    let node = TestNode("a")
    let keeper = try keeper(fallback: fallback)
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(report.outcome, .restored)
    await keeper.close()
    return node.value
  }

  func testAStateComesBackWithItsKeyFromTheKeyring() async throws {
    try desktop.startKeyring()
    try await save("saved")
    let value = try await restored()
    XCTAssertEqual(value, "saved")
    XCTAssertEqual(try desktop.items().count, 1)
  }

  func testALockedLaunchRestoresOnceTheKeyringIsUnlocked() async throws {
    try desktop.startKeyring()
    try await save("saved")
    try desktop.lock()
    let keeper = try keeper()
    let node = TestNode("a", value: "fresh")
    let locked = try await keeper.restore(into: [node])
    XCTAssertEqual(locked.outcome, .locked)
    XCTAssertEqual(keeper.problem, KeeperProblem.locked)
    let unsaved = try await keeper.save([node])
    XCTAssertEqual(unsaved.outcome, .locked)
    try desktop.unlock()
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertEqual(node.value, "saved")
    let saved = try await keeper.save([node])
    XCTAssertEqual(saved.outcome, .saved)
  }

  func testALaunchWithoutTheServiceLosesNothing() async throws {
    try desktop.startKeyring()
    try await save("saved")
    desktop.stopKeyring()
    for fallback in [nil, KeyFile(application: application)] {
      let keeper = try keeper(fallback: fallback)
      let restoreError = await restorationError { _ = try await keeper.restore() }
      XCTAssertEqual(restoreError?.archive?.code, .keyUnavailable)
      let saveError = await restorationError {
        _ = try await keeper.save([TestNode("a", value: "lost")])
      }
      XCTAssertEqual(saveError?.archive?.code, .keyUnavailable)
      await keeper.close()
    }
    try desktop.startKeyring()
    let value = try await restored(fallback: KeyFile(application: application))
    XCTAssertEqual(value, "saved")
  }

  func testAStateThatWasSealedWithTheFileComesBackWhenAServiceCame() async throws {
    let file = KeyFile(application: application)
    try await save("saved", fallback: file)
    try desktop.startKeyring()
    let value = try await restored(fallback: file)
    XCTAssertEqual(value, "saved")
    try await save("again", fallback: file)
    desktop.stopKeyring()
    let again = try await restored(fallback: file)
    XCTAssertEqual(again, "again")
  }

  func testAKeyringThatLocksMeanwhileLetsNoSaveThroughAndLosesNothing() async throws {
    try desktop.startKeyring()
    let keeper = try keeper()
    _ = try await keeper.restore()
    _ = try await keeper.save([TestNode("a", value: "first")])
    try desktop.lock()
    let locked = try await keeper.save([TestNode("a", value: "second")])
    XCTAssertEqual(locked.outcome, .locked)
    try desktop.unlock()
    let saved = try await keeper.save([TestNode("a", value: "second")])
    XCTAssertEqual(saved.outcome, .saved)
    await keeper.close()
    let value = try await restored()
    XCTAssertEqual(value, "second")
  }
}
#endif
