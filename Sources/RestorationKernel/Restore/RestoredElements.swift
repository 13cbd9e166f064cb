internal import ArchiveCodec

/// The elements of a restore: the object of each, what has become of it, and the bodies that it is offered.
final class RestoredElements {
  private struct Found {
    var object: (any StateRestoring)?
    var node: (any RestorableNode)?
    var traits: TypeTraits = []
    /// Whether saves keep the element with all below it.
    var isKept = false
    /// The keys that coders were asked for.
    var read = ReadKeys()
  }

  /// The facts that few elements have.
  private struct Extra {
    /// The bodies that the object is still offered, if that is not simply the own one in the current version.
    var choices: ArraySlice<ReadBody> = []
    /// The notes on the body that is offered, or was decoded, come first.
    var notes: [ReportNote] = []
    /// Whether a save would replace fields that were not restored as they are stored.
    var isReplaced = false
  }

  private struct Tables {
    var outcomes: [ElementOutcome?]
    var found: [Found]
    var claimed: KeyTable
    var extras: [Int32: Extra] = [:]
    /// The stacks of which a node is missing, and whether saves keep that one; what lay on it is left out.
    var cuts: [Int32: Bool] = [:]
  }

  let document: Document
  private let paths: StoredPaths
  /// The rows that a part of the document has in the tables, so that it costs what it has; nil for all of it.
  private var rows: [Int32: Int]?
  private let readBody: (UInt64) throws(ArchiveError) -> KeyedDecoder?
  private lazy var slots = document.slotsByIdentifier
  /// The names that several siblings have, by the element above.
  private lazy var sharedNames: [Int32: Set<String>] = document.elements.reduce(into: [:]) {
    let place = $1.place
    if place.siblingIndex > 0 { $0[place.parent, default: []].insert(place.name) }
  }
  // The tables belong to one run, which is at one element at a time (benchmark: restore 10,000 nodes).
  @safe @exclusivity(unchecked) private var tables: Tables
  /// Finds the objects of elements that this restore does not restore.
  var other: (Int32) -> (any StateRestoring)? = { _ in nil }
  /// The tabs that were selected, and are not back.
  var tabsToCome: [(tabs: any RestorableTabs, id: UInt64)] = []

  /// With a part of the document, the tables have the elements of the part and the one above.
  init(
    _ document: Document, part: [Int32]?,
    _ readBody: @escaping (UInt64) throws(ArchiveError) -> KeyedDecoder?
  ) {
    (self.document, self.readBody, paths) = (document, readBody, StoredPaths(document))
    rows = part.map { part in
      let above = part.first.map { document[$0].place.parent } ?? Document.tree
      return ([Document.tree, above] + part).reduce(into: [Int32: Int]()) { rows, slot in
        if rows[slot] == nil { rows[slot] = rows.count }
      }
    }
    let count = rows.map { $0.count + 1 } ?? document.elements.count
    tables = Tables(
      outcomes: Array(repeating: nil, count: count),
      found: Array(repeating: Found(), count: count), claimed: KeyTable(expecting: count))
    tables.outcomes[row(of: Document.tree)] = .restored(by: .delegate)
  }

  /// The row of an element in the tables: one that a part does not have has the last, as all others.
  @inline(__always)
  private func row(of slot: Int32) -> Int {
    guard let rows else { return Int(slot) }
    return rows[slot] ?? rows.count
  }

  @inline(__always)
  private func extra(_ slot: Int32) -> Extra? { tables.extras.isEmpty ? nil : tables.extras[slot] }

  // MARK: Objects

  func object(at slot: Int32) -> (any StateRestoring)? { tables.found[row(of: slot)].object }

  func node(at slot: Int32) -> (any RestorableNode)? { tables.found[row(of: slot)].node }

  func traits(of slot: Int32) -> TypeTraits { tables.found[row(of: slot)].traits }

  func isBack(_ slot: Int32) -> Bool { slot == Document.tree || object(at: slot) != nil }

  /// The object of an element, if it is of the class that was saved.
  func decodable(at slot: Int32) -> (any StateRestoring)? {
    outcome(of: slot)?.isDecodable == true ? object(at: slot) : nil
  }

  /// Whether saves have to know the object of an element as that; a node may be of another class.
  func isKnown(_ slot: Int32) -> Bool {
    let outcome = outcome(of: slot)
    // The app itself has made the object of an element that is left out.
    if outcome == .skipped { return true }
    let isNode = document[slot].place.role.kind == .node
    return !isKept(slot) && (outcome?.isDecodable == true || isNode && outcome?.isBack == true)
  }

  /// Notes the object of an element; returns the element that it is already, if that is another one.
  @discardableResult
  func claim(
    _ object: any StateRestoring, _ node: (any RestorableNode)?, at slot: Int32
  ) -> Int32? {
    let key = UInt64(addressOf: object)
    if let other = tables.claimed.set(key, slot), other != slot {
      tables.claimed.set(key, other)
      return other
    }
    set(object, node, at: slot)
    return nil
  }

  /// Notes an object that may be that of other elements, too.
  func set(
    _ object: any StateRestoring, _ node: (any RestorableNode)? = nil, at slot: Int32
  ) { (tables.found[row(of: slot)].object, tables.found[row(of: slot)].node) = (object, node) }

  func contains(_ object: any StateRestoring) -> Bool {
    tables.claimed[UInt64(addressOf: object)] != nil
  }

  /// Lets all objects go; coders that hooks have kept find nothing any more.
  func forget() {
    (rows, tables.found, tables.outcomes) = ([:], [Found()], [nil])
    (other, tabsToCome) = ({ _ in nil }, [])
  }

  // MARK: Outcomes

  func outcome(of slot: Int32) -> ElementOutcome? { tables.outcomes[row(of: slot)] }

  /// Decides what becomes of an element whose object a step has provided.
  func settle(_ known: FormReader.Known, by step: RestorationReport.Step, at slot: Int32) {
    tables.outcomes[row(of: slot)] = ElementOutcome(
      by: step, otherClass: known.otherClass, withheld: choice(at: slot)?.withheld,
      hasState: !document[slot].place.lacksState)
    tables.found[row(of: slot)].traits = known.info.traits
  }

  /// Decides what becomes of an element that has no object.
  func settle(missing reason: ElementOutcome, at slot: Int32) {
    let outcome = ElementOutcome(missing: reason, withheld: choice(at: slot)?.withheld)
    let (stack, cut) = (container(of: slot, that: .stack), cut(below: slot))
    let isKept = outcome.isKept(onKeptNode: cut ?? false)
    (tables.outcomes[row(of: slot)], tables.found[row(of: slot)].isKept) = (outcome, isKept)
    guard let stack else { return }
    // A node whose class this version does not know is as if it had not been in the stack, unless the
    // number that tells it from an equal sibling would pass to that one.
    if case .unknownRestorationClass = reason, cut == nil,
      sharedNames[stack]?.contains(document[slot].place.name) != true
    {
      return
    }
    tables.cuts[stack] = cut == true || isKept
  }

  /// Whether saves keep the missing node on which an element lay in a stack; nil if no node of the
  /// stack is missing so far.
  func cut(below slot: Int32) -> Bool? {
    tables.cuts.isEmpty ? nil : container(of: slot, that: .stack).flatMap { tables.cuts[$0] }
  }

  /// The node that contains an element, if it has a trait.
  func container(of slot: Int32, that trait: TypeTraits) -> Int32? {
    let parent = document[slot].place.parent
    return document[slot].place.role == .child && traits(of: parent).contains(trait) ? parent : nil
  }

  /// Notes that the object of an element could not be decoded.
  func endDecoding(_ slot: Int32, throwing error: any Error) {
    guard let step = outcome(of: slot)?.step else { return }
    tables.outcomes[row(of: slot)] = .decodeFailed(by: step, error.reason)
  }

  func isKept(_ slot: Int32) -> Bool { tables.found[row(of: slot)].isKept }

  func keep(_ slot: Int32) { tables.found[row(of: slot)].isKept = true }

  func note(_ note: ReportNote, _ slot: Int32) {
    tables.extras[slot, default: Extra()].notes.append(note)
  }

  func notes(of slot: Int32) -> [ReportNote] {
    guard let extra = extra(slot) else { return [] }
    let isRead = outcome(of: slot)?.isDecodable == true
    let version = isRead ? extra.choices.first?.migratedFrom : nil
    return (version.map { [.migrated(from: $0)] } ?? []) + extra.notes
  }

  /// The keys of an element that coders were asked for.
  func readKeys(of slot: Int32) -> ReadKeys { tables.found[row(of: slot)].read }

  func setReadKeys(_ read: ReadKeys, of slot: Int32) { tables.found[row(of: slot)].read = read }

  // MARK: Bodies

  /// Offers an object some bodies, one after the other.
  func offer(_ choices: ArraySlice<ReadBody>, at slot: Int32) {
    tables.extras[slot] = Extra(choices: choices)
  }

  /// Goes on to the next body that is offered; false if there is none.
  func offerNext(at slot: Int32) -> Bool {
    guard let extra = extra(slot), extra.choices.count > 1,
      let step = outcome(of: slot)?.step
    else { return false }
    offer(extra.choices.dropFirst(), at: slot)
    tables.outcomes[row(of: slot)] = .restored(by: step)
    return true
  }

  /// The body that is offered now; nil if that is the own one in the current version.
  @inline(__always)
  func choice(at slot: Int32) -> ReadBody? { extra(slot)?.choices.first }

  /// Whether the object of an element has something to read.
  func hasReadableState(_ slot: Int32) -> Bool {
    !document[slot].place.lacksState && choice(at: slot)?.withheld == nil
  }

  func isReplaced(_ slot: Int32) -> Bool { extra(slot)?.isReplaced == true }

  func body(_ record: UInt64) throws(ArchiveError) -> KeyedDecoder {
    guard let body = try readBody(record) else {
      throw ArchiveError(.malformed, subject: "no record \(record)")
    }
    return body
  }
}

/// The answers to coders.
extension RestoredElements {
  /// The restored object of a record; nil if it is not back.
  func object(ofRecord id: UInt64) -> (any StateRestoring)? {
    guard id > 0, let slot = slots[id] else { return nil }
    return object(at: slot) ?? other(slot)
  }

  func path(at slot: Int32) -> RestorationPath { paths[slot] }

  /// The app's values of an element, in the body that is offered now; nil if none are stored.
  func state(at slot: Int32) throws(ArchiveError) -> KeyedDecoder? {
    if let choice = choice(at: slot) { return try choice.body?.get() }
    return document[slot].body == .none ? nil : try body(document[slot].bodyRecord)
  }

  /// The nodes that an element contained or presented and that are back, in saved order.
  func nodes(below slot: Int32, _ role: Role) -> [any RestorableNode] {
    guard slot > Document.tree else { return [] }
    return document[slot].children.compactMap { child in
      guard document[child].place.role == role else { return nil }
      return node(at: child) ?? other(child) as? any RestorableNode
    }
  }

  /// Notes the fields of an element that were not restored as they are stored.
  func note<Value>(_ value: MendedValue<Value>, at slot: Int32) {
    guard !value.replaced.isEmpty || !value.added.isEmpty else { return }
    for field in value.replaced {
      note(.fieldReplaced(key: field.field, field.error.reason), slot)
    }
    if !value.added.isEmpty {
      note(.missingFields(value.added.map { $0.joined(separator: ".") }), slot)
    }
    if !value.isWhole { tables.extras[slot, default: Extra()].isReplaced = true }
  }
}

/// The decision on an element, by the arguments and nothing else.
///
/// `withheld` is the outcome for a body that nobody gets to see, nil for any other.
extension ElementOutcome {
  package init(
    by step: RestorationReport.Step, otherClass: String?, withheld: Self?, hasState: Bool
  ) {
    self =
      switch (otherClass, withheld) {
      case (let other?, _): .classMismatch(by: step, found: other)
      case (nil, .newerVersion(_, let stored, let known)?):
        .newerVersion(by: step, stored: stored, known: known)
      case (nil, .migrationFailed(_, let version, let error)?):
        .migrationFailed(by: step, from: version, error)
      default: hasState ? .restored(by: step) : .restoredWithoutState(by: step)
      }
  }

  package init(missing reason: Self, withheld: Self?) {
    switch reason {
    // Another element says why.
    case .parentMissing, .stackCut: self = reason
    // A factory that did not see the state cannot veto it, so a withheld state goes first.
    default: self = withheld ?? reason
    }
  }

  /// Whether saves keep an element that has no object for its own sake, and not because the element above is kept.
  ///
  /// What lay in a stack on a node that is not back stays with that one.
  package func isKept(onKeptNode isOnKeptNode: Bool) -> Bool {
    switch self {
    case .vetoed, .parentMissing: false
    case .stackCut: isOnKeptNode
    default: true
    }
  }
}
