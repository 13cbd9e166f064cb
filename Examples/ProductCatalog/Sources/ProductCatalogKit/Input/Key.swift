/// A key press, or a character typed.
package enum Key: Hashable, Sendable {
  case text(String)
  case control(Character)
  case up, down, left, right
  case home, end, pageUp, pageDown
  case enter, tab, backTab, escape
  case backspace, delete
}
