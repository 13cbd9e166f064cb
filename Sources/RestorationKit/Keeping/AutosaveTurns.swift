internal import ArchiveCodec
internal import Dispatch
internal import Synchronization

/// Decides when an autosave saves.
///
/// The loop of the autosave, its keeper and those who tell changes share the turns, on any threads.
package final class AutosaveTurns: Sendable {
  /// Hears once, on any thread, whether all is stored.
  package typealias Answer = @Sendable (Bool) -> Void

  /// Times are counted from the beginning.
  package struct State {
    /// When the first of the changes came that no save has taken; nil if there is none.
    package var dueSince: Duration?
    /// How long after a save that has failed it is tried again; nil if it is not.
    ///
    /// The beginning is as such a save: only a save makes the objects known that say when they change.
    package var retry: Duration? = .zero
    /// Why the last save has stored nothing; nil if it has, or was taken back.
    var problem: String?
    /// No save begins before, but for a flush.
    package var notBefore = Duration.zero
    /// When objects are asked that do not say when they change; nil if there is none, or if what
    /// they say would not be stored.
    package var askAt: Duration?
    /// The wait for the next of these times.
    var wait: Task<Void, Never>?
    /// The flushes whose save has not begun.
    package var flushes: [Answer] = []
    package var isStopped = false
    /// Whether a save is under way that was not taken back.
    var isSaving = false

    package init() {}

    /// Whether something is not stored that has changed.
    var needsSave: Bool { dueSince != nil || retry != nil || problem != nil || isSaving }

    /// When a save is due, or when it is known whether one is; nil if only a change or a flush brings that.
    package func nextTime(at now: Duration) -> Duration? {
      if isStopped { return nil }
      if !flushes.isEmpty { return now }
      if notBefore > now { return notBefore }
      return dueSince != nil || retry != nil ? now : askAt
    }
  }

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
    // Asking more often would only take time from the app.
    self.polling = polling.map { max($0, .milliseconds(10)).bounded }
    self.clock = clock
    elapsed = Self.elapsed(clock)
    (wakes, waking) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    wake()
  }

  private static func elapsed(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  var needsSave: Bool { state.withLock(\.needsSave) }

  var isStopped: Bool { state.withLock(\.isStopped) }

  /// Lets the loop look whether it has something to do.
  func wake() { waking.yield() }

  // MARK: Saves

  /// Begins the save that is due, and gives its flushes; nil if none is due: the loop is woken when one may be.
  // A copy of it in each part of the asynchronous loop would be 7 KB of code.
  @inline(never) func next() -> [Answer]? {
    state.withLock { state in
      let now = elapsed()
      guard let time = state.nextTime(at: now) else { return nil }
      state.wait?.cancel()
      if time <= now {
        defer { state.flushes = [] }
        (state.dueSince, state.notBefore, state.isSaving) = (nil, .zero, true)
        return state.flushes
      }
      let tolerance = time == state.askAt ? polling.map { $0 / 4 } : nil
      state.wait = Task { [clock, weak self] in
        // A wait that is cancelled wakes nobody.
        guard (try? await clock.sleep(for: time - now, tolerance: tolerance)) != nil else { return }
        self?.wake()
      }
      return nil
    }
  }

  /// Notes the result of a save.
  ///
  /// - Parameters:
  ///   - result: The result of the save; nil before a restore.
  ///   - asksByTime: Whether there are objects that do not say when they change.
  ///   - flushes: The flushes of the save.
  /// - Returns: Whether the app is told: of a save that stored something always, of a
  ///   problem once, and never of a save that had nothing to store.
  func end(
    _ result: Result<PreservationReport, RestorationError>?, asksByTime: Bool, _ flushes: [Answer]
  ) -> Bool {
    var (problem, hasStored, isComplete, isRetried) = (String?.none, false, false, false)
    switch result {
    case nil: problem = "before a restore"
    case .success(let report) where report.outcome == .saved:
      hasStored = report.writtenByteCount > 0
      isComplete = report.isComplete
    case .success(let report): problem = "\(report.outcome)"
    case .failure(let error):
      problem = "\((error.code, error.archive?.code))"
      // The disk may later accept what it has refused now.
      isRetried = error.code == .archive || error.code == .store
    }
    defer { for flush in flushes { flush(isComplete) } }
    return state.withLock { state in
      let isTold = problem == nil ? hasStored : problem != state.problem
      // A save that a discard has taken back is not tried again, and says nothing of the next one.
      if state.isSaving {
        let next = max((state.retry ?? .zero) * 2, interval, .milliseconds(250))
        state.retry = isRetried ? min(next, max(interval, .seconds(30))) : nil
        (state.problem, state.isSaving) = (problem, false)
      }
      state.askAt = asksByTime && state.problem == nil ? nextQuestion : nil
      // Without a pause, nodes that change in every save would be asked again and again.
      if problem != nil || hasStored || state.dueSince != nil {
        state.notBefore = elapsed() + (state.retry ?? interval)
      }
      return isTold
    }
  }

  private var nextQuestion: Duration? { polling.map { elapsed() + $0 } }

  /// Notes that the app itself has saved: the autosave tries what is not stored, and asks by time what that save
  /// has met.
  func goOn(isStored: Bool, asksByTime: Bool) {
    let isDue = state.withLock { state in
      !isStored || state.needsSave || asksByTime && polling != nil && state.askAt == nil
    }
    if isDue { change() }
  }

  /// Cancels the save that is due, and the one that is under way is not tried again.
  func takeBack() {
    endFlushes { state in
      (state.dueSince, state.retry, state.problem, state.isSaving) = (nil, nil, nil, false)
      // A save that finds nobody to ask by time ends that.
      state.askAt = nextQuestion
    }
    wake()
  }

  // MARK: Changes

  private static let longestWait = 5
  /// A queue with a thread of its own: a busy actor may have one of the threads that tasks share.
  private static let watching = DispatchQueue(label: "RestorationKit.AutosaveTurns")

  func change() {
    let now = elapsed()
    let isFirst = state.withLock { state in
      defer { state.dueSince = state.dueSince ?? now }
      return state.dueSince == nil
    }
    wake()
    if isFirst, ValuesAtExit.isNeeded || Problems.isDebugBuild && Problems.isHeard {
      watch(now, RestorationSession.current.values)
    }
  }

  /// Looks each second whether a change still waits, and stores values without their actor then.
  private func watch(_ since: Duration, _ values: ValueTable, _ second: Int = 1) {
    Self.watching.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
      guard let self else { return }
      let end = elapsed()
      // The loop, which runs on the actor of the nodes, takes what is due.
      let (isOver, isWaiting) = state.withLock {
        ($0.dueSince != since || $0.isStopped, !$0.isSaving && $0.nextTime(at: end) == end)
      }
      if isOver { return }
      guard isWaiting else { return watch(since, values, second) }
      ValuesAtExit.store(values, within: .seconds(2))
      if second == Self.longestWait {
        Problems.say([
          "A change has waited for \(second) seconds to be saved, since the main actor is"
            + " busy. Do what takes long, or waits as readLine() does, off the main actor."
        ])
      }
      watch(since, values, second + 1)
    }
  }

  // MARK: Flushes and the end

  func flush(within limit: Duration) async -> Bool {
    let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
    flush { answer.yield($0) }
    let wait = Task { [clock] in
      try? await clock.sleep(for: limit.bounded)
      answer.yield(false)
    }
    defer { wait.cancel() }
    // To cancel the task of the caller does not end the wait.
    return await Task { await answers.first { _ in true } ?? false }.value
  }

  /// Saves as soon as no other save is under way.
  func flush(_ answer: @escaping Answer) {
    state.withLock { $0.flushes.append(answer) }
    // The autosave may have ended.
    if case .terminated = waking.yield() { endFlushes() }
  }

  func stop() {
    EndSignals.remove(ObjectIdentifier(self))
    waking.finish()
    endFlushes { state in
      state.isStopped = true
      state.wait?.cancel()
    }
  }

  /// Ends the flushes whose save has not begun.
  private func endFlushes(_ change: (inout State) -> Void = { _ in }) {
    let flushes = state.withLock { state in
      defer { state.flushes = [] }
      change(&state)
      return state.flushes
    }
    for flush in flushes { flush(false) }
  }
}

extension Duration {
  /// The duration, at most a year: a clock adds it to the time, and would trap for any duration.
  var bounded: Duration { min(max(self, .zero), .seconds(365 * 24 * 3600)) }
}
