import RestorationKit

/// The windows of the README: one comes at the first launch, each line types into it, and nothing is said of saving.
@MainActor
enum ReadmeWindows {
  static func main() async throws {
    try await start()
    while let line = await nextLine() {
      if line == "open" {
        try await NoteWindow.all.first?.host?.open()
      } else {
        for window in NoteWindow.all { window.note?.draft += line }
      }
      print("typed")
      // Nothing here saves: the program only looks whether the library has saved, and says so.
      while NoteWindow.all.contains(where: { $0.scene?.needsSave != false }) {
        try await Task.sleep(for: .milliseconds(20))
      }
      // A save clears that when it begins.
      try await Task.sleep(for: .seconds(1))
      print("stored")
    }
  }

  private static func start() async throws {
    let host = SceneHost(try await Restoration.begin("org.example.notes"))
    let start = try await host.start(SceneConfiguration { NoteWindow() })
    print("problems \(start.problems.count)")
    NoteWindow.all.forEach { $0.host = host }
    print("drafts \(NoteWindow.all.compactMap(\.note?.draft).sorted())")
  }
}

@MainActor
private final class NoteWindow: @MainActor SceneDelegate {
  struct Note {
    @Restored("draft") var draft = ""
  }

  static var all: [NoteWindow] = []
  weak var host: SceneHost?
  weak var scene: RestorableScene?
  var note: Note?

  init() { Self.all.append(self) }

  func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    self.scene = scene
    note = Restoration.scope(scene) { Note() }
  }
}
