internal import ArchiveCodec

/// A save of changes: it asks the objects that have said that they changed, the objects that never
/// say so, and the objects that came with them.
///
/// Where something has happened that only the whole tree can explain, such as a node that two
/// contain or that only a reference still reaches, everything is asked. So the stored state is the
/// same as if everything were asked always.
extension PreservationWalk {
  /// Thrown when only the whole tree can explain a change, so that everything is asked.
  struct NeedsEverything: Error {}

  /// An object that is asked again.
  private struct Asked {
    let object: any StateRestoring
    let number: RowNumber
    /// The object as a node; nil if the object is saved as something else.
    let node: (any RestorableNode)?
  }

  /// A node that contains or presents something else than before.
  struct ChangedParent {
    let node: any RestorableNode
    let number: RowNumber
    let contents: Contents
  }

  /// Asks the objects that may have changed.
  ///
  /// - Throws: ``NeedsEverything``, and errors that end the save.
  func walkChanges(_ roots: [any RestorableNode]) throws {
    let references = rows.references.ofApplicationBefore
    var (asked, gone) = try objectsToAsk(roots)
    try need(!findsUnsaidContents())
    var changed: [ChangedParent] = []
    var next = 0
    while next < asked.count {
      try compare(asked[next], &asked, &changed)
      next += 1
    }
    try need(changed.isEmpty || !isOrderOfReferrersTold)
    try place(changed, &asked)
    try need(canDiff && !gone.contains(where: isPlaced))
    try need(!isKeptConcerned(by: changed))
    var unchecked: [(number: RowNumber, references: Set<RowNumber>)] = []
    for asked in asked where rows[asked.number].met.save == rows.run.save {
      let references = try askAgain(asked)
      // A record with kept states beside its own is written last, so its references are compared
      // later.
      if rows.kept.besides.contains(asked.number) { unchecked.append((asked.number, references)) }
    }
    try drain()
    try followReferrals()
    try need(unchecked.allSatisfy { refers($0.number, asBefore: $0.references) })
    try need(canDiff && refers(nil, asBefore: references) && isApplicationInOrder)
    try need(!rows.run.displaced.contains(where: isMissed))
  }

  private func need(_ condition: Bool) throws(NeedsEverything) {
    guard condition else { throw NeedsEverything() }
  }

  private func isPlaced(_ number: RowNumber) -> Bool { rows[number].met.status == .placed }

  /// The objects that saves ask first, and the rows of objects that are not there any more: these
  /// rows lose their place with the row that contained them, or only asking everything tells where
  /// the objects went.
  private func objectsToAsk(
    _ roots: [any RestorableNode]
  ) throws(NeedsEverything) -> (asked: [Asked], gone: [RowNumber]) {
    try need(roots.count == rows.whole.roots.count)
    var asked: [Asked] = []
    var gone: [RowNumber] = []
    for (root, number) in zip(roots, rows.whole.roots) {
      try need(isSame(root, number))
      if !rows[number].hearing.isTracked { add(root, number, to: &asked) }
    }
    for number in rows.rowsToAsk() {
      guard let object = rows.object(of: number) else {
        gone.append(number)
        continue
      }
      guard rows[number].met.save != rows.run.save else { continue }
      rows[number].met.save = rows.run.save
      let node = rows[number].kind == .node ? object as? any RestorableNode : nil
      asked.append(Asked(object: object, number: number, node: node))
    }
    return (asked, gone)
  }

  private func add(_ node: any RestorableNode, _ number: RowNumber, to asked: inout [Asked]) {
    guard rows[number].met.save != rows.run.save else { return }
    rows[number].met.save = rows.run.save
    asked.append(Asked(object: node, number: number, node: node))
  }

  /// Whether a row is that of an object, and not of another one that was at its address.
  private func isSame(_ object: any StateRestoring, _ number: RowNumber) -> Bool {
    rows.number(of: object) == number
      && (!rows[number].hearing.isTracked || rows.object(of: number) === object)
  }

  // MARK: Structure

  /// Whether a node that has not said that it changed contains other nodes than before.
  ///
  /// Each save compares the next few nodes. A walk through everything then stores the difference and
  /// names the node.
  private func findsUnsaidContents() -> Bool {
    var rest = conditions.checkedNodeCount
    for _ in rows.rows.indices where rest > 0 {
      rows.run.checkedIndex = (rows.run.checkedIndex + 1) % rows.rows.count
      let number = RowNumber(rows.run.checkedIndex)
      guard rows[number].kind == .node, rows[number].met.walk == rows.run.walk, isPlaced(number),
        rows[number].type?.tracking == .invalidated, rows[number].met.save != rows.run.save,
        !rows[number].met.isIncomplete,
        let node = rows.object(of: number) as? any RestorableNode
      else { continue }
      rest -= 1
      if !isSame(Contents(of: node), number) { return true }
    }
    return false
  }

  /// Whether a node contains and presents the objects that the last save has found.
  private func isSame(_ contents: Contents, _ number: RowNumber) -> Bool {
    let children = rows.children(of: number)
    return contents.children.count == children.count
      && zip(contents.children, children).allSatisfy { isSame($0, $1) }
      && isSame(contents.presented, rows[number].below.presented)
  }

  private func isSame(_ shown: (any RestorableNode)?, _ presented: RowNumber?) -> Bool {
    if let shown, let presented { return isSame(shown, presented) }
    return shown == nil && presented == nil
  }

  /// Finds out whether an object that is asked is where it was, and which objects are below it.
  private func compare(
    _ next: Asked, _ asked: inout [Asked], _ changed: inout [ChangedParent]
  ) throws(NeedsEverything) {
    let number = next.number
    let info = types.info(of: next.object)
    try need(info === rows[number].type)
    if let node = next.node { return try compare(node, number, &asked, &changed) }
    switch (rows[number].kind, next.object) {
    case (.view, let view as any RestorableView):
      try need(view.restorationName == rows[number].identifier)
    case (.object, let object as any RestorableObject):
      try need(objects.identifier(ofRegistered: object) == rows[number].identifier)
      guard let parent = object.restorationParent else {
        return try need(rows[number].parent == nil)
      }
      // A parent that has no place yet may get one later, as a registered object does.
      try need(
        rows.placed(parent).map { _ in scopingRow(parent) == rows[number].parent }
          ?? (rows[number].parent == nil
            && rows.references.missingScopes.contains(ObjectIdentifier(parent))))
    default: throw NeedsEverything()
    }
  }

  private func compare(
    _ node: any RestorableNode, _ number: RowNumber, _ asked: inout [Asked],
    _ changed: inout [ChangedParent]
  ) throws(NeedsEverything) {
    guard let identifier = objects.identifier(of: node), identifier == rows[number].identifier
    else { throw NeedsEverything() }
    // Equal names may have different bytes; the record gets the bytes of this name.
    rows[number].identifier = identifier
    let contents = contents(of: node, number)
    if !isSame(contents, number) {
      changed.append(ChangedParent(node: node, number: number, contents: contents))
    }
    for child in contents.all {
      guard let place = rows.number(of: child), !rows[place].hearing.isTracked,
        rows[place].parent == number
      else { continue }
      add(child, place, to: &asked)
    }
    try compareViews(of: node, number, contents, &asked)
  }

  private func compareViews(
    of node: any RestorableNode, _ number: RowNumber, _ contents: Contents,
    _ asked: inout [Asked]
  ) throws(NeedsEverything) {
    let known = rows.views(of: number)
    guard
      let views = ViewTree.views(
        node.restorationViews, of: node, besides: contents.all, most: nodeLimit),
      views.count == known.count
    else { throw NeedsEverything() }
    for ((identifier, view), number) in zip(views, known) {
      try need(isSame(view, number) && rows[number].identifier == identifier)
      guard !rows[number].hearing.isTracked, rows[number].met.save != rows.run.save else {
        continue
      }
      rows[number].met.save = rows.run.save
      asked.append(Asked(object: view, number: number, node: nil))
    }
  }

  /// Gives nodes that came below some parents their places; a node that went and comes nowhere else
  /// has none after this.
  private func place(
    _ changed: [ChangedParent], _ asked: inout [Asked]
  ) throws(NeedsEverything) {
    for parent in changed {
      let present = parent.contents.all.compactMap { node in
        rows.number(of: node).flatMap { isSame(node, $0) ? $0 : nil }
      }
      for child in Set(rows.contained(in: parent.number)).subtracting(present) {
        rows.displace(child)
      }
    }
    // A parent that lost its place is asked anew where it gets another.
    for parent in changed where rows[parent.number].met.save == rows.run.save {
      guard let info = rows[parent.number].type else { throw NeedsEverything() }
      let staying = Set(
        rows.contained(in: parent.number).filter {
          rows[$0].met.status == .placed && rows[$0].parent == parent.number
        })
      for child in staying { rows.unplaceAlone(child) }
      let first = agenda.stack.count
      rows[parent.number].below.presented = nil
      rows.beginChildren(of: parent.number)
      placeContents(parent.contents, parent.number, info)
      var visits: [Visit] = []
      for visit in agenda.stack[first...] {
        guard case .contained(let number) = visit.place, agenda.gaps[number] == nil else {
          throw NeedsEverything()
        }
        guard staying.contains(number) else {
          visits.append(visit)
          continue
        }
        // The index of a node is a part of its record.
        if rows[number].met.hasMoved { add(visit.node, number, to: &asked) }
      }
      agenda.stack.replaceSubrange(first..., with: visits.reversed())
    }
  }

  /// Whether several rows refer to one node that only references reach: the node lies below the
  /// first of them, and only the order of the tree says which one that is.
  private var isOrderOfReferrersTold: Bool {
    var nodes: Set<RowNumber> = []
    return rows.references.all.values.contains { references in
      references.contains { rows[$0].kind == .node && !nodes.insert($0).inserted }
    }
  }

  /// Whether an element that went was reached by others, too, or may have been the last of a class
  /// whose former names are stored.
  private func isMissed(_ number: RowNumber) -> Bool {
    rows[number].met.status != .placed
      && (rows[number].reach.isReferredTo || rows[number].met.isRenamed
        || rows.references.all[number] != nil)
  }

  // MARK: State

  /// Writes the record of an object that is asked again.
  ///
  /// Where only references reach an element, the object must refer to the element as before.
  ///
  /// - Returns: The elements to which the object referred before, and that only references reach.
  private func askAgain(_ asked: Asked) throws -> Set<RowNumber> {
    let (number, object) = (asked.number, asked.object)
    guard let info = rows[number].type else { throw NeedsEverything() }
    report.add(number)
    agenda.keepAlive(object)
    if try askWithheld(object, number, info) { return [] }
    let references = rows.references.all.removeValue(forKey: number) ?? []
    rows.findings.forgetNotes(of: number)
    rows.findings.setOutcome(.saved, number)
    let named: Any.Type? =
      rows[number].kind == .object
      ? (object as? any RestorableObject)?.objectRestorationClass : asked.node?.restorationClass
    var origin = origin(of: object, number, info, restorationClass: named)
    origin.storyboard = asked.node.flatMap { types.storyboard(of: $0) }
    try write(object, number, info, origin)
    try need(rows.kept.besides.contains(number) || refers(number, asBefore: references))
    return references
  }

  /// Whether the roots that only the application refers to are in the order of its references.
  private var isApplicationInOrder: Bool {
    var met: Set<RowNumber> = []
    let nodes = agenda.referrals.lazy.filter { $0.referrer == nil }
      .compactMap { [rows] in rows.placed($0.object) }
      .filter { [rows] in Self.isReferredRoot(rows[$0]) && met.insert($0).inserted }
    return Array(nodes) == rows.whole.storedRoots.filter { Self.isReferredRoot(rows[$0]) }
  }

  private static func isReferredRoot(_ row: Row) -> Bool {
    row.kind == .node && row.reach.isReferred && row.parent == nil
  }

  /// Whether a referrer still refers to the elements that it referred to before and that only
  /// references reach.
  ///
  /// Besides, it may refer to more registered objects, but to no other node: a node lies below the
  /// first row that refers to it.
  func refers(_ referrer: RowNumber?, asBefore before: Set<RowNumber>) -> Bool {
    let now = rows.references.all[referrer] ?? []
    return before.isSubset(of: now)
      && now.subtracting(before).allSatisfy { rows[$0].kind == .object }
  }
}
