#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A state that another machine has stored, or removed, since this one read it.
public struct RemoteConflict: Hashable, Codable, Sendable {
  /// Who has saved it, as ``ApplicationEnvironment/deviceName`` said there; nil if that is not
  /// known.
  public let savedBy: String?

  /// When it was saved, by the clock of that machine; nil if that is not known.
  public let savedAt: Date?

  /// Whether it was removed, so that nothing is stored.
  public let isRemoved: Bool

  /// Who has taken the state over, as its ``RemoteLease/owner`` says; nil if nobody has.
  public let takenOverBy: String?

  init(
    savedBy: String? = nil, savedAt: Date? = nil, isRemoved: Bool = false,
    takenOverBy: String? = nil
  ) {
    (self.savedBy, self.savedAt, self.isRemoved) = (savedBy, savedAt, isRemoved)
    self.takenOverBy = takenOverBy
  }
}

extension RemoteConflict: CustomStringConvertible {
  /// Who has done what, and when.
  public var description: String {
    if let takenOverBy { return "\(takenOverBy) has taken over the state" }
    let who = savedBy ?? "another machine"
    let when = savedAt.map { " at \($0)" } ?? ""
    return isRemoved ? "\(who) has removed the state" : "\(who) has saved the state\(when)"
  }
}

/// Which of two states stays when two machines have changed one.
public enum ConflictChoice: Hashable, Sendable {
  /// What the other machine has stored; what was saved here is set aside.
  ///
  /// Restore after that, to bring it back.
  case theirs

  /// What was saved here; what the other machine has stored is set aside.
  case ours
}
