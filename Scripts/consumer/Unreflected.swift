// A screen of a module without metadata, in which nobody finds the fields.

import RestorationKit

/// A screen of one field.
@MainActor
public final class UnreflectedScreen: @MainActor RestorableScreen {
  /// What its state is stored under.
  public let restorationIdentifier = "unreflected"
  /// The field.
  @Restored public var draft = ""

  /// Creates a screen.
  public init() {}
}
