/// A part of an interface that can be preserved and restored.
///
/// A screen, a window or a pane conforms. Nodes form a tree by containment:
/// ``restorationChildren`` and ``restorationPresented``. A node without an
/// identifier is left out, and so is everything below it.
///
/// What a container does with its children is the work of
/// ``RestorableStack``, ``RestorableTabs``, ``RestorableSplit`` and
/// ``RestorablePresenter``.
public protocol RestorableNode: StateRestoring {
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

  /// The outermost views of the node that may have state; none by default.
  ///
  /// They and their ``RestorableView/restorationSubviews`` are preserved with
  /// the node and under it. In a restore they are asked for when they are loaded.
  var restorationViews: [any RestorableView] { get }

  /// How much it matters that the node is saved where not all has room.
  ///
  /// Nil by default: that of the node above it, and normal for a root. Its views and
  /// the objects in its scope go with it. Asked for only in a save that is over the
  /// ``StateKeeper/sizeBudget``.
  var restorationPriority: RestorationPriority? { get }

  /// Makes what the node shows, if that is done late; does nothing by default.
  ///
  /// Called in a restore after all nodes were made or found and before any is
  /// decoded; never in a save.
  func loadViewIfNeeded()
}

extension RestorableNode {
  /// None.
  public var restorationClass: (any NodeRestoration.Type)? { nil }

  /// None.
  public var restorationChildren: [any RestorableNode] { [] }

  /// None.
  public var restorationPresented: (any RestorableNode)? { nil }

  /// None.
  public var restorationViews: [any RestorableView] { [] }

  /// That of the node above it.
  public var restorationPriority: RestorationPriority? { nil }

  /// Does nothing.
  public func loadViewIfNeeded() {}
}

extension RestorableNode where Self: NodeRestoration {
  /// The node's own class.
  public var restorationClass: (any NodeRestoration.Type)? { Self.self }
}

/// A restoration class: makes nodes when an archive is restored.
///
/// Register it with
/// ``StateKeeper/register(restorationClass:as:aliases:version:migrations:)``, or
/// if it is the class of the nodes, with
/// ``StateKeeper/register(_:as:aliases:version:migrations:restoration:)``.
public protocol NodeRestoration: ObjectRestoration {
  /// Makes or finds the node of a path.
  ///
  /// Do the least that gives a usable node: its state is decoded later.
  ///
  /// - Parameters:
  ///   - path: The identifiers from the root to the node.
  ///   - coder: The values of the node.
  /// - Returns: The node, or nil to drop it together with all below it: the next
  ///   save stores nothing of them.
  /// - Throws: Any error leaves it out this time and keeps it: saves write it as
  ///   it is stored, so that a later launch can try again.
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
