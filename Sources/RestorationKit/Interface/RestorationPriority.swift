/// How important it is to store a node when the state is larger than its budget.
///
/// Nodes of a lower priority are left out first; see ``SizeBudget``.
public struct RestorationPriority: RawRepresentable, Hashable, Comparable, Sendable {
  /// The priority as a number: a node with a larger one is left out later.
  public var rawValue: Int

  /// Creates a priority between or beside the named ones.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// 250: a node that the app can make again by itself, such as a preview or a result of a search.
  public static let low = RestorationPriority(rawValue: 250)

  /// 500: the priority of a root that names none.
  public static let normal = RestorationPriority(rawValue: 500)

  /// 750: a node that holds the user's work.
  public static let high = RestorationPriority(rawValue: 750)

  /// 1000 and more: the node is never left out, nor are the nodes above it.
  public static let required = RestorationPriority(rawValue: 1000)

  /// Whether a node of the first priority is left out before a node of the second.
  public static func < (left: RestorationPriority, right: RestorationPriority) -> Bool {
    left.rawValue < right.rawValue
  }
}
