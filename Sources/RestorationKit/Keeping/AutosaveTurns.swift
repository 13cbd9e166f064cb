internal import ArchiveCodec
internal import Dispatch
internal import Synchronization

/// Decides when an autosave saves.
///
/// The loop of the autosave, its owner and the listeners of changes share the
/// turns, on any threads.
final class AutosaveTurns: Sendable {
  /// The next step of the loop.
  enum Turn {
    /// A save of so many changes.
    case save(UInt64)
    /// A question to the objects that never say when they change.
    case poll
  }

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

  private struct Polls {
    /// Whether there are objects to poll.
    var isNeeded = false
    /// When the next poll is due, in the time since the beginning.
    var next = Duration.zero
    /// The wait for the next poll.
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
    var polls = Polls()
    var flushes: [Flush] = []
    var isStopped = false
    /// Whether a timer looks whether the values have to be stored without their actor.
    var storesValuesSoon = false
    /// The changes that the last save has taken.
    var taken: UInt64 = 0
    var isSaving = false
    /// Whether a timer looks whether the changes are taken in time.
    var isWatched = false
    /// Whether only the keeper or host still keeps the autosave.
    var isLetGo = false
    /// Whether the app has said that it needs a save.
    var isAsked = false
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
  /// The time from one poll, or from a save, to the next poll; nil for no polls.
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
    self.polling = polling.map { max($0, Self.shortestPolling) }
    self.clock = clock
    elapsed = Self.elapsed(clock)
    (wakes, waking) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Polling more often would only take time from the app.
  private static let shortestPolling = Duration.milliseconds(10)

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
      case .stored(let isPolled): self?.goOn(isPolled: isPolled)
      case .discarded: self?.takeBack()
      case .ended: self?.stop()
      }
    }
    state.withLock { $0.listener = listener }
    waking.yield()
    return wakes
  }

  /// The turn that is due now; nil if none is.
  func next() -> Turn? {
    state.withLock { state in
      guard !state.isStopped else { return nil }
      let isDue = state.pause == nil && state.changes.settled < state.changes.announced
      guard isDue || state.flushes.contains(where: { !$0.isCovered }) else {
        return state.pause == nil ? nextPoll(&state) : nil
      }
      state.polls.endWait()
      state.pause?.task.cancel()
      state.pause = nil
      for place in state.flushes.indices { state.flushes[place].isCovered = true }
      (state.taken, state.isSaving) = (state.changes.announced, true)
      return .save(state.changes.announced)
    }
  }

  /// Waits for the next poll, unless it is due.
  private func nextPoll(_ state: inout State) -> Turn? {
    guard let polling, state.polls.isNeeded, state.polls.wait == nil else { return nil }
    let duration = state.polls.next - elapsed()
    guard duration > .zero else { return .poll }
    let number = state.newNumber()
    let task = Task { [clock, weak self] in
      try? await clock.sleep(for: duration.bounded, tolerance: (polling / 4).bounded)
      self?.endPollWait(number)
    }
    state.polls.wait = (number, task)
    return nil
  }

  private func endPollWait(_ number: UInt64) {
    state.withLock { if $0.polls.wait?.number == number { $0.polls.wait = nil } }
    waking.yield()
  }

  /// Notes the result of a poll.
  ///
  /// - Parameters:
  ///   - isPolled: Whether there are objects to poll again.
  ///   - hasChanged: Whether the poll found a change.
  func endPoll(isPolled: Bool, hasChanged: Bool) {
    state.withLock { state in
      beginPolling(isPolled, &state)
      if hasChanged { state.changes.announced += 1 }
    }
  }

  private func beginPolling(_ isPolled: Bool, _ state: inout State) {
    state.polls.isNeeded = isPolled
    if let polling { state.polls.next = elapsed() + polling.bounded }
  }

  /// Notes the result of a save.
  ///
  /// - Parameters:
  ///   - turn: The number of changes that ``next()`` gave for the save.
  ///   - event: The result of the save.
  ///   - isPolled: Whether there are objects to poll until the next save.
  ///   - isComplete: Whether all that the app has is stored, if the save has succeeded.
  /// - Returns: Whether the app is told: of a save that stored something always, of a
  ///   problem once, and never of a save that had nothing to store.
  func end(
    _ turn: UInt64, _ event: Autosave.Event, isPolled: Bool, isComplete: Bool
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
      beginPolling(isPolled, &state)
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

  /// Whether the app has said that something has changed of which nobody else knows.
  var isAsked: Bool { state.withLock(\.isAsked) }

  func ask() {
    state.withLock { $0.isAsked = true }
    change()
  }

  func change() {
    state.withLock { $0.changes.announced += 1 }
    waking.yield()
    if Problems.isDebugBuild, Problems.isHeard { watch() }
    if ValuesAtExit.isBegun { storeValuesSoon() }
  }

  /// Stores the values of the app without their actor if that is so busy that the last change still
  /// waits for its save after a second.
  private func storeValuesSoon() {
    let announced = state.withLock { state -> UInt64? in
      guard !state.storesValuesSoon, !state.isStopped else { return nil }
      state.storesValuesSoon = true
      return state.changes.announced
    }
    guard let announced else { return }
    ValuesAtExit.queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
      self?.storeValues(ifWaiting: announced)
    }
  }

  private func storeValues(ifWaiting announced: UInt64) {
    let (isWaiting, hasMore) = state.withLock { state in
      state.storesValuesSoon = false
      // A disk that refuses the save refuses the values, too.
      guard !state.isStopped, state.failureCount == 0 else { return (false, false) }
      let settled = state.changes.settled
      return (settled < announced, announced <= settled && settled < state.changes.announced)
    }
    if isWaiting { ValuesAtExit.store(within: .seconds(2)) }
    if hasMore { storeValuesSoon() }
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
  private func goOn(isPolled: Bool) {
    state.withLock { state in
      let isWaiting = state.changes.settled == state.changes.announced
      if isWaiting, state.changes.stored < state.changes.announced { state.changes.announced += 1 }
      if isPolled, !state.polls.isNeeded { beginPolling(true, &state) }
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
      beginPolling(true, &state)
      return state.takeFlushes()
    }
    for flush in ended { flush.end(false) }
    waking.yield()
  }

  /// Notes that only the keeper or host still keeps the autosave.
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
      state.polls.endWait()
      return (state.listener.take(), state.takeFlushes())
    }
    if let listener { signal.forget(listener) }
    for flush in ended { flush.end(false) }
    waking.finish()
  }
}

extension Autosave.Event {
  /// Whether the disk, or a store, may later accept the state that it has refused now.
  fileprivate var isRetried: Bool {
    if case .failed(let error) = self { [.archive, .store].contains(error.code) } else { false }
  }

  /// Whether the save has written anything.
  fileprivate var hasStored: Bool {
    guard case .saved(let reports) = self else { return false }
    return reports.contains { $0.writtenByteCount > 0 }
  }

  /// The event of saves that threw nothing.
  init(_ reports: [PreservationReport]) {
    let isStored = reports.allSatisfy { [.saved, .disconnected].contains($0.outcome) }
    self = isStored ? .saved(reports) : .withheld(reports)
  }
}

extension Duration {
  /// The duration, at most a year: a clock adds it to the time, and would trap for any duration.
  var bounded: Duration { min(max(self, .zero), .seconds(365 * 24 * 3600)) }
}
