/// Whether states are saved and restored now, and if not, why.
public enum RestorationStatus: Hashable, Sendable {
  /// Nothing was restored yet; call ``StateKeeper/restore(into:)``.
  case notRestoredYet

  /// A restore is under way, or work that it announced.
  case restoring

  /// The restore has ended, and saves follow.
  case active

  /// The delegate is gone; nothing is saved or restored.
  case delegateGone

  /// The key is locked; nothing is saved until a restore succeeds.
  case locked

  /// Restoring crashed too often, so the state was set aside; saves go on.
  case crashed(setAsideAt: String?)

  /// The state is older than ``StatePolicy/maximumAge``, so it was not restored; saves go on.
  case tooOld(setAsideAt: String?)

  /// The restore gate said no; saves go on.
  case declined

  /// Another instance of the app has the state; a save goes on when that one
  /// has let go.
  case inUse(by: String?)

  /// The last restore failed, with this description; saves go on.
  case failed(String)

  /// Nothing could be written, with this description: at the launch, or in the last save.
  case notSaved(String)

  /// False if the last restore did not take place, or nothing can be saved now;
  /// `description` says why.
  public var isActive: Bool { [.notRestoredYet, .restoring, .active].contains(self) }

  /// Creates the status that a restore leaves behind.
  init(after outcome: RestorationReport.Outcome) {
    switch outcome {
    case .restored, .noArchive, .nothingKept: self = .active
    case .declined: self = .declined
    // The keeper says by itself when the delegate is gone.
    case .delegateGone: self = .notRestoredYet
    case .locked: self = .locked
    case .crashed(let location): self = .crashed(setAsideAt: location)
    case .tooOld(let location): self = .tooOld(setAsideAt: location)
    case .inUse(let process): self = .inUse(by: process)
    }
  }
}

extension RestorationStatus: CustomStringConvertible {
  /// The status in a sentence.
  public var description: String {
    switch self {
    case .notRestoredYet: "Nothing was restored yet. Call restore(into:) at launch."
    case .restoring: "A restore is under way."
    case .active: "Restoration is active."
    case .delegateGone:
      "Nothing is saved or restored, because the delegate is gone. Keep it alive, or set it to nil"
        + " to save and restore without one."
    case .locked:
      "Nothing is saved or restored, because the key is locked. Restore again when it is unlocked."
    case .crashed(let location):
      "Nothing was restored, because the last restores crashed." + location.setAsideSentence
    case .tooOld(let location):
      "Nothing was restored, because the state is older than policy.maximumAge."
        + location.setAsideSentence
    case .declined: "Nothing was restored, because the restore gate said no."
    case .inUse(let process):
      "Nothing is restored, because \(process ?? "another instance of the app") has the state."
    case .failed(let error): "Nothing was restored. \(error)"
    case .notSaved(let error): "Nothing can be saved now. \(error)"
    }
  }
}
