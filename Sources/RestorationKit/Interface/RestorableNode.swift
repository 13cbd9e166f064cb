/// A part of an interface that can be preserved and restored.
///
/// A screen, a window or a pane conforms. Nodes form a tree by containment:
/// ``restorationChildren`` and ``restorationPresented``. A node without an
/// identifier is left out, and so is everything below it.
///
/// A container conforms to ``RestorableStack``, ``RestorableTabs``, ``RestorableSplit`` or
/// ``RestorablePresenter``, through which a restore gives the container its children back.
public protocol RestorableNode: StateRestoring {
  /// The type of the identifier: `String`, `String?`, or one of your own.
  associatedtype RestorationIdentifier: RestorationIdentifying = String?

  /// The name of the node among its siblings, stable across launches.
  ///
  ///     let restorationIdentifier = "note"
  ///
  /// Nil means that the node has none of its own. A node that was restored then
  /// keeps the identifier that it was restored under; any other node is left out.
  /// An empty string always leaves the node out. A ``StatefulNode`` that declares no
  /// identifier has the name of its class.
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
  var restorationClass: (any NodeRestoration.Type)? { get }

  /// The nodes that this node contains, in order; none by default.
  ///
  /// They are walked, preserved and given back as
  /// ``StateDecoder/restoredChildren``. Asked for once in a save; in a restore
  /// when a child is looked for, and at the end.
  var restorationChildren: [any RestorableNode] { get }

  /// The node that this node presents, on top of what it contains; none by default.
  var restorationPresented: (any RestorableNode)? { get }

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
  public var restorationClass: (any NodeRestoration.Type)? { nil }

  /// None.
  public var restorationChildren: [any RestorableNode] { [] }

  /// None.
  public var restorationPresented: (any RestorableNode)? { nil }

  /// None.
  public var restorationViews: [any RestorableView] { [] }

  /// Does nothing.
  public func loadViewIfNeeded() {}
}

extension RestorableNode where Self: NodeRestoration {
  /// The node's own class.
  public var restorationClass: (any NodeRestoration.Type)? { Self.self }
}

/// A restoration class: makes nodes when an archive is restored.
///
/// Register the class with
/// ``StateKeeper/register(restorationClass:as:aliases:version:migrations:)``. If the
/// nodes are of that class themselves, use
/// ``StateKeeper/register(_:as:aliases:version:migrations:restoration:)``.
public protocol NodeRestoration: ObjectRestoration {
  /// Makes or finds the node of a path.
  ///
  /// Do the least that gives a usable node: its state is decoded later.
  ///
  /// - Parameters:
  ///   - path: The identifiers from the root to the node.
  ///   - coder: The values of the node.
  /// - Returns: The node, or nil to drop the node and everything below it: the next
  ///   save stores nothing of them.
  /// - Throws: Any error leaves the node out this time and keeps it: saves write the
  ///   node as it is stored, so that a later launch can try again.
  static func node(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any RestorableNode)?
}

extension NodeRestoration {
  /// The node of the path.
  public static func object(
    at path: RestorationPath, coder: StateDecoder
  ) throws -> (any StateRestoring)? {
    try node(at: path, coder: coder)
  }
}
