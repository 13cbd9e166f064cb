/// A node whose state are its fields with ``Restored``.
///
///     @MainActor
///     final class NoteScreen: @MainActor RestorableScreen {
///       @Restored var draft = ""
///       @Restored var cursor = 0
///     }
///
/// Each field is stored under its name, or under the key that it is given, and setting it says
/// that the screen has changed. Fields of superclasses and private ones count as well. Without
/// an identifier of its own the screen has the name of its class, as a ``StatefulNode``.
///
/// A field that an earlier version of the app has not stored keeps its value. So does a field
/// whose stored value does not fit; the report has a problem for it
/// (``ReportNote/fieldReplaced(key:_:)``). The stored value stays until the app sets the field, so
/// another version finds it; then the state that had it stays beside the new one. All
/// hooks of ``RestorableNode`` work besides; a change that no field tells needs
/// ``StateRestoring/invalidateRestorableState()``, as one of ``RestorableNode/restorationChildren``.
public protocol RestorableScreen: RestorableNode, RestorationAbility {}

extension RestorableScreen {
  /// Setting a field says that the screen has changed.
  public static var stateTracking: StateTracking { .invalidated }

  /// The name of the class of the screen, `String(describing: type(of: self))`.
  public var restorationIdentifier: String { String(nameOf: type(of: self)) }
}

extension RestorableScreen where Self: Actor {
  /// Screens are classes: a save asks all of them at once, on one actor.
  @available(
    *, unavailable,
    message: "an actor cannot be a screen; use a class that is isolated to the main actor"
  )
  public static var stateTracking: StateTracking { .invalidated }
}
