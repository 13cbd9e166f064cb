internal import ArchiveCodec

/// Which elements bodies refer to.
struct ReferenceChanges {
  /// The elements that bodies refer to, as of the hooks that were asked so far.
  var all: [Int32: [UInt64]]
  /// The elements to which an object that was asked refers no more.
  var dropped: Set<UInt64> = []
  /// The names of those that only references reach, by the elements above.
  var names: [Int32: NameTable] = [:]

  init(_ document: Document) { all = document.references }
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
  private mutating func take(_ mention: Places.Mention, below referrer: Int32) throws {
    guard !places.isVisited(mention.object) else { return }
    if !places.isHomeless(mention.slot) {
      if places.role(of: mention.slot) == .object { try moveToScope(mention.object, mention.slot) }
      return
    }
    switch mention.object {
    case let node as any RestorableNode: try take(node, mention.slot, below: referrer)
    case is any RestorableView:
      places.notes.add(.referenceToUnpreservedView(key: mention.key), referrer)
    case let object as any RestorableObject: try take(object)
    // Nothing else can be referred to.
    default: break
    }
  }

  private mutating func take(
    _ node: any RestorableNode, _ slot: Int32, below referrer: Int32
  ) throws {
    guard let name = places.objects.identifier(of: node), !name.isEmpty else { return }
    let isDetached = places.notes.isExcluded(node)
    let parent = isDetached ? Document.tree : referrer
    guard name.utf8.count <= Element.longestName else {
      return addEntry(
        .node, node, "", parent, .noIdentifier,
        [.identifierTooLong(byteCount: name.utf8.count)])
    }
    try take(node, slot, name, .referred, node.restorationClass, below: parent)
    if isDetached { places.notes.add(.detached, slot) }
  }

  /// Gives a registered object its place anew, if another object scopes it now.
  mutating func moveToScope(_ object: any StateRestoring, _ slot: Int32) throws {
    guard let object = object as? any RestorableObject,
      scope(of: object) != places.parent(of: slot) || unplacedScope(of: object) != nil
    else { return }
    try take(object)
  }

  /// The registered object that scopes another one, and has no place yet.
  private func unplacedScope(of object: any RestorableObject) -> (any RestorableObject)? {
    guard let parent = object.restorationParent as? any RestorableObject,
      placedSlot(of: parent) == nil, places.objects.identifier(ofRegistered: parent) != nil
    else { return nil }
    return parent
  }

  private func placedSlot(of object: any StateRestoring) -> Int32? {
    let slot = places.visitedSlot(of: object) ?? KnownObjects.shared.known(object, to: owner)?.slot
    return slot.flatMap { places.isHomeless($0) ? nil : $0 }
  }

  /// The element that scopes an object. A parent that is not stored itself scopes nothing, and neither
  /// does a view: it is not back when a restore looks for the objects.
  private func scope(of object: any RestorableObject) -> Int32 {
    guard let slot = object.restorationParent.flatMap({ placedSlot(of: $0) }),
      places.role(of: slot) != .view
    else { return Document.tree }
    return slot
  }

  /// Stores a registered object, and before it the objects that scope it.
  private mutating func take(_ object: any RestorableObject) throws {
    var chain = [object]
    var inChain: Set = [ObjectIdentifier(object)]
    while let parent = unplacedScope(of: chain[chain.count - 1]),
      inChain.insert(ObjectIdentifier(parent)).inserted
    {
      chain.append(parent)
    }
    while let next = chain.popLast() {
      guard let name = places.objects.identifier(ofRegistered: next) else { continue }
      let parent = scope(of: next)
      let known = KnownObjects.shared.known(next, to: owner)?.slot
      let slot =
        places.mentionedSlot(of: next) ?? known ?? places.add(Place(parent: -1, role: .object))
      try take(next, slot, name, .object, next.objectRestorationClass, below: parent)
    }
  }

  /// Stores what only references reach below an element.
  private mutating func take(
    _ object: any StateRestoring, _ slot: Int32, _ name: String, _ role: Role,
    _ restorationClass: Any.Type?, below parent: Int32
  ) throws {
    guard takeName(name, role, slot, below: parent) else {
      return addEntry(role.kind, object, name, parent, .duplicate)
    }
    let info = types.info(of: object)
    if !places.isNew(slot) { claim(slot, by: object) }
    let form = form(of: object, info, restorationClass) { places.notes.add($0, slot) }
    let place = Place(
      parent: parent, role: role, name: name,
      form: storedForm(of: places.isNew(slot) ? nil : slot, now: form))
    let before = places.isNew(slot) ? -1 : places.parent(of: slot)
    move(slot, to: place, from: places.isNew(slot) ? nil : document[slot].place)
    if before >= 0, before != parent {
      editContents(of: before) { below in below.referred.removeAll { $0.slot == slot } }
    }
    let child = Child(slot: slot, id: places.id(of: slot), place: place)
    editContents(of: parent) { below in
      below.referred.removeAll { $0.slot == slot }
      below.referred.append(child)
    }
    if info.tracking == .always { change.asksAlone.insert(slot) }
    try visit(changed: object, at: slot)
    try placeAll()
  }

  /// Whether no sibling has the name.
  private mutating func takeName(
    _ name: String, _ role: Role, _ slot: Int32, below parent: Int32
  ) -> Bool {
    var names =
      references.names.removeValue(forKey: parent)
      ?? (contents[parent] ?? storedContents(of: parent)).all.reduce(into: NameTable()) {
        if !places.isHomeless($1.slot) { $0.insert($1.place, $1.slot) }
      }
    defer { references.names[parent] = names }
    if let other = names.find(name, role.sort, 0), other != slot { return false }
    names.insert(Place(parent: parent, role: role, name: name), slot)
    return true
  }

  mutating func editContents(of slot: Int32, _ body: (inout Contents) -> Void) {
    var below = contents.removeValue(forKey: slot) ?? storedContents(of: slot)
    body(&below)
    contents[slot] = below
  }

  private func storedContents(of slot: Int32) -> Contents {
    var below = Contents()
    guard !places.isNew(slot) else { return below }
    for slot in document[slot].children {
      let child = Child(slot: slot, id: document[slot].id, place: places.place(of: slot))
      if child.place.role.livesByReferences {
        below.referred.append(child)
      } else {
        below.children.append(child)
      }
    }
    return below
  }
}

extension Survey.Contents {
  fileprivate var all: [Child] { children + referred }
}
