internal import ArchiveCodec

/// The elements of a restore, and what has become of each.
final class RestoredElements {
  /// What has become of an element, and the bodies that its object is offered.
  struct Item {
    var object: (any StateRestoring)?
    var node: (any RestorableNode)?
    var traits: TypeTraits = []
    var outcome: ElementOutcome?
    /// Whether the object is there, and of the class that was saved; each step asks (benchmark: restore 10,000 nodes).
    var isDecodable = false
    /// Whether saves keep the element with all below it.
    var isKept = false
    /// Whether a save would replace fields that were not restored as they are stored.
    var isReplaced = false
    /// In a stack of which a node is missing, whether saves keep that one; what lay on it is left out.
    var cut: Bool?
    /// The keys that coders were asked for.
    var read = ReadKeys()
    /// The bodies that the object is still offered; nil if that is simply the own one in the current version.
    private var bodies: [ReadBody]?
    /// Nil as long as there are none, so that copies count no reference (benchmark: restore 10,000 nodes).
    private var noted: [ReportNote]?

    /// The body that is offered now; nil if that is the own one in the current version.
    var choice: ReadBody? { bodies?.first }

    /// Whether the object is back with its own body, and there is nothing to note.
    var isPlain: Bool {
      guard case .restored = outcome else { return false }
      return !isReplaced && noted == nil && bodies == nil
    }

    /// The notes; those on the body that is offered, or was decoded, come first.
    var notes: [ReportNote] {
      guard isDecodable, let version = choice?.migratedFrom else { return noted ?? [] }
      return [.migrated(from: version)] + (noted ?? [])
    }

    mutating func note(_ note: ReportNote) { noted = (noted ?? []) + [note] }

    /// Offers the object some bodies, one after the other.
    mutating func offer(_ bodies: [ReadBody]) {
      (self.bodies, noted, isReplaced, read) = (bodies, nil, false, ReadKeys())
    }

    /// Goes on to the next body that is offered; false if there is none.
    mutating func offerNext() -> Bool {
      guard let bodies, bodies.count > 1, let step = outcome?.step else { return false }
      offer(Array(bodies.dropFirst()))
      outcome = .restored(by: step)
      return true
    }
  }

  /// Gives the stored body with a number.
  typealias Bodies = (UInt64) throws(ArchiveError) -> KeyedDecoder?

  let document: Document
  let paths: StoredPaths
  /// Nil when the restore has ended, and nobody knows any more what objects were offered.
  private var readBody: Bodies?
  private lazy var slots = document.slotsByIdentifier
  /// The names that several siblings have, by the element above.
  private lazy var sharedNames: [Int32: Set<String>] = document.elements.reduce(into: .init()) {
    let place = $1.place
    if place.siblingIndex > 0 { $0[place.parent, default: []].insert(place.name) }
  }
  // The tables belong to one run, which is at one element at a time (benchmark: restore 10,000 nodes).
  /// The items, and where they are in a restore that is about some elements: behind an empty one for all others.
  @safe @exclusivity(unchecked) private var table: (items: [Item], rows: KeyTable?)
  @safe @exclusivity(unchecked) private var claimed: KeyTable
  /// Knows the objects of elements that this restore does not restore; nil if it restores all.
  private var owner: KnownObjects.Owner?

  /// The restore of a part costs what it restores.
  init(
    _ document: Document, part: [Int32]?, _ owner: KnownObjects.Owner?,
    _ readBody: @escaping Bodies
  ) {
    (self.document, self.owner, self.readBody) = (document, owner, readBody)
    paths = StoredPaths(document)
    let slots = part.map { [Document.tree] + $0.prefix(1).map { document[$0].place.parent } + $0 }
    var rows = slots.map { KeyTable(expecting: $0.count) }
    for (row, slot) in zip(Int32(1)..., slots ?? []) { rows?.set(Self.key(of: slot), row) }
    let count = slots.map { $0.count + 1 } ?? document.elements.count
    table = (Array(repeating: Item(), count: count), rows)
    claimed = KeyTable(expecting: count)
    self[Document.tree].outcome = .restored(by: .delegate)
  }

  // With one yield each, so that the compiler copies no item (benchmark: restore 10,000 nodes).
  subscript(slot: Int32) -> Item {
    @inline(__always) _read { yield table.items[row(of: slot)] }
    @inline(__always) _modify { yield &table.items[row(of: slot)] }
  }

  @inline(__always)
  private func row(of slot: Int32) -> Int {
    guard let rows = table.rows else { return Int(slot) }
    return Int(rows[Self.key(of: slot)] ?? 0)
  }

  private static func key(of slot: Int32) -> UInt64 { UInt64(truncatingIfNeeded: slot) &+ 1 }

  // MARK: Objects

  func isBack(_ slot: Int32) -> Bool { slot == Document.tree || self[slot].object != nil }

  /// Whether saves have to know the object of an element as that; a node may be of another class.
  func isKnown(_ slot: Int32) -> Bool {
    // The app itself has made the object of an element that is left out.
    if self[slot].outcome == .skipped { return true }
    let isNode = document[slot].place.role.kind == .node
    return !self[slot].isKept
      && (self[slot].isDecodable || isNode && self[slot].outcome?.step != nil)
  }

  /// Notes the object of an element; returns the element that it is already, if that is another one.
  @discardableResult
  func claim(
    _ object: any StateRestoring, _ node: (any RestorableNode)?, at slot: Int32
  ) -> Int32? {
    let key = UInt64(addressOf: object)
    // A restore of a part does not meet what is back elsewhere.
    let known = owner.flatMap { KnownObjects.shared.known(object, to: $0) }
    if let other = claimed.set(key, slot) ?? known?.slot, other != slot {
      claimed.set(key, other)
      return other
    }
    (self[slot].object, self[slot].node) = (object, node)
    return nil
  }

  func contains(_ object: any StateRestoring) -> Bool { claimed[UInt64(addressOf: object)] != nil }

  /// Lets all objects go; coders that hooks have kept find nothing any more.
  func forget() { (table, owner, readBody) = (([Item()], KeyTable()), nil, nil) }

  // MARK: Outcomes

  /// Decides what becomes of an element that has no object.
  func settle(missing reason: ElementOutcome, at slot: Int32) {
    let place = document[slot].place
    let isInStack = place.role == .child && self[place.parent].traits.contains(.stack)
    let cut = isInStack ? self[place.parent].cut : nil
    let (outcome, isKept) = ElementOutcome.missing(
      reason, withheld: self[slot].choice?.withheld, isOnKeptNode: cut ?? false)
    (self[slot].outcome, self[slot].isKept) = (outcome, isKept)
    guard isInStack else { return }
    // A node whose class this version does not know is as if it had not been in the stack, unless the
    // number that tells it from an equal sibling would pass to that one.
    if case .unknownRestorationClass = reason, cut == nil,
      sharedNames[place.parent]?.contains(place.name) != true
    {
      return
    }
    self[place.parent].cut = cut == true || isKept
  }
}

/// The answers to coders.
extension RestoredElements {
  /// The restored object of a record; nil if it is not back.
  func object(ofRecord id: UInt64) -> (any StateRestoring)? {
    guard id > 0, let slot = slots[id] else { return nil }
    return object(at: slot)
  }

  private func object(at slot: Int32) -> (any StateRestoring)? {
    self[slot].object
      ?? owner.flatMap { KnownObjects.shared.object(at: slot, of: $0) as? any StateRestoring }
  }

  /// Whether the object of an element has something to read.
  func hasReadableState(_ slot: Int32) -> Bool {
    !document[slot].place.lacksState && self[slot].choice?.withheld == nil
  }

  /// The app's values of an element, in the body that is offered now; nil if none are stored.
  func state(at slot: Int32) throws(ArchiveError) -> KeyedDecoder? {
    if readBody == nil { return nil }
    if let choice = self[slot].choice { return try choice.body?.get() }
    return document[slot].body == .none ? nil : try body(document[slot].bodyRecord)
  }

  func body(_ record: UInt64) throws(ArchiveError) -> KeyedDecoder {
    guard let body = try readBody?(record) else {
      throw ArchiveError(.malformed, subject: "no record \(record)")
    }
    return body
  }

  /// The nodes that an element contained or presented and that are back, in saved order.
  func nodes(below slot: Int32, _ role: Role) -> [any RestorableNode] {
    guard slot > Document.tree else { return [] }
    return document[slot].children.compactMap { child in
      // Read in place, since each node that contains others is asked (benchmark: restore nodes).
      guard document.elements[Int(child)].place.role == role else { return nil }
      return self[child].node ?? object(at: child) as? any RestorableNode
    }
  }

  /// Notes the fields of an element that were not restored as they are stored.
  func note<Value>(_ value: MendedValue<Value>, at slot: Int32) {
    for field in value.replaced {
      self[slot].note(.fieldReplaced(key: field.field, field.error.reason))
    }
    if !value.added.isEmpty {
      self[slot].note(.missingFields(value.added.map { $0.joined(separator: ".") }))
    }
    if !value.isWhole { self[slot].isReplaced = true }
  }
}

/// The decision on an element, by the arguments and nothing else.
extension ElementOutcome {
  /// The outcome for a body that nobody gets to see, by the step that has provided the object, if one has.
  package typealias Refusal = (RestorationReport.Step?) -> Self

  package init(
    by step: RestorationReport.Step, otherClass: String?, withheld: Refusal?, hasState: Bool
  ) {
    self =
      otherClass.map { .classMismatch(by: step, found: $0) } ?? withheld?(step)
      ?? (hasState ? .restored(by: step) : .restoredWithoutState(by: step))
  }

  /// The outcome of an element that has no object, and whether saves keep the element for its own sake, and not
  /// because the element above is kept.
  package static func missing(
    _ reason: Self, withheld: Refusal?, isOnKeptNode: Bool
  ) -> (outcome: Self, isKept: Bool) {
    switch reason {
    // Another element says why.
    case .parentMissing: (reason, false)
    // What lay in a stack on a node that is not back stays with that one.
    case .stackCut: (reason, isOnKeptNode)
    // A factory that did not see the state cannot veto it, so a withheld state goes first.
    case .vetoed where withheld == nil: (reason, false)
    default: (withheld?(nil) ?? reason, true)
    }
  }
}
