internal import ArchiveCodec

/// What is kept, in a save of what has changed: it stays as the last save through everything has
/// stored it, and where something happens to it, everything is asked.
extension PreservationWalk {
  /// Notes what a walk through everything has kept, for the saves of what has changed after it.
  func noteKept() {
    let withheld = rows.findings.outcomes.lazy.filter { $0.value == .keptAsStored }.map(\.key)
    rows.kept.note(
      keeping?.items.map(\.element) ?? [], conditions.keptBound,
      below: Set(rows.kept.numbers.values.compactMap { rows[$0].parent }),
      of: rows.kept.besides.union(withheld))
  }

  /// Whether a change of what some nodes contain may be one of what is kept: an element that is
  /// not back may give its place away or go with the one above it, and a record that stays as it
  /// is stored names other children or another index.
  func isKeptConcerned(by changed: [ChangedParent]) -> Bool {
    guard let kept, !changed.isEmpty else { return false }
    return changed.map(\.number).contains(where: rows.kept.isParent)
      || rows.run.loose.contains(where: rows.kept.isConcerned)
      || kept.hasStates
        && changed.contains { parent in
          ([parent.node] + parent.contents.all).contains { kept.state(of: $0) != nil }
        }
  }

  /// Asks an object whose stored state nobody could read, which stays as long as the object says
  /// what it said when the restore had ended.
  ///
  /// - Returns: Whether the object is one of these.
  /// - Throws: ``NeedsEverything`` if it says something else, or cannot say it.
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
    // A secret that is forgotten was the reason to ask it.
    rows.sensitive.uses[number]?.end = nil
    if info.tracking == .always {
      rows.hearing.said?.noteShape(of: object, rows[number].kind, info, number, objects)
    }
    return true
  }
}
