internal import ArchiveCodec
internal import Dispatch
internal import Synchronization

/// Decides when an autosave saves.
///
/// The loop of the autosave, its keeper and those who tell changes share the turns, on any threads.
final class AutosaveTurns: Sendable {
  /// Ends a flush, and tells whether all is stored.
  private typealias EndOfFlush = @Sendable (Bool) -> Void

  /// Times are counted from the beginning.
  private struct State {
    /// How many changes were announced.
    ///
    /// The beginning is one, too: only a save makes the objects known that say when they change.
    var announced: UInt64 = 1
    /// How many of the changes the last save has taken.
    var taken: UInt64 = 0
    /// How many of the changes are stored.
    var stored: UInt64 = 0
    /// How many saves in a row have failed that are tried again.
    var failureCount = 0
    /// The last problem that was told, until a save ends without one.
    var problem: [String]?
    /// No save begins before, but for a flush.
    var notBefore = Duration.zero
    /// When objects are asked that do not say when they change; nil if there is none, or if what
    /// they say would not be stored.
    var askAt: Duration?
    /// The wait for one of these times.
    var wait: (end: Duration, task: Task<Void, Never>)?
    /// By their numbers among the changes; a save that takes the change ends the flush.
    var flushes: [UInt64: EndOfFlush] = [:]
    var isStopped = false
    var isSaving = false

    /// Whether a save has to be tried: for a new change, or once more.
    var isDue: Bool { taken < announced || failureCount > 0 }

    mutating func endWait() {
      wait?.task.cancel()
      wait = nil
    }
  }

  private static let shortestRetry = Duration.milliseconds(250)
  private static let longestRetry = Duration.seconds(30)
  /// Asking more often would only take time from the app.
  private static let shortestTime = Duration.milliseconds(10)

  private let interval: Duration
  /// The time from one save to the next one, while there are objects that do not say when they change;
  /// nil for no timer.
  private let polling: Duration?
  private let clock: any Clock<Duration>
  /// The time since the autosave began.
  private let elapsed: @Sendable () -> Duration
  private let state = Mutex(State())
  /// An element whenever ``next()`` may have something to do; the sequence ends with ``stop()``.
  let wakes: AsyncStream<Void>
  private let waking: AsyncStream<Void>.Continuation

  init(interval: Duration, polling: Duration?, clock: any Clock<Duration>) {
    self.interval = interval.bounded
    self.polling = polling.map { max($0, Self.shortestTime).bounded }
    self.clock = clock
    elapsed = Self.elapsed(clock)
    (wakes, waking) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    wake()
  }

  private static func elapsed(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  var needsSave: Bool { state.withLock { $0.stored < $0.announced } }

  /// Lets the loop look whether it has something to do.
  func wake() { waking.yield() }

  // MARK: Saves

  /// How many changes a save takes that is due now; nil if none is due.
  func next() -> UInt64? {
    state.withLock { state in
      guard !state.isStopped else { return nil }
      if state.flushes.isEmpty {
        guard isOver(state.notBefore, nil, &state) else { return nil }
        if !state.isDue {
          guard let askAt = state.askAt, isOver(askAt, polling.map { $0 / 4 }, &state) else {
            return nil
          }
          // A save that fails is tried again as after a change.
          state.announced += 1
        }
      }
      state.endWait()
      state.notBefore = .zero
      (state.taken, state.isSaving) = (state.announced, true)
      return state.taken
    }
  }

  /// Whether a time is over; waits for it otherwise.
  private func isOver(_ end: Duration, _ tolerance: Duration?, _ state: inout State) -> Bool {
    let duration = end - elapsed()
    guard duration > .zero else { return true }
    guard state.wait?.end != end else { return false }
    state.endWait()
    let task = Task { [clock, weak self] in
      try? await clock.sleep(for: duration, tolerance: tolerance)
      self?.state.withLock { if !Task.isCancelled { $0.wait = nil } }
      self?.wake()
    }
    state.wait = (end, task)
    return false
  }

  /// Notes the result of a save.
  ///
  /// - Parameters:
  ///   - turn: The number of changes that ``next()`` gave for the save.
  ///   - event: The result of the save.
  ///   - asksByTime: Whether there are objects that do not say when they change.
  /// - Returns: Whether the app is told: of a save that stored something always, of a
  ///   problem once, and never of a save that had nothing to store.
  func end(_ turn: UInt64, _ event: Autosave.Event, asksByTime: Bool) -> Bool {
    let problem = event.problem
    let isTold = state.withLock { state in
      defer { (state.problem, state.isSaving) = (problem, false) }
      // A discard may have counted more changes as stored meanwhile.
      if problem == nil { state.stored = max(state.stored, turn) }
      // A discard meanwhile takes back what would be tried again.
      state.failureCount = event.isRetried && state.taken == turn ? state.failureCount + 1 : 0
      state.askAt = asksByTime && problem == nil ? nextQuestion : nil
      // Without a pause, nodes that change in every save would be asked again and again.
      if problem != nil || event.hasStored || state.announced > turn {
        state.notBefore = elapsed() + pause(afterFailures: state.failureCount)
      }
      return problem == nil ? event.hasStored : problem != state.problem
    }
    endFlushes(taken: true, event.isComplete)
    return isTold
  }

  private var nextQuestion: Duration? { polling.map { elapsed() + $0 } }

  private func pause(afterFailures count: Int) -> Duration {
    guard count > 0 else { return interval }
    let duration = max(interval, Self.shortestRetry) * (1 << min(count - 1, 7))
    return min(duration, max(interval, Self.longestRetry))
  }

  /// Notes that the app itself has saved.
  ///
  /// What was not stored is tried at once. A change that waits for another one is tried again, too, which
  /// also tells whether all is stored.
  func goOn(isStored: Bool, asksByTime: Bool) {
    state.withLock { state in
      let waits = !state.isDue && !state.isSaving && state.stored < state.announced
      if !isStored || waits { state.announced += 1 }
      if isStored, asksByTime { state.askAt = state.askAt ?? nextQuestion }
    }
    wake()
  }

  /// Cancels the save that is due.
  func takeBack() {
    endFlushes(taken: false, false)
    state.withLock { state in
      // The save that is under way is not tried again.
      state.announced += 1
      (state.taken, state.stored, state.failureCount) = (state.announced, state.announced, 0)
      if state.askAt != nil { state.askAt = nextQuestion }
    }
    wake()
  }

  // MARK: Changes

  private static let longestWait = 5
  /// A queue with a thread of its own: a busy actor may have one of the threads that tasks share.
  private static let watching = DispatchQueue(label: "RestorationKit.AutosaveTurns")

  func change() {
    let watched = state.withLock { state -> UInt64? in
      state.announced += 1
      // The first one that no save has taken; before the first save, the first one after the beginning.
      return state.announced == max(state.taken, 1) + 1 ? state.announced : nil
    }
    wake()
    guard let watched, Problems.isDebugBuild, Problems.isHeard else { return }
    Self.watching.asyncAfter(deadline: .now() + .seconds(Self.longestWait)) { [weak self] in
      self?.endWait(ofChange: watched)
    }
  }

  /// Says so when nobody has taken a change: the loop runs on the actor of the nodes.
  private func endWait(ofChange number: UInt64) {
    let isWaiting = state.withLock { state in
      state.taken < number && !state.isStopped && !state.isSaving && state.notBefore <= elapsed()
    }
    guard isWaiting else { return }
    Problems.say([
      "A change has waited for \(Self.longestWait) seconds to be saved, since the main actor is"
        + " busy. Do what takes long, or waits as readLine() does, off the main actor."
    ])
  }

  // MARK: Flushes and the end

  func flush(within limit: Duration) async -> Bool {
    await withCheckedContinuation { waiting in
      flush(within: limit) { waiting.resume(returning: $0) }
    }
  }

  /// Begins a flush, and tells once, on any thread, whether all is stored.
  private func flush(within limit: Duration, _ told: @escaping EndOfFlush) {
    let isStopped = state.withLock { state in
      if state.isStopped { return true }
      state.announced += 1
      let number = state.announced
      let wait = Task { [clock, weak self] in
        try? await clock.sleep(for: limit.bounded)
        self?.state.withLock { $0.flushes.removeValue(forKey: number) }?(false)
      }
      state.flushes[number] = { isStored in
        wait.cancel()
        told(isStored)
      }
      return false
    }
    if isStopped { told(false) } else { wake() }
  }

  /// Ends the flushes whose save has ended, or those whose save has not begun.
  private func endFlushes(taken isTaken: Bool, _ isStored: Bool) {
    let ended = state.withLock { state in
      let found = state.flushes.filter { ($0.key <= state.taken) == isTaken }
      for number in found.keys { state.flushes[number] = nil }
      return found.values
    }
    for end in ended { end(isStored) }
  }

  func flushOnSignals(_ signals: Set<EndSignal>, within limit: Duration = .seconds(5)) {
    guard !state.withLock(\.isStopped) else { return }
    EndSignals.add(ObjectIdentifier(self), for: signals, within: limit.bounded) {
      [weak self] told in
      guard let self else { return told(false) }
      self.flush(within: limit, told)
    }
  }

  func stop() {
    EndSignals.remove(ObjectIdentifier(self))
    state.withLock { state in
      state.isStopped = true
      state.endWait()
    }
    endFlushes(taken: false, false)
    waking.finish()
  }
}

extension Autosave.Event {
  /// Whether the disk may later accept the state that it has refused now.
  fileprivate var isRetried: Bool {
    if case .failed(let error) = self { error.code == .archive } else { false }
  }

  private var saved: [PreservationReport]? {
    if case .saved(let reports) = self { reports } else { nil }
  }

  /// Whether the save has written anything.
  fileprivate var hasStored: Bool { saved?.contains { $0.writtenByteCount > 0 } == true }

  /// Whether all that the app has is stored.
  fileprivate var isComplete: Bool { saved?.allSatisfy(\.isComplete) == true }

  /// What is told once, however often it comes in a row; nil if all is stored.
  fileprivate var problem: [String]? {
    switch self {
    case .saved: nil
    case .withheld(let reports): reports.map { "\($0.outcome)" }
    case .failed(let error): ["\(error.code)", error.archive.map { "\($0.code)" } ?? ""]
    }
  }
}

extension Duration {
  /// The duration, at most a year: a clock adds it to the time, and would trap for any duration.
  var bounded: Duration { min(max(self, .zero), .seconds(365 * 24 * 3600)) }
}
