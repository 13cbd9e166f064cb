public import RestorationFoundation

/// How many moments stay, and for how long.
public struct HistoryBound: Hashable, Sendable {
  /// How many stay of those that a restore may take by itself, by their reasons: by default one that a
  /// shorter archive has replaced, three states of other versions of the app, and no session.
  public var counts = Self.usual
  /// How many bytes all these may have together; each counts whole, also where it takes no space.
  public var byteCount = 1 << 28
  /// The age in seconds under which all others stay; the oldest and the two newest of them stay
  /// whatever their age.
  public var age: TimeInterval = 30 * 24 * 3600

  /// Made once, since each keeper has two bounds.
  private static let usual: [Moment.Reason: Int] = [.replaced: 1, .version: 3]

  /// Creates the bound that holds if none is set.
  public init() {}

  /// The moments that the bound removes, of all in their order.
  ///
  /// The newest one stays, and the newest one that a restore may take and whose bytes lie
  /// elsewhere than those of the stored archive: damage of one file must not reach all.
  ///
  /// - Parameters:
  ///   - all: All moments, the oldest first.
  ///   - now: The time, by the clock of the app.
  /// - Returns: The moments that go.
  package func excess(of all: [Moment], at now: Date) -> [Moment] {
    let elsewhere = all.last { $0.reason.isRestorable && !$0.isOfMain }?.id
    let others = all.filter { !$0.reason.isRestorable }
    let old = Set(
      others.dropFirst().dropLast(2).filter { now.timeIntervalSince($0.date) >= age }.map(\.id))
    var left = counts.mapValues { max(0, $0) }
    var bytes = max(0, byteCount)
    return all.reversed().filter { moment in
      guard moment.reason.isRestorable else { return old.contains(moment.id) }
      left[moment.reason, default: 0] -= 1
      let isOver = left[moment.reason, default: 0] < 0 || moment.byteCount > bytes
      if !isOver { bytes -= moment.byteCount }
      return isOver && moment.id != elsewhere && moment.id != all.last?.id
    }
  }
}

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

/// For how long, and up to what size, saves keep elements that a restore could not bring back.
///
/// An element that is not back counts with all that is kept below it. A state that could
/// not be read counts by itself. Elements over the age go. If the others together have too
/// many bytes, the oldest goes first. The report of the save that drops an element names
/// it with its age and size.
///
/// The age is counted from the first save that kept the element, by the clock of the
/// keeper. A clock that is set back, or was not set yet, drops nothing.
public struct KeptBound: Hashable, Sendable {
  /// How long an element is kept, in seconds; nil for ever.
  public var age: TimeInterval?

  /// How many bytes of one state are kept; nil for any number.
  public var byteCount: Int?

  /// Creates a bound: by default a year of 365 days, and 8 MiB.
  public init(age: TimeInterval? = 365 * 24 * 60 * 60, byteCount: Int? = 8 << 20) {
    (self.age, self.byteCount) = (age, byteCount)
  }
}
