internal import ArchiveCodec

/// Kept elements and states in a save of changes: they stay as the last walk through everything has
/// stored them, and where something happens to one of them, everything is asked.
extension PreservationWalk {
  /// Notes the elements and states that a walk through everything has kept, for the saves of
  /// changes after it.
  func noteKept() {
    let withheld = rows.findings.outcomes.lazy.filter { $0.value == .keptAsStored }.map(\.key)
    rows.kept.note(
      keeping?.items.map(\.element) ?? [], conditions.keptBound,
      below: Set(rows.kept.numbers.values.compactMap { rows[$0].parent }),
      of: rows.kept.besides.union(withheld))
  }

  /// Whether a change of the contents of some nodes may be a change of kept elements or states.
  ///
  /// An element that is not back may give its place away or go with the row above it, and a record
  /// that stays as it is stored may name other children or another index.
  func isKeptConcerned(by changed: [ChangedParent]) -> Bool {
    guard let kept, !changed.isEmpty else { return false }
    return changed.map(\.number).contains(where: rows.kept.isParent)
      || rows.run.displaced.contains(where: rows.kept.isConcerned)
      || kept.hasStates
        && changed.contains { parent in
          ([parent.node] + parent.contents.all).contains { kept.state(of: $0) != nil }
        }
  }

  /// Asks an object whose stored state nobody could read, which stays as long as the object says
  /// what it said when the restore had ended.
  ///
  /// - Returns: Whether the stored state of the object stays.
  /// - Throws: ``NeedsEverything`` if the object says something else, or cannot say it.
  func askWithheld(
    _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo
  ) throws(NeedsEverything) -> Bool {
    guard kept?.state(of: object)?.withheld != nil else { return false }
    let isOther: Bool
    do {
      isOther = try isChanged(object, number, info)
    } catch {
      throw NeedsEverything()
    }
    guard !isOther else { throw NeedsEverything() }
    if info.tracking == .always {
      said?.noteShape(of: object, rows[number].kind, info, number, objects)
    }
    return true
  }
}
