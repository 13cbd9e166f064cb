/// A node, a view or an object whose state is saved and restored.
///
/// Conform to ``RestorableNode``, ``RestorableView`` or ``RestorableObject``, which
/// refine it. All hooks have defaults, so implement those that you need.
///
/// Conformances may be isolated to an actor, as in
/// `final class NoteScreen: @MainActor RestorableNode`. All members are called on
/// the actor that calls the ``StateKeeper``.
public protocol StateRestoring: AnyObject {
  /// How saves find out that objects of this type have changed; ``StateTracking/always``
  /// by default.
  ///
  /// It is asked once for each type.
  static var stateTracking: StateTracking { get }

  /// Writes what brings the object back to where it is; nothing by default.
  ///
  /// Store what the user would miss and an identifier for what can be loaded
  /// again. If it throws, the object is preserved without state, what is below
  /// it is preserved, and the report says so.
  ///
  /// - Parameter coder: Takes the values; only for the time of this call.
  /// - Throws: Any error; it costs the state of this object alone.
  func encodeRestorableState(with coder: StateEncoder) throws

  /// Takes back what was encoded; does nothing by default.
  ///
  /// All that is restored exists by then; parents are decoded before children,
  /// and what is referred to may be decoded later than what refers to it. If it
  /// throws, the others are restored all the same, and the report says so.
  ///
  /// - Parameter coder: Holds the values that this object wrote.
  /// - Throws: Any error; it costs the state of this object alone.
  func decodeRestorableState(with coder: StateDecoder) throws

  /// Takes back what depends on the layout; does nothing by default.
  ///
  /// Called on all that was decoded, after the delegate's
  /// ``StateDelegate/layOutRestoredInterface()``: the place for scroll positions.
  ///
  /// - Parameter coder: The same values as in ``decodeRestorableState(with:)``.
  /// - Throws: Any error; the report shows it.
  func restoreStateAfterLayout(with coder: StateDecoder) throws

  /// Tells a restored object that every other is decoded; does nothing by default.
  ///
  /// The place for what needs several objects at once.
  func applicationFinishedRestoringState()
}

extension StateRestoring {
  /// Every save asks for the state.
  public static var stateTracking: StateTracking { .always }

  /// Says that the state of this object has changed, or what it contains.
  ///
  /// The next save asks it again. Objects whose ``stateTracking`` is
  /// ``StateTracking/invalidated`` call it after each change; for others, and for
  /// those that no save has met, it does nothing. It may be called on any thread, and
  /// in a save: then the save after that one asks.
  ///
  /// - Complexity: O(1).
  public func invalidateRestorableState() {
    TrackedObjects.invalidate(self)
  }

  /// Writes nothing.
  public func encodeRestorableState(with coder: StateEncoder) throws {}

  /// Reads nothing.
  public func decodeRestorableState(with coder: StateDecoder) throws {}

  /// Does nothing.
  public func restoreStateAfterLayout(with coder: StateDecoder) throws {}

  /// Does nothing.
  public func applicationFinishedRestoringState() {}
}
