/// The condition of a local copy at launch, before anything of it is restored.
package struct LocalFinding: Hashable, Sendable {
  package enum File: CaseIterable, Sendable {
    case whole, damaged, missing
  }

  /// How the file relates to the note, which names the last state that was here.
  package enum Note: CaseIterable, Sendable {
    /// The file is that state or a later one; or the file is missing and was removed here.
    case fits
    /// The file is an older state, or one of another history.
    case differs
    /// The state was removed here, and the store has not been told.
    case removed
    /// There is no note, or nobody with the key has written it; or nothing shows that
    /// the file comes from the state that the note names.
    case missing
  }

  package enum Store: CaseIterable, Sendable {
    case empty
    /// The store has a state that the key does not open whole.
    case unreadable
    /// The store has a state: the last known one or another.
    case holding
  }

  package var file: File
  package var note: Note

  package init(file: File, note: Note) { (self.file, self.note) = (file, note) }

  /// The finding for a copy whose state the store has confirmed.
  static let trusted = LocalFinding(file: .whole, note: .fits)

  /// The finding for a copy without a local state.
  package static let nothing = LocalFinding(file: .missing, note: .missing)

  /// The finding for a copy that nobody has read, for want of its key.
  package static let unread = LocalFinding(file: .whole, note: .missing)

  /// The finding for a copy that was removed here.
  package static let removal = LocalFinding(file: .missing, note: .fits)

  /// Whether there is a file that must not replace the state of the store.
  package var isDoubted: Bool {
    file == .damaged || file == .whole && (note == .differs || note == .removed)
  }

  /// The steps that a finding leads to.
  package enum Course: Hashable, Sendable {
    /// The local state goes on, and is sent.
    case goOn
    /// The state of the store replaces the local one.
    case load
    /// The local state goes on, and is never sent: the store's state is in conflict
    /// with the next save.
    case conflict
  }

  /// Chooses the step, once the store has answered.
  package func course(with store: Store) -> Course {
    guard isDoubted else { return .goOn }
    // Somebody has put the file there. The state of the store was to be removed, so it
    // does not come back, either.
    if file == .whole, note == .removed { return .conflict }
    switch store {
    // A state that was never in the store replaces nothing there.
    case .empty where note == .missing: return .goOn
    case .empty, .unreadable: return .conflict
    case .holding: return .load
    }
  }
}
