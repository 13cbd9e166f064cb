// A screen whose state is one value, but for what is in the block.

import RestorationKit

final class NoteScreen: StatefulNode {
  struct State: Codable { var draft = "" }

  // The block stands here.
}
