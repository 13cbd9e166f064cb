internal import ArchiveCodec

/// Where objects are stored, and where those that a survey meets first will be.
///
/// Most of its variables are changed for each object, by code that calls nothing else meanwhile: the
/// checks of that at run time would take a tenth of a save (benchmark: save 10,000 nodes).
final class Places {
  let document: Document
  let owner: KnownObjects.Owner
  let objects: ObjectTable
  let coming: Survey.Coming?
  @safe @exclusivity(unchecked) var notes = SurveyNotes()
  /// The new elements.
  @safe @exclusivity(unchecked) private(set) var added: [Element] = []
  @safe @exclusivity(unchecked) private(set) var nextID: UInt64
  /// The stored elements that have got another place, be it below the same parent.
  @safe @exclusivity(unchecked) private(set) var moved: [Int32: Place] = .init()
  /// The elements that no object above has any more; who refers to one takes it over.
  @safe @exclusivity(unchecked) var orphans: Set<Int32> = [] { didSet { homeless = .init() } }
  /// The answers to whether elements are homeless, as long as they hold.
  @safe @exclusivity(unchecked) private var homeless: [Int32: Bool] = .init()
  /// The objects that this survey has met, by their addresses: the survey keeps them alive.
  @safe @exclusivity(unchecked) private var visited = KeyTable()
  @safe @exclusivity(unchecked) private(set) var references: References

  struct References {
    /// The targets of the references of the hook that runs.
    var mentions: [Mention] = []
    /// Whether a document or a reference of this save makes it necessary.
    var findsAllByObject: Bool
    /// The elements of objects to which a reference has led, when they had no place yet.
    var slots: [ObjectIdentifier: Int32] = .init()
    /// The objects of these elements.
    var objects: [Int32: any StateRestoring] = .init()
    /// The kept elements to which only references lead, by their names.
    let keptByName: [String: [Int32]]
  }

  /// Whether objects of any class may have to be found by themselves, and not by parent and name.
  var findsAllByObject: Bool { references.findsAllByObject }

  /// The kept elements to which only references lead.
  var keptReferred: [Int32] { references.keptByName.values.joined().sorted() }

  /// A reference, as a hook has made it.
  typealias Mention = (object: any StateRestoring, slot: Int32)

  init(
    _ document: Document, _ owner: KnownObjects.Owner, _ objects: ObjectTable,
    coming: Survey.Coming?
  ) {
    (self.document, self.owner, self.objects) = (document, owner, objects)
    (self.coming, nextID) = (coming, document.nextID)
    let kept = document.kept.elements.keys.filter { document[$0].place.role.livesByReferences }
    references = References(
      findsAllByObject: document.findsAllByObject,
      keptByName: Dictionary(grouping: kept) { document[$0].place.name })
  }

  subscript(slot: Int32) -> Element {
    isNew(slot) ? added[Int(slot) - document.elements.count] : document.elements[Int(slot)]
  }

  // One value each: a copy of an element counts references of its name and its children, and a subscript that
  // yields the element copies it (benchmark: save 10,000 nodes).
  func id(of slot: Int32) -> UInt64 { value(of: slot) { $0.id } }
  func bodyRecord(of slot: Int32) -> UInt64 { value(of: slot) { $0.bodyRecord } }
  func body(of slot: Int32) -> RecordFingerprint { value(of: slot) { $0.body } }
  func asksBelow(_ slot: Int32) -> Bool { value(of: slot) { $0.asksBelow } }
  func lacksState(_ slot: Int32) -> Bool { value(of: slot) { $0.place.lacksState } }

  @inline(__always)
  private func value<Value>(of slot: Int32, _ path: (Element) -> Value) -> Value {
    isNew(slot)
      ? path(added[Int(slot) - document.elements.count]) : path(document.elements[Int(slot)])
  }

  func isNew(_ slot: Int32) -> Bool { Int(slot) >= document.elements.count }

  // MARK: Elements

  /// Where the next new element will be.
  var nextSlot: Int32 { Int32(document.elements.count + added.count) }

  /// Makes an element, and returns where it will be.
  func add(_ place: consuming Place) -> Int32 {
    added.append(Element(id: takeID(), place: place))
    return nextSlot - 1
  }

  /// The form in which an object is stored, as of ``ObjectTable``.
  func form(of object: any StateRestoring, _ info: TypeInfo, at slot: Int32) -> Int32 {
    objects.form(of: object, info) { notes.add($0, slot) }
  }

  func takeID() -> UInt64 {
    nextID += 1
    return nextID - 1
  }

  func change(new slot: Int32, _ body: (inout Element) -> Void) {
    body(&added[Int(slot) - document.elements.count])
  }

  func move(_ slot: Int32, to place: Place) {
    if isNew(slot) {
      change(new: slot) { $0.place = place }
    } else {
      moved[slot] = place
    }
    if !homeless.isEmpty { homeless = .init() }
  }

  /// The place that an element has now.
  func place(of slot: Int32) -> Place {
    (moved.isEmpty ? nil : moved[slot]) ?? value(of: slot) { $0.place }
  }

  func parent(of slot: Int32) -> Int32 {
    (moved.isEmpty ? nil : moved[slot]?.parent) ?? value(of: slot) { $0.place.parent }
  }

  func role(of slot: Int32) -> Role {
    (moved.isEmpty ? nil : moved[slot]?.role) ?? value(of: slot) { $0.place.role }
  }

  /// Whether the element or one above it is not below anybody, or not any more.
  func isHomeless(_ slot: Int32) -> Bool {
    // What has a place has it below what has one.
    guard !orphans.isEmpty else { return slot != Document.tree && parent(of: slot) < 0 }
    var (above, passed): (Int32, [Int32]) = (slot, [])
    while above > Document.tree, homeless[above] == nil, !orphans.contains(above) {
      passed.append(above)
      above = parent(of: above)
    }
    let isHomeless = homeless[above] ?? (above != Document.tree)
    for slot in passed { homeless[slot] = isHomeless }
    return isHomeless
  }

  /// Whether an element is another one, or above it.
  func isAbove(_ slot: Int32, _ below: Int32) -> Bool {
    var above = below
    while above > Document.tree, above != slot, !orphans.contains(above) {
      above = parent(of: above)
    }
    return above == slot
  }

  func path(of slot: Int32) -> RestorationPath {
    var places: [Place] = []
    var (slot, passed): (Int32, Set<Int32>) = (slot, [])
    // Those that nobody has may lie below each other.
    while slot > Document.tree, places.isEmpty || role(of: slot) != .scene,
      !orphans.contains(slot) || passed.insert(slot).inserted
    {
      places.append(place(of: slot))
      slot = places[places.count - 1].parent
    }
    return places.reversed().reduce(RestorationPath()) { $0.appending($1) }
  }

  /// Whether a stored element has got another place, be it below the same parent.
  func hasMoved(_ slot: Int32) -> Bool { moved[slot] != nil }

  // MARK: Objects

  /// Notes that an object has been met.
  func visit(_ object: AnyObject, at slot: Int32) {
    visited.set(UInt64(addressOf: object), slot)
  }

  func visitedSlot(of object: AnyObject) -> Int32? { visited[UInt64(addressOf: object)] }

  func isVisited(_ object: AnyObject) -> Bool { visitedSlot(of: object) != nil }

  /// The element of an object that is found by itself; nil if it has none, or that one has been removed.
  func known(_ object: AnyObject) -> KnownObjects.Known? {
    KnownObjects.shared.known(object, to: owner)
  }

  /// The element of an object to which a reference has led, when it had no place yet.
  func mentionedSlot(of object: AnyObject) -> Int32? {
    references.slots.isEmpty ? nil : references.slots[ObjectIdentifier(object)]
  }

  /// The living object of an element, if it is found by itself.
  func object(at slot: Int32) -> (any StateRestoring)? {
    references.objects[slot] ?? KnownObjects.shared.object(at: slot, of: owner)
      as? any StateRestoring
  }

  /// Begins the hook of an object.
  ///
  /// What only a hook that throws refers to gets no place, and so goes.
  func beginMentions() { references.mentions = [] }
}

// MARK: - References

extension Places: StateEncoding {
  func reference(to object: any StateRestoring, from referrer: Int32, key: String) -> UInt64? {
    var slot = slot(of: object) ?? keptSlot(of: object, from: referrer)
    // A view belongs to a node.
    if object is any RestorableView, !(object is any RestorableNode) {
      if slot.map(isHomeless) == true { slot = nil }
    } else if slot == nil, objects.name(of: object) != nil {
      slot = addReferred(object)
    }
    guard let slot else {
      let className = objects.types.info(of: object).name
      notes.add(.referenceNotStored(key: key, className: className), referrer)
      return nil
    }
    references.mentions.append((object, slot))
    return id(of: slot)
  }

  /// The element of an object that has been met, to which a reference has led, or that is found by itself.
  private func slot(of object: any StateRestoring) -> Int32? {
    visitedSlot(of: object) ?? mentionedSlot(of: object) ?? known(object)?.slot
      ?? (coming?.object == ObjectIdentifier(object) ? coming?.slot : nil)
  }

  /// Makes an element that has no place yet.
  private func addReferred(_ object: any StateRestoring) -> Int32 {
    let slot = add(Place(parent: -1, role: .referred))
    references.slots[ObjectIdentifier(object)] = slot
    references.objects[slot] = object
    references.findsAllByObject = true
    return slot
  }

  /// The target of a reference, and before a registered object those that scope it and have no place.
  func withScopes(_ mention: Mention) -> [Mention] {
    var chain = [mention]
    var inChain: Set = [ObjectIdentifier(mention.object)]
    while let object = chain[chain.count - 1].object as? any RestorableObject,
      let scope = object.restorationParent as? any RestorableObject,
      !(scope is any RestorableNode), objects.registeredName(of: scope) != nil,
      slot(of: scope).map(isHomeless) ?? true,
      inChain.insert(ObjectIdentifier(scope)).inserted
    {
      chain.append((scope, slot(of: scope) ?? addReferred(scope)))
    }
    return chain.reversed()
  }

  /// The kept element that an object to which only references lead takes: the first below the same element
  /// that has its name and sort, and that no other object has taken.
  private func keptSlot(of object: any StateRestoring, from referrer: Int32) -> Int32? {
    guard !references.keptByName.isEmpty else { return nil }
    var (name, parent, role): (String?, Int32, Role) = (nil, referrer, .referred)
    switch object {
    case let node as any RestorableNode: name = objects.identifier(of: node)
    case let object as any RestorableObject:
      (name, role) = (objects.registeredName(of: object), .object)
      let scope = object.restorationParent
      parent = scope.flatMap { visitedSlot(of: $0) ?? known($0)?.slot } ?? Document.tree
    default: return nil
    }
    let free = name.flatMap { references.keptByName[$0] }?.filter {
      let place = document[$0].place
      return place.parent == parent && place.role == role && references.objects[$0] == nil
    }
    guard let slot = free?.min() else { return nil }
    (references.slots[ObjectIdentifier(object)], references.objects[slot]) = (slot, object)
    return slot
  }

  func reference(toTab tab: any RestorableNode, of slot: Int32) -> UInt64? {
    visitedSlot(of: tab).flatMap { tab in
      parent(of: tab) == slot && role(of: tab) != .referred ? id(of: tab) : nil
    }
  }

  func note(_ note: ReportNote, _ slot: Int32) { notes.add(note, slot) }
}
