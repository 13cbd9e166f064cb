public import RestorationKit

extension Refusal {
  /// What another machine has stored since this one read the state; nil if something else is in
  /// the way.
  ///
  /// See ``RestorationKit/StateKeeper/resolveConflict(keeping:)``.
  public var conflict: RemoteConflict? { cause as? RemoteConflict }
}

extension PreservationReport {
  /// What another machine has stored since this one read the state, if that is why the save is
  /// not in the store; nil if it is there.
  ///
  /// The store keeps what it has. Until the conflict is resolved, the state that was saved here is
  /// kept here: in the local copy, or else in memory.
  public var conflict: RemoteConflict? {
    if case .refused(let refusal) = outcome { refusal.conflict } else { nil }
  }
}
