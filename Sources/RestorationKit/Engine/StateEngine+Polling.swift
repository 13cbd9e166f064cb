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
  func hear(_ roots: [any RestorableNode]) { rows = heardRows(of: withValues(roots)) }

  /// Notes that the state could not be read, and what the app has until then, if it may be read later.
  func noteUnread(_ error: ArchiveError?, hearing roots: [any RestorableNode]) {
    found.unread = error.flatMap { $0.mayPass ? $0 : nil }
    guard found.unread != nil else { return }
    values?.store.noteUnread()
    rows = heardRows(of: roots, remembersSaid: true)
  }

  /// Whether the stored state could not be read, may be read now, and the app has changed nothing since.
  func isUnreadAndUnchanged(below roots: () -> [any RestorableNode]) -> Bool {
    guard found.unread != nil, let said = rows.hearing.said, rows.hearing.changes.isEmpty,
      values?.store.hasChanged != true
    else { return false }
    return !PreservationPoll(rows, said, types: types, objects: objects)
      .findsChange(below: roots())
  }

  /// Rows that hear all objects from now on, and know of nothing that is stored.
  func heardRows(of roots: [any RestorableNode], remembersSaid: Bool = false) -> Rows {
    let rows = Rows(signal)
    let walk = PreservationWalk(
      rows, objects: objects, limits: settings.limits,
      PreservationWalk.Conditions(
        nodeLimit: settings.policy.nodeLimit, now: settings.now(), isRehearsal: true,
        remembersSaid: remembersSaid || settings.isPolled))
    defer { walk.end() }
    do {
      try walk.walk(roots, everything: true)
      _ = try walk.finish()
      walk.commit(as: nil)
      return rows
    } catch {
      // The next save reports the error.
      return Rows(signal)
    }
  }
}
