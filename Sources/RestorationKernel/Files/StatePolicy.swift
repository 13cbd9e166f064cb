public import RestorationFoundation

/// What a keeper stores, keeps, and leaves out.
public struct StatePolicy: Sendable {
  /// How long, and how much, of what nobody has claimed or read stays stored; nil bounds nothing.
  public var keptBound: KeptBound? = KeptBound()

  /// How many older states stay beside the state, and for how long.
  public var historyBound = HistoryBound()

  /// How many nodes, views and objects a save meets at most; with more it throws `tooManyNodes`.
  public var nodeLimit = 1 << 22

  /// A state that is older, in seconds, is not restored; nil restores a state of any age.
  public var maximumAge: TimeInterval?

  /// How many launches in a row must crash while they restore before one leaves something out.
  public var crashThreshold = 2

  /// What becomes of a second instance of the app.
  public var instances = InstancePolicy.numbered

  /// Creates a policy with the values that stand here.
  public init() {}
}
