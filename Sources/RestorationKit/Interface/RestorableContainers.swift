/// A node that shows the last of its children, as a navigation controller does.
///
/// Its ``RestorableNode/restorationChildren`` are the stack, bottom first. They
/// may have equal identifiers. A restore cuts the stack at its first missing
/// node, since the nodes that lay on that one make no sense without it.
public protocol RestorableStack: RestorableNode {
  /// Replaces the stack with what is back.
  ///
  /// Called before the node's own decoding, and not if nothing is back.
  ///
  /// - Parameter nodes: The nodes, bottom first; never empty.
  func restoreStack(_ nodes: [any RestorableNode])
}

/// A node that has all its children at once, next to each other.
///
/// They may have equal identifiers; the order tells those apart.
public protocol RestorableSplit: RestorableNode {
  /// Takes the columns that are back; does nothing by default.
  ///
  /// Implement it if the restore makes the columns and not the node. Called
  /// before the node's own decoding, and not if nothing is back.
  ///
  /// - Parameter nodes: The nodes in saved order; never empty.
  func restoreColumns(_ nodes: [any RestorableNode])
}

extension RestorableSplit {
  /// Does nothing.
  public func restoreColumns(_ nodes: [any RestorableNode]) {}
}

/// A node that has all its children and shows one of them.
///
/// The tabs are the node's own: a restore finds them by their identifiers,
/// wherever they are now, and never makes one, so no factory is asked for them.
public protocol RestorableTabs: RestorableNode {
  /// The tab that is shown.
  ///
  /// Saved as a reference if it is one of the node's children. Set in a restore if
  /// that tab is there, before the node's own decoding; otherwise it stays as it is.
  var selectedTab: (any RestorableNode)? { get set }
}

/// A node that presents another on top of what it contains.
///
/// The path of the presented node goes through this one. Without this protocol
/// a node takes it from ``StateDecoder/restoredPresented``.
public protocol RestorablePresenter: RestorableNode {
  /// Presents the node that is back.
  ///
  /// Called before the node's own decoding. Not called if nothing is back, or if
  /// the node presents the right one already.
  ///
  /// - Parameter node: The node to present.
  func restorePresented(_ node: any RestorableNode)
}
