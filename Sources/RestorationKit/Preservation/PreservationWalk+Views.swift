extension PreservationWalk {
  struct PlacedView {
    let view: any RestorableView
    let path: RestorationPath
  }

  /// Finds the views of a node that have an identifier, outer ones first.
  ///
  /// Those of the nodes that it contains or presents are theirs.
  func placeViews(
    of node: any RestorableNode, _ number: UInt64, _ path: RestorationPath,
    besides below: [Visit]
  ) -> [PlacedView] {
    ViewTree.views(of: node, besides: below.map(\.node)).compactMap { identifier, view in
      let viewPath = path.appending(identifier)
      guard placed[ObjectIdentifier(view)] == nil else {
        add(.view, view, viewPath, .containedTwice)
        return nil
      }
      guard identifier.utf8.count <= Self.longestIdentifier else {
        add(
          .view, view, viewPath, .noIdentifier,
          [.identifierTooLong(byteCount: identifier.utf8.count)])
        return nil
      }
      let sibling = Sibling(kind: .view, parent: number, identifier: identifier, index: 0)
      guard siblings.insert(sibling).inserted else {
        add(.view, view, viewPath, .duplicate)
        return nil
      }
      placed[ObjectIdentifier(view)] = -1
      return PlacedView(view: view, path: viewPath)
    }
  }

  func preserve(_ view: PlacedView) throws {
    let line = addPlaced(.view, view.view, view.path)
    try write(
      makeRecord(.view, of: view.view, view.path, restorationClass: nil, line: line),
      of: view.view, line: line)
  }
}
