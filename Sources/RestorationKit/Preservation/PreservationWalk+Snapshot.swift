extension PreservationWalk {
  /// Whether the node that the user sees above all others is preserved in its place.
  ///
  /// From the last root on, this is the presented node, or else the selected tab, or else the last
  /// child, and so on.
  func isTopPreserved(_ roots: [any RestorableNode]) -> Bool {
    var next = roots.last
    // A tree that contains itself is walked once.
    var visited: Set<ObjectIdentifier> = []
    while let node = next, visited.insert(ObjectIdentifier(node)).inserted {
      guard rows.placed(node) != nil else { return false }
      next = node.restorationPresented ?? content(of: node)
    }
    return true
  }

  /// Whether the topmost node is preserved, if all contained nodes are: only selected tabs remain
  /// to be asked for.
  func isTopPreserved() -> Bool {
    var next = rows.whole.roots.last
    // Tabs may name a node above them.
    var visited: Set<RowNumber> = []
    while let number = next, visited.insert(number).inserted {
      if let presented = rows[number].below.presented {
        next = presented
      } else if rows[number].type?.traits.contains(.tabs) == true {
        guard let tab = selectedTab(of: number) else { return true }
        guard let placed = rows.placed(tab) else { return false }
        next = placed
      } else {
        next = rows.children(of: number).last
      }
    }
    return true
  }

  private func selectedTab(of number: RowNumber) -> (any RestorableNode)? {
    ((agenda.tabs[number] ?? rows.object(of: number)) as? any RestorableTabs)?.selectedTab
  }

  private func content(of node: any RestorableNode) -> (any RestorableNode)? {
    if types.traits(of: node).contains(.tabs), let tabs = node as? any RestorableTabs {
      return tabs.selectedTab
    }
    return node.restorationChildren.last
  }
}
