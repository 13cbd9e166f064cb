/// Whether states are saved and restored now, and if not, why.
package enum RestorationStatus: Equatable, Sendable {
  case notRestoredYet
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

  /// Why nothing was restored, or nothing can be saved now; nil if neither is so.
  package var problem: String? {
    switch self {
    case .restoring, .active: nil
    case .notRestoredYet: "Nothing was restored yet. Call restore(into:) at launch."
    case .notRestored(let outcome): "Nothing restored: \(outcome.reason)"
    case .failed(let error): "Nothing was restored. \(error)"
    case .notSaved(let error): "Nothing can be saved now. \(error)"
    }
  }
}
