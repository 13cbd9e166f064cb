// A screen that names itself in the block.

import RestorationKit

final class NoteScreen: RestorableNode {
  // The block stands here.
}
