/// A node that shows the last of its children, as a navigation controller does.
///
/// The children of the node (``RestorableNode/restorationChildren``) are the stack,
/// bottom first. They may have equal identifiers. A restore cuts the stack at its first
/// missing node, since the nodes above a missing one make no sense without it. A node of a
/// class that this version of the app does not know, and whose identifier no other node of the
/// stack has, counts as not there: the others come back, and it stays stored in its place.
public protocol RestorableStack: RestorableNode, RestorationAbility {
  /// Replaces the stack with the nodes that are back.
  ///
  /// Called before the node's own decoding, and not if nothing is back.
  ///
  /// - Parameter nodes: The nodes, bottom first; never empty.
  func restoreStack(_ nodes: [any RestorableNode])
}

/// A node that has all its children at once, next to each other.
///
/// The columns may have equal identifiers; then their order tells them apart.
public protocol RestorableSplit: RestorableNode, RestorationAbility {
  /// Takes the columns that are back; does nothing by default.
  ///
  /// Implement the method if the restore makes the columns and not the node. Called
  /// before the node's own decoding, and not if no column is back.
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
public protocol RestorableTabs: RestorableNode, RestorationAbility {
  /// The tab that is shown.
  ///
  /// Saved as a reference if the tab is one of the node's children. A restore sets the
  /// property before the node's own decoding if the tab is there, and else leaves it.
  var selectedTab: (any RestorableNode)? { get set }
}
