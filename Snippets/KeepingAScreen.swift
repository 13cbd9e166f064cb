// A screen whose fields come back, and are saved by themselves, also before SIGTERM.

import RestorationKit

// snippet.screen
@MainActor final class NoteScreen: @MainActor RestorableScreen {
  @Restored var draft = ""
  @Restored var cursor = 0
}

let screen = NoteScreen()
try await Restoration.begin("org.example.note-screen") { [screen] }
// snippet.end

print("Draft: \(screen.draft)")
screen.draft += "One more line. "
screen.cursor = screen.draft.count
// The end of the program stores what is left.
