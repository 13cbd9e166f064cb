public import RestorationKit

extension PreservationReport {
  /// What another machine has stored since this one read the state, if that is why the save is
  /// not in the store; nil if it is there.
  ///
  /// The store keeps what it has. Until the conflict is resolved, the state that was saved here is
  /// kept here: in the local copy, or else in memory. See
  /// ``RestorationKit/StateKeeper/resolveConflict(keeping:)``.
  public var conflict: RemoteConflict? { refusal?.cause as? RemoteConflict }
}
