#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What the last save through everything has kept, and the rows that stand for it.
///
/// A save of what has changed leaves all of it as it is stored. As soon as something happens to
/// it, or to its bound, everything is asked again.
struct KeptRows {
  /// What is kept below an object, which its record names after what it contains now.
  typealias Below = [(role: StoredTree.Role, number: RowNumber)]

  /// What a restore could not bring back; nil if that is nothing.
  private(set) var records: KeptRecords?
  /// The rows of elements that are not back, by their places.
  var numbers: [Int: RowNumber] = [:]
  /// What the records of objects name that is not back.
  var below: [RowNumber: Below] = [:]
  /// The rows directly above elements that are not back.
  private var parents: Set<RowNumber> = []
  /// These, and the rows of objects of which states are kept.
  private var concerned: Set<RowNumber> = []
  /// The same in the walk before.
  private var formerlyConcerned: Set<RowNumber> = []
  /// What the report of each save says that is kept.
  private(set) var elements: [KeptElement] = []
  private var bound: KeptBound?
  /// How many of the objects live to which kept states refer: none says when it goes.
  private var livingReferenceCount = 0
  /// The rows beside whose states others are kept.
  var besides: Set<RowNumber> = []

  init(_ records: KeptRecords? = nil) { self.records = records }

  /// Begins to ask everything.
  mutating func beginWalk(_ kept: KeptRecords?) {
    if records !== kept { self = KeptRows(kept) }
    formerlyConcerned = concerned
    (below, parents, concerned, elements, besides) = ([:], [], [], [], [])
  }

  /// Notes what a save through everything has kept.
  ///
  /// - Parameters:
  ///   - elements: All that is kept.
  ///   - bound: What has bounded it.
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

  /// Whether all that is kept goes on to be so, if nothing happens to what is above it.
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

  /// Whether a row is one of these, or its object has states that are kept.
  func isConcerned(_ number: RowNumber) -> Bool { concerned.contains(number) }

  /// Whether what is stored of a row may change because of what is kept, and not because its
  /// object has changed.
  func changesRecord(of number: RowNumber) -> Bool {
    formerlyConcerned.contains(number) || below[number] != nil
  }
}
