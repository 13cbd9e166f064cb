/// A part of an interface that can be preserved and restored.
///
/// A screen, a window or a pane conforms. Nodes form a tree by containment:
/// ``restorationChildren`` and ``restorationPresented``. A node without an
/// identifier is left out, and so is everything below it.
///
/// A container conforms to ``RestorableStack``, ``RestorableTabs`` or ``RestorableSplit``, through
/// which a restore gives the container its children back.
public protocol RestorableNode: StateRestoring {
  /// The type of the identifier: `String`, `String?`, or one of your own.
  associatedtype RestorationIdentifier: RestorationIdentifying = String?

  /// The name of the node among its siblings, stable across launches.
  ///
  ///     let restorationIdentifier = "note"
  ///
  /// Nil means that the node has none of its own. A node that was restored then
  /// keeps the identifier that it was restored under, and so does a node that has the name
  /// of its class, as a ``StatefulNode`` and a ``RestorableScreen`` that declare no identifier.
  /// Any other node without an identifier is left out. An empty string always leaves the node out.
  ///
  /// ``restorationName`` reads the identifier of `any RestorableNode`.
  var restorationIdentifier: RestorationIdentifier { get }

  /// The type that makes or finds this node when it is restored.
  ///
  /// None by default, or the node's own class if that is a restoration class. A node
  /// that names none keeps the restoration class that it was restored by.
  ///
  /// Register the type with the keeper before you restore, since an archive can only
  /// name registered types. If a node has a restoration class, a restore asks only that
  /// class for the node.
  var restorationClass: (any RestorationClass.Type)? { get }

  /// The nodes that this node contains, in order; none by default.
  ///
  /// They are walked, preserved and given back as
  /// ``StateDecoder/restoredChildren``. Asked for once in a save; in a restore
  /// when a child is looked for, and at the end.
  var restorationChildren: [any RestorableNode] { get }

  /// The node that this node presents, on top of what it contains; none by default.
  ///
  /// The path of the presented node goes through this one.
  var restorationPresented: (any RestorableNode)? { get }

  /// Presents the node that is back; does nothing by default.
  ///
  /// Called before the node's own decoding. Not called if nothing is back, or if
  /// the node presents the right one already.
  ///
  /// - Parameter node: The node to present.
  func restorePresented(_ node: any RestorableNode)

  /// The outermost views of the node that may have state; none by default.
  ///
  /// They and their ``RestorableView/restorationSubviews`` are preserved with
  /// the node and under it. In a restore they are asked for when they are loaded.
  var restorationViews: [any RestorableView] { get }

  /// Makes the views of the node, if it makes them late; does nothing by default.
  ///
  /// Called in a restore after all nodes were made or found and before any is
  /// decoded; never in a save.
  func loadViewIfNeeded()
}

extension RestorableNode {
  /// The ``restorationIdentifier`` as text; nil if the node has none of its own.
  public var restorationName: String? { restorationIdentifier.restorationName }

  /// None.
  public var restorationClass: (any RestorationClass.Type)? { nil }

  /// None.
  public var restorationChildren: [any RestorableNode] { [] }

  /// None.
  public var restorationPresented: (any RestorableNode)? { nil }

  /// Does nothing.
  public func restorePresented(_ node: any RestorableNode) {}

  /// None.
  public var restorationViews: [any RestorableView] { [] }

  /// Does nothing.
  public func loadViewIfNeeded() {}
}

extension RestorableNode where Self: RestorationClass {
  /// The node's own class.
  public var restorationClass: (any RestorationClass.Type)? { Self.self }
}

/// A restoration class: makes nodes or registered objects when an archive is restored.
///
/// Register the class with
/// ``StateKeeper/register(restorationClass:as:aliases:version:migrations:)``. If the nodes or
/// objects are of that class themselves, use
/// ``StateKeeper/register(_:as:aliases:version:migrations:restoration:)``.
public protocol RestorationClass {
  /// Makes or finds the node or the object of a path.
  ///
  /// Do the least that gives a usable one: its state is decoded later. The restore registers an object under
  /// the last identifier of the path.
  ///
  /// - Parameters:
  ///   - path: The identifiers from the root, or from that of its scope, to the node or object.
  ///   - coder: The values of the node or object.
  /// - Returns: The node or object, or nil to drop it and everything below it: the next save stores nothing
  ///   of them, and references to them are nil.
  /// - Throws: Any error leaves the node or object out this time and keeps it: saves leave it as it is
  ///   stored, so that a later launch can try again.
  static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any StateRestoring)?
}

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
  /// others are restored all the same, and the report says so. The stored state stays
  /// until the object says something new, and then beside that; see
  /// ``StatePolicy/keptAge``.
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
    KnownObjects.shared.invalidate(self)
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

/// The type of a ``RestorableNode/restorationIdentifier``: a `String`, or a `String?` that may be
/// nil.
///
/// A type of your own can be one as well, such as an enumeration of screens:
///
///     enum ScreenName: String, RestorationIdentifying {
///       case note, settings
///
///       var restorationName: String? { rawValue }
///     }
public protocol RestorationIdentifying {
  /// The name itself; nil for none.
  var restorationName: String? { get }
}

extension String: RestorationIdentifying {
  /// The text itself.
  public var restorationName: String? { self }
}

extension Optional: RestorationIdentifying where Wrapped == String {
  /// The text, if there is one.
  public var restorationName: String? { self }
}
