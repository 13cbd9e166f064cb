internal import ArchiveCodec
internal import Dispatch
internal import Synchronization

/// Decides when an autosave saves.
///
/// The loop of the autosave, its owner and the listeners of changes share the
/// turns, on any threads.
final class AutosaveTurns: Sendable {
  private struct Flush {
    let number: UInt64
    /// Whether a save has begun since the flush was called.
    var isCovered = false
    let told: @Sendable (Bool) -> Void
    /// Nil if the caller has a limit of its own.
    let limit: Task<Void, Never>?

    func end(_ isStored: Bool) {
      limit?.cancel()
      told(isStored)
    }
  }

  /// Counts the changes that were announced.
  private struct Changes {
    /// The beginning is a change, too: only a save makes the objects known that say
    /// when they change.
    var announced: UInt64 = 1
    /// How many of the changes are stored.
    var stored: UInt64 = 0
    /// How many of the changes are settled: no save is tried for them any more.
    var settled: UInt64 = 0
  }

  /// The time after which objects are asked that do not say when they change.
  private struct Timer {
    var isNeeded = false
    /// When the next save is due, in the time since the beginning.
    var next = Duration.zero
    var wait: (number: UInt64, task: Task<Void, Never>)?

    mutating func endWait() {
      wait?.task.cancel()
      wait = nil
    }
  }

  private struct State {
    var changes = Changes()
    var failureCount = 0
    /// The last problem that was told, until a save ends without one.
    var problem: Problem?
    var pause: (number: UInt64, task: Task<Void, Never>)?
    var timer = Timer()
    var flushes: [Flush] = []
    var isStopped = false
    /// The changes that the last save has taken.
    var taken: UInt64 = 0
    var isSaving = false
    /// Whether a timer looks whether the changes are taken in time.
    var isWatched = false
    /// Whether only the keeper still keeps the autosave.
    var isLetGo = false
    var listener: UInt64?
    var lastNumber: UInt64 = 0

    mutating func newNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }

    /// The flushes whose save has not begun; the save that is under way ends the others.
    mutating func takeFlushes() -> [Flush] {
      let taken = flushes.filter { !$0.isCovered }
      flushes.removeAll { !$0.isCovered }
      return taken
    }
  }

  /// A problem, which is told once, however often it comes in a row.
  private enum Problem: Equatable {
    case withheld([PreservationReport.Outcome])
    case failed(RestorationError.Code, ArchiveError.Code?)

    /// Nil if all is stored.
    init?(_ event: Autosave.Event) {
      switch event {
      case .saved: return nil
      case .withheld(let reports): self = .withheld(reports.map(\.outcome))
      case .failed(let error): self = .failed(error.code, error.archive?.code)
      }
    }
  }

  private static let shortestRetry = Duration.milliseconds(250)
  private static let longestRetry = Duration.seconds(30)

  private let signal: ChangeSignal
  private let interval: Duration
  /// The time from one save to the next one, while there are objects that do not say when they change;
  /// nil for no timer.
  private let polling: Duration?
  private let clock: any Clock<Duration>
  /// The time since the autosave began.
  private let elapsed: @Sendable () -> Duration
  private let state = Mutex(State())
  private let wakes: AsyncStream<Void>
  private let waking: AsyncStream<Void>.Continuation

  init(
    _ signal: ChangeSignal, interval: Duration, polling: Duration?, clock: any Clock<Duration>
  ) {
    self.signal = signal
    self.interval = interval
    self.polling = polling.map { max($0, Self.shortestTime).bounded }
    self.clock = clock
    elapsed = Self.elapsed(clock)
    (wakes, waking) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Asking more often would only take time from the app.
  private static let shortestTime = Duration.milliseconds(10)

  private static func elapsed(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  var needsSave: Bool { state.withLock { $0.changes.stored < $0.changes.announced } }

  var isLetGo: Bool { state.withLock(\.isLetGo) }

  // MARK: The loop

  /// An element whenever ``next()`` may have something to do; the sequence ends with ``stop()``.
  func begin() -> AsyncStream<Void> {
    let listener = signal.listen { [weak self] news in
      switch news {
      case .changed, .notStored: self?.change()
      case .stored(let asksByTime): self?.goOn(asksByTime: asksByTime)
      case .discarded: self?.takeBack()
      case .ended: self?.stop()
      }
    }
    state.withLock { $0.listener = listener }
    waking.yield()
    return wakes
  }

  /// How many changes a save takes that is due now; nil if none is due.
  func next() -> UInt64? {
    state.withLock { state in
      guard !state.isStopped else { return nil }
      if !state.flushes.contains(where: { !$0.isCovered }) {
        guard state.pause == nil else { return nil }
        if state.changes.settled == state.changes.announced {
          guard isTimeOver(&state) else { return nil }
          // A save that fails is tried again as after a change.
          state.changes.announced += 1
        }
      }
      state.timer.endWait()
      state.pause?.task.cancel()
      state.pause = nil
      for place in state.flushes.indices { state.flushes[place].isCovered = true }
      (state.taken, state.isSaving) = (state.changes.announced, true)
      return state.changes.announced
    }
  }

  /// Whether the time has come to ask all objects; waits for it otherwise.
  private func isTimeOver(_ state: inout State) -> Bool {
    guard let polling, state.timer.isNeeded, state.timer.wait == nil else { return false }
    let duration = state.timer.next - elapsed()
    guard duration > .zero else { return true }
    let number = state.newNumber()
    let task = Task { [clock, weak self] in
      try? await clock.sleep(for: duration.bounded, tolerance: polling / 4)
      self?.endTimerWait(number)
    }
    state.timer.wait = (number, task)
    return false
  }

  private func endTimerWait(_ number: UInt64) {
    state.withLock { if $0.timer.wait?.number == number { $0.timer.wait = nil } }
    waking.yield()
  }

  private func beginTimer(_ isNeeded: Bool, _ state: inout State) {
    state.timer.isNeeded = isNeeded
    if let polling { state.timer.next = elapsed() + polling }
  }

  /// Notes the result of a save.
  ///
  /// - Parameters:
  ///   - turn: The number of changes that ``next()`` gave for the save.
  ///   - event: The result of the save.
  ///   - asksByTime: Whether there are objects that do not say when they change.
  ///   - isComplete: Whether all that the app has is stored, if the save has succeeded.
  /// - Returns: Whether the app is told: of a save that stored something always, of a
  ///   problem once, and never of a save that had nothing to store.
  func end(
    _ turn: UInt64, _ event: Autosave.Event, asksByTime: Bool, isComplete: Bool
  ) -> Bool {
    let (isTold, ended) = state.withLock { state in
      let problem = Problem(event)
      defer { state.problem = problem }
      state.isSaving = false
      // A discard may have counted more changes as stored meanwhile.
      if problem == nil { state.changes.stored = max(state.changes.stored, turn) }
      if event.isRetried {
        state.failureCount += 1
      } else {
        state.changes.settled = max(state.changes.settled, turn)
        state.failureCount = 0
      }
      beginTimer(asksByTime && problem == nil, &state)
      // Without a pause, nodes that change in every save would be asked again and again.
      let needsPause = problem != nil || event.hasStored || state.changes.announced > turn
      if needsPause, !state.isStopped { state.pause = pause(&state) }
      let ended = state.flushes.filter(\.isCovered)
      state.flushes.removeAll(where: \.isCovered)
      let isTold = problem == nil ? event.hasStored : problem != state.problem
      return (isTold, ended.map { ($0, problem == nil && isComplete) })
    }
    for (flush, isStored) in ended { flush.end(isStored) }
    return isTold
  }

  private func pause(_ state: inout State) -> (UInt64, Task<Void, Never>) {
    var duration = interval
    if state.failureCount > 0 {
      duration = max(duration, Self.shortestRetry)
      let longest = max(interval, Self.longestRetry)
      for _ in 1..<state.failureCount where duration < longest { duration *= 2 }
      duration = min(duration, longest)
    }
    let number = state.newNumber()
    let task = Task { [clock, duration, weak self] in
      try? await clock.sleep(for: duration.bounded)
      self?.endPause(number)
    }
    return (number, task)
  }

  private func endPause(_ number: UInt64) {
    state.withLock { if $0.pause?.number == number { $0.pause = nil } }
    waking.yield()
  }

  // MARK: Changes and flushes

  func change() {
    state.withLock { $0.changes.announced += 1 }
    waking.yield()
    if Problems.isDebugBuild, Problems.isHeard { watch() }
  }

  private static let longestWait = 5
  /// A queue with a thread of its own: a busy actor may have one of the threads that tasks share.
  private static let watching = DispatchQueue(label: "RestorationKit.AutosaveTurns")

  /// Says so when nobody takes a change for long: the loop runs on the actor of the nodes.
  private func watch() {
    let announced = state.withLock { state -> UInt64? in
      if state.isWatched { return nil }
      state.isWatched = true
      return state.changes.announced
    }
    guard let announced else { return }
    Self.watching.asyncAfter(deadline: .now() + .seconds(Self.longestWait)) { [weak self] in
      self?.endWatch(announced)
    }
  }

  private func endWatch(_ announced: UInt64) {
    let (isBusy, hasMore) = state.withLock { state in
      state.isWatched = false
      guard !state.isStopped, !state.isSaving, state.pause == nil else { return (false, false) }
      return (state.taken < announced, state.taken < state.changes.announced)
    }
    if isBusy {
      Problems.say([
        "A change has waited for \(Self.longestWait) seconds to be saved, since the main actor is"
          + " busy. Do what takes long, or waits as readLine() does, off the main actor."
      ])
    } else if hasMore {
      watch()
    }
  }

  /// Notes that the app itself has saved.
  ///
  /// A change that waits for another one is tried again, which also tells whether all is stored.
  private func goOn(asksByTime: Bool) {
    state.withLock { state in
      let isWaiting = state.changes.settled == state.changes.announced
      if isWaiting, state.changes.stored < state.changes.announced { state.changes.announced += 1 }
      if asksByTime, !state.timer.isNeeded { beginTimer(true, &state) }
    }
    waking.yield()
  }

  /// Cancels the save that is due.
  func takeBack() {
    let ended = state.withLock { state in
      (state.changes.stored, state.changes.settled) = (
        state.changes.announced, state.changes.announced
      )
      state.failureCount = 0
      if state.timer.isNeeded { beginTimer(true, &state) }
      return state.takeFlushes()
    }
    for flush in ended { flush.end(false) }
    waking.yield()
  }

  /// Notes that only the keeper still keeps the autosave.
  func letGo() {
    state.withLock { $0.isLetGo = true }
    waking.yield()
  }

  func flush(within limit: Duration) async -> Bool {
    await withCheckedContinuation { waiting in
      flush(within: limit) { waiting.resume(returning: $0) }
    }
  }

  /// Begins a flush, and tells once, on any thread, whether all is stored.
  private func flush(within limit: Duration?, _ told: @escaping @Sendable (Bool) -> Void) {
    let isStopped = state.withLock { state in
      guard !state.isStopped else { return true }
      state.changes.announced += 1
      let number = state.newNumber()
      let limit = limit.map { limit in
        Task { [clock, weak self] in
          try? await clock.sleep(for: limit.bounded)
          self?.giveUp(number)
        }
      }
      state.flushes.append(Flush(number: number, told: told, limit: limit))
      return false
    }
    if isStopped { told(false) } else { waking.yield() }
  }

  private func giveUp(_ number: UInt64) {
    let flush = state.withLock { state in
      state.flushes.firstIndex { $0.number == number }.map { state.flushes.remove(at: $0) }
    }
    flush?.end(false)
  }

  func flushOnSignals(_ signals: Set<EndSignal>, within limit: Duration = .seconds(5)) {
    guard !state.withLock(\.isStopped) else { return }
    EndSignals.add(ObjectIdentifier(self), for: signals, within: limit.bounded) {
      [weak self] told in
      guard let self else { return told(false) }
      self.flush(within: nil, told)
    }
  }

  func stop() {
    EndSignals.remove(ObjectIdentifier(self))
    let (listener, ended) = state.withLock { state in
      state.isStopped = true
      state.pause?.task.cancel()
      state.pause = nil
      state.timer.endWait()
      return (state.listener.take(), state.takeFlushes())
    }
    if let listener { signal.forget(listener) }
    for flush in ended { flush.end(false) }
    waking.finish()
  }
}

extension Autosave.Event {
  /// Whether the disk may later accept the state that it has refused now.
  fileprivate var isRetried: Bool {
    if case .failed(let error) = self { error.code == .archive } else { false }
  }

  /// Whether the save has written anything.
  fileprivate var hasStored: Bool {
    guard case .saved(let reports) = self else { return false }
    return reports.contains { $0.writtenByteCount > 0 }
  }

  /// The event of saves that threw nothing.
  init(_ reports: [PreservationReport]) {
    let isStored = reports.allSatisfy { $0.outcome == .saved }
    self = isStored ? .saved(reports) : .withheld(reports)
  }
}

extension Duration {
  /// The duration, at most a year: a clock adds it to the time, and would trap for any duration.
  var bounded: Duration { min(max(self, .zero), .seconds(365 * 24 * 3600)) }
}
