internal import ArchiveCodec

/// The places of objects: which stored element each is, or which new one.
extension Survey {
  typealias NamedView = (identifier: String, view: any RestorableView)

  mutating func placeRoots(_ roots: [any RestorableNode]) throws {
    let stored = document[Document.tree].children
    if document.hasStored(roots, of: owner) {
      return zip(roots, stored).forEach { places.visit($0, at: $1) }
    }
    var siblings = Siblings(below: Document.tree, of: stored, expecting: roots.count)
    let first = agenda.met.count
    for root in roots { try place(root, .child, maySharing: false, &siblings) }
    agenda.met.reverse(from: first)
    try end(&siblings)
    try placeAll()
  }

  /// Puts an object among those that will be asked, and places what is below it.
  mutating func place(belowOf number: Int) throws {
    agenda.order.append(number)
    let visit = agenda.visits[number]
    if visit.asksBody { places.notes.add(asked: visit.slot) }
    guard visit.placesBelow, let node = visit.info.node(visit.object) else { return }
    if places.role(of: visit.slot).livesByReferences
      || agenda.alone.contains(places.parent(of: visit.slot))
    {
      agenda.alone.insert(visit.slot)
    }
    let traits = visit.info.traits
    let (below, presented, views) = try KnownObjects.shared.observing(
      .contents, visit.object, visit.info, of: owner
    ) {
      () throws -> ([any RestorableNode], (any RestorableNode)?, [NamedView]) in
      // Code that does not observe the node asks for these properties elsewhere.
      if visit.info.tracking == .observed { _ = (node.restorationName, node.restorationClass) }
      let (below, presented) = (node.restorationChildren, node.restorationPresented)
      let own = node.restorationViews
      guard !own.isEmpty else { return (below, presented, []) }
      let others = below + [presented].compactMap(\.self)
      guard let views = ViewTree.views(own, of: node, besides: others, most: conditions.nodeLimit)
      else {
        throw RestorationError.tooManyNodes(places.path(of: visit.slot), conditions.nodeLimit)
      }
      return (below, presented, views)
    }
    let stored = places.isNew(visit.slot) ? [] : document[visit.slot].children
    guard !below.isEmpty || presented != nil || !views.isEmpty || !stored.isEmpty else { return }
    var siblings = Siblings(
      below: visit.slot, of: stored, expecting: below.count + views.count)
    let first = agenda.met.count
    for (name, view) in views { try place(view, name, &siblings) }
    let mayShare = !traits.isDisjoint(with: .tellsEqualChildrenApart)
    for child in below { try place(child, .child, maySharing: mayShare, &siblings) }
    if let presented { try place(presented, .presented, maySharing: false, &siblings) }
    // The first of them comes to lie on top: views are asked before the nodes.
    agenda.met.reverse(from: first)
    try end(&siblings)
  }

  /// Gives a node its place, unless it is left out.
  private mutating func place(
    _ node: any RestorableNode, _ role: Role, maySharing: Bool, _ siblings: inout Siblings
  ) throws {
    guard conditions.coming != ObjectIdentifier(node) else {
      return noteAsking(at: siblings.parent)
    }
    guard let name = usableName(of: node) else { return exclude(node, "", siblings.parent) }
    let (info, met) = (types.info(of: node), places.visitedSlot(of: node))
    let known = met == nil ? known(node, info) : nil
    let other = info.tracking == .always ? nil : slotBelowAnother(known, than: siblings.parent)
    guard isFree(node, name, met, storedAs: other, maySharing: maySharing, &siblings) else {
      return noteAsking(at: siblings.parent)
    }
    let isPlaced = try settle(
      node, info, name, role, met, known, maySharing: maySharing,
      restorationClass: node.restorationClass, &siblings)
    if !isPlaced { exclude(node, name, siblings.parent) }
  }

  /// Whether a node may lie below an element: of two that contain it, it stays below the one where it is
  /// stored, as long as that one contains it still.
  private mutating func isFree(
    _ node: any RestorableNode, _ name: String, _ met: Int32?, storedAs elsewhere: Int32?,
    maySharing: Bool, _ siblings: inout Siblings
  ) -> Bool {
    let parent = siblings.parent
    guard let met else {
      guard let slot = elsewhere else { return true }
      let index = maySharing ? siblings.takeIndex(of: name) : 0
      agenda.contested.append(
        Contested(node: node, name: name, siblingIndex: index, slot: slot, parent: parent))
      return false
    }
    let other = places.parent(of: met)
    // One that says when it changes may have been met before the one that contains it.
    if other == parent ? !siblings.contains(met) : places.mayBeContained(met, in: parent) {
      return true
    }
    let goesBack = other != parent && isStored(met, below: parent) && !places.isAbove(met, parent)
    guard goesBack else {
      let index = maySharing ? siblings.takeIndex(of: name) : 0
      addEntry(.node, node, name, parent, .containedTwice, siblingIndex: index)
      return false
    }
    addEntry(.node, node, name, other, .containedTwice)
    noteAsking(at: other)
    return true
  }

  private func isStored(_ slot: Int32, below parent: Int32) -> Bool {
    guard !places.isNew(slot) else { return false }
    let place = document[slot].place
    return place.parent == parent && !place.role.livesByReferences
  }

  /// The element of a node that is stored below another one, which this save does not ask and so contains it still.
  private func slotBelowAnother(_ known: KnownObjects.Known?, than parent: Int32) -> Int32? {
    guard let slot = known?.slot, !places.isNew(slot), !places.role(of: slot).livesByReferences
    else { return nil }
    let above = document[slot].place.parent
    guard above > Document.tree, above != parent, !agenda.changedSlots.contains(above),
      !places.asksBelow(above), !places.isHomeless(slot),
      let other = KnownObjects.shared.object(at: above, of: owner) as? any StateRestoring,
      types.info(of: other).tracking != .always
    else { return nil }
    return slot
  }

  /// Places the nodes that were left to others, which are not there any more; false if there are none.
  mutating func placeContested() throws -> Bool {
    let free = agenda.contested.filter { places.isHomeless($0.slot) && !places.isVisited($0.node) }
    guard !free.isEmpty else { return false }
    agenda.contested.removeAll { places.isHomeless($0.slot) }
    let parents = Set(free.map(\.parent))
    for visit in agenda.visits where visit.placesBelow && parents.contains(visit.slot) {
      try self.visit(visit.object, visit.info, at: visit.slot, asksBody: false)
    }
    return true
  }

  mutating func noteContested() {
    for node in agenda.contested {
      addEntry(
        .node, node.node, node.name, node.parent, .containedTwice, siblingIndex: node.siblingIndex)
    }
  }

  private mutating func place(
    _ view: any RestorableView, _ name: String, _ siblings: inout Siblings
  ) throws {
    guard name.utf8.count <= Element.longestName else {
      return addEntry(
        .view, view, "", siblings.parent, .noIdentifier,
        [.identifierTooLong(byteCount: name.utf8.count)])
    }
    guard places.visitedSlot(of: view) == nil else {
      noteAsking(at: siblings.parent)
      return addEntry(.view, view, name, siblings.parent, .containedTwice)
    }
    let info = types.info(of: view)
    let isPlaced = try settle(
      view, info, name, .view, nil, known(view, info), maySharing: false, restorationClass: nil,
      &siblings)
    if !isPlaced { addEntry(.view, view, name, siblings.parent, .duplicate) }
  }

  /// Gives an object its place among its siblings; false if another one has its name.
  private mutating func settle(
    _ object: any StateRestoring, _ info: TypeInfo, _ name: String, _ role: Role, _ met: Int32?,
    _ known: KnownObjects.Known?, maySharing: Bool, restorationClass: Any.Type?,
    _ siblings: inout Siblings
  ) throws -> Bool {
    let own = met ?? places.mentionedSlot(of: object) ?? known?.slot
    guard var match = siblings.match(name, role, own, maySharing: maySharing, places) else {
      return false
    }
    if let other = match.slot, own == nil, isOfAnother(other, than: object) {
      siblings.giveBack(other, places)
      if !places.hasMoved(other) { places.orphans.insert(other) }
      match.slot = nil
    }
    let found = match.slot
    if let found { claim(found, by: object) }
    var place = Place(
      parent: siblings.parent, role: role, name: name, siblingIndex: match.siblingIndex)
    place.lacksState = found.map { places.lacksState($0) } ?? false
    var notes: [ReportNote] = []
    let form = form(of: object, info, restorationClass) { notes.append($0) }
    place.form = storedForm(of: found, now: form)
    let slot = found ?? places.add(place, asksBelow: info.tracking == .always)
    let stored = found == nil || places.isNew(slot) ? nil : document[slot].place
    for note in notes { places.notes.add(note, slot) }
    let child = Child(slot: slot, id: places.id(of: slot), place: place)
    siblings.append(child, at: match.key, storedAs: stored)
    if found != nil { move(slot, to: place, from: stored) }
    if met == nil {
      let hasOtherForm = stored.map { $0.form != form } ?? false
      try visit(object, info, at: slot, found == nil || hasOtherForm ? nil : known)
    }
    return true
  }

  func form(
    of object: any StateRestoring, _ info: TypeInfo, _ restorationClass: Any.Type?,
    note: (ReportNote) -> Void
  ) -> Int32 {
    forms.form(of: object, info, restorationClass: restorationClass, note: note)
  }

  func form(of object: any StateRestoring, _ info: TypeInfo, at slot: Int32) -> Int32 {
    let named: Any.Type? =
      switch object {
      case let node as any RestorableNode: node.restorationClass
      case let object as any RestorableObject: object.objectRestorationClass
      default: nil
      }
    return form(of: object, info, named) { places.notes.add($0, slot) }
  }

  /// The element of an object that is found by the object itself.
  private func known(_ object: any StateRestoring, _ info: TypeInfo) -> KnownObjects.Known? {
    guard info.tracking != .always || document.findsAllByObject else { return nil }
    return places.known(object)
  }

  /// Whether the element of a name is that of a living object, which is not the one that has the name now.
  private func isOfAnother(_ slot: Int32, than object: AnyObject) -> Bool {
    KnownObjects.shared.object(at: slot, of: owner).map { $0 !== object } ?? false
  }

  /// Gives an element its place, if it has another one; without a stored place it is a new element to
  /// which only a reference has led so far.
  mutating func move(_ slot: Int32, to place: Place, from stored: Place?) {
    let hasOtherParent = places.parent(of: slot) != place.parent || places.orphans.contains(slot)
    if places.place(of: slot) != place {
      if stored != nil { change.edits.places.append((slot, place)) }
      // Also within one parent: the element is not among those that nobody was matched with.
      places.move(slot, to: place)
    }
    let stays = stored.map { $0.parent == place.parent && !$0.role.livesByReferences } ?? false
    if let stored, stored.parent >= 0, stored.parent != place.parent {
      touchContents(of: stored.parent)
    }
    if !stays, places.asksBelow(slot) { noteAsking(at: place.parent) }
    if !places.orphans.isEmpty { places.orphans.remove(slot) }
    // Those that contain each other lie below nobody else.
    if hasOtherParent, mayBeAbove(slot), places.isAbove(slot, place.parent) {
      places.orphans.insert(slot)
    }
  }

  /// Whether anything may lie below an element: most have nothing, and nobody looks for them among those above.
  func mayBeAbove(_ slot: Int32) -> Bool { contents[slot] != nil || !places[slot].children.isEmpty }

  /// Visits an object that may have something to say.
  private mutating func visit(
    _ object: any StateRestoring, _ info: TypeInfo, at slot: Int32, _ known: KnownObjects.Known?
  ) throws {
    if info.tracking == .always {
      // References to what lies below others that only references reach may be made before names are met there.
      if known == nil,
        document.findsAllByObject || places.mentionedSlot(of: object) != nil
          || agenda.alone.contains(places.parent(of: slot))
      {
        KnownObjects.shared.note(object, at: slot, of: owner)
        agenda.asked.append(object)
      }
      // A new element says it itself.
      noteAsking(at: places.isNew(slot) ? places.parent(of: slot) : slot)
      try visit(object, info, at: slot, asksBody: true)
    } else if known == nil || known?.hasChanged == true || keeping.claims[slot] != nil {
      try visit(changed: object, at: slot)
    } else if places.asksBelow(slot) {
      try visit(object, info, at: slot, asksBody: false)
    } else {
      places.visit(object, at: slot)
    }
  }

  /// Notes that saves have to look at an element or below it, and so below all above it: as far as one to
  /// which only references lead, where each save looks by itself.
  mutating func noteAsking(at slot: Int32) {
    var slot = slot
    while slot >= Document.tree, !places.asksBelow(slot) {
      if places.isNew(slot) {
        places.change(new: slot) { $0.asksBelow = true }
      } else if !change.edits.asksBelow.insert(slot).inserted {
        return
      }
      if places.role(of: slot).livesByReferences { change.asksAlone.insert(slot) }
      slot = places.parent(of: slot)
    }
  }

  /// Decides about the stored children that no object was matched with.
  private mutating func end(_ siblings: inout Siblings) throws {
    let parent = siblings.parent
    var (kept, referred): ([Child], [Child]) = ([], [])
    for slot in siblings.unmatched() where !places.hasMoved(slot) {
      let stored = document[slot]
      let child = Child(slot: slot, id: stored.id, place: stored.place)
      if stored.place.role.livesByReferences {
        referred.append(child)
      } else if document.kept.elements[slot] != nil {
        if !places.orphans.contains(slot) { kept.append(child) }
      } else if var claimed = keeping.claims.isEmpty ? nil : keeping.claims[parent] {
        // What was kept below a kept element goes on being kept below the object that has claimed it.
        claimed.byteCount = try storedByteCount(of: slot)
        keeping.parts.elements[slot] = claimed
        kept.append(child)
      } else {
        places.orphans.insert(slot)
      }
    }
    siblings.keep(kept.map { free($0, among: siblings) })
    for child in kept { addKept(child.slot) }
    let isChanged = siblings.end(besides: referred.count)
    guard isChanged || !referred.isEmpty else { return }
    let earlier = contents[parent]?.referred ?? []
    contents[parent] = Contents(
      children: siblings.children.map(\.slot),
      referred: referred.map(\.slot) + earlier)
  }

  /// A kept element under a number of its own, if an object that is no other element has its name.
  private mutating func free(_ child: Child, among siblings: Siblings) -> Child {
    guard siblings.hasNamed(child.place) else { return child }
    var place = child.place
    place.siblingIndex = 0
    while siblings.hasNamed(place) { place.siblingIndex += 1 }
    setPlace(of: child.slot) { $0 = place }
    return Child(slot: child.slot, id: child.id, place: place)
  }

  /// Adds lines for an element that nobody has claimed, and for all below it.
  mutating func addKept(_ slot: Int32) {
    for below in document.walk(from: slot) { places.notes.add(below, .keptAsStored) }
  }

  // MARK: - Leaving out

  /// The name of a node; nil if it has none under which it can be stored.
  func usableName(of node: any RestorableNode) -> String? {
    places.objects.identifier(of: node).flatMap { name in
      name.isEmpty || name.utf8.count > Element.longestName ? nil : name
    }
  }

  private mutating func addEntry(
    _ kind: ElementKind, _ object: any StateRestoring, _ name: String, _ parent: Int32,
    _ outcome: PreservationReport.NodeOutcome, _ notes: [ReportNote] = [], siblingIndex: Int32 = 0
  ) {
    places.notes.add(
      PreservationReport.Entry(
        kind: kind,
        path: places.path(of: parent).appending(name, siblingIndex: Int(siblingIndex)),
        className: types.className(of: object), outcome: outcome, notes: notes))
  }

  private mutating func exclude(_ node: any RestorableNode, _ name: String, _ parent: Int32) {
    let path = places.path(of: parent).appending(name)
    agenda.met.append(.excluded(node, path, below: nil))
    // The next save looks whether it has a place by then.
    noteAsking(at: parent)
  }

  /// Reports a node that is left out, and goes on to the nodes below it.
  mutating func leaveOut(
    _ node: any RestorableNode, _ path: RestorationPath, below gap: RestorationPath?
  ) {
    guard !places.isVisited(node) else { return }
    let isNameless = path.identifier == ""
    guard !places.notes.isExcluded(node) else {
      if gap == nil, !isNameless { places.notes.setDuplicate(node) }
      return
    }
    let isNamelessRoot = isNameless && path.count == 1 && node.restorationName == nil
    let byteCount = isNameless ? places.objects.identifier(of: node)?.utf8.count ?? 0 : 0
    places.notes.add(
      PreservationReport.Entry(
        kind: .node, path: path, className: types.className(of: node),
        outcome: gap.map { .excluded(by: $0) } ?? (isNameless ? .noIdentifier : .duplicate),
        notes: isNamelessRoot
          ? [.rootWithoutIdentifier]
          : byteCount > 0 ? [.identifierTooLong(byteCount: byteCount)] : []),
      ofExcluded: node)
    let info = types.info(of: node)
    if info.tracking != .always, places.known(node) == nil {
      // It says so when it gets a name.
      KnownObjects.shared.note(node, at: -1, of: owner)
    }
    let below = KnownObjects.shared.observing(.contents, node, info, of: owner) {
      if info.tracking == .observed { _ = node.restorationName }
      return node.restorationChildren + [node.restorationPresented].compactMap(\.self)
    }
    for child in below.reversed() {
      let name = places.objects.identifier(of: child) ?? ""
      agenda.met.append(.excluded(child, path.appending(name), below: gap ?? path))
    }
  }
}

extension Document {
  /// Whether the roots are those that are stored, and no save has to ask them or anything below but what
  /// has changed.
  func hasStored(_ roots: [any RestorableNode], of owner: KnownObjects.Owner) -> Bool {
    let stored = self[Self.tree].children
    return roots.count == stored.count
      && zip(roots, stored).allSatisfy { root, slot in
        guard let known = KnownObjects.shared.known(root, to: owner), known.slot == slot else {
          return false
        }
        return !known.hasChanged && !self[slot].asksBelow && self[slot].place.role == .child
      }
  }

  /// Whether nothing is to be written as long as nobody has changed, for an app without a delegate.
  func isSettled(_ facts: SaveFacts) -> Bool {
    !findsAllByObject && !hasUnstoredKept && leftovers == [] && self[Self.tree].body == .none
      && facts.words == head.facts.words
  }
}

extension Array {
  /// Reverses the elements from a place on.
  fileprivate mutating func reverse(from first: Int) {
    var (low, high) = (first, count - 1)
    while low < high {
      swapAt(low, high)
      (low, high) = (low + 1, high - 1)
    }
  }
}
