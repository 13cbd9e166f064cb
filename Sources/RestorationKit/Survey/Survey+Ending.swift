internal import ArchiveCodec

/// What goes, and who is below whom.
extension Survey {
  /// Decides what follows from what the objects have said, and writes it.
  mutating func settle() throws {
    expireKept()
    try writePending()
    // What is referred to gets its place elsewhere before anything goes.
    while try placeChanged() || moveToScopes() || settleReferred() { try askAll() }
    remove(elementsToRemove())
    try writeContents()
    try writeFacts()
    for slot in places.keptReferred
    where taken.claims[slot] == nil && !edits.removed.contains(slot) {
      addKept(slot)
    }
    noteUnsaid()
  }

  // MARK: What goes

  func elementsToRemove() -> Set<Int32> {
    var gone = Set(allSlots.dropFirst(document.elements.count).filter(places.isHomeless))
    var left = places.orphans + places.moved.keys.filter(places.isHomeless)
    while let slot = left.popLast() {
      guard gone.insert(slot).inserted else { continue }
      left += document[slot].children.filter { places.parent(of: $0) == slot }
    }
    return gone
  }

  private mutating func remove(_ gone: Set<Int32>) {
    leaving.formUnion(document.leftovers ?? [])
    edits.removed = gone.sorted()
    if !gone.isEmpty { places.notes.forget(gone) }
    for slot in gone {
      contents[slot] = nil
      let element = places[slot]
      // The object may have been asked before it came out that the element goes.
      leaving.insert(element.bodyRecord)
      if !element.children.isEmpty { leaving.insert(element.contentsRecord) }
      leaving.formUnion(edits.kept.bodies[slot, default: []].map(\.record))
    }
  }

  // MARK: Writing

  /// Writes who is below whom.
  mutating func writeContents() throws {
    let gone = Set(edits.removed)
    // Not `ordered(by:)`, which takes longer (benchmark: save 10,000 nodes).
    for (slot, below) in contents.sorted(by: { $0.key < $1.key }) {
      let left = below.filter { places.parent(of: $0) == slot && !gone.contains($0) }
      let byReferences = left.filter { places.role(of: $0).livesByReferences }
      var met: Set<Int32> = []
      let referred = byReferences.filter { met.insert($0).inserted }
      let slots = left.filter { !places.role(of: $0).livesByReferences } + referred
      if !referred.isEmpty || !document.kept.isEmpty { separateNames(of: slots) }
      let stored = places.isNew(slot) ? [] : document[slot].children
      guard slots != stored || slots.contains(where: { places.place(of: $0) != document[$0].place })
      else { continue }
      if !slots.isEmpty {
        try builder.writeContents(
          slots.map(places.id), slots.map(places.place), of: places[slot])
      } else if !stored.isEmpty {
        leaving.insert(places[slot].contentsRecord)
      }
      if places.isNew(slot) {
        places.change(new: slot) { $0.children = slots }
      } else if slots != stored {
        edits.children.append((slot, slots))
      }
    }
    askFormerParents(but: gone)
  }

  /// Lets the saves that follow ask who contains what has moved: an element that says nothing of that now may
  /// contain it still, once it is free again.
  private mutating func askFormerParents(but gone: Set<Int32>) {
    guard !places.moved.isEmpty else { return }
    let asked = Set(agenda.visits.map(\.slot))
    for slot in places.moved.keys {
      let before = document[slot].place
      guard before.parent > Document.tree, before.parent != places.parent(of: slot),
        !before.role.livesByReferences, !asked.contains(before.parent),
        !gone.contains(before.parent)
      else { continue }
      noteAsking(at: before.parent)
      noteAsking(at: places.parent(of: slot))
    }
  }

  /// Gives siblings that are kept, or that references reach, numbers under which no other one has their names.
  private mutating func separateNames(of slots: [Int32]) {
    let isFree = { [document, places] (slot: Int32) in
      places.role(of: slot).livesByReferences || document.kept.elements[slot] != nil
    }
    var names = Set(slots.filter { !isFree($0) }.map { SiblingName(places.place(of: $0)) })
    var next: [String: Int32] = .init()
    for slot in slots where isFree(slot) {
      var place = places.place(of: slot)
      while names.contains(SiblingName(place)) {
        place.siblingIndex = next[place.name, default: 0]
        next[place.name, default: 0] += 1
      }
      // A restore finds a registered object by its name alone.
      if place.role == .object, place.siblingIndex > 0 { places.notes.set(.duplicate, slot) }
      setPlace(of: slot) { $0 = place }
      names.insert(SiblingName(place))
    }
  }

  /// Says which objects have changed and did not say so: other surveys would not have found that.
  mutating func noteUnsaid() {
    guard !conditions.unsaid.isEmpty else { return }
    // What somebody else removes, or brings back, changes references and what is kept.
    let referring = Set(edits.references.keys)
    let bodies = bodies.map(\.slot).filter { !referring.contains($0) }
    let contents = edits.children.filter { slot, slots in
      !document[slot].asksBelow && own(slots) != own(document[slot].children)
    }
    let changed = Set(bodies + contents.map(\.slot)).intersection(conditions.unsaid)
    for visit in agenda.visits where changed.contains(visit.slot) && visit.info.tracking != .always
    {
      places.notes.add(.notInvalidated, visit.slot)
    }
  }

  /// What an element contains by what its object says alone.
  private func own(_ slots: [Int32]) -> [Int32] {
    slots.filter {
      !places.role(of: $0).livesByReferences && document.kept.elements[$0] == nil
        && taken.claims[$0] == nil
    }
  }

  /// Writes what belongs to no element, if it has changed.
  mutating func writeFacts() throws {
    (edits.added, edits.places) = (places.added, places.moved)
    edits.nextID = places.nextID
    var head = document.head
    if !places.objects.newForms.isEmpty { head.forms += places.objects.newForms }
    head.facts = conditions.facts
    if edits.nextID > head.idLimit { head.idLimit = (edits.nextID | 1023) + 1 }
    if head != document.head {
      edits.head = head
      try builder.writeHead(head)
    }
    try writeKept()
  }

  /// Writes what is kept, if it is another than before.
  private mutating func writeKept() throws {
    edits.kept.pending = .init()
    if !edits.kept.isEmpty { for slot in edits.removed { edits.kept.remove(slot) } }
    let (parts, before) = (edits.kept, document.kept)
    guard
      parts.elements != before.elements || parts.bodies != before.bodies || document.hasUnstoredKept
    else { return }
    for slot in parts.elements.keys where parts.elements[slot]?.since == nil {
      edits.kept.elements[slot]?.since = conditions.now
    }
    let elements = parts.elements.mapValues { [$0] }
    let rows = [elements, parts.bodies].flatMap { parts in
      parts.ordered { $0.key < $1.key }.flatMap { slot, parts in
        parts.map { (owner: places.id(of: slot), part: $0) }
      }
    }
    if !rows.isEmpty {
      try builder.writeKept(rows, since: conditions.now)
    } else if try conditions.storedRecord(TreeRecord.kept) != nil {
      leaving.insert(TreeRecord.kept)
    }
  }
}
