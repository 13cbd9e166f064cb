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
    let id: KeptState.ID
    let element: KeptElement
    /// Since when it counts as kept where more is kept than may be.
    let since: Date
    /// What goes later than others of one age has a greater one.
    var rank = 0

    var share: KeptShare {
      KeptShare(
        since: since, rank: rank, byteCount: element.byteCount, record: id.record, index: id.index)
    }
  }

  /// The outcome of something that is not kept any more; nil if it is.
  func dropping(
    _ id: KeptState.ID, _ since: Date, _ byteCount: Int
  ) -> PreservationReport.NodeOutcome? {
    if crowdedOut.contains(id) { return .crowdedOut(since: since, byteCount: byteCount) }
    guard keptBound?.hasExpired(since, at: now) == true else { return nil }
    return .expired(since: since, byteCount: byteCount)
  }

  /// Says that an element is kept with all below it.
  func note(
    _ element: StoredTree.Element, _ reason: RestorationReport.NodeOutcome, _ since: Date,
    _ byteCount: Int
  ) {
    keptItems.append(
      KeptItem(
        id: KeptState(of: element).id,
        element: KeptElement(
          kind: element.content.kind, path: element.path, className: element.content.className,
          reason: reason, isStateAlone: false, since: since, byteCount: byteCount),
        since: since))
  }

  /// Whether a state of an object that is there goes on being kept; it goes in the turn of one of
  /// the others.
  func keeps(
    _ state: KeptState, because reason: RestorationReport.NodeOutcome,
    of all: KeptRecords.State, _ number: RowNumber, inTurnOf turn: KeptState, rank: Int
  ) -> Bool {
    guard let kept else { return false }
    let since = kept.firstSave(keeping: state, now: now)
    let byteCount = kept.byteCount(of: state)
    guard dropping(state.id, since, byteCount) == nil else {
      drop(state, of: number)
      return false
    }
    keptItems.append(
      KeptItem(
        id: state.id,
        element: KeptElement(
          kind: all.kind, path: all.path, className: state.className, reason: reason,
          isStateAlone: true, since: since, byteCount: byteCount),
        since: kept.firstSave(keeping: turn, now: now), rank: rank))
    return true
  }

  /// Says that a state of an object that is there is not kept any more.
  func drop(_ state: KeptState, of number: RowNumber) {
    guard let kept else { return }
    rows.note(
      .keptStateDropped(
        since: kept.firstSave(keeping: state, now: now), byteCount: kept.byteCount(of: state)),
      number)
  }

  /// Asks everything, and again without what is kept and has no room.
  func walkEverythingWithinKeptBound(_ roots: [any RestorableNode]) throws {
    guard kept != nil, let keptBound else { return try walkEverything(roots) }
    let mark = try builder.mark()
    let notes = rows.notes[nil]
    try walkEverything(roots)
    crowdedOut = Set(keptBound.crowdedOut(of: keptItems.map(\.share)).map { keptItems[$0].id })
    guard !crowdedOut.isEmpty else { return }
    restoreWasAsked()
    beginAnew(from: mark, notes)
    try walkEverything(roots)
  }
}
