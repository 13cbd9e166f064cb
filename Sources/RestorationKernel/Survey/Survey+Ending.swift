internal import ArchiveCodec

/// What goes, and who is below whom.
extension Survey {
  // MARK: What goes

  /// Removes what nobody has any more, after those who refer to it were asked what they refer to now.
  mutating func settleReferences() throws {
    while true {
      if document.links.hasReferred, mayBeUnreferred, isAllHeard { dropUnreferred() }
      if try placeChanged() || placeContested() || moveToScopes() || visitAlone() {
        try askAll()
        continue
      }
      let gone = elementsToRemove()
      if !gone.isEmpty, try askReferrers(of: gone) || takeOver(gone) {
        try askAll()
      } else if try takeWaiting() {
        try askAll()
      } else {
        noteContested()
        return remove(gone)
      }
    }
  }

  /// Whether a reference or an element may have gone, or an object that scoped another one does so no more.
  private var mayBeUnreferred: Bool {
    !references.dropped.isEmpty || !places.orphans.isEmpty || !change.edits.heard.isEmpty
      || change.edits.places.contains { slot, place in
        let scope = document[slot].place.parent
        return place.parent != scope && scope > Document.tree
          && places.role(of: scope) == .object
      }
  }

  /// Whether it is known of each stored body to whom it refers, but of those for which what only
  /// references reach is kept in any case.
  private var isAllHeard: Bool {
    let known = document.keptAndBelow.union(change.edits.heard)
    return document.elements.indices.dropFirst().map(Int32.init).allSatisfy { slot in
      !document[slot].isUnheard || document[slot].body == .none || known.contains(slot)
        || places.isHomeless(slot)
    }
  }

  /// Lets elements go to which no reference leads from the tree any more.
  ///
  /// As long as one does, they stay where they are. While anything is kept, which may refer to them, they are kept, too.
  ///
  /// - Complexity: O(*n*) in the elements.
  private mutating func dropUnreferred() {
    let all = 0..<Int32(document.elements.count + places.added.count)
    let referred = all.filter { slot in
      places.role(of: slot).livesByReferences && !places.isHomeless(slot)
        && document.kept.elements[slot] == nil
    }
    guard !referred.isEmpty else { return }
    let reached = reachedEntries(besides: referred)
    let isAnythingKept = !document.kept.isEmpty || !keeping.parts.bodies.isEmpty
    for slot in referred where !reached.contains(slot) {
      if isAnythingKept, !places.isNew(slot) {
        keeping.parts.elements[slot] = Kept(reason: .unreferred, since: conditions.now)
        continue
      }
      places.orphans.insert(slot)
      touchContents(of: places.parent(of: slot))
    }
  }

  /// The elements to which references lead from the tree, and the tree.
  ///
  /// An entry is one of these, or an element that only references reach: who has an entry has all below it.
  private func reachedEntries(besides referred: [Int32]) -> Set<Int32> {
    let references = referredSlots
    let targets = Set(references.values.joined())
    var entries: [Int32: Int32] = [:]
    func entry(at slot: Int32) -> Int32 {
      var (slot, passed): (Int32, [Int32]) = (slot, [])
      while slot > Document.tree, !targets.contains(slot), !places.role(of: slot).livesByReferences
      {
        if let known = entries[slot] {
          slot = known
          break
        }
        passed.append(slot)
        slot = places.parent(of: slot)
      }
      for below in passed { entries[below] = slot }
      return slot
    }
    var leads: [Int32: [Int32]] = [:]
    for (slot, targets) in references { leads[entry(at: slot), default: []] += targets }
    for slot in targets where slot > Document.tree && !places.role(of: slot).livesByReferences {
      leads[entry(at: places.parent(of: slot)), default: []].append(slot)
    }
    // An object that scopes another one stays with it.
    for slot in referred where places.role(of: slot) == .object {
      let scope = places.parent(of: slot)
      if scope > Document.tree, places.role(of: scope) == .object {
        leads[slot, default: []].append(scope)
      }
    }
    var reached: Set = [Document.tree]
    var left = [Document.tree]
    while let next = left.popLast() {
      for other in leads[next] ?? [] where reached.insert(other).inserted { left.append(other) }
    }
    return reached
  }

  /// The elements to which others refer, of those that are in the tree.
  private var referredSlots: [Int32: [Int32]] {
    var slots = document.slotsByIdentifier
    for (number, element) in places.added.enumerated() {
      slots.set(element.id, Int32(document.elements.count + number))
    }
    return references.all.filter { !places.isHomeless($0.key) }.mapValues { ids in
      ids.compactMap { slots[$0] }.filter { !places.isHomeless($0) }
    }
  }

  private func elementsToRemove() -> Set<Int32> {
    let new = places.added.indices.map { Int32(document.elements.count + $0) }
    var gone = Set(new.filter(places.isHomeless))
    var left = places.orphans + places.moves.filter(places.isHomeless)
    while let slot = left.popLast() {
      guard gone.insert(slot).inserted else { continue }
      left += document[slot].children.filter { places.parent(of: $0) == slot }
    }
    return gone
  }

  /// Asks the objects that refer to what goes, and were not asked yet; false if there is none.
  private mutating func askReferrers(of gone: Set<Int32>) throws -> Bool {
    let ids = Set(gone.map { places.id(of: $0) })
    let referrers = references.all.filter { slot, referred in
      !gone.contains(slot) && !ids.isDisjoint(with: referred)
    }
    guard !referrers.isEmpty else { return false }
    var visited: [Int32: Bool] = [:]
    for visit in agenda.visits where referrers[visit.slot] != nil {
      visited[visit.slot] = visit.asksBody || visited[visit.slot] == true
    }
    var isAsking = false
    for slot in referrers.keys.sorted() where visited[slot] != true {
      guard let object = places.object(at: slot) else { continue }
      try visit(changed: object, at: slot, placesBelow: visited[slot] == nil)
      isAsking = true
    }
    return isAsking
  }

  private mutating func remove(_ gone: Set<Int32>) {
    leaving.stored.formUnion(document.leftovers ?? [])
    change.placeless = placelessTargets(gone)
    change.removed = gone.sorted()
    for slot in gone {
      contents[slot] = nil
      let element = places[slot]
      // The object may have been asked before it came out that the element goes.
      leaving.written.insert(element.bodyRecord)
      for body in unreadBodies(of: slot) { remove(body) }
      guard !places.isNew(slot) else { continue }
      if element.body != .none { leaving.stored.insert(element.bodyRecord) }
      if !element.children.isEmpty { leaving.stored.insert(element.contentsRecord) }
    }
  }

  /// Of the elements that go, those to which bodies refer all the same: each keeps its identifier, so that the
  /// next save writes the same.
  private mutating func placelessTargets(_ gone: Set<Int32>) -> Set<Int32> {
    let ids =
      gone.isEmpty ? [] : Set(references.all.filter { !gone.contains($0.key) }.values.joined())
    return gone.filter { slot in
      guard ids.contains(places.id(of: slot)), let object = places.object(at: slot) else {
        return false
      }
      KnownObjects.shared.note(object, at: slot, of: owner)
      agenda.asked.append(object)
      return true
    }
  }

  // MARK: Writing

  /// Writes who is below whom.
  mutating func writeContents() throws {
    let gone = Set(change.removed)
    for (slot, below) in contents.sorted(by: { $0.key < $1.key }) {
      let here = { [places] in places.parent(of: $0) == slot && !gone.contains($0) }
      var met: Set<Int32> = []
      let children = below.children.filter {
        here($0) && !places.role(of: $0).livesByReferences
      }
      let referred = below.referred.filter {
        here($0) && places.role(of: $0).livesByReferences && met.insert($0).inserted
      }
      let slots = children + referred
      let stored = places.isNew(slot) ? [] : document[slot].children
      guard slots != stored || slots.contains(where: { places.place(of: $0) != document[$0].place })
      else { continue }
      if !slots.isEmpty {
        let children = slots.map { slot in
          Child(slot: slot, id: places.id(of: slot), place: places.place(of: slot))
        }
        try builder.writeContents(children, of: places[slot])
      } else if !stored.isEmpty {
        leaving.stored.insert(places[slot].contentsRecord)
      }
      if places.isNew(slot) {
        places.change(new: slot) { $0.children = slots }
      } else if slots != stored {
        change.edits.children.append((slot, slots))
      }
    }
  }

  /// Says which objects have changed and did not say so: other surveys would not have found that.
  mutating func noteUnsaid() {
    guard !conditions.unsaid.isEmpty else { return }
    // What somebody else removes, or brings back, changes references and what is kept.
    let referring = Set(change.references.map(\.slot))
    let bodies = change.edits.bodies.map(\.slot).filter { !referring.contains($0) }
    let contents = change.edits.children.filter { slot, slots in
      !document[slot].asksBelow && own(slots) != own(document[slot].children)
    }
    for slot in Set(bodies + contents.map(\.slot)).intersection(conditions.unsaid) {
      guard let object = KnownObjects.shared.object(at: slot, of: owner) as? any StateRestoring,
        types.info(of: object).tracking != .always
      else { continue }
      places.notes.add(.notInvalidated, slot)
    }
  }

  /// What an element contains by what its object says alone.
  private func own(_ slots: [Int32]) -> [Int32] {
    slots.filter {
      !places.role(of: $0).livesByReferences && document.kept.elements[$0] == nil
        && keeping.claims[$0] == nil
    }
  }

  /// Writes what belongs to no element, if it has changed.
  mutating func writeFacts() throws {
    change.added = places.added
    change.nextID = places.nextID
    var head = document.head
    if !forms.newForms.isEmpty { head.forms += forms.newForms }
    (head.formerNames, head.facts.words) = (forms.formerNames, conditions.facts.words)
    if change.nextID > head.idLimit { head.idLimit = (change.nextID | 1023) + 1 }
    if head != document.head {
      change.head = head
      try builder.writeHead(head)
    }
    try writeKept()
  }

  /// Writes what is kept, if it is another than before.
  private mutating func writeKept() throws {
    keeping.parts.pending = [:]
    if !keeping.parts.isEmpty { change.removed.forEach { keeping.parts.remove($0) } }
    defer { change.kept = keeping.parts }
    let (parts, before) = (keeping.parts, document.kept)
    guard
      parts.elements != before.elements || parts.bodies != before.bodies || document.hasUnstoredKept
    else { return }
    for slot in parts.elements.keys where parts.elements[slot]?.since == nil {
      keeping.parts.elements[slot]?.since = conditions.now
    }
    let elements = parts.elements.mapValues { [$0] }
    let rows = [elements, parts.bodies].flatMap { parts in
      parts.sorted { $0.key < $1.key }.flatMap { slot, parts in
        parts.map { (owner: places.id(of: slot), part: $0) }
      }
    }
    if !rows.isEmpty {
      try builder.writeKept(rows, since: conditions.now)
    } else if try conditions.storedRecord(TreeRecord.kept) != nil {
      leaving.stored.insert(TreeRecord.kept)
    }
  }
}
