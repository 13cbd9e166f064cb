internal import ArchiveCodec

/// What references reach.
extension Survey {
  /// Gives an object that nobody contains its place: a node below the element that refers to it, a registered
  /// object below the one that scopes it.
  mutating func take(
    _ object: any StateRestoring, at slot: Int32, below referrer: Int32
  ) throws {
    var place: Place
    switch object {
    case let node as any RestorableNode:
      let name = places.objects.identifier(of: node)
      guard let name, Element.canBeCalled(name) else {
        return leaveOut(node, name, .node, below: referrer)
      }
      place = Place(parent: referrer, role: .referred, name: name)
    case let object as any RestorableObject:
      guard let name = places.objects.registeredName(of: object) else { return }
      place = Place(parent: scope(of: object, at: slot), role: .object, name: name)
    // Views belong to their nodes.
    default: return
    }
    if !places.isNew(slot), document[slot].place.parent == place.parent {
      place.siblingIndex = document[slot].place.siblingIndex
    }
    edits.hasReferred = true
    let info = types.info(of: object)
    _ = put(object, info, at: slot, place)
    addContent(slot, to: place.parent)
    if !places.isVisited(object) { try visit(changed: object, info, at: slot) }
    try placeAll()
  }

  // MARK: Scopes

  /// The element that scopes an object.
  ///
  /// A parent that is not stored itself scopes nothing, and neither does one below the object, nor
  /// a view: it is not back when a restore looks for the objects.
  private func scope(of object: any RestorableObject, at own: Int32) -> Int32 {
    guard let parent = object.restorationParent, parent !== object,
      let slot = places.visitedSlot(of: parent) ?? places.known(parent)?.slot,
      !places.isHomeless(slot), places.role(of: slot) != .view
    else { return Document.tree }
    let isNew = slot != places.parent(of: own)
    return isNew && mayBeAbove(own) && places.isAbove(own, slot) ? Document.tree : slot
  }

  /// Moves the objects that others scope now; false if there are none.
  mutating func moveToScopes() throws -> Bool {
    guard places.findsAllByObject else { return false }
    var isMoving = false
    for visit in agenda.visits where visit.asksBody && places.role(of: visit.slot) == .object {
      guard let object = visit.object as? any RestorableObject, !places.isHomeless(visit.slot),
        places.objects.registeredName(of: object) != nil
      else { continue }
      let chain = places.withScopes((object, visit.slot))
      guard chain.count > 1 || scope(of: object, at: visit.slot) != places.parent(of: visit.slot)
      else { continue }
      for (object, slot) in chain { try take(object, at: slot, below: Document.tree) }
      (isMoving, hasDropped) = (true, true)
    }
    return isMoving
  }

  // MARK: Who is reached

  /// Visits what only references reach from a stored element, if saves have to look there.
  mutating func visitReferred(below slot: Int32) throws {
    for slot in document[slot].children
    where places.role(of: slot).livesByReferences && places.asksBelow(slot)
      && !places.isHomeless(slot) && document.kept.elements[slot] == nil
    {
      guard let object = KnownObjects.shared.object(at: slot, of: owner) as? any StateRestoring,
        !places.isVisited(object)
      else { continue }
      try renew(object, types.info(of: object), at: slot)
      try visit(object, types.info(of: object), at: slot, places.known(object))
    }
  }

  /// Lets go to what no reference from the tree leads any more, and gives what has lost its place, and is
  /// referred to, one below the first that does; false if there is none.
  ///
  /// As long as a reference leads to an element, it stays where it is.
  ///
  /// - Complexity: O(*n*) in the elements.
  mutating func settleReferred() throws -> Bool {
    guard
      !document.links.isWhole || document.links.hasReferred || !document.links.all.isEmpty
        || !edits.references.isEmpty,
      hasDropped || !places.orphans.isEmpty
        || places.added.contains(where: { $0.place.parent < 0 })
    else { return false }
    try hearAll()
    guard try document.links.hasReferred || isReferred(elementsToRemove()) else { return false }
    let found = try reachedElements()
    let reached = Set(found.map(\.slot))
    for slot in allSlots
    where places.role(of: slot).livesByReferences && !places.isHomeless(slot)
      && document.kept.elements[slot] == nil && !reached.contains(slot)
    {
      places.orphans.insert(slot)
      touchContents(of: places.parent(of: slot))
    }
    var (isTaking, lost) = (false, Set<UInt64>())
    let inStored = inStoredWindows
    for (slot, referrer) in found where places.isHomeless(slot) {
      if places.isHomeless(referrer) {
        lost.insert(places.id(of: slot))
      } else if let object = places.object(at: slot) {
        if object is any RestorableView { continue }
        try take(object, at: slot, below: referrer)
        if !places.isHomeless(slot) { isTaking = true }
      } else if places.role(of: slot).livesByReferences,
        edits.kept.elements[slot] != nil || inStored.contains(referrer)
      {
        var place = document[slot].place
        place.parent = referrer
        move(slot, to: place, from: document[slot].place)
        addContent(slot, to: referrer)
      } else {
        lost.insert(places.id(of: slot))
      }
    }
    return try askReferrers(to: lost) || isTaking
  }

  /// Asks those who refer to elements that go, and may have others by now: an object that is found by its name
  /// alone, and has another one, or is elsewhere; false if there are none.
  private mutating func askReferrers(to lost: Set<UInt64>) throws -> Bool {
    guard !lost.isEmpty else { return false }
    let asked = Set(agenda.visits.lazy.filter(\.asksBody).map(\.slot))
    for (slot, ids) in references.ordered(by: { $0.key < $1.key })
    where !lost.isDisjoint(with: ids) && !asked.contains(slot) && !places.isHomeless(slot) {
      guard let object = places.object(at: slot) else { continue }
      try visit(changed: object, types.info(of: object), at: slot)
    }
    return agenda.met.contains { $0.slot >= 0 }
  }

  /// Whether a body refers to one of some elements.
  private func isReferred(_ slots: Set<Int32>) throws -> Bool {
    let ids = Set(slots.map { places.id(of: $0) })
    return try allReferences().values.contains { !ids.isDisjoint(with: $0) }
  }

  /// Reads to whom those bodies refer whose objects have not said it in this launch.
  private mutating func hearAll() throws {
    guard !edits.isWhole else { return }
    for slot in document.elements.indices.map(Int32.init)
    where document[slot].isUnheard && !edits.heard.contains(slot) {
      edits.references[slot] = try references(in: document[slot].bodyRecord)
      edits.heard.insert(slot)
    }
    edits.isWhole = true
  }

  /// The identifiers to which a stored record refers; none if nobody will ever read it.
  private func references(in record: UInt64) throws -> [UInt64] {
    var ids: [UInt64] = []
    do {
      try conditions.storedRecord(record)?.forEachToken { token in
        if case .record(let id) = token { ids.append(id) }
      }
    } catch let error as ArchiveError where error.mayPass {
      throw error
    } catch {}
    return ids
  }

  /// To whom bodies refer, as of the hooks that were asked so far.
  private var references: [Int32: [UInt64]] {
    document.links.all.merging(edits.references) { $1 }
  }

  /// To whom the bodies of elements refer, be they read or not.
  private func allReferences() throws -> [Int32: [UInt64]] {
    var all = references
    for slot in edits.kept.bodies.keys {
      for body in edits.kept.bodies[slot, default: []] {
        all[slot, default: []] += try taken.references[body.id] ?? references(in: body.record)
      }
    }
    return all
  }

  /// The elements to which references lead from the tree, each with the first in the walk that refers to it.
  ///
  /// Who is reached has all that it contains.
  private func reachedElements() throws -> [(slot: Int32, referrer: Int32)] {
    var slots = document.slotsByIdentifier
    for slot in allSlots.dropFirst(document.elements.count) { slots.set(places.id(of: slot), slot) }
    let below = Dictionary(grouping: allSlots.filter(isContained), by: places.parent)
    let references = try allReferences()
    var found: [(slot: Int32, referrer: Int32)] = []
    var (stack, next, reached) = ([Document.tree], ArraySlice<Int32>(), Set([Document.tree]))
    while let slot = stack.popLast() ?? next.popFirst() {
      var targets = (references[slot] ?? []).compactMap { slots[$0] }
      // An object that scopes another one stays with it.
      let scope = places.parent(of: slot)
      if scope > Document.tree, places.role(of: slot) == .object, places.role(of: scope) == .object
      {
        targets.append(scope)
      }
      let new = targets.filter { reached.insert($0).inserted }
      found += new.map { ($0, slot) }
      next += new
      stack += (below[slot] ?? []).filter { reached.insert($0).inserted }.reversed()
    }
    return found
  }

  private func isContained(_ slot: Int32) -> Bool {
    // What is kept stays, and so does that to which it refers.
    places.parent(of: slot) >= Document.tree && !places.orphans.contains(slot)
      && (!places.role(of: slot).livesByReferences || document.kept.elements[slot] != nil)
  }

  var allSlots: Range<Int32> { 0..<Int32(document.elements.count + places.added.count) }

  mutating func addContent(_ slot: Int32, to parent: Int32) {
    touchContents(of: parent)
    contents[parent]?.append(slot)
  }

  /// Lets the end of the survey look whether something is another below an element.
  mutating func touchContents(of slot: Int32) {
    if contents[slot] == nil { contents[slot] = places.isNew(slot) ? [] : document[slot].children }
  }
}
