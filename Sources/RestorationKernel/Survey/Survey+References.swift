internal import ArchiveCodec

/// Which elements bodies refer to.
struct ReferenceChanges {
  /// The elements that bodies refer to, as of the hooks that were asked so far.
  var all: [Int32: [UInt64]]
  /// The elements to which an object that was asked refers no more.
  var dropped: Set<UInt64> = []
  /// The names of those that only references reach, by the elements above.
  var names: [Int32: NameTable] = [:]
  /// The objects whose names other elements have that may go in this save.
  var waiting: [(mention: Places.Mention, referrer: Int32)] = []
  /// The referrers that were to take over what they refer to, each with that.
  var tried: Set<[Int32]> = []
  /// The registered objects whose scopes had no place when they got theirs.
  var unscoped: [Int32: any RestorableObject] = [:]

  init(_ document: Document) { all = document.links.all }
}

/// What references reach.
extension Survey {
  /// Notes whom an object refers to; those that nobody contains are stored below it.
  mutating func setReferred(_ mentions: [Places.Mention], below slot: Int32) throws {
    let before = references.all.isEmpty ? [] : references.all[slot] ?? []
    guard !mentions.isEmpty || !before.isEmpty else { return }
    var ids: [UInt64] = []
    var seen: Set<Int32> = []
    for mention in mentions where seen.insert(mention.slot).inserted {
      ids.append(places.id(of: mention.slot))
      try take(mention, below: slot)
    }
    guard ids != before else { return }
    references.dropped.formUnion(Set(before).subtracting(ids))
    references.all[slot] = ids.isEmpty ? nil : ids
    change.references.append((slot, ids))
  }

  /// Gives the target of a reference its place, if it has none.
  ///
  /// What nobody has takes nothing over before it is taken over itself.
  private mutating func take(_ mention: Places.Mention, below referrer: Int32) throws {
    let isVisited = places.isVisited(mention.object)
    guard !places.isHomeless(referrer) else { return }
    guard
      places.isHomeless(mention.slot) || !isVisited && document.kept.elements[mention.slot] != nil
    else {
      if !isVisited, places.role(of: mention.slot) == .object {
        try moveToScope(mention.object, mention.slot)
      }
      return
    }
    switch mention.object {
    case let node as any RestorableNode: try take(node, mention.slot, below: referrer)
    case is any RestorableView:
      places.notes.add(.referenceToUnpreservedView(key: mention.key), referrer)
    case let object as any RestorableObject: try take(object, at: mention.slot)
    // Nothing else can be referred to.
    default: break
    }
  }

  private mutating func take(
    _ node: any RestorableNode, _ slot: Int32, below referrer: Int32
  ) throws {
    guard let name = places.objects.identifier(of: node), !name.isEmpty,
      !places.notes.isDuplicate(node)
    else { return }
    let isDetached = places.notes.isExcluded(node)
    let parent = isDetached ? Document.tree : referrer
    guard name.utf8.count <= Element.longestName else {
      if !isDetached { wait(node, slot, referrer) }
      return
    }
    guard
      try take(node, slot, name, .referred, node.restorationClass, below: parent)
    else { return wait(node, slot, referrer) }
  }

  /// Gives a registered object its place anew, if another object scopes it now.
  mutating func moveToScope(_ object: any StateRestoring, _ slot: Int32) throws {
    guard let object = object as? any RestorableObject,
      scope(of: object, at: slot) != places.parent(of: slot) || unplacedScope(of: object) != nil
    else { return }
    try take(object, at: slot)
  }

  /// The registered object that scopes another one, and has no place yet.
  private func unplacedScope(of object: any RestorableObject) -> (any RestorableObject)? {
    guard let parent = object.restorationParent as? any RestorableObject,
      placedSlot(of: parent) == nil, places.objects.identifier(ofRegistered: parent) != nil
    else { return nil }
    return parent
  }

  /// Moves the objects whose scopes have got a place since; false if there are none.
  mutating func moveToScopes() throws -> Bool {
    let ready = references.unscoped.filter { slot, object in
      !places.isHomeless(slot) && object.restorationParent.flatMap { placedSlot(of: $0) } != nil
    }
    for (slot, object) in ready.sorted(by: { $0.key < $1.key }) {
      references.unscoped[slot] = nil
      try moveToScope(object, slot)
    }
    return !ready.isEmpty
  }

  private func placedSlot(of object: any StateRestoring) -> Int32? {
    let slot = places.visitedSlot(of: object) ?? places.known(object)?.slot
    return slot.flatMap { places.isHomeless($0) ? nil : $0 }
  }

  /// The element that scopes an object.
  ///
  /// A parent that is not stored itself scopes nothing, and neither does one below the object, nor
  /// a view: it is not back when a restore looks for the objects.
  private mutating func scope(of object: any RestorableObject, at own: Int32) -> Int32 {
    guard let parent = object.restorationParent, parent !== object else { return Document.tree }
    guard let slot = placedSlot(of: parent) else {
      references.unscoped[own] = object
      return Document.tree
    }
    guard places.role(of: slot) != .view else { return Document.tree }
    guard mayBeAbove(own), slot != places.parent(of: own) else { return slot }
    return places.isAbove(own, slot) ? Document.tree : slot
  }

  /// Stores a registered object, and before it the objects that scope it.
  private mutating func take(_ object: any RestorableObject, at slot: Int32) throws {
    var chain = [object]
    var inChain: Set = [ObjectIdentifier(object)]
    while let parent = unplacedScope(of: chain[chain.count - 1]),
      inChain.insert(ObjectIdentifier(parent)).inserted
    {
      chain.append(parent)
    }
    while let next = chain.popLast() {
      guard let name = places.objects.identifier(ofRegistered: next) else { continue }
      let known = next === object ? slot : places.mentionedSlot(of: next)
      let slot = known ?? places.known(next)?.slot ?? places.add(Place(parent: -1, role: .object))
      let parent = scope(of: next, at: slot)
      guard try take(next, slot, name, .object, next.objectRestorationClass, below: parent) else {
        wait(next, slot, parent)
        continue
      }
    }
  }

  /// Lets an object wait whose name another element has, until it is clear whether that one goes.
  private mutating func wait(_ object: any StateRestoring, _ slot: Int32, _ referrer: Int32) {
    references.waiting.append((Places.Mention(object: object, slot: slot, key: ""), referrer))
  }

  /// Leaves out an object that has waited in vain, with a line below the first element that refers to it.
  private mutating func leaveOut(_ object: any StateRestoring, below referrer: Int32) {
    let path = places.path(of: referrer)
    if let node = object as? any RestorableNode {
      leaveOut(node, path.appending(usableName(of: node) ?? ""), below: nil)
    } else if let object = object as? any RestorableObject, !places.notes.isExcluded(object) {
      let name = places.objects.identifier(ofRegistered: object) ?? ""
      places.notes.add(
        PreservationReport.Entry(
          kind: .object, path: path.appending(name), className: types.className(of: object),
          outcome: .duplicate, notes: []),
        ofExcluded: object)
    }
  }

  /// Lets each save ask an element that only references reach, if its object or one below it wants that.
  mutating func noteAlone(_ info: TypeInfo, _ slot: Int32) {
    guard info.tracking == .always || places.asksBelow(slot),
      places.role(of: slot).livesByReferences
    else { return }
    change.asksAlone.insert(slot)
  }

  /// Takes over what nobody has any more, below those that were asked and refer to it.
  mutating func takeOver(_ gone: Set<Int32>) throws -> Bool {
    let slots = Dictionary(uniqueKeysWithValues: gone.map { (places.id(of: $0), $0) })
    var isTaking = false
    for (referrer, ids) in references.all.sorted(by: { $0.key < $1.key })
    where !gone.contains(referrer) {
      for slot in ids.compactMap({ slots[$0] }) where places.isHomeless(slot) {
        guard let object = places.object(at: slot), !(object is any RestorableView),
          references.tried.insert([referrer, slot]).inserted
        else { continue }
        try take(Places.Mention(object: object, slot: slot, key: ""), below: referrer)
        isTaking = true
      }
    }
    return isTaking
  }

  /// Stores the objects that have waited, or leaves them out; false if there are none.
  mutating func takeWaiting() throws -> Bool {
    guard !references.waiting.isEmpty else { return false }
    let waiting = references.waiting
    (references.waiting, references.names) = ([], [:])
    for (mention, referrer) in waiting { try take(mention, below: referrer) }
    for (mention, referrer) in references.waiting where places.isHomeless(mention.slot) {
      leaveOut(mention.object, below: referrer)
    }
    references.waiting = []
    return true
  }

  /// Stores what only references reach below an element; false if a sibling has the name.
  private mutating func take(
    _ object: any StateRestoring, _ slot: Int32, _ name: String, _ role: Role,
    _ restorationClass: Any.Type?, below parent: Int32
  ) throws -> Bool {
    guard takeName(name, role, slot, below: parent) else { return false }
    let info = types.info(of: object)
    if !places.isNew(slot) { claim(slot, by: object) }
    let form = form(of: object, info, restorationClass) { places.notes.add($0, slot) }
    let place = Place(
      parent: parent, role: role, name: name,
      form: storedForm(of: places.isNew(slot) ? nil : slot, now: form))
    let before = places.isNew(slot) ? -1 : places.parent(of: slot)
    move(slot, to: place, from: places.isNew(slot) ? nil : document[slot].place)
    // Where the element was, its place says that it is not there any more.
    if before >= 0, before != parent { touchContents(of: before) }
    touchContents(of: parent)
    // An element that is there already counts once.
    contents[parent]?.referred.append(slot)
    if places.isVisited(object) {
      noteAlone(info, slot)
    } else {
      try visit(changed: object, at: slot)
    }
    try placeAll()
    return true
  }

  /// Whether no sibling has the name.
  private mutating func takeName(
    _ name: String, _ role: Role, _ slot: Int32, below parent: Int32
  ) -> Bool {
    var names =
      references.names.removeValue(forKey: parent)
      ?? (contents[parent] ?? storedContents(of: parent)).all.reduce(into: NameTable()) {
        if !places.isHomeless($1) { $0.insert(places.place(of: $1), $1) }
      }
    defer { references.names[parent] = names }
    if let other = names.find(name, role.sort, 0), other != slot { return false }
    names.insert(Place(parent: parent, role: role, name: name), slot)
    return true
  }

  /// Lets the end of the survey look whether something is another below an element.
  mutating func touchContents(of slot: Int32) {
    if contents[slot] == nil { contents[slot] = storedContents(of: slot) }
  }

  private func storedContents(of slot: Int32) -> Contents {
    var below = Contents()
    guard !places.isNew(slot) else { return below }
    for slot in document[slot].children {
      if document[slot].place.role.livesByReferences {
        below.referred.append(slot)
      } else {
        below.children.append(slot)
      }
    }
    return below
  }
}

extension Survey.Contents {
  fileprivate var all: [Int32] { children + referred }
}
