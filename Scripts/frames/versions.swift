// A screen that has changed.

import RestorationKit

@MainActor
final class ZoomScreen: @MainActor RestorableScreen {
  @Restored var title = ""
  @Restored var zoom = 1.0
}

@MainActor
func frame(keeper: StateKeeper, screen: ZoomScreen) async throws {
  // The block stands here.
}
