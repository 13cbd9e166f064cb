// The app that pages test.

import RestorationKit

@MainActor
struct Notes {
  @Restored("draft") static var draft = ""
}

@MainActor
final class NoteScreen: @MainActor RestorableScreen {
  @Restored var draft = ""
  @Restored var cursor = 0

  var onDecode = {}
}

@MainActor
final class DetailScreen: @MainActor RestorableScreen {
  @Restored var title = ""
}

@MainActor
final class NoteWindow: @MainActor SceneDelegate {
  struct Note {
    @Restored("draft") var draft = ""
  }

  var note: Note?
}

final class AppDelegate: StateDelegate {}
