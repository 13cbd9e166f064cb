extension RestorableScene {
  /// How far the scene is from the user.
  public enum ActivationState: String, Hashable, Sendable {
    /// It is not connected, not yet or not any more.
    case unattached
    /// It is connected and not seen.
    case background
    /// It is seen and takes no input.
    case foregroundInactive
    /// It is seen and takes input.
    case foregroundActive
  }
}
