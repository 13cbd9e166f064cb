/// What a launch finds of a local copy, before anything of it is restored.
package struct LocalFinding: Hashable, Sendable {
  package enum File: CaseIterable, Sendable {
    case whole, damaged, missing
  }

  /// How the file stands to the note of what was here last.
  package enum Note: CaseIterable, Sendable {
    /// It is that state, or one that came after it; or it is missing and was removed here.
    case fits
    /// It is an older one, or one of another history.
    case differs
    /// The state was removed here, and the store has not heard of it.
    case removed
    /// There is no note, or nobody with the key has written it; or nothing shows that the file
    /// comes from what it names.
    case missing
  }

  package enum Store: CaseIterable, Sendable {
    case unreachable, empty
    /// It has a state that the key does not open whole.
    case unreadable
    /// It has a state, the one that was known last or another.
    case holding
  }

  package var file: File
  package var note: Note
  /// Whether all subkeys are here that were here last, as far as is known.
  package var hasSubkeys: Bool

  package init(file: File, note: Note, hasSubkeys: Bool) {
    (self.file, self.note, self.hasSubkeys) = (file, note, hasSubkeys)
  }

  /// Of a copy that the store has answered for.
  static let trusted = LocalFinding(file: .whole, note: .fits, hasSubkeys: true)

  /// Whether there is a file that must not take the place of what the store has.
  package var isDoubted: Bool {
    file == .damaged || file == .whole && (note == .differs || note == .removed)
  }

  /// Whether the store is asked before anything is restored.
  package var asksStore: Bool {
    file == .missing ? note != .fits : isDoubted || !hasSubkeys && note == .fits
  }

  /// What is done about it.
  package enum Course: Hashable, Sendable {
    /// What is here goes on, and is sent.
    case goOn
    /// The state goes on, with the subkeys of the store.
    case loadSubkeys
    /// The state of the store comes in place of what is here.
    case load
    /// What is here goes on, and is never sent: the store's state is in conflict with the next
    /// save.
    case conflict
    /// Nothing is here to go on with.
    case wait
  }

  /// Decides what is done, once it is known what the store has.
  package func course(with store: Store) -> Course {
    guard asksStore else { return .goOn }
    // Somebody has put it there. What the store has was to go, so it does not come back, either.
    if file == .whole, note == .removed { return .conflict }
    switch store {
    case .unreachable where file == .missing: return .wait
    case .unreachable: return .conflict
    case .empty, .unreadable:
      guard isDoubted else { return file == .missing ? .load : .goOn }
      // What was never in the store is in nobody's place there.
      return store == .empty && note == .missing ? .goOn : .conflict
    case .holding: return isDoubted || file == .missing ? .load : .loadSubkeys
    }
  }
}
