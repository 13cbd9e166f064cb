/// Whether states are saved and restored now, and if not, why.
public enum RestorationStatus: Hashable, Sendable {
  /// Nothing was restored yet; call ``StateKeeper/restore(into:)``.
  case notRestoredYet

  /// A restore is under way.
  case restoring

  /// The restore has ended, and saves follow.
  case active

  /// The last restore did not take place. Saves go on, unless the key is locked, the delegate is gone, or
  /// another instance has the state.
  case notRestored(ReportOutcome)

  /// The last restore failed, with this description; saves go on.
  case failed(String)

  /// Nothing could be written, with this description: at the launch, or in the last save.
  case notSaved(String)

  /// False if the last restore did not take place, or nothing can be saved now;
  /// `description` says why.
  public var isActive: Bool { [.notRestoredYet, .restoring, .active].contains(self) }
}

extension RestorationStatus: CustomStringConvertible {
  /// The status in a sentence.
  public var description: String {
    switch self {
    case .notRestoredYet: "Nothing was restored yet. Call restore(into:) at launch."
    case .restoring: "A restore is under way."
    case .active: "Restoration is active."
    case .notRestored(let outcome): "Nothing restored: \(outcome.reason)"
    case .failed(let error): "Nothing was restored. \(error)"
    case .notSaved(let error): "Nothing can be saved now. \(error)"
    }
  }
}
