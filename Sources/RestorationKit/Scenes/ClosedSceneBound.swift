public import RestorationFoundation

/// Which closed scenes can be opened again.
public struct ClosedSceneBound: Hashable, Sendable {
  /// How many; the one that was closed first goes first.
  public var count: Int

  /// How long after they were closed, in seconds.
  ///
  /// A scene that was closed in the future, by a clock that was set back, stays.
  public var age: TimeInterval

  /// Creates a bound; by default ten scenes can be opened again for a day.
  ///
  /// - Parameters:
  ///   - count: How many; less than 1 is none.
  ///   - age: How long after they were closed, in seconds.
  public init(count: Int = 10, age: TimeInterval = 24 * 3600) {
    self.count = count
    self.age = age
  }
}
