/// A node, a view or an object whose state is saved and restored.
///
/// Conform to ``RestorableNode``, ``RestorableView`` or ``RestorableObject``, which
/// refine this protocol. All hooks have defaults, so implement only the hooks that you
/// need.
///
/// Conformances may be isolated to an actor, as in
/// `final class NoteScreen: @MainActor RestorableNode`. All members are called on
/// the actor that calls the ``StateKeeper``.
public protocol StateRestoring: AnyObject {
  /// How saves find out that objects of this type have changed; ``StateTracking/always``
  /// by default.
  ///
  /// The library asks once for each type.
  static var stateTracking: StateTracking { get }

  /// The class, if its objects are nodes; for the library, which need not ask the Swift runtime then.
  ///
  /// The runtime takes 300,000 instructions for each class, since it goes through all conformances of
  /// the program. Any other answer than the defaults is ignored.
  @_documentation(visibility: internal)
  static var restorableNodeType: (any RestorableNode.Type)? { get }

  /// Writes the state of the object; writes nothing by default.
  ///
  /// Store values that the user would miss, and identifiers of data that can be loaded
  /// again. If the method throws, the object is saved with the state that it was saved
  /// with last, or without state if there is none. The nodes below the object are
  /// saved, and the report says so.
  ///
  /// - Parameter coder: Takes the values; only for the time of this call.
  /// - Throws: Any error; the error costs the state of this object alone.
  func encodeRestorableState(with coder: StateEncoder) throws

  /// Reads the state of the object; reads nothing by default.
  ///
  /// All restored objects exist by then. Parents are decoded before children. An object
  /// may be decoded later than an object that refers to it. If the method throws, the
  /// others are restored all the same, and the report says so. The next save sets the
  /// stored state aside, since the new state replaces it.
  ///
  /// - Parameter coder: Holds the values that this object wrote.
  /// - Throws: Any error; the error costs the state of this object alone.
  func decodeRestorableState(with coder: StateDecoder) throws

  /// Reads values that depend on the layout, such as scroll positions; reads nothing by default.
  ///
  /// Called on all objects that were decoded, after the delegate's
  /// ``StateDelegate/layOutRestoredInterface()``.
  ///
  /// - Parameter coder: The same values as in ``decodeRestorableState(with:)``.
  /// - Throws: Any error; the report shows it.
  func restoreStateAfterLayout(with coder: StateDecoder) throws

  /// Tells a restored object that all others are decoded; does nothing by default.
  ///
  /// This is the place for work that needs several objects at once.
  func applicationFinishedRestoringState()
}

extension StateRestoring {
  /// Every save asks for the state.
  public static var stateTracking: StateTracking { .always }

  /// None.
  @_documentation(visibility: internal)
  public static var restorableNodeType: (any RestorableNode.Type)? { nil }

  /// The class, if its objects are nodes.
  ///
  /// A class may become one of nodes in an extension that the conformance to this protocol does not
  /// know, so the runtime is asked about a class that does not say it.
  static var nodeType: (any RestorableNode.Type)? {
    if let type = restorableNodeType, type == self { return type }
    return self as? any RestorableNode.Type
  }

  /// Says that the state of this object has changed, or the list of its nodes and views.
  ///
  /// The next save asks the object again. Objects whose ``stateTracking`` is
  /// ``StateTracking/invalidated`` call this after each change. For other objects, and
  /// for objects that no save has met, the call does nothing. Call it on any thread. If
  /// a save is running, the save after that one asks.
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
