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
    #if RESTORATION_NEXT
    XCTAssertTrue(problem.contains("\(ArchiveError(.permissionDenied)); The key"), problem)
    #else
    XCTAssertTrue(problem.hasPrefix("\(ArchiveError(.permissionDenied)); The key"), problem)
    #endif
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

  #if !RESTORATION_NEXT
  // MARK: Windows

  private func start(_ keeper: StateKeeper) async throws -> SceneStart {
    try await SceneHost(keeper).start(SceneConfiguration { TestSceneDelegate(Trace()) })
  }

  func testTheStartOfAHostWithoutScenesSaysThatNothingWillBeSaved() async throws {
    for (keeper, place) in try keepers() {
      let start = try await start(keeper)
      let problem =
        "Nothing restored: there is no saved state. Problem of the launch: The key that opens this"
        + " archive is not there (keyMissing: in \(place)). This provider makes none: put the key"
        + " there and launch again; until then nothing is saved."
      XCTAssertEqual(start.problems.map(\.reason), [problem])
      let session = try XCTUnwrap(start.openedScene).session
      XCTAssertTrue(start.problems.first?.session === session)
      XCTAssertEqual(
        start.description,
        "Restored 0 scenes.\nScene \(session.persistentIdentifier): \(problem)")
      await keeper.close()
    }
  }

  func testAStartSaysOnceThatTheKeyOfItsListIsNotThere() async throws {
    setenv(variable, text, 1)
    let first = SceneHost(try keeper(EnvironmentKeyProvider(variable)))
    try await first.start(SceneConfiguration { TestSceneDelegate(Trace()) })
    try await first.save(first.connectedScenes[0])
    await first.close()
    unsetenv(variable)
    let keeper = try keeper(EnvironmentKeyProvider(variable))
    let start = try await start(keeper)
    XCTAssertEqual(
      start.problems.map(\.reason),
      [
        "The key that opens this archive is not there (keyMissing: in the variable \(variable))."
          + " This provider makes none: put the key there and launch again; until then nothing is"
          + " saved."
      ])
  }

  func testTheStartOfAHostWithItsKeyHasNoProblem() async throws {
    setenv(variable, text, 1)
    let start = try await start(try keeper(EnvironmentKeyProvider(variable)))
    XCTAssertEqual(start.problems.map(\.reason), [])
  }

  private func host(_ keys: any KeyProvider) throws -> SceneHost {
    let host = SceneHost(try keeper(keys))
    host.register(SceneConfiguration { TestSceneDelegate(Trace()) })
    return host
  }

  /// Stores a window, and gives the identifier of its session.
  private func storeScene(_ keys: any KeyProvider) async throws -> String {
    let host = try host(keys)
    try await host.launch()
    let scene = try await host.open()
    try await host.save(scene)
    await host.close()
    return scene.session.persistentIdentifier
  }

  func testALaunchWithoutTheKeyMakesOneAndSetsTheListAside() async throws {
    let folder = try TemporaryDirectory()
    let (path, away) = (folder.path + "/key", folder.path + "/away")
    let stored = try await storeScene(FileKeyProvider(path: path))
    let list = store.memory(named: "main.scenes")
    let before = try XCTUnwrap(list.bytes)
    try FileManager.default.moveItem(atPath: path, toPath: away)
    let second = try host(FileKeyProvider(path: path))
    await assertThrows(
      WholeError(notRestored: ArchiveError(.keyMissing).located(at: path))
    ) { try await second.launch() }
    XCTAssertTrue(FileManager.default.fileExists(atPath: path))
    XCTAssertEqual(list.setAsideBytes, [before])
    let lost = try await second.open()
    try await second.save(lost)
    await second.close()
    // The old key back in its place: its windows are back, and no later one.
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: away, toPath: path)
    let third = try host(FileKeyProvider(path: path))
    let error = await restorationError { try await third.launch() }
    XCTAssertEqual(error?.archive?.code, .wrongKey)
    XCTAssertEqual(third.openSessions.map(\.persistentIdentifier), [stored])
  }

  func testWithoutTheKeyOfAProviderThatMakesNoneAHostChangesNothing() async throws {
    setenv(variable, text, 1)
    let stored = try await storeScene(EnvironmentKeyProvider(variable))
    unsetenv(variable)
    let list = store.memory(named: "main.scenes")
    let before = list.bytes
    let second = try host(EnvironmentKeyProvider(variable))
    let error = await restorationError { try await second.launch() }
    XCTAssertEqual(error?.archive?.code, .keyMissing)
    let scene = try await second.open()
    await assertThrows(
      WholeError(ArchiveError(.keyMissing).located(at: "the variable \(variable)"))
    ) { try await second.save(scene) }
    XCTAssertEqual(list.bytes, before)
    XCTAssertEqual(list.setAsideBytes, [])
    await second.close()
    setenv(variable, text, 1)
    let third = try host(EnvironmentKeyProvider(variable))
    try await third.launch()
    XCTAssertEqual(third.openSessions.map(\.persistentIdentifier), [stored])
  }
  #endif
}
