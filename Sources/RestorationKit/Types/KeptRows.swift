internal import RestorationFoundation

/// The elements and states that the last walk through everything has kept, and their rows.
///
/// A save of changes leaves their records as they are stored. As soon as something happens to a
/// kept element or state, or the bound is another one, everything is asked again.
struct KeptRows {
  /// The elements that are kept below an object; its record names them after the elements that the
  /// object contains now, but for those that have a place in a stack.
  typealias Below = [(role: StoredTree.Role, number: RowNumber, stackPlace: Int?)]

  /// The elements and states that a restore could not bring back; nil if there are none.
  private(set) var records: KeptRecords?
  /// The rows of elements that are not back, by their places in `records`.
  var numbers: [Int: RowNumber] = [:]
  /// The elements that are not back, by the rows whose records name them.
  var below: [RowNumber: Below] = [:]
  /// The rows directly above elements that are not back.
  private var parents: Set<RowNumber> = []
  /// The `parents`, and the rows of objects of which states are kept.
  private var concerned: Set<RowNumber> = []
  /// The `concerned` rows of the walks before this one, since a save was stored.
  private var formerlyConcerned: Set<RowNumber> = []
  /// The kept elements that the report of each save lists.
  private(set) var elements: [KeptElement] = []
  private var bound: KeptBound?
  /// How many objects live to which kept states refer.
  ///
  /// No object says when it goes, so saves compare the count.
  private var livingReferenceCount = 0
  /// The rows that have states kept beside their own.
  var besides: Set<RowNumber> = []

  init(_ records: KeptRecords? = nil) { self.records = records }

  mutating func beginWalk(_ kept: KeptRecords?) {
    if records !== kept { self = KeptRows(kept) }
    formerlyConcerned.formUnion(concerned)
    (below, parents, concerned, elements, besides) = ([:], [], [], [], [])
  }

  /// Notes that the walk is stored.
  mutating func commit() { formerlyConcerned = [] }

  /// Notes the elements and states that a walk through everything has kept.
  ///
  /// - Parameters:
  ///   - elements: The kept elements and states.
  ///   - bound: The bound that was applied to them.
  ///   - parents: The rows directly above elements that are not back.
  ///   - owners: The rows of objects of which states are kept.
  mutating func note(
    _ elements: [KeptElement], _ bound: KeptBound?, below parents: Set<RowNumber>,
    of owners: Set<RowNumber>
  ) {
    (self.elements, self.bound, self.parents) = (elements, bound, parents)
    concerned = parents.union(owners)
    livingReferenceCount = records?.livingReferenceCount ?? 0
  }

  /// Whether all kept elements and states stay, if nothing happens to the rows above them.
  func stays(_ kept: KeptRecords?, _ bound: KeptBound?, at now: Date) -> Bool {
    guard let kept else { return true }
    guard records === kept, bound == self.bound,
      kept.livingReferenceCount == livingReferenceCount
    else { return false }
    guard let bound else { return true }
    return !elements.contains { $0.since.map { bound.hasExpired($0, at: now) } ?? true }
  }

  /// Whether an element that is not back lies directly below a row.
  func isParent(_ number: RowNumber) -> Bool { parents.contains(number) }

  /// Whether an element that is not back lies directly below a row, or its object has kept states.
  func isConcerned(_ number: RowNumber) -> Bool { concerned.contains(number) }

  /// Whether the record of a row may change because of kept elements or states, and not because its
  /// object has changed.
  func changesRecord(of number: RowNumber) -> Bool {
    formerlyConcerned.contains(number) || below[number] != nil
  }
}
