internal import ArchiveCodec

/// The polls of an autosave between two saves.
extension StateEngine {
  /// Whether an object can have changed unheard without a poll.
  ///
  /// A poll has nothing to compare with while no save of this launch stands: the state is locked,
  /// in use elsewhere, in conflict, declined, not restored yet, or its last save failed. A save
  /// that stores the state comes first.
  var isPolled: Bool { isBusy || polled != nil }

  /// Whether something is under way between whose parts a poll must not come.
  private var isBusy: Bool { turns.running != nil }

  /// Whether an object that never says when it changes has changed since the last save, as far as
  /// the object can be asked now.
  ///
  /// The poll calls the hooks of these objects and nothing else.
  func findsChange(below roots: () -> [any RestorableNode]) -> Bool {
    guard !isBusy, let polled else { return false }
    return PreservationPoll(rows, polled, types: types, objects: objects)
      .findsChange(below: withValues(roots()))
  }

  private var polled: LastSaid? {
    guard hasTriedToRestore, !isLocked, let said = rows.hearing.said, !said.isEmpty else {
      return nil
    }
    return isInConflict ? nil : said
  }

  /// Whether a restore has failed, and no save has asked the objects since.
  var hasFailedUnheard: Bool {
    guard case .failed = found.lastStatus else { return false }
    return !isBusy && !isLocked && !rows.run.isCommitted
  }

  /// Asks all objects for their states, and hears of their changes from now on; nothing is stored.
  func hear(_ roots: [any RestorableNode]) { rows = heardRows(of: roots) }

  /// Rows that hear all objects from now on, and know of nothing that is stored.
  func heardRows(of roots: [any RestorableNode]) -> Rows {
    let rows = Rows(signal)
    let walk = PreservationWalk(
      rows, objects: objects, limits: settings.limits, secrets: file.secrets,
      PreservationWalk.Conditions(
        nodeLimit: settings.policy.nodeLimit, now: settings.now(), isRehearsal: true,
        remembersSaid: settings.isPolled))
    defer { walk.end() }
    do {
      try walk.walk(withValues(roots), everything: true) { false }
      _ = try walk.finish()
      walk.commit(as: nil)
      return rows
    } catch {
      // The next save reports the error.
      return Rows(signal)
    }
  }
}
