/// What the end of a conflict sets aside: the state that gives way, if there is one.
package enum ConflictAside: Hashable, Sendable {
  case nothing
  /// What is here, also in the store; without a copy that lasts the conflict goes on until the
  /// store has it, since it would be gone with the process.
  case ours(mustBeSent: Bool)
  /// What another machine has stored; the store keeps it under another name.
  case theirs

  /// Decides what is set aside, so that nothing is lost that somebody has saved.
  ///
  /// - Parameters:
  ///   - choice: Which of the two states stays.
  ///   - hasOurs: Whether there is a state here; it may have been discarded.
  ///   - hasTheirs: Whether the store has one; another machine may have discarded it.
  ///   - isCopyLasting: Whether what is here outlasts the process.
  package init(
    _ choice: ConflictChoice, hasOurs: Bool, hasTheirs: Bool, isCopyLasting: Bool
  ) {
    switch choice {
    case .theirs: self = hasOurs ? .ours(mustBeSent: !isCopyLasting) : .nothing
    case .ours: self = hasTheirs ? .theirs : .nothing
    }
  }
}
