internal import Synchronization

/// A clock that stands still until a test moves it.
package final class TestClock: Clock, Sendable {
  package struct Instant: InstantProtocol {
    package let offset: Duration

    package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    package func duration(to other: Instant) -> Duration { other.offset - offset }
    package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let end: Instant
    let tolerance: Duration?
    let waiting: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [Int: Sleeper] = [:]
    var count = 0
    /// Those who do not sleep any more, before they have begun.
    var cancelled: Set<Int> = []
  }

  private let state = Mutex(State())

  package init() {}

  package var now: Instant { state.withLock(\.now) }
  package var minimumResolution: Duration { .nanoseconds(1) }

  /// How long those who sleep will still do so, the shortest time first.
  package var sleeps: [Duration] {
    state.withLock { state in
      state.sleepers.values.map { state.now.duration(to: $0.end) }.sorted()
    }
  }

  /// How much longer those who sleep may do so, the shortest sleep first.
  package var tolerances: [Duration?] {
    state.withLock { $0.sleepers.values.sorted { $0.end < $1.end }.map(\.tolerance) }
  }

  package func sleep(until end: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiting in
        let isOver: Bool? = state.withLock { state in
          if state.cancelled.remove(number) != nil { return nil }
          if end <= state.now { return true }
          state.sleepers[number] = Sleeper(
            end: end, tolerance: tolerance, waiting: waiting)
          return false
        }
        switch isOver {
        case true?: waiting.resume()
        case nil: waiting.resume(throwing: CancellationError())
        default: break
        }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: number)
        if sleeper == nil { state.cancelled.insert(number) }
        return sleeper
      }
      sleeper?.waiting.resume(throwing: CancellationError())
    }
  }

  /// Moves on, and wakes those whose time is over.
  package func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let woken = state.sleepers.filter { $0.value.end <= state.now }
      for number in woken.keys { state.sleepers[number] = nil }
      return woken.values.sorted { $0.end < $1.end }
    }
    for sleeper in woken { sleeper.waiting.resume() }
  }
}
