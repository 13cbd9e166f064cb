extension PreservationWalk {
  struct PlacedView {
    let view: any RestorableView
    let number: RowNumber
    let identifier: String
  }

  /// Finds the views of a node that have an identifier, outer ones first.
  ///
  /// The views of a node that this one contains or presents belong to that node.
  func placeViews(
    of node: any RestorableNode, _ number: RowNumber, besides contents: Contents
  ) throws(RestorationError) -> [PlacedView] {
    let own = node.restorationViews
    guard !own.isEmpty || !rows[number].below.views.isEmpty else { return [] }
    guard let views = ViewTree.views(own, of: node, besides: contents.all, most: nodeLimit) else {
      throw RestorationError.tooManyNodes(rows.path(of: number), nodeLimit)
    }
    let placed: [PlacedView] = views.compactMap { identifier, view in
      guard rows.placed(view) == nil else {
        addEntry(.view, view, below: number, identifier, .containedTwice)
        return nil
      }
      guard identifier.utf8.count <= NodeRecord.longestIdentifier else {
        addEntry(
          .view, view, below: number, identifier, .noIdentifier,
          [.identifierTooLong(byteCount: identifier.utf8.count)])
        return nil
      }
      guard names.take(Sibling(.view, below: number, identifier), rows) else {
        addEntry(.view, view, below: number, identifier, .duplicate)
        return nil
      }
      agenda.keepAlive(view)
      let placed = row(of: view, .view)
      place(placed, .view, below: number, identifier)
      return PlacedView(view: view, number: placed, identifier: identifier)
    }
    rows.setViews(placed.map(\.number), of: number)
    return placed
  }

  func preserve(_ view: PlacedView) throws {
    rows.hold(view.view, view.number)
    report.add(view.number)
    let info = types.info(of: view.view)
    let origin = origin(of: view.view, view.number, info, restorationClass: nil)
    try write(view.view, view.number, info, origin)
  }
}
