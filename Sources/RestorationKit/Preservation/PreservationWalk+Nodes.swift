extension PreservationWalk {
  /// Gives a node its place, or reports why it has none.
  ///
  /// The sibling index is more than 0 where the container tells equal children
  /// apart.
  func place(
    _ node: any RestorableNode, below parent: UInt64?, _ parentPath: RestorationPath,
    _ place: Visit.Place, siblingIndex: Int = 0
  ) -> Visit? {
    guard let identifier = registry.identifier(of: node) else {
      let path = parentPath.appending("")
      return Visit(node: node, path: path, place: .excluded(by: path))
    }
    let path = parentPath.appending(identifier, siblingIndex: siblingIndex)
    guard identifier.utf8.count <= Self.longestIdentifier else {
      add(
        .node, node, parentPath.appending(""), .noIdentifier,
        [.identifierTooLong(byteCount: identifier.utf8.count)])
      return nil
    }
    guard placed[ObjectIdentifier(node)] == nil else {
      add(.node, node, path, .containedTwice)
      return nil
    }
    let sibling = Sibling(
      kind: .node, parent: parent ?? 0, identifier: identifier, index: siblingIndex)
    guard siblings.insert(sibling).inserted else {
      duplicates.insert(ObjectIdentifier(node))
      return Visit(node: node, path: path, place: .excluded(by: path))
    }
    // It gets its line when it is visited.
    placed[ObjectIdentifier(node)] = -1
    _ = record(of: node)
    return Visit(node: node, path: path, place: place, parent: parent ?? 0)
  }

  /// Gives the children of a node their places, in order.
  private func placeChildren(of visit: Visit, _ number: UInt64) -> [Visit] {
    let isCounting = !registry.traits(of: visit.node)
      .isDisjoint(with: .tellsEqualChildrenApart)
    var counts: [String: Int] = [:]
    let isStack = registry.traits(of: visit.node).contains(.stack)
    var gap: RestorationPath?
    return visit.node.restorationChildren.compactMap { child in
      var index = 0
      if isCounting, let identifier = registry.identifier(of: child) {
        index = counts[identifier, default: 0]
        counts[identifier] = index + 1
      }
      var placed = place(child, below: number, visit.path, .contained, siblingIndex: index)
      if isStack {
        placed?.gap = gap
        if placed.map(isPreserved) != true { gap = placed?.path ?? visit.path.appending("") }
      }
      return placed
    }
  }

  func preserve(_ visit: Visit) throws {
    let node = visit.node
    let number = record(of: node)
    var referrer: UInt64?
    var isDetached = false
    switch visit.place {
    case .root(let detached):
      roots.append(number)
      isDetached = detached
    case .referred(let by): referrer = by
    case .contained, .excluded: break
    }
    let line = addPlaced(.node, node, visit.path)
    if isDetached { note(.detached, line: line) }
    // What comes back is all that the user had; that it comes back lower is for
    // the developer to mend.
    if let gap = visit.gap { note(.aboveGap(gap), line: line) }
    if let obsolete = excluded[ObjectIdentifier(node)] { obsoleteLines.insert(obsolete) }

    var record = makeRecord(
      .node, of: node, visit.path, restorationClass: node.restorationClass, line: line)
    record.referrer = referrer
    record.storyboard = registry.storyboard(of: node)
    let children = placeChildren(of: visit, number)
    let presented = node.restorationPresented.flatMap {
      place($0, below: number, visit.path, .contained)
    }
    record.children = children.filter(isPreserved).map { self.record(of: $0.node) }
    if let presented, isPreserved(presented) { record.presented = self.record(of: presented.node) }
    let views = placeViews(
      of: node, number, visit.path, besides: children + [presented].compactMap(\.self))
    record.views = views.map { self.record(of: $0.view) }
    if let presented { stack.append(presented) }
    stack.append(contentsOf: children.reversed())
    keepUnclaimed(
      below: node, number, at: Sibling(.node, visit.path, below: visit.parent), in: &record)
    try write(record, of: node, line: line)
    for view in views {
      takePlace(Sibling(.view, view.path, below: number), view.view)
      try preserve(view)
    }
  }

  private func isPreserved(_ visit: Visit) -> Bool {
    if case .excluded = visit.place { false } else { true }
  }

  /// Preserves a node that nothing contains, or that is below one left out.
  func follow(_ referral: Referral, to node: any RestorableNode) throws {
    let isBelowGap = excluded[ObjectIdentifier(node)] != nil
    let visit =
      isBelowGap || referral.referrer == NodeRecord.application
      ? place(node, below: nil, RestorationPath(), .root(isDetached: isBelowGap))
      : place(
        node, below: referral.referrer, lines[referral.line].path,
        .referred(by: referral.referrer))
    if let visit { stack.append(visit) }
    try drain()
  }

  /// Reports a node that is left out, and goes on to what is below it.
  func report(_ visit: Visit, below gap: RestorationPath) {
    let identity = ObjectIdentifier(visit.node)
    guard placed[identity] == nil else { return }
    if let line = excluded[identity] {
      // It was referred to, and its path was taken there, too.
      if duplicates.contains(identity) { lines[line].outcome = .duplicate }
      return
    }
    seen.append(visit.node)
    excluded[identity] =
      if visit.path != gap {
        add(.node, visit.node, visit.path, .excluded(by: gap))
      } else if gap.identifier?.isEmpty == false {
        add(.node, visit.node, gap, .duplicate)
      } else {
        add(
          .node, visit.node, gap, .noIdentifier,
          gap.count == 1 && visit.node.restorationIdentifier == nil ? [.rootWithoutIdentifier] : [])
      }
    let below =
      visit.node.restorationChildren + [visit.node.restorationPresented].compactMap(\.self)
    stack.append(
      contentsOf: below.reversed().map { node in
        Visit(
          node: node, path: visit.path.appending(registry.identifier(of: node) ?? ""),
          place: .excluded(by: gap))
      })
  }
}
