internal import RestorationFoundation
public import RestorationKit

/// A conflict as the library passes it on, which knows nothing of other machines.
extension RemoteConflict {
  private enum Fact {
    static let savedBy = "savedBy"
    static let savedAt = "savedAt"
    static let isRemoved = "isRemoved"
    static let takenOverBy = "takenOverBy"
  }

  package var refusal: Refusal {
    var facts = [Fact.isRemoved: "\(isRemoved)"]
    facts[Fact.savedBy] = savedBy
    facts[Fact.savedAt] = savedAt.map { "\($0.timeIntervalSinceReferenceDate)" }
    facts[Fact.takenOverBy] = takenOverBy
    return Refusal(description, facts)
  }

  fileprivate init?(_ refusal: Refusal) {
    let facts = refusal.facts
    guard let isRemoved = facts[Fact.isRemoved].flatMap(Bool.init) else { return nil }
    self.init(
      savedBy: facts[Fact.savedBy],
      savedAt: facts[Fact.savedAt].flatMap(Double.init).map(
        Date.init(timeIntervalSinceReferenceDate:)),
      isRemoved: isRemoved, takenOverBy: facts[Fact.takenOverBy])
  }
}

extension Refusal {
  /// What another machine has stored since this one read the state; nil if something else is in
  /// the way.
  ///
  /// See ``RestorationKit/StateKeeper/resolveConflict(keeping:)``.
  public var conflict: RemoteConflict? { RemoteConflict(self) }
}

extension PreservationReport {
  /// What another machine has stored since this one read the state, if that is why the save is
  /// not in the store; nil if it is there.
  ///
  /// The store keeps what it has. Until the conflict is resolved, the state that was saved here is
  /// kept here: in the local copy, or else in memory.
  public var conflict: RemoteConflict? {
    guard case .refused(let refusal) = outcome else { return nil }
    return refusal.conflict
  }
}
