internal import ArchiveCodec

/// The places of objects: which stored element each is, or which new one.
extension Survey {
  typealias NamedView = (identifier: String, view: any RestorableView)

  /// Places what an object says that it contains.
  mutating func place(
    _ nodes: [any RestorableNode], _ presented: (any RestorableNode)? = nil,
    besides views: [NamedView] = [], below parent: Int32, of stored: [Int32],
    maySharing: Bool = false
  ) throws {
    var siblings = Siblings(below: parent, of: stored, expecting: nodes.count + views.count)
    let (first, objects) = (agenda.met.count, places.objects)
    for (name, view) in views { try place(view, name, .view, &siblings) }
    for node in nodes {
      let name = objects.identifier(of: node)
      try place(node, name, .child, maySharing: maySharing, &siblings)
    }
    if let presented {
      try place(presented, objects.identifier(of: presented), .presented, &siblings)
    }
    // The first of them comes to lie on top: views are asked before the nodes. A span moves elements, where an
    // array counts their references (benchmark: save 10,000 nodes).
    var met = agenda.met.mutableSpan
    for step in 0..<(met.count - first) / 2 {
      met.swapAt(first + step, met.count - 1 - step)
    }
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
    // All others are found by their names.
    let isFoundByItself = info.tracking != .always || places.findsAllByObject
    let known = met == nil && isFoundByItself ? places.known(object) : nil
    let own = met ?? places.mentionedSlot(of: object) ?? known?.slot
    guard var match = siblings.match(name, role, own, maySharing: maySharing, places) else {
      return leaveOut(object, name, role.kind, below: parent)
    }
    // The element of the name may be that of another living object.
    if let other = match.slot, own == nil,
      let living = KnownObjects.shared.object(at: other, of: owner), living !== object
    {
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
    if places.parent(of: met) == siblings.parent { return !siblings.contains(met) }
    // So far at most a reference has led to it, and it is not above the other one.
    return (places.role(of: met) == .referred || places.isHomeless(met))
      && !places.isAbove(met, siblings.parent)
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
      if !document.kept.elements.isEmpty { claim(slot, by: object) }
      if edits.kept.isWithheld(slot) { place.form = edits.kept.withheld[slot]?.form ?? form }
    }
    place.lacksState = places.lacksState(slot)
    move(slot, to: place, from: stored)
    return (slot, stored?.form != form)
  }

  /// Gives an element its place, if it has another one; without a stored place it is a new element to
  /// which only a reference has led so far.
  mutating func move(_ slot: Int32, to place: Place, from stored: Place?) {
    let hasOtherParent = places.parent(of: slot) != place.parent || places.orphans.contains(slot)
    // Also within one parent: the element is not among those that nobody was matched with.
    if places.place(of: slot) != place { places.move(slot, to: place) }
    if let stored, stored.parent != place.parent { touchContents(of: stored.parent) }
    if places.asksBelow(slot) || edits.asksBelow.contains(slot) { noteAsking(at: place.parent) }
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
    var (kept, referred, scenes): ([Int32], [Int32], [Int32]) = ([], [], [])
    for slot in siblings.unmatched() where places.parent(of: slot) == parent {
      if places.role(of: slot) == .scene {
        scenes.append(slot)
      } else if places.role(of: slot).livesByReferences {
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
    let slots = siblings.slots + scenes + referred
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

/// The children of one element, while their objects are matched with what is stored.
///
/// As long as objects come in the order in which they are stored, each is compared with the next stored
/// one; from the first that does not, names are looked up.
struct Siblings {
  let parent: Int32
  private let old: [Int32]
  private var next = 0
  private(set) var slots: [Int32] = []
  /// The names of the children, and those of the stored ones that follow; nil as long as they come in order.
  private var names: (now: Set<SiblingName>, stored: [SiblingName: Int32])?
  /// The elements of the children, once somebody asks.
  private var all: Set<Int32>?
  /// How many children of each name have come, where siblings may share names.
  private var nextIndices: [String: Int32] = .init()

  init(below parent: Int32, of old: [Int32], expecting count: Int) {
    self.parent = parent
    self.old = old
    slots.reserveCapacity(count)
  }

  /// Finds the stored element of an object, nil for a new one, and its number among equal names; nil if
  /// another one has its name.
  ///
  /// An object that is found by itself has the known element; for all others the name counts.
  mutating func match(
    _ name: String, _ role: Role, _ known: Int32?, maySharing: Bool, _ places: Places
  ) -> (slot: Int32?, siblingIndex: Int32)? {
    let index = maySharing ? takeIndex(of: name) : 0
    if names == nil {
      if next < old.count, known == nil || known == old[next] {
        let stored = places.document[old[next]].place
        if stored.role == role, stored.name == name, stored.siblingIndex == index {
          next += 1
          return (old[next - 1], index)
        }
      }
      lookUpFromHereOn(places)
    }
    let own = SiblingName(name: name, sort: role.sort, index: index)
    guard names?.now.insert(own).inserted == true else { return nil }
    let slot = known ?? names?.stored[own]
    return (slot.flatMap { contains($0) ? nil : $0 }, index)
  }

  /// Takes the index of the next child of a name, be it one that has its place elsewhere: a restore counts
  /// that, too.
  mutating func takeIndex(of name: String) -> Int32 {
    defer { nextIndices[name, default: 0] += 1 }
    return nextIndices[name] ?? 0
  }

  /// Gives back an element that was found by its name, and is that of another object, which may come later.
  mutating func giveBack(_ slot: Int32, _ places: Places) {
    guard names == nil else { return }
    lookUpFromHereOn(places)
    names?.now.insert(SiblingName(places.document[slot].place))
  }

  private mutating func lookUpFromHereOn(_ places: Places) {
    var now = Set<SiblingName>(minimumCapacity: max(old.count, slots.capacity))
    for slot in slots { now.insert(SiblingName(places.place(of: slot))) }
    // What references reach is found by itself.
    let rest = old[next...].filter { !places.document[$0].place.role.livesByReferences }
    let stored = rest.map { (SiblingName(places.document[$0].place), $0) }
    names = (now, Dictionary(stored) { first, _ in first })
  }

  mutating func contains(_ slot: Int32) -> Bool {
    if all == nil { all = Set(slots) }
    return all?.contains(slot) == true
  }

  /// Adds a child that was matched, or is new.
  mutating func append(_ slot: Int32) {
    slots.append(slot)
    all?.insert(slot)
  }

  /// The stored children that no object was matched with.
  func unmatched() -> [Int32] {
    if names == nil { return Array(old[next...]) }
    let matched = Set(slots)
    return old.filter { !matched.contains($0) }
  }

  /// Adds what stays though there is no object for it, each where it was stored among the others.
  mutating func keep(_ kept: [Int32]) {
    guard !kept.isEmpty else { return }
    var (merged, rest, kept): ([Int32], ArraySlice<Int32>, Set<Int32>) = ([], slots[...], Set(kept))
    for (index, slot) in old.enumerated() where kept.contains(slot) {
      let before = rest.prefix(max(0, index - merged.count))
      rest = rest.dropFirst(before.count)
      merged += before + [slot]
    }
    slots = merged + rest
  }
}

/// What no two siblings have in common; equal names may be spelled with other characters.
struct SiblingName: Hashable {
  let name: String
  let sort: Role
  let index: Int32
}

extension SiblingName {
  init(_ place: Place) {
    self.init(name: place.name, sort: place.role.sort, index: place.siblingIndex)
  }
}
