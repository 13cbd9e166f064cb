import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class SceneCheckTests: XCTestCase {
  private let scenes = SceneLaunch()
  private var launch: Launch { scenes.launch }

  private func storeTwoWindows() async throws -> [String] {
    let host = try await scenes.host()
    return [try await scenes.store(1, in: host), try await scenes.store(2, in: host)]
  }

  func testAKeeperSaysThatItsWindowsHaveStates() async throws {
    _ = try await storeTwoWindows()
    let report = try await launch.keeper().checkStoredState()
    XCTAssertFalse(report.isStored)
    XCTAssertEqual(report.sceneCount, 2)
    XCTAssertEqual(
      report.description,
      "There is no saved state. The states of 2 windows beside it are checked by the host's"
        + " checkStoredStates().")
  }

  func testAKeeperWithoutWindowsSaysNothingOfThem() async throws {
    _ = try await launch.keeper().save([TestNode("root", value: "x")])
    let report = try await launch.keeper().checkStoredState()
    XCTAssertEqual(report.sceneCount, 0)
    XCTAssertEqual(
      report.description, "Checked 1 nodes.\n  root (TestNode): can be restored")
  }

  func testAHostChecksEveryWindowAndChangesNothing() async throws {
    let identifiers = try await storeTwoWindows()
    let stored = identifiers.map(scenes.bytes)
    let keeper = try launch.keeper()
    try keeper.register(
      TestNode.self, version: 2, migrations: [StateMigration(from: 1) { _ in }])
    let host = SceneHost(keeper)
    try await host.launch()
    let made = scenes.delegates.count
    let reports = await host.checkStoredStates()
    XCTAssertEqual(
      Set(reports.keys.map(\.persistentIdentifier)), Set(identifiers))
    for report in reports.values {
      XCTAssertEqual(
        try report.get().entries.map(\.description),
        [
          "@values (@values): can be restored", "@values/draft (@value): can be restored",
          "root (TestNode): can be restored; migrated from version 1",
        ])
      XCTAssertEqual(try report.get().sceneCount, 0)
    }
    XCTAssertEqual(identifiers.map(scenes.bytes), stored)
    XCTAssertEqual(scenes.delegates.count, made)
    XCTAssertEqual(host.connectedScenes.count, 0)
  }

  func testOneWindowThatCannotBeReadStopsNoOther() async throws {
    let identifiers = try await storeTwoWindows()
    let file = launch.store.memory(named: "main.scene-\(identifiers[0])")
    file.bytes = file.bytes.map { Array($0.dropLast(10)) }
    let host = try await scenes.host()
    let reports = await host.checkStoredStates()
    let codes = Dictionary(
      uniqueKeysWithValues: reports.map { session, report in
        (session.persistentIdentifier, report.failureCode)
      })
    XCTAssertEqual(codes, [identifiers[0]: .archive, identifiers[1]: nil])
  }

  func testTheDelegateOfASceneThatIsThereIsAskedForNames() async throws {
    _ = try await storeTwoWindows()
    let keeper = try launch.keeper()
    let host = SceneHost(keeper)
    let delegate = NamingSceneDelegate()
    host.register(SceneConfiguration { delegate })
    try await host.launch()
    _ = await host.checkStoredStates()
    XCTAssertEqual(delegate.asked, [], "Nobody is there who could be asked.")
    try await host.connect(host.openSessions[0])
    delegate.asked = []
    _ = await host.checkStoredStates()
    XCTAssertEqual(delegate.asked, ["TestNode"])
  }

  func testCheckingNeedsNoListOfNames() async throws {
    let store = NamelessStore()
    let keys = MemoryKeyProvider()
    let keeper = try StateKeeper(application: Launch.application, directory: store, keys: keys)
    _ = try await keeper.save([TestNode("root", value: "x")])
    let report = try await keeper.checkStoredState()
    XCTAssertEqual(report.entries.count, 1)
    XCTAssertNil(report.sceneCount)
    XCTAssertEqual(
      report.description.split(separator: "\n").first,
      "Checked 1 nodes. Whether windows are stored beside it cannot be listed.")
  }
}

private struct NamelessStore: StateDirectory {
  private let store = MemoryStateDirectory()

  func storage(named name: String) -> any ArchiveStorage { store.storage(named: name) }
  func names() throws(ArchiveError) -> [String] { throw ArchiveError(.inputOutput) }
}

extension Result where Failure == RestorationError {
  fileprivate var failureCode: RestorationError.Code? {
    if case .failure(let error) = self { error.code } else { nil }
  }
}

@MainActor
private final class NamingSceneDelegate: @MainActor SceneDelegate, @MainActor StateDelegate {
  var asked: [String] = []

  func currentClassName(forStored name: String) -> String? {
    asked.append(name)
    return nil
  }
}
