/// What the run loop waits for.
package enum InputEvent: Hashable, Sendable {
  case key(Key)
  case resized(Size)
  /// The program goes on after a stop, and what the terminal shows is not known.
  case continued
  /// Nothing happened for a while.
  case tick
  /// A signal asks the program to end.
  case terminated(signal: Int32)
}
