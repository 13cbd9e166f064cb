extension PreservationWalk {
  typealias Visit = WalkAgenda.Visit
  typealias Exclusion = WalkAgenda.Exclusion

  /// How a node comes to its place.
  enum Role {
    case root(isDetached: Bool)
    case contained
    case referred

    func place(_ number: RowNumber) -> Visit.Place {
      switch self {
      case .root(let isDetached): .root(number, isDetached: isDetached)
      case .contained: .contained(number)
      case .referred: .referred(number)
      }
    }
  }

  func path(of visit: Visit) -> RestorationPath {
    switch visit.place {
    case .root(let number, _), .contained(let number), .referred(let number):
      rows.path(of: number)
    case .excluded(let number): path(of: agenda.exclusions[number])
    }
  }

  private func path(of exclusion: Exclusion) -> RestorationPath {
    rows.path(of: exclusion.parent)
      .appending(exclusion.identifier, siblingIndex: exclusion.siblingIndex)
  }

  /// Gives a node its place, or notes why it has none.
  func place(
    _ node: any RestorableNode, below parent: RowNumber?, _ role: Role
  ) -> Visit? {
    let identifier = objects.identifier(of: node)
    return place(node, identifier, siblingIndex: 0, below: parent, role) { identifier in
      names.take(Sibling(.node, below: parent, identifier), rows)
    }
  }

  /// The sibling index is more than 0 where the container tells equal children
  /// apart.
  private func place(
    _ node: any RestorableNode, _ identifier: String?, siblingIndex: Int,
    below parent: RowNumber?, _ role: Role, isFree: (String) -> Bool
  ) -> Visit? {
    guard let identifier else {
      return exclude(node, Exclusion(parent: parent, identifier: "", siblingIndex: 0, gap: nil))
    }
    guard identifier.utf8.count <= NodeRecord.longestIdentifier else {
      addEntry(
        .node, node, below: parent, "", .noIdentifier,
        [.identifierTooLong(byteCount: identifier.utf8.count)])
      return nil
    }
    let known = rows.number(of: node)
    if let known, rows[known].met.status == .placed {
      addEntry(.node, node, below: parent, identifier, siblingIndex: siblingIndex, .containedTwice)
      return nil
    }
    guard isFree(identifier) else {
      rows[row(of: node, .node)].met.isDuplicate = true
      return exclude(
        node,
        Exclusion(parent: parent, identifier: identifier, siblingIndex: siblingIndex, gap: nil))
    }
    let number = row(of: node, .node, known: known)
    place(number, .node, below: parent, identifier, siblingIndex: siblingIndex)
    return Visit(node: node, place: role.place(number))
  }

  private func exclude(_ node: any RestorableNode, _ exclusion: Exclusion) -> Visit {
    if let parent = exclusion.parent { rows[parent].met.isIncomplete = true }
    agenda.exclusions.append(exclusion)
    return Visit(node: node, place: .excluded(agenda.exclusions.count - 1))
  }

  // MARK: Visiting

  func preserve(_ visit: Visit) throws {
    let node = visit.node
    let number: RowNumber
    switch visit.place {
    case .root(let root, let isDetached):
      number = root
      rows.whole.storedRoots.append(number)
      if isDetached { rows.note(.detached, number) }
    case .contained(let contained):
      number = contained
      // The node comes back with all that the user had in it, but lower in the stack: the note lets
      // the developer mend that.
      if !agenda.gaps.isEmpty, let gap = agenda.gaps[number] { rows.note(.aboveGap(gap), number) }
    case .referred(let referred): number = referred
    case .excluded: return
    }
    report.add(number)
    guard let info = rows[number].type else { return }
    var origin = origin(of: node, number, info, restorationClass: node.restorationClass)
    if types.hasStoryboards { origin.storyboard = types.storyboard(of: node) }
    rows.hold(node, number)
    let contents = contents(of: node, number)
    let first = agenda.stack.count
    placeContents(contents, number, info)
    let views = try placeViews(of: node, number, besides: contents)
    // The first of the new visits comes to lie on top.
    agenda.stack.reverse(from: first)
    let references = asksEverything ? [] : rows.references.all.removeValue(forKey: number) ?? []
    try write(
      node, number, info, origin,
      isAbove: keeping == nil ? false : try meetKept(below: node, number))
    if !asksEverything, !refers(number, asBefore: references) { rows.whole.canDiff = false }
    for view in views {
      _ = keeping?.claim(Sibling(.view, below: number, view.identifier), by: view.view)
      try preserve(view)
    }
  }

  /// The nodes that a node contains and presents.
  struct Contents {
    let children: [any RestorableNode]
    let presented: (any RestorableNode)?

    init(of node: any RestorableNode) {
      children = node.restorationChildren
      presented = node.restorationPresented
    }

    var all: [any RestorableNode] { presented.map { children + [$0] } ?? children }
  }

  func contents(of node: any RestorableNode, _ number: RowNumber) -> Contents {
    read(.contents, of: node, number) {
      if rows[number].type?.tracking == .observed {
        // Code that does not observe the node asks for these properties elsewhere.
        _ = (node.restorationIdentifier, node.restorationClass)
        let contents = Contents(of: node)
        _ = ViewTree.views(node.restorationViews, of: node, besides: contents.all, most: nodeLimit)
        return contents
      }
      return Contents(of: node)
    }
  }

  /// Gives the nodes that a node contains and presents their places, in order, to be visited.
  func placeContents(_ contents: Contents, _ number: RowNumber, _ info: TypeInfo) {
    let children = contents.children
    guard !children.isEmpty || contents.presented != nil else { return }
    if info.traits.isDisjoint(with: .tellsEqualChildrenApart) {
      placeChildren(children, number)
    } else {
      placeCounting(children, number, isStack: info.traits.contains(.stack))
    }
    agenda.keepAlive(contents.all)
    guard let presented = contents.presented else { return }
    let visit = place(
      presented, objects.identifier(of: presented), siblingIndex: 0, below: number, .contained
    ) { identifier in
      names.contained.insert(identifier)
    }
    if let visit {
      if case .contained(let placed) = visit.place { rows[number].below.presented = placed }
      agenda.stack.append(visit)
    }
  }

  private func placeChildren(_ children: [any RestorableNode], _ number: RowNumber) {
    // The presented node comes after the children, and takes one name more.
    names.contained.begin(most: children.count + 1)
    rows.beginChildren(of: number)
    for child in children {
      let visit = place(
        child, objects.identifier(of: child), siblingIndex: 0, below: number, .contained
      ) { identifier in
        names.contained.insert(identifier)
      }
      guard let visit else { continue }
      if case .contained(let placed) = visit.place { rows.addChild(placed, of: number) }
      agenda.stack.append(visit)
    }
  }

  /// Gives places to children that may have equal identifiers.
  private func placeCounting(
    _ children: [any RestorableNode], _ number: RowNumber, isStack: Bool
  ) {
    names.contained.begin(most: children.count + 1)
    rows.beginChildren(of: number)
    var counts: [String: Int] = [:]
    var gap: RestorationPath?
    for child in children {
      let identifier = objects.identifier(of: child)
      let index = identifier.map { counts[$0, default: 0] } ?? 0
      if let identifier { counts[identifier] = index + 1 }
      let visit = place(
        child, identifier, siblingIndex: index, below: number, .contained
      ) { identifier in
        // Only the first child of a name can have the name and index of the presented node.
        index > 0 || names.contained.insert(identifier)
      }
      guard case .contained(let placed)? = visit?.place else {
        if isStack {
          gap = visit.map { path(of: $0) } ?? rows.path(of: number).appending("")
        }
        if let visit { agenda.stack.append(visit) }
        continue
      }
      rows.addChild(placed, of: number)
      // A new child often has the name and the address of one that went.
      rows.recognize(child, placed)
      if let gap { agenda.gaps[placed] = gap }
      agenda.stack.append(Visit(node: child, place: .contained(placed)))
    }
  }

  /// Preserves a node that nothing contains, or that lies below one that is left out.
  func follow(_ referral: WalkAgenda.Referral, to node: any RestorableNode) throws {
    // Only the whole tree says which row refers to the node first; without it, the node stays
    // without a place.
    guard asksEverything else { return }
    let isBelowGap = rows.number(of: node).map(report.isExcluded) ?? false
    let visit =
      isBelowGap || referral.referrer == nil
      ? place(node, below: nil, .root(isDetached: isBelowGap))
      : place(node, below: referral.referrer, .referred)
    switch visit?.place {
    case .root(let number, _)?, .referred(let number)?:
      rows[number].refer()
    default: break
    }
    if let visit { agenda.stack.append(visit) }
    try drain()
  }

  // MARK: Leaving out

  /// Reports a node that is left out, and goes on to the nodes below it.
  func leaveOut(_ node: any RestorableNode, _ exclusion: Exclusion) {
    let number = row(of: node, .node)
    guard rows[number].met.status != .placed else { return }
    if report.isExcluded(number) {
      // The node was reached by a reference, and its path was taken there, too.
      if rows[number].met.isDuplicate { rows.findings.setOutcome(.duplicate, number) }
      return
    }
    agenda.keepAlive(node)
    rows.exclude(
      number, below: exclusion.parent, exclusion.identifier, siblingIndex: exclusion.siblingIndex)
    report.addExcluded(number)
    // The line has the path of now, also if a reference gives a node above it a place later.
    let path = rows.path(of: number)
    let gap: RestorationPath
    if let above = exclusion.gap {
      gap = above
      rows.findings.setOutcome(.excluded(by: gap), number)
    } else {
      gap = path
      if exclusion.identifier.isEmpty {
        rows.findings.setOutcome(.noIdentifier, number)
        if exclusion.parent == nil, node.restorationName == nil {
          rows.note(.rootWithoutIdentifier, number)
        }
      } else {
        rows.findings.setOutcome(.duplicate, number)
      }
    }
    // It says so when it gets a name.
    if rows[number].hearing.isTracked { rows.hold(node, number) }
    for node in contents(of: node, number).all.reversed() {
      agenda.stack.append(
        exclude(
          node,
          Exclusion(
            parent: number, identifier: objects.identifier(of: node) ?? "", siblingIndex: 0,
            gap: gap)))
    }
  }

  // MARK: Entries

  /// Adds a line for an element that has no row, or whose row is elsewhere.
  func addEntry(
    _ kind: ElementKind, _ object: any StateRestoring, below parent: RowNumber?,
    _ identifier: String, siblingIndex: Int = 0, _ outcome: PreservationReport.NodeOutcome,
    _ notes: [ReportNote] = []
  ) {
    if let parent { rows[parent].met.isIncomplete = true }
    report.add(
      PreservationReport.Entry(
        kind: kind, path: rows.path(of: parent).appending(identifier, siblingIndex: siblingIndex),
        className: types.className(of: object), outcome: outcome, notes: notes))
  }

  /// Says in a report what became of all elements.
  ///
  /// Lines that are made later need nothing of this walk but a copy of its rows.
  func describe(in report: inout PreservationReport) {
    report.kept = kept == nil ? [] : rows.kept.elements
    guard asksEverything else {
      let entries = self.report.entries(of: rows)
      report.lines = ReportEntries { entries }
      return
    }
    report.lines = ReportEntries { [lines = self.report, rows = rows.copy()] in
      lines.entries(of: rows)
    }
  }

  /// How many elements are stored that this save did not ask.
  var unaskedCount: Int { asksEverything ? 0 : max(0, rows.run.placedCount - report.count) }

  /// Whether the records have all that the app has, also of what was asked in earlier saves.
  var isComplete: Bool {
    !report.hasLosses && !rows.findings.outcomes.values.contains(.duplicate)
      && !rows.findings.notes.contains { number, notes in
        // The root of the values tells what happened earlier.
        notes.contains(where: \.isLoss)
          && number.map(rows.isRootOfValues) != true
      }
  }

  /// The problems of values and fields that are not stored, each with the key.
  var unstoredValues: [ReportNote] {
    rows.findings.notes.flatMap { number, notes -> [ReportNote] in
      let isValue = number.map(rows.isValueOrField)
      return notes.compactMap { note in
        switch note {
        case .encodeFailed(let reason):
          if isValue == true, let number {
            .storageEncodingFailed(key: rows[number].identifier, reason)
          } else {
            nil
          }
        case .storageEncodingFailed, .fieldsNotFound, .fieldKeyTwice: note
        default: nil
        }
      }
    }
  }
}

extension Array {
  /// Reverses the elements from a place on, without a count of references.
  fileprivate mutating func reverse(from first: Int) {
    var (low, high) = (first, count - 1)
    guard low < high else { return }
    var elements = mutableSpan
    while low < high {
      elements.swapAt(low, high)
      (low, high) = (low + 1, high - 1)
    }
  }
}
