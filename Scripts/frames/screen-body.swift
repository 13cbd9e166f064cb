// A screen, without its fields.

import RestorationKit

final class NoteScreen: RestorableScreen {
  // The block stands here.
}
