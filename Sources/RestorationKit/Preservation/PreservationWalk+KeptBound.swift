#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import ArchiveCodec

/// The bound of what is kept: what is over it is dropped in a second walk, since only
/// the first one tells what is still kept.
extension PreservationWalk {
  /// Something that this walk keeps.
  struct KeptItem {
    let record: UInt64
    let element: KeptElement
    let since: Date
  }

  /// The outcome of something that is not kept any more; nil if it is.
  func dropping(
    _ record: UInt64, _ since: Date, _ byteCount: Int
  ) -> PreservationReport.NodeOutcome? {
    if crowdedOut.contains(record) { return .crowdedOut(since: since, byteCount: byteCount) }
    guard let age = keptBound?.age, now.timeIntervalSince(since) > age else { return nil }
    return .expired(since: since, byteCount: byteCount)
  }

  func note(
    _ element: StoredTree.Element, _ reason: RestorationReport.NodeOutcome, isStateAlone: Bool,
    _ since: Date, _ byteCount: Int
  ) {
    keptItems.append(
      KeptItem(
        record: element.record,
        element: KeptElement(
          kind: element.content.kind, path: element.path, className: element.content.className,
          reason: reason, isStateAlone: isStateAlone, since: since, byteCount: byteCount),
        since: since))
  }

  /// Whether the state of an object that nobody could read goes on being kept.
  func keeps(
    _ state: KeptRecords.State, of object: any StateRestoring, _ number: RowNumber
  ) -> Bool {
    guard let kept else { return false }
    let since = kept.firstSave(keeping: state.element, now: now)
    let byteCount = kept.byteCount(of: state)
    guard dropping(state.element.record, since, byteCount) != nil else {
      note(state.element, state.outcome, isStateAlone: true, since, byteCount)
      return true
    }
    rows.note(.keptStateDropped(since: since, byteCount: byteCount), number)
    settlementOfKept.droppedStates.append(object)
    return false
  }

  /// Asks everything, and again without what is kept and has no room.
  func walkEverythingWithinKeptBound(_ roots: [any RestorableNode]) throws {
    guard kept != nil, let most = keptBound?.byteCount else { return try walkEverything(roots) }
    let mark = try builder.mark()
    let notes = rows.notes[nil]
    try walkEverything(roots)
    var byteCount = keptItems.reduce(0) { $0 + $1.element.byteCount }
    guard byteCount > most else { return }
    for item in keptItems.sorted(by: goesFirst) {
      guard byteCount > most else { break }
      byteCount -= item.element.byteCount
      crowdedOut.insert(item.record)
    }
    restoreWasAsked()
    beginAnew(from: mark, notes)
    try walkEverything(roots)
  }

  /// The oldest, and of one age the largest.
  private func goesFirst(_ left: KeptItem, _ right: KeptItem) -> Bool {
    (left.since, right.element.byteCount, left.record)
      < (right.since, left.element.byteCount, right.record)
  }
}
