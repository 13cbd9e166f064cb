// A screen whose hooks are in the block.

import RestorationKit

struct Drive { var isMounted: Bool }

@MainActor
final class EditorScreen: @MainActor RestorableNode {
  let restorationIdentifier = "editor"
  let (drive, volume) = (Drive(isMounted: true), Drive(isMounted: true))
  var draft = ""
  weak var focused: (any RestorableNode)?

  // The block stands here.
}
