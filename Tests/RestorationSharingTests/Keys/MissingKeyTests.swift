import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// What a restore and a save say of a key that is not there.
@MainActor
final class MissingKeyTests: XCTestCase {
  private let variable = "RESTORATION_TEST_MISSING_KEY"
  private let text = "gf8KUXXhTJnk6Q2tTwTs7R4mmCkBq3nJvRk4XhE2xmM="
  private let store = MemoryStateDirectory()

  override func tearDown() {
    unsetenv(variable)
  }

  private func keeper(_ keys: any KeyProvider) throws -> StateKeeper {
    try StateKeeper(application: Launch.application, directory: store, keys: keys)
  }

  private func keepers() throws -> [(StateKeeper, place: String)] {
    let folder = try TemporaryDirectory().path
    return [
      (try keeper(EnvironmentKeyProvider(variable)), "the variable \(variable)"),
      (try keeper(CredentialKeyProvider("notes", folder: folder)), "\(folder)/notes"),
    ]
  }

  func testARestoreWithoutAStateSaysThatNothingWillBeSaved() async throws {
    for (keeper, place) in try keepers() {
      let report = try await keeper.restore()
      XCTAssertEqual(report.outcome, .noArchive)
      XCTAssertEqual(
        report.launchProblem,
        "The key that opens this archive is not there (keyMissing: in \(place)). This provider makes"
          + " none: put the key there and launch again; until then nothing is saved.")
      let error = await restorationError { _ = try await keeper.save([TestNode("a")]) }
      XCTAssertEqual(
        error?.description,
        "The key that opens this archive is not there. Put it in its place. (keyMissing: in"
          + " \(place))")
      await keeper.close()
    }
  }

  func testAMissingKeyIsToldBesideAStateThatCannotBeClaimed() async throws {
    let store = HookedStore { _, call throws(ArchiveError) in
      if call == .lock { throw ArchiveError(.permissionDenied) }
    }
    let report = try await StateKeeper(
      application: Launch.application, directory: store, keys: EnvironmentKeyProvider(variable)
    ).restore()
    let problem = try XCTUnwrap(report.launchProblem)
    XCTAssertTrue(problem.contains("\(ArchiveError(.permissionDenied)); The key"), problem)
    XCTAssertTrue(problem.hasSuffix("until then nothing is saved."), problem)
  }

  func testARestoreWithoutAStateSaysThatTheKeyIsDamaged() async throws {
    setenv(variable, "secret", 1)
    let report = try await keeper(EnvironmentKeyProvider(variable)).restore()
    XCTAssertEqual(
      report.launchProblem,
      "The key is damaged or is none. Restore it from a backup. (keyDamaged: in the variable"
        + " \(variable))")
  }

  func testWithItsKeyOrAProviderThatMakesOneALaunchHasNoProblem() async throws {
    setenv(variable, text, 1)
    for keys in [EnvironmentKeyProvider(variable), MemoryKeyProvider()] as [any KeyProvider] {
      let keeper = try keeper(keys)
      let report = try await keeper.restore()
      XCTAssertNil(report.launchProblem)
      await keeper.close()
    }
  }

  func testTheErrorOfARestoreFitsAProviderThatMakesNoKey() async throws {
    setenv(variable, text, 1)
    let first = try keeper(EnvironmentKeyProvider(variable))
    _ = try await first.save([TestNode("a")])
    await first.close()
    for (keeper, place) in try keepers() {
      unsetenv(variable)
      let error = await restorationError { _ = try await keeper.restore() }
      XCTAssertEqual(
        error?.description,
        "The key that opens this archive is not there (keyMissing: in \(place)). This provider makes"
          + " none: put the key there and launch again; until then nothing is saved.")
      await keeper.close()
    }
  }
}
