internal import ArchiveCodec

/// The places of objects: which stored element each is, or which new one.
extension Survey {
  typealias NamedView = (identifier: String, view: any RestorableView)

  mutating func placeRoots(_ roots: [any RestorableNode]) throws {
    if document.hasPlaces(of: roots, owner) {
      return zip(roots, document[Document.tree].children).forEach { places.visit($0, at: $1) }
    }
    try place(
      roots, besides: [], below: Document.tree, of: document[Document.tree].children)
    try visitReferred(below: Document.tree)
    try placeAll()
  }

  /// Puts an object among those that will be asked, and places what is below it.
  mutating func place(belowOf visit: Visit) throws {
    agenda.visits.append(visit)
    if visit.asksBody { places.notes.add(asked: visit.slot) }
    try visitReferred(below: visit.slot)
    guard let node = visit.info.node(visit.object) else { return }
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
      let most = conditions.policy.nodeLimit
      guard let views = ViewTree.views(own, of: node, besides: others, most: most)
      else {
        throw RestorationError.tooManyNodes(places.path(of: visit.slot), most)
      }
      return (below, presented, views)
    }
    let stored = places.isNew(visit.slot) ? [] : document[visit.slot].children
    guard !below.isEmpty || presented != nil || !views.isEmpty || !stored.isEmpty else { return }
    try place(
      below, presented, besides: views, below: visit.slot, of: stored,
      maySharing: visit.info.traits.tellEqualChildrenApart)
  }

  /// Places what an object says that it contains.
  private mutating func place(
    _ nodes: [any RestorableNode], _ presented: (any RestorableNode)? = nil,
    besides views: [NamedView], below parent: Int32, of stored: [Int32], maySharing: Bool = false
  ) throws {
    var siblings = Siblings(below: parent, of: stored, expecting: nodes.count + views.count)
    let first = agenda.met.count
    for (name, view) in views { try place(view, name, .view, &siblings) }
    for node in nodes {
      let name = places.objects.identifier(of: node)
      try place(node, name, .child, maySharing: maySharing, &siblings)
    }
    if let presented {
      try place(presented, places.objects.identifier(of: presented), .presented, &siblings)
    }
    // The first of them comes to lie on top: views are asked before the nodes.
    agenda.met.reverse(from: first)
    try end(&siblings)
  }

  /// Gives an object its place among its siblings, unless it is left out.
  private mutating func place(
    _ object: any StateRestoring, _ name: String?, _ role: Role, maySharing: Bool = false,
    _ siblings: inout Siblings
  ) throws {
    let parent = siblings.parent
    guard places.coming?.object != ObjectIdentifier(object) else { return noteAsking(at: parent) }
    guard let name, Element.canBeCalled(name) else {
      return leaveOut(object, name, role.kind, below: parent)
    }
    let (info, met) = (types.info(of: object), places.visitedSlot(of: object))
    if let met, !isFree(met, &siblings) {
      // The next saves look which of the two contains it then.
      noteAsking(at: parent)
      noteAsking(at: places.parent(of: met))
      let index = maySharing ? siblings.takeIndex(of: name) : 0
      let path = places.path(of: parent).appending(name, siblingIndex: Int(index))
      return places.notes.add(
        ReportEntry(kind: role.kind, path: path, className: info.name, outcome: .containedTwice))
    }
    let known = met == nil ? known(object, info) : nil
    let own = met ?? places.mentionedSlot(of: object) ?? known?.slot
    guard var match = siblings.match(name, role, own, maySharing: maySharing, places) else {
      return leaveOut(object, name, role.kind, below: parent)
    }
    if let other = match.slot, own == nil, isOfAnother(other, than: object) {
      siblings.giveBack(other, places)
      if places.parent(of: other) == parent { places.orphans.insert(other) }
      match.slot = nil
    }
    let (slot, isOther) = put(
      object, info, at: match.slot,
      Place(parent: parent, role: role, name: name, siblingIndex: match.siblingIndex))
    siblings.append(slot)
    if met == nil { try visit(object, info, at: slot, isOther ? nil : known) }
  }

  /// Whether an object may lie below an element: of two that contain it, the first that says so has it.
  private func isFree(_ met: Int32, _ siblings: inout Siblings) -> Bool {
    // One that says when it changes may have been met before the one that contains it.
    places.parent(of: met) == siblings.parent
      ? !siblings.contains(met) : places.mayBeContained(met, in: siblings.parent)
  }

  /// Gives an object its place; returns its element, and whether that is new, or has another form than before.
  mutating func put(
    _ object: any StateRestoring, _ info: TypeInfo, at found: Int32?, _ place: consuming Place
  ) -> (slot: Int32, isOther: Bool) {
    let form = places.form(of: object, info, at: found ?? places.nextSlot)
    place.form = form
    guard let slot = found else {
      return (places.add(place), true)
    }
    let stored = places.isNew(slot) ? nil : document[slot].place
    if stored != nil {
      claim(slot, by: object)
      if edits.kept.isWithheld(slot) { place.form = edits.kept.withheld[slot]?.form ?? form }
    }
    place.lacksState = places.lacksState(slot)
    move(slot, to: place, from: stored)
    return (slot, stored?.form != form)
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
    // Also within one parent: the element is not among those that nobody was matched with.
    if places.place(of: slot) != place { places.move(slot, to: place) }
    let stays = stored.map { $0.parent == place.parent && !$0.role.livesByReferences } ?? false
    if let stored, stored.parent != place.parent { touchContents(of: stored.parent) }
    if !stays, places.asksBelow(slot) || edits.asksBelow.contains(slot) {
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
      noteAsking(at: slot)
      try visit(object, info, at: slot, asksBody: true)
    } else if known == nil || known?.hasChanged == true || taken.claims[slot] != nil {
      try visit(changed: object, info, at: slot)
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
      } else if !edits.asksBelow.insert(slot).inserted {
        return
      }
      slot = places.parent(of: slot)
    }
  }

  /// Decides about the stored children that no object was matched with.
  private mutating func end(_ siblings: inout Siblings) throws {
    let parent = siblings.parent
    var (kept, referred): ([Int32], [Int32]) = ([], [])
    for slot in siblings.unmatched() where places.parent(of: slot) == parent {
      if places.role(of: slot).livesByReferences {
        referred.append(slot)
      } else if document.kept.elements[slot] != nil {
        if places.orphans.contains(slot) { continue }
        kept.append(slot)
        // The object may say that it has changed when the one above does not.
        if places.object(at: slot) != nil { noteAsking(at: parent) }
      } else if var claimed = taken.claims.isEmpty ? nil : taken.claims[parent] {
        // What was kept below a kept element goes on being kept below the object that has claimed it.
        claimed.byteCount = try document.walk(from: slot).reduce(0) { sum, slot in
          sum + (try conditions.storedRecord(document[slot].bodyRecord)?.byteCount ?? 0)
        }
        edits.kept.elements[slot] = claimed
        kept.append(slot)
      } else {
        places.orphans.insert(slot)
      }
    }
    siblings.keep(kept)
    for slot in kept { addKept(slot) }
    let slots = siblings.slots + referred
    let isSame = !places.isNew(parent) && slots == document[parent].children
    guard !isSame || !referred.isEmpty || slots.contains(where: places.hasMoved) else { return }
    contents[parent] =
      slots + (contents[parent] ?? []).filter { places.role(of: $0).livesByReferences }
  }

  /// Adds lines for an element that nobody has claimed, and for all below it.
  mutating func addKept(_ slot: Int32) {
    for below in document.walk(from: slot) {
      agenda.kept.insert(below)
      places.notes.add(below, .keptAsStored)
    }
  }

  // MARK: - Leaving out

  /// Leaves out an object that has no usable name, or that of another one, and all below it.
  mutating func leaveOut(
    _ object: any StateRestoring, _ name: String?, _ kind: ElementKind, below parent: Int32
  ) {
    let (info, node, name) = (types.info(of: object), object as? any RestorableNode, name ?? "")
    let isUsable = Element.canBeCalled(name)
    let isNamelessRoot = parent == Document.tree && name.isEmpty && node?.restorationName == nil
    let entry = ReportEntry(
      kind: kind, path: places.path(of: parent).appending(isUsable ? name : ""),
      className: info.name, outcome: isUsable ? .duplicate : .noIdentifier,
      notes: isNamelessRoot
        ? [.rootWithoutIdentifier]
        : name.isEmpty || isUsable ? [] : [.identifierTooLong(byteCount: name.utf8.count)])
    // What follows may contain a node.
    if let node {
      agenda.leftOut.lines.append(entry)
      let number = Int32(-agenda.leftOut.lines.count)
      agenda.met.append(Visit(object: node, info: info, slot: number, asksBody: false))
    } else {
      places.notes.add(entry)
    }
    // The next save looks whether it has a place by then, and it may say so when it gets a name.
    noteAsking(at: parent)
    if info.tracking != .always, places.known(object) == nil {
      KnownObjects.shared.note(object, at: -1, of: owner)
    }
    KnownObjects.shared.observing(.contents, object, info, of: owner) { _ = node?.restorationName }
  }
}

extension Document {
  /// Whether roots are where they were and have not changed, and saves need not look for anybody below them.
  func hasPlaces(of roots: [any RestorableNode], _ owner: KnownObjects.Owner) -> Bool {
    let (tree, known) = (self[Self.tree], KnownObjects.shared)
    return !findsAllByObject && !tree.asksBelow
      && roots.map { known.known($0, to: owner).flatMap { $0.hasChanged ? nil : $0.slot } }
        == tree.children
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
