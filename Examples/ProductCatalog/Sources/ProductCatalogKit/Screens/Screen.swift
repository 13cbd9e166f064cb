package import RestorationKit

/// One place in the program: it draws itself, answers keys, and can be restored.
///
/// What a screen draws depends on its state and the size of the canvas alone.
@MainActor package protocol Screen: RestorableNode {
  var title: String { get }
  /// A few words on the state of the screen, shown beside where you are.
  var note: Note? { get }
  var keyHints: [KeyHint] { get }

  func draw(into canvas: inout Canvas)

  /// Looks at what others may have changed; called before the screen is drawn.
  func refresh()

  /// Answers a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - size: The size of the canvas on which the screen was last drawn.
  /// - Returns: What is left for the navigation stack to do.
  func handle(_ key: Key, size: Size) -> ScreenResponse

  /// Asks the user, if something would be lost with the screen.
  ///
  /// - Returns: Whether the screen has to stay for that.
  func asksBeforeLeaving() -> Bool
}

extension Screen {
  package func refresh() {}

  package func asksBeforeLeaving() -> Bool { false }
}

/// What a key does beyond the screen that got it.
package enum ScreenResponse {
  case stay
  case push(any Screen)
  case pop
  /// Open the windows of an earlier launch again, which the screen has listed.
  case putBack(EarlierWindows, EarlierScreen)
  case quit
}

package struct Note: Hashable, Sendable {
  var text: String
  /// What stands for the text where there is no room for it.
  var mark = ""
  var style: Style = .dim
}

package struct KeyHint: Hashable, Sendable {
  var key: String
  var action: String

  init(_ key: String, _ action: String) {
    self.key = key
    self.action = action
  }
}
