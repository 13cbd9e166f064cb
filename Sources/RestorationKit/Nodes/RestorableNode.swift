/// A part of an interface that can be preserved and restored.
///
/// A screen, a window or a pane conforms. Nodes form a tree by containment:
/// ``restorationChildren`` and ``restorationPresented``. A node without an
/// identifier is left out, and so is everything below it.
///
/// Conformances may be isolated to an actor, as in
/// `final class Detail: @MainActor RestorableNode`. All members are called on
/// the actor that calls the ``StateKeeper``.
public protocol RestorableNode: AnyObject {
  /// The name of the node among its siblings, stable across launches.
  ///
  /// Nil means that it has none of its own: a node that was restored keeps the
  /// identifier that it was restored under, every other is left out. An empty
  /// string always leaves the node out.
  var restorationIdentifier: String? { get }

  /// The type that makes or finds this node when it is restored.
  ///
  /// None by default, or the node's own class if that is a restoration class. A
  /// node that names none keeps the one that it was restored by.
  ///
  /// Register it with the keeper before you restore, since an archive can only
  /// name what is registered. With a restoration class, nothing else is asked.
  var restorationClass: (any NodeRestoration.Type)? { get }

  /// The nodes that this node contains, in order; none by default.
  ///
  /// They are walked, preserved and given back as
  /// ``StateDecoder/restoredChildren``. Asked for once in a save; in a restore
  /// when a child is looked for, and at the end.
  var restorationChildren: [any RestorableNode] { get }

  /// The node that this node presents, on top of what it contains; none by default.
  var restorationPresented: (any RestorableNode)? { get }

  /// Writes what brings the node back to where it is; nothing by default.
  ///
  /// Store what the user would miss and an identifier for what can be loaded
  /// again. If it throws, the node is preserved without state, its children
  /// are preserved, and the report says so.
  ///
  /// - Parameter coder: Takes the values; only for the time of this call.
  /// - Throws: Any error; it costs the state of this node alone.
  func encodeRestorableState(with coder: StateEncoder) throws

  /// Makes what the node shows, if that is done late; does nothing by default.
  ///
  /// Called after all nodes were made or found and before any is decoded.
  func loadViewIfNeeded()

  /// Takes back what was encoded; does nothing by default.
  ///
  /// All nodes of the tree exist by then; parents are decoded before children.
  /// If it throws, the others are restored all the same, and the report says so.
  ///
  /// - Parameter coder: Holds the values that this node wrote, and its children.
  /// - Throws: Any error; it costs the state of this node alone.
  func decodeRestorableState(with coder: StateDecoder) throws

  /// Tells a restored node that every other is decoded; does nothing by default.
  ///
  /// The place for what needs several nodes at once.
  func applicationFinishedRestoringState()
}

extension RestorableNode {
  /// None.
  public var restorationClass: (any NodeRestoration.Type)? { nil }

  /// None.
  public var restorationChildren: [any RestorableNode] { [] }

  /// None.
  public var restorationPresented: (any RestorableNode)? { nil }

  /// Writes nothing.
  public func encodeRestorableState(with coder: StateEncoder) throws {}

  /// Does nothing.
  public func loadViewIfNeeded() {}

  /// Reads nothing.
  public func decodeRestorableState(with coder: StateDecoder) throws {}

  /// Does nothing.
  public func applicationFinishedRestoringState() {}
}

extension RestorableNode where Self: NodeRestoration {
  /// The node's own class.
  public var restorationClass: (any NodeRestoration.Type)? { Self.self }
}

/// A restoration class: makes nodes when an archive is restored.
///
/// Register it with ``StateKeeper/register(_:as:aliases:)``.
public protocol NodeRestoration {
  /// Makes or finds the node of a path.
  ///
  /// Do the least that gives a usable node: its state is decoded later.
  ///
  /// - Parameters:
  ///   - path: The identifiers from the root to the node.
  ///   - coder: The values of the node.
  /// - Returns: The node, or nil to leave it out together with all below it.
  /// - Throws: Any error leaves it out in the same way; the report shows it.
  static func node(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any RestorableNode)?
}
