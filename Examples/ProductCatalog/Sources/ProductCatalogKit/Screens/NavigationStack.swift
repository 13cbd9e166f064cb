/// The screens from the first one to the one in sight.
@MainActor package final class NavigationStack {
  package let root: any Screen
  package private(set) var pushed: [any Screen] = []

  package init(root: any Screen) {
    self.root = root
  }

  package var screens: [any Screen] { [root] + pushed }
  package var top: any Screen { pushed.last ?? root }

  package func push(_ screen: any Screen) {
    pushed.append(screen)
  }

  /// Takes the top screen away.
  ///
  /// The root stays.
  package func pop() {
    _ = pushed.popLast()
  }

  /// Puts screens on the root in place of those that are there.
  package func replacePushed(with screens: [any Screen]) {
    pushed = screens
  }
}
