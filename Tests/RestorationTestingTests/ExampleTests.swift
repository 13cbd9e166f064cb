import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import Testing

@MainActor
private struct Notes {
  @Restored("draft") static var draft = ""
}

@MainActor
private final class NoteScreen: @MainActor RestorableScreen {
  @Restored var draft = ""
}

@MainActor
private final class NoteWindow: @MainActor SceneDelegate {
  struct Note {
    @Restored("draft") var draft = ""
  }

  var note: Note?

  func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    note = Restoration.scope(scene) { Note() }
  }
}

// The code of the article Testing restoration begins here, each part between two comments.

// snippet.screen
@MainActor @Test func theDraftComesBack() async throws {
  let screen = NoteScreen()
  screen.draft = "Milk"
  let again = try await RestorationTester().restart(screen) { NoteScreen() }
  #expect(again.draft == "Milk")
}
// snippet.end

// snippet.values
@MainActor @Test func theAppComesBack() async throws {
  let tester = RestorationTester()
  try await tester.launch {
    try await Restoration.begin("org.example.notes")
    Notes.draft = "Milk"
    await Restoration.end()
  }
  try await tester.launch {
    try await Restoration.begin("org.example.notes")
    #expect(Notes.draft == "Milk")
  }
}
// snippet.end

// snippet.windows
@MainActor @Test func theWindowsComeBack() async throws {
  let tester = RestorationTester()
  try await tester.launch {
    let host = SceneHost(try await Restoration.begin("org.example.notes"))
    try await host.start(SceneConfiguration { NoteWindow() })
    let second = try await host.open()
    (second.delegate as? NoteWindow)?.note?.draft = "Milk"
    await Restoration.end()
  }
  try await tester.launch {
    let host = SceneHost(try await Restoration.begin("org.example.notes"))
    try await host.start(SceneConfiguration { NoteWindow() })
    let windows = host.connectedScenes.compactMap { $0.delegate as? NoteWindow }
    #expect(windows.compactMap(\.note?.draft).sorted() == ["", "Milk"])
  }
}
// snippet.end

// snippet.kill
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
// snippet.end

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
