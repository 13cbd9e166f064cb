// The app that pages test.

import RestorationKit

@MainActor
final class NoteScreen: @MainActor RestorableScreen {
  @Restored var draft = ""
  @Restored var cursor = 0
}

@MainActor
struct Notes {
  @Restored("draft") static var draft = ""
}
