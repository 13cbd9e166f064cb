#if os(Linux)
import ArchiveCodec
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// The class of the README, edited without a word, in a process that is killed.
final class AutosaveKillTests: XCTestCase {
  @MainActor
  private final class NoteScreen: @MainActor StatefulNode {
    struct State: Codable {
      var draft = ""
    }

    let restorationIdentifier: String? = "note"
    var restorableState = State()
  }

  /// The other process: it edits after every save, and tells nobody.
  @MainActor
  func testTheAppThatEditsAndTellsNobody() async throws {
    guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
    let screen = NoteScreen()
    let keeper = try StateKeeper(
      application: Launch.application, directory: app.directory, keys: app.keys)
    _ = try await keeper.restore(into: [screen])
    _ = keeper.autosave {
      [screen]
    } told: { _ in
      app.acknowledgeSave("saved “\(screen.restorableState.draft)”")
      for _ in 0..<20 { screen.restorableState.draft += "." }
    }
    // The kill comes before.
    try await Task.sleep(for: .seconds(60))
    withExtendedLifetime(keeper) {}
  }

  @MainActor
  func testWhatNobodyToldIsBackAfterAKillAsOfThePollBefore() async throws {
    let directory = try TemporaryDirectory()
    let app = try AppProcess.again(
      ["RestorationTreeTests.AutosaveKillTests/testTheAppThatEditsAndTellsNobody"],
      folder: directory.path, killedAt: .afterSave(3))
    let limit = Task.detached { [app = app.identifier] in
      try await Task.sleep(for: .seconds(30))
      kill(app, SIGTERM)
    }
    let answers = try app.answersUntilKilled()
    limit.cancel()
    let dots = String(repeating: ".", count: 20)
    XCTAssertEqual(answers, ["saved “”", "saved “\(dots)”", "saved “\(dots + dots)”"])
    let screen = NoteScreen()
    let keeper = try StateKeeper(
      application: Launch.application,
      directory: FileStateDirectory(path: "\(directory.path)/states"),
      keys: KeyFile(path: "\(directory.path)/app.key"))
    _ = try await keeper.restore(into: [screen])
    XCTAssertEqual(screen.restorableState.draft, dots + dots)
  }
}
#endif
