/// The state that the end of a conflict sets aside: the one that gives way, if there is one.
package enum ConflictAside: Hashable, Sendable {
  case nothing
  /// The state of this machine, also in the store. Without a copy that lasts, the conflict goes on
  /// until the store has the state: with the process it would be gone.
  case ours(mustBeSent: Bool)
  /// The state that another machine has stored; the store keeps it under another name.
  case theirs

  /// Decides which state is set aside, so that no saved state is lost.
  ///
  /// - Parameters:
  ///   - choice: Which of the two states stays.
  ///   - hasOurs: Whether there is a state here; it may have been discarded.
  ///   - hasTheirs: Whether the store has one; another machine may have discarded it.
  ///   - isCopyLasting: Whether the state of this machine outlasts the process.
  package init(
    _ choice: ConflictChoice, hasOurs: Bool, hasTheirs: Bool, isCopyLasting: Bool
  ) {
    switch choice {
    case .theirs: self = hasOurs ? .ours(mustBeSent: !isCopyLasting) : .nothing
    case .ours: self = hasTheirs ? .theirs : .nothing
    }
  }
}
