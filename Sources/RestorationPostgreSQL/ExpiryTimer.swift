#if PostgreSQL
internal import Dispatch

/// Tells when the earliest of many times has come.
///
/// Calls end long before their time, and nothing is undone then: their times come in order, so
/// the timer is set anew once in a while and not for each call.
final class ExpiryTimer {
  private let source: any DispatchSourceTimer
  private var next: ContinuousClock.Instant?

  init(on queue: DispatchQueue) {
    source = DispatchSource.makeTimerSource(queue: queue)
  }

  func tell(_ body: @escaping @Sendable () -> Void) {
    source.setEventHandler(handler: body)
    source.activate()
  }

  deinit {
    source.cancel()
  }

  /// Tells at a time, or before.
  func plan(_ time: ContinuousClock.Instant) {
    let now = ContinuousClock.now
    if let next, next > now, next <= time { return }
    next = time
    source.schedule(deadline: .now() + now.seconds(to: time), leeway: .milliseconds(5))
  }
}

extension ContinuousClock.Instant {
  func seconds(to later: ContinuousClock.Instant) -> Double { duration(to: later) / .seconds(1) }
}
#endif
