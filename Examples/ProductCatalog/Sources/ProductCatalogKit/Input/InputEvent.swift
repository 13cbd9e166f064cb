/// What the run loop waits for.
package enum InputEvent: Hashable, Sendable {
  case key(Key)
  case resized(Size)
  /// Nothing happened for a while.
  case tick
  /// A signal asks the program to end.
  case terminated(signal: Int32)
}
