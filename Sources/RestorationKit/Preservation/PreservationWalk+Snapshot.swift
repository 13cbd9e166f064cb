extension PreservationWalk {
  /// What to say of the snapshot, when everything has its place.
  func snapshotUse(_ roots: [any RestorableNode], isIgnored: Bool) -> SnapshotUse {
    guard isTopPreserved(roots) else { return .topIsNotPreserved }
    return isIgnored ? .ignoredOnce : .matching
  }

  /// Whether what the user sees above all others is preserved in its place: of
  /// the last root what it presents, or else the selected tab, or else the last
  /// child, and so on.
  private func isTopPreserved(_ roots: [any RestorableNode]) -> Bool {
    var next = roots.last
    // A tree that contains itself is walked once.
    var visited: Set<ObjectIdentifier> = []
    while let node = next, visited.insert(ObjectIdentifier(node)).inserted {
      guard rows.placed(node) != nil else { return false }
      next = node.restorationPresented ?? content(of: node)
    }
    return true
  }

  private func content(of node: any RestorableNode) -> (any RestorableNode)? {
    if types.traits(of: node).contains(.tabs), let tabs = node as? any RestorableTabs {
      return tabs.selectedTab
    }
    return node.restorationChildren.last
  }
}
