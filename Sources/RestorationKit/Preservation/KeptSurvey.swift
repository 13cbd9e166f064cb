internal import ArchiveCodec
internal import RestorationFoundation

/// The findings of a save, while it asks the app, about elements and states that a restore could
/// not bring back.
///
/// The fate of these elements is decided when all objects of the app are in their places: only then
/// is it known which kept elements nobody has claimed, and so which of the elements have room.
struct KeptSurvey {
  /// Something to decide about.
  enum Undecided {
    /// An element that is not back, with all below it, below a row.
    case element(index: Int, parent: RowNumber?)
    /// An object that is there, whose record has kept states or names kept elements.
    case object(DeferredRecord)
  }

  let records: KeptRecords
  let bound: KeptBound?
  /// The kept elements that nobody has claimed, by the names that would claim them.
  private var unclaimed: [Sibling: Int] = [:]
  /// The objects that have claimed kept elements.
  private(set) var claims: [Int: any StateRestoring] = [:]
  /// The places of the claimed elements, by the objects that have claimed them.
  private var places: [ObjectIdentifier: Int] = [:]
  /// The names of kept elements that are claimed, or go on being kept.
  private var names: Set<Sibling> = []
  private var undecided: [Undecided] = []
  /// Elements below nothing, and those that only a reference reaches, come after all others.
  private var last: [Undecided] = []
  /// All elements and states that are kept, as far as it is decided.
  var items: [KeptItem] = []
  /// The changes that the keeper makes when the save is written.
  var settlement = KeptRecords.Settlement()
  /// The elements that are kept no more: no reference names them.
  private(set) var dropped: Set<Int> = []
  /// The states that are kept beside states that were stored last.
  var besideLast: [RowNumber: KeyedDecoder] = [:]

  init(_ records: KeptRecords, _ bound: KeptBound?) {
    (self.records, self.bound) = (records, bound)
  }

  /// Meets an element that is not back; an object with its name claims it until all is decided.
  mutating func meet(_ index: Int, below parent: RowNumber?) {
    guard let element = records[index]?.element else { return }
    let name = Sibling(element.content, below: parent)
    if unclaimed[name] == nil { unclaimed[name] = index }
    if parent == nil || element.role == .referred {
      last.append(.element(index: index, parent: parent))
    } else {
      undecided.append(.element(index: index, parent: parent))
    }
  }

  /// Lets an object claim the kept element of its name.
  ///
  /// - Returns: The places of the elements that are kept below the claimed one, and are kept below
  ///   the object from now on.
  mutating func claim(_ name: Sibling, by object: any StateRestoring) -> [Int] {
    guard let index = unclaimed.removeValue(forKey: name) else { return [] }
    names.insert(name)
    claims[index] = object
    places[ObjectIdentifier(object)] = index
    return records[index]?.children ?? []
  }

  /// Takes the name of an element that goes on being kept; false if another kept element has the
  /// name.
  ///
  /// Two kept elements can have one name where an object has claimed a kept element and had kept
  /// elements below itself.
  mutating func takeName(_ name: Sibling) -> Bool { names.insert(name).inserted }

  /// Keeps an element no more, nor those below it.
  mutating func drop(_ index: Int) {
    settlement.dropped.append(index)
    dropped.formUnion(records.subtree(of: index))
  }

  mutating func add(_ record: DeferredRecord) { undecided.append(.object(record)) }

  /// The states that are kept of an object, with those of the element that it claims; nil if none
  /// are.
  func state(of object: any StateRestoring) -> KeptRecords.State? {
    let own = records.state(of: object)
    guard let claimed = places[ObjectIdentifier(object)].flatMap({ records.state(of: $0) }) else {
      return own
    }
    guard var state = own else { return claimed }
    state.beside += claimed.all
    return state
  }

  /// Takes all that is still to be decided; nobody can claim any of it after this.
  mutating func takeUndecided() -> [Undecided] {
    defer { (unclaimed, undecided, last) = ([:], [], []) }
    return (undecided + last).filter { next in
      if case .element(let index, _) = next { claims[index] == nil } else { true }
    }
  }

  mutating func letGo() { (claims, places, undecided, settlement) = ([:], [:], [], .init()) }

  /// The candidates that have no room beside the items that are decided already.
  ///
  /// - Complexity: O(*n* log *n*) in all items.
  func crowdedOut(of candidates: [KeptItem]) -> Set<KeptState.ID> {
    guard var bound, let most = bound.byteCount else { return [] }
    bound.byteCount = max(0, most - items.reduce(0) { $0 + $1.element.byteCount })
    return Set(bound.crowdedOut(of: candidates.map(\.share)).map { candidates[$0].id })
  }

  /// The changes that the keeper makes when the save is written, once all objects have their
  /// records.
  ///
  /// A kept element goes when an object is stored in its place, and not before: an object that
  /// could not be encoded has replaced nothing.
  func settlement(isSaved: (any StateRestoring) -> Bool) -> KeptRecords.Settlement {
    KeptRecords.Settlement(
      replaced: claims.filter { isSaved($0.value) }.map { (index: $0.key, object: $0.value) },
      dropped: settlement.dropped, droppedStates: settlement.droppedStates,
      // For an object that is not saved after all, the other kept states stay as they were.
      states: settlement.states.filter { isSaved($0.object) })
  }
}

/// Something that a save keeps.
struct KeptItem {
  let id: KeptState.ID
  let element: KeptElement
  /// Since when the item counts as kept, if more is kept than may be.
  let since: Date
  /// Of items of one age, the item with the greater rank goes later.
  var rank = 0

  var share: KeptShare {
    KeptShare(
      since: since, rank: rank, byteCount: element.byteCount, record: id.record, index: id.index)
  }
}
