internal import ArchiveCodec

/// The elements of a restore: the object of each, what has become of it, and the bodies that it is offered.
final class RestoredElements {
  private struct Found {
    var object: (any StateRestoring)?
    var node: (any RestorableNode)?
    var traits: TypeTraits = []
    /// Whether saves keep the element with all below it.
    var isKept = false
  }

  /// The facts that few elements have.
  private struct Extra {
    /// The bodies that the object is still offered, if that is not simply the own one in the current version.
    var choices: ArraySlice<ReadBody> = []
    /// The notes on the body that is offered, or was decoded, come first.
    var notes: [ReportNote] = []
    /// Whether a save would replace fields that were not restored as they are stored.
    var isReplaced = false
    /// Why the body could not be read when somebody asked for it.
    var error: ArchiveError?
    /// Whether saves keep the missing node of a stack; what lay on that one is left out.
    var keepsMissing: Bool?
    /// How many nodes of a stack have each name.
    var nameCounts: [String: Int]?
  }

  private struct Tables {
    var outcomes: SlotTable<ElementOutcome?>
    var found: SlotTable<Found>
    var extras: [Int32: Extra] = [:]
  }

  let document: Document
  private let paths: StoredPaths
  private let readBody: (UInt64) throws(ArchiveError) -> KeyedDecoder?
  private lazy var slots = document.slotsByIdentifier
  // The tables belong to one run, which is at one element at a time (benchmark: restore 10,000 nodes).
  @safe @exclusivity(unchecked) private var tables: Tables
  private var claimed: KeyTable
  /// Finds the objects of elements that this restore does not restore.
  var other: (Int32) -> (any StateRestoring)? = { _ in nil }
  /// The tabs that were selected, and are not back.
  var tabsToCome: [(tabs: any RestorableTabs, id: UInt64)] = []

  /// With a count of places of 0, the tables have what they are given, as for a part of the document.
  init(
    _ document: Document, placeCount: Int,
    _ readBody: @escaping (UInt64) throws(ArchiveError) -> KeyedDecoder?
  ) {
    (self.document, self.readBody, paths) = (document, readBody, StoredPaths(document))
    tables = Tables(
      outcomes: SlotTable(nil, placeCount: placeCount),
      found: SlotTable(Found(), placeCount: placeCount))
    claimed = KeyTable(expecting: placeCount)
    tables.outcomes[Document.tree] = .restored(by: .delegate)
  }

  var outcomes: SlotTable<ElementOutcome?> { _read { yield tables.outcomes } }

  @inline(__always)
  private func extra(_ slot: Int32) -> Extra? { tables.extras.isEmpty ? nil : tables.extras[slot] }

  // MARK: Objects

  func object(at slot: Int32) -> (any StateRestoring)? { tables.found[slot].object }

  func node(at slot: Int32) -> (any RestorableNode)? { tables.found[slot].node }

  func traits(of slot: Int32) -> TypeTraits { tables.found[slot].traits }

  func isBack(_ slot: Int32) -> Bool { slot == Document.tree || object(at: slot) != nil }

  /// The object of an element, if it is of the class that was saved.
  func decodable(at slot: Int32) -> (any StateRestoring)? {
    tables.outcomes[slot]?.isDecodable == true ? object(at: slot) : nil
  }

  /// Whether saves have to know the object of an element as that; a node may be of another class.
  func isKnown(_ slot: Int32) -> Bool {
    guard let outcome = tables.outcomes[slot] else { return false }
    // The app itself has made the object of an element that is left out.
    if outcome == .skipped { return true }
    if isKept(slot) { return false }
    return outcome.isDecodable || outcome.isBack && document[slot].place.role.kind == .node
  }

  /// Notes the object of an element; returns the element that it is already, if that is another one.
  @discardableResult
  func claim(
    _ object: any StateRestoring, _ node: (any RestorableNode)?, at slot: Int32
  ) -> Int32? {
    let key = UInt64(addressOf: object)
    if let other = claimed[key] { return other == slot ? nil : other }
    claimed.set(key, slot)
    (tables.found[slot].object, tables.found[slot].node) = (object, node)
    return nil
  }

  /// Notes an object that may be that of other elements, too.
  func set(
    _ object: any StateRestoring, _ node: (any RestorableNode)? = nil, at slot: Int32
  ) { (tables.found[slot].object, tables.found[slot].node) = (object, node) }

  func contains(_ object: any StateRestoring) -> Bool { claimed[UInt64(addressOf: object)] != nil }

  /// Lets all objects go; coders that hooks have kept find nothing any more.
  func forget() {
    (tables.found, other, tabsToCome) = (SlotTable(Found(), placeCount: 0), { _ in nil }, [])
  }

  // MARK: Outcomes

  /// Decides what becomes of an element whose object a step has provided.
  func settle(_ known: FormReader.Known, by step: RestorationReport.Step, at slot: Int32) {
    tables.outcomes[slot] = ElementOutcome(
      by: step, otherClass: known.otherClass, withheld: choice(at: slot)?.withheld,
      hasState: !document[slot].place.lacksState)
    tables.found[slot].traits = known.info.traits
    if known.otherClass == nil { noteMigration(slot) }
  }

  private func noteMigration(_ slot: Int32) {
    if let version = choice(at: slot)?.migratedFrom { note(.migrated(from: version), slot) }
  }

  /// Decides what becomes of an element that has no object.
  func settle(missing reason: ElementOutcome, at slot: Int32) {
    let outcome = ElementOutcome(missing: reason, withheld: choice(at: slot)?.withheld)
    let isKept = outcome.isKept(onKeptNode: keepsMissing(below: slot) ?? false)
    (tables.outcomes[slot], tables.found[slot].isKept) = (outcome, isKept)
    guard let stack = container(of: slot, that: .stack) else { return }
    let isCut = tables.extras[stack]?.keepsMissing
    // A node whose class this version does not know is as if it had not been in the stack, unless the
    // number that tells it from an equal sibling would pass to that one.
    if case .unknownRestorationClass = reason, isCut == nil, hasOwnName(slot, in: stack) { return }
    tables.extras[stack, default: Extra()].keepsMissing = isCut == true || isKept
  }

  /// Whether saves keep the missing node on which an element lay in a stack; nil if no node of the
  /// stack is missing so far.
  func keepsMissing(below slot: Int32) -> Bool? {
    tables.extras.isEmpty
      ? nil : container(of: slot, that: .stack).flatMap { extra($0)?.keepsMissing }
  }

  /// The node that contains an element, if it has a trait.
  func container(of slot: Int32, that trait: TypeTraits) -> Int32? {
    let parent = document[slot].place.parent
    return document[slot].place.role == .child && traits(of: parent).contains(trait) ? parent : nil
  }

  private func hasOwnName(_ slot: Int32, in stack: Int32) -> Bool {
    let counts =
      tables.extras[stack]?.nameCounts
      ?? document[stack].children.reduce(into: [:]) { $0[document[$1].place.name, default: 0] += 1 }
    tables.extras[stack, default: Extra()].nameCounts = counts
    return counts[document[slot].place.name] == 1
  }

  /// Notes that the object of an element could not be decoded.
  func endDecoding(_ slot: Int32, throwing error: any Error) {
    guard let step = tables.outcomes[slot]?.step else { return }
    tables.outcomes[slot] = .decodeFailed(by: step, error.reason)
  }

  func isKept(_ slot: Int32) -> Bool { tables.found[slot].isKept }

  func keep(_ slot: Int32) { tables.found[slot].isKept = true }

  func note(_ note: ReportNote, _ slot: Int32) {
    tables.extras[slot, default: Extra()].notes.append(note)
  }

  func notes(of slot: Int32) -> [ReportNote] { extra(slot)?.notes ?? [] }

  // MARK: Bodies

  /// Offers an object some bodies, one after the other.
  func offer(_ choices: ArraySlice<ReadBody>, at slot: Int32) {
    tables.extras[slot, default: Extra()].choices = choices
  }

  /// Goes on to the next body that is offered; false if there is none.
  func offerNext(at slot: Int32) -> Bool {
    guard let extra = extra(slot), extra.choices.count > 1, let step = tables.outcomes[slot]?.step
    else { return false }
    (tables.extras[slot], tables.outcomes[slot]) = (
      Extra(choices: extra.choices.dropFirst()), .restored(by: step)
    )
    noteMigration(slot)
    return true
  }

  /// The body that is offered now; nil if that is the own one in the current version.
  func choice(at slot: Int32) -> ReadBody? { extra(slot)?.choices.first }

  /// Whether the object of an element has something to read.
  func hasReadableState(_ slot: Int32) -> Bool {
    !document[slot].place.lacksState && choice(at: slot)?.withheld == nil
  }

  func isReplaced(_ slot: Int32) -> Bool { extra(slot)?.isReplaced == true }

  /// Throws the error of the body, if it could not be read.
  func checkBody(of slot: Int32) throws {
    if let error = extra(slot)?.error { throw error }
  }

  func body(_ record: UInt64, of slot: Int32) -> KeyedDecoder? {
    do throws(ArchiveError) {
      return try readBody(record)
    } catch {
      tables.extras[slot, default: Extra()].error = error
      return nil
    }
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

  /// The app's values of an element; nil if none are stored.
  func state(at slot: Int32) -> KeyedDecoder? {
    if let choice = choice(at: slot) { return choice.body }
    return document[slot].body == .none ? nil : body(document[slot].bodyRecord, of: slot)
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
