/// What became of a save or of a restore as a whole.
public enum ReportOutcome: Hashable, Sendable {
  /// The state is stored.
  case saved

  /// A state was there and was restored, apart from the problems in the entries.
  case restored

  /// Nothing was stored that could be restored.
  case noArchive

  /// Nothing is kept for the node that came late.
  case nothingKept

  /// The gate said no. A save has discarded the older state.
  case declined

  /// The delegate is gone, so nothing was called.
  case delegateGone

  /// The key is locked, or was at the last restore, so nothing was called. The stored state is intact, and
  /// nothing is saved until a restore succeeds.
  case locked

  /// The last restores did not end, so nothing was called. The state was set aside at
  /// the given place.
  case crashed(setAsideAt: String?)

  /// The state is older than ``StatePolicy/maximumAge``, so nothing was called. It was set aside
  /// at the given place, or is still where it was if no launch before has found it too old.
  case tooOld(setAsideAt: String?)

  /// Another instance of the app has the state, so nothing was called or written; the process of
  /// the instance is named if it is known.
  case inUse(by: String?)

  /// Whether the state is there, and is not used for a reason that nobody has chosen.
  var isProblem: Bool {
    switch self {
    case .locked, .inUse, .crashed, .delegateGone: true
    default: false
    }
  }

  /// Why nothing was saved or restored.
  var reason: String {
    switch self {
    case .saved, .restored: ""
    case .noArchive: "there is no saved state."
    case .nothingKept: "nothing is kept for the node. One that is saved replaces it."
    case .declined: "the gate said no."
    case .delegateGone:
      "the delegate is gone. Keep it alive, or set it to nil to go on without one."
    case .locked: "the key is locked. Restore again when it is unlocked."
    case .crashed(let location): "the last restores crashed." + location.setAsideSentence
    case .tooOld(let location):
      "the state is older than policy.maximumAge."
        + (location == nil ? " The next save sets it aside." : location.setAsideSentence)
    case .inUse(let process):
      "\(process ?? "another instance of the app") has the state. End that one, and launch again."
    }
  }
}

extension String? {
  /// The sentence that says where an archive was set aside; empty if none was.
  var setAsideSentence: String {
    map { " What was stored is set aside at \($0)." } ?? ""
  }
}

/// Whether states are saved and restored now, and if not, why.
public enum RestorationStatus: Hashable, Sendable {
  /// Nothing was restored yet; call ``StateKeeper/restore(into:)``.
  case notRestoredYet

  /// A restore is under way, or work that it announced.
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
