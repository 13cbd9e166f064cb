import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import Testing

@MainActor
private final class NoteScreen: @MainActor RestorableScreen {
  @Restored var draft = ""
}

// The tests of the article Testing restoration begin here.

// The app, in a process of its own: Milk is typed after the first save, and nobody tells the keeper.
@MainActor @Test func theNotesApp() async throws {
  guard let app = AppUnderTest.current else { return }
  let screen = NoteScreen()
  let keeper = try StateKeeper(
    application: "org.example.notes", directory: app.directory, keys: app.keys)
  _ = try await keeper.restore(into: [screen])
  keeper.autosave {
    [screen]
  } told: { _ in
    app.acknowledgeSave()
    screen.draft = "Milk"
  }
  try await Task.sleep(for: .seconds(60))
}

@MainActor @Test func theDraftComesBackAfterAKill() async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
  defer { try? FileManager.default.removeItem(atPath: folder) }
  let app = try AppProcess.again(
    ["--testing-library", "swift-testing", "--filter", "theNotesApp"], folder: folder,
    killedAt: .afterSave(2))
  _ = try app.answersUntilKilled()

  let screen = NoteScreen()
  let tester = RestorationTester(application: "org.example.notes", leftIn: folder)
  _ = try await tester.launch().restore(into: [screen])
  #expect(screen.draft == "Milk")
}

@MainActor @Test func theDraftComesBack() async throws {
  let screen = NoteScreen()
  screen.draft = "Milk"
  let again = try await RestorationTester().restart(screen) { NoteScreen() }
  #expect(again.draft == "Milk")
}

// They end here.

/// All of this works without XCTest.
@MainActor
struct ExampleTests {
  @Test(arguments: StorageConformance.checks)
  func memoryKeepsItsPromises(_ check: ConformanceCheck<any ArchiveStorage>) throws {
    try check.run {
      let storage = MemoryStorage()
      return { storage }
    }
  }
}
