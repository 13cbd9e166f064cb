public import RestorationFoundation
internal import RestorationKit

/// A state that another machine has stored, or removed, since this one read it.
public struct RemoteConflict: Hashable, Sendable {
  /// The machine that saved the state, as ``/RestorationKit/ApplicationEnvironment/deviceName`` said
  /// there; nil if it is not known.
  public let savedBy: String?

  /// When the state was saved, by the clock of that machine; nil if the time is not known.
  public let savedAt: Date?

  /// Whether the state was removed, so that nothing is stored.
  public let isRemoved: Bool

  /// The ``RemoteLease/owner`` that has taken the state over; nil if nobody has.
  public let takenOverBy: String?

  package init(
    savedBy: String? = nil, savedAt: Date? = nil, isRemoved: Bool = false,
    takenOverBy: String? = nil
  ) {
    (self.savedBy, self.savedAt, self.isRemoved) = (savedBy, savedAt?.ifNumber, isRemoved)
    self.takenOverBy = takenOverBy
  }
}

extension RemoteConflict: CustomStringConvertible {
  /// The machine, its change, and the time of the change.
  public var description: String {
    if let takenOverBy { return "\(takenOverBy) has taken over the state" }
    let who = savedBy ?? "another machine"
    let when = savedAt.map { " at \($0)" } ?? ""
    return isRemoved ? "\(who) has removed the state" : "\(who) has saved the state\(when)"
  }
}

/// Which of two states stays when two machines have changed one.
public enum ConflictChoice: Hashable, Sendable {
  /// The state that the other machine has stored stays; the state saved here goes to the history.
  ///
  /// Restore afterwards to bring the other state back.
  case theirs

  /// The state saved here stays; the state that the other machine has stored goes to the history.
  case ours
}
