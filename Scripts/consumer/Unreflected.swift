// A screen of a module without metadata, in which nobody finds the fields.

import RestorationKit

@MainActor
public final class UnreflectedScreen: @MainActor RestorableScreen {
  public let restorationIdentifier = "unreflected"
  @Restored public var draft = ""

  public init() {}
}
