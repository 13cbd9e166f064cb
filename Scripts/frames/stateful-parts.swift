// A screen whose state is one value.

import RestorationKit

final class NoteScreen: StatefulNode {
  struct State: Codable { var draft = "" }

  var restorableState = State()
  // The block stands here.
}
