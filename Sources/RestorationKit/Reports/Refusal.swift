/// Why a state is kept on this machine only: the place where the directory keeps its states has
/// something else, and nothing was changed there.
///
/// The module of such a directory says what is in the way. RestorationSharing, whose states several
/// machines share, has the conflict of a refusal.
public struct Refusal: Hashable, Sendable {
  /// What is in the way, in words that complete “Not in the store:”.
  public let reason: String

  /// What the module of the directory reads again, under names of its own.
  package let facts: [String: String]

  package init(_ reason: String, _ facts: [String: String]) {
    (self.reason, self.facts) = (reason, facts)
  }
}

extension Refusal: CustomStringConvertible {
  /// The reason.
  public var description: String { reason }
}
