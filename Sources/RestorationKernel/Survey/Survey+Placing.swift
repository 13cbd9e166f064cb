internal import ArchiveCodec

/// The places of objects: which stored element each is, or which new one.
extension Survey {
  typealias NamedView = (identifier: String, view: any RestorableView)

  mutating func placeRoots(_ roots: [any RestorableNode]) throws {
    let stored = document[Document.tree].children
    if document.hasStored(roots, of: owner) {
      zip(roots, stored).forEach { places.visit($0, at: $1) }
      try visitReferred(below: Document.tree)
      return try placeAll()
    }
    var siblings = Siblings(below: Document.tree, of: stored, expecting: roots.count)
    let first = agenda.met.count
    for root in roots { try place(root, .child, maySharing: false, &siblings) }
    agenda.met.reverse(from: first)
    try end(&siblings)
    try visitReferred(below: Document.tree)
    try placeAll()
  }

  /// Puts an object among those that will be asked, and places what is below it.
  mutating func place(belowOf number: Int) throws {
    agenda.order.append(number)
    let visit = agenda.visits[number]
    if visit.asksBody { places.notes.add(asked: visit.slot) }
    try visitReferred(below: visit.slot)
    guard let node = visit.info.node(visit.object) else { return }
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
    guard let name = usableName(of: node) else { return leaveOut(node, below: siblings.parent) }
    let (info, met) = (types.info(of: node), places.visitedSlot(of: node))
    if let met, !isFree(met, &siblings) {
      // The next saves look which of the two contains it then.
      noteAsking(at: siblings.parent)
      noteAsking(at: places.parent(of: met))
      let index = maySharing ? siblings.takeIndex(of: name) : 0
      return addEntry(.node, node, name, siblings.parent, .containedTwice, siblingIndex: index)
    }
    let isPlaced = try settle(
      node, info, name, role, met, met == nil ? known(node, info) : nil, maySharing: maySharing,
      restorationClass: node.restorationClass, &siblings)
    if !isPlaced { leaveOut(node, below: siblings.parent) }
  }

  /// Whether a node may lie below an element: of two that contain it, the first that says so has it.
  private func isFree(_ met: Int32, _ siblings: inout Siblings) -> Bool {
    // One that says when it changes may have been met before the one that contains it.
    places.parent(of: met) == siblings.parent
      ? !siblings.contains(met) : places.mayBeContained(met, in: siblings.parent)
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
    let form = forms.form(of: object, info, restorationClass: restorationClass) {
      notes.append($0)
    }
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

  func form(of object: any StateRestoring, _ info: TypeInfo, at slot: Int32) -> Int32 {
    let named: Any.Type? =
      switch object {
      case let node as any RestorableNode: node.restorationClass
      case let object as any RestorableObject: object.objectRestorationClass
      default: nil
      }
    return forms.form(of: object, info, restorationClass: named) { places.notes.add($0, slot) }
  }

  /// The element of an object that is found by the object itself.
  private func known(_ object: any StateRestoring, _ info: TypeInfo) -> KnownObjects.Known? {
    guard info.tracking != .always || places.findsAllByObject else { return nil }
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
    if let stored, stored.parent != place.parent { touchContents(of: stored.parent) }
    if !stays, places.asksBelow(slot) || change.edits.asksBelow.contains(slot) {
      noteAsking(at: place.parent)
    }
    if !places.orphans.isEmpty { places.orphans.remove(slot) }
    // Those that contain each other lie below nobody else.
    if hasOtherParent, mayBeAbove(slot), places.isAbove(slot, place.parent) {
      places.orphans.insert(slot)
    }
  }

  /// Whether anything may lie below an element: most have nothing, and nobody looks for them among those above.
  func mayBeAbove(_ slot: Int32) -> Bool { contents[slot] != nil || !places[slot].children.isEmpty }

  /// Visits an object that may have something to say.
  mutating func visit(
    _ object: any StateRestoring, _ info: TypeInfo, at slot: Int32, _ known: KnownObjects.Known?
  ) throws {
    if info.tracking == .always, known != nil || !places.findsAllByObject {
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

  /// Notes that saves have to look at an element or below it, and so below all above it.
  mutating func noteAsking(at slot: Int32) {
    var slot = slot
    while slot >= Document.tree, !places.asksBelow(slot) {
      if places.isNew(slot) {
        places.change(new: slot) { $0.asksBelow = true }
      } else if !change.edits.asksBelow.insert(slot).inserted {
        return
      }
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
    siblings.keep(kept)
    for child in kept { addKept(child.slot) }
    let isChanged = siblings.end(besides: referred.count)
    guard isChanged || !referred.isEmpty else { return }
    contents[parent] =
      siblings.children.map(\.slot) + referred.map(\.slot)
      + (contents[parent] ?? []).filter { places.role(of: $0).livesByReferences }
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
    _ outcome: ElementOutcome, _ notes: [ReportNote] = [], siblingIndex: Int32 = 0
  ) {
    places.notes.add(
      ReportEntry(
        kind: kind,
        path: places.path(of: parent).appending(name, siblingIndex: Int(siblingIndex)),
        className: types.className(of: object), outcome: outcome, notes: notes))
  }

  /// Leaves out a node that has no usable name, or that of another one, and all below it.
  mutating func leaveOut(_ node: any RestorableNode, below parent: Int32) {
    let name = places.objects.identifier(of: node) ?? ""
    let isUsable = usableName(of: node) != nil
    let path = places.path(of: parent).appending(isUsable ? name : "")
    let isNamelessRoot = name.isEmpty && path.count == 1 && node.restorationName == nil
    agenda.met.append(
      .leftOut(
        node,
        ReportEntry(
          kind: .node, path: path, className: types.className(of: node),
          outcome: isUsable ? .duplicate : .noIdentifier,
          notes: isNamelessRoot
            ? [.rootWithoutIdentifier]
            : name.isEmpty || isUsable ? [] : [.identifierTooLong(byteCount: name.utf8.count)])))
    // The next save looks whether it has a place by then, and it may say so when it gets a name.
    noteAsking(at: parent)
    let info = types.info(of: node)
    if info.tracking != .always, places.known(node) == nil {
      KnownObjects.shared.note(node, at: -1, of: owner)
    }
    KnownObjects.shared.observing(.contents, node, info, of: owner) { _ = node.restorationName }
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
