#if PostgreSQL
package import Dispatch

/// Tells when the earliest of many times has come.
///
/// Calls end long before their time, and nothing is undone then: their times come in order, so
/// the timer is set anew once in a while and not for each call.
package final class ExpiryTimer {
  private let source: any DispatchSourceTimer
  /// By the clock of the timer, which stops while the machine sleeps.
  private var next: DispatchTime?

  package init(on queue: DispatchQueue) {
    source = DispatchSource.makeTimerSource(queue: queue)
  }

  /// - Parameter body: Is called on the queue, and says first that it was.
  package func tell(_ body: @escaping @Sendable () -> Void) {
    source.setEventHandler(handler: body)
    source.activate()
  }

  /// Notes that it has told.
  package func noteTold() { next = nil }

  deinit {
    source.cancel()
  }

  /// Tells at a time, or before.
  ///
  /// One that has come and is not told yet stays: a timer that is set anew forgets it.
  package func plan(_ time: ContinuousClock.Instant) {
    let deadline = DispatchTime.now() + ContinuousClock.now.seconds(to: time)
    if let next, next <= deadline { return }
    next = deadline
    source.schedule(deadline: deadline, leeway: .milliseconds(5))
  }
}

extension ContinuousClock.Instant {
  func seconds(to later: ContinuousClock.Instant) -> Double { duration(to: later) / .seconds(1) }
}
#endif
