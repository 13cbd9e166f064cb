#if PostgreSQL
/// How long to wait before a server is tried again.
///
/// Twice as long each time, and by chance between a half and all of that: many processes that
/// lost one server do not come back at the same moment.
package struct Backoff {
  private static let first = Duration.milliseconds(50)
  private static let longest = Duration.seconds(4)

  private var failureCount = 0

  /// When to try again; nil if that may be at once.
  package private(set) var earliest: ContinuousClock.Instant?

  package init() {}

  package mutating func noteFailure(at time: ContinuousClock.Instant) {
    let longest = min(Self.first * (1 << min(failureCount, 10)), Self.longest)
    failureCount += 1
    earliest = time + longest * Double.random(in: 0.5...1)
  }

  package mutating func noteSuccess() {
    self = Backoff()
  }

  /// Whether the last try has failed, so that one at a time is enough.
  var isActive: Bool { failureCount > 0 }
}
#endif
