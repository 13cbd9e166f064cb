internal import Dispatch
internal import Synchronization

internal import RestorationLibc

/// Holds the signals that ask the process to end, until unsaved changes are stored.
///
/// The handlers of signals belong to the process, so all autosaves share this state. A thread of
/// its own takes the signals and ends the process: all threads that tasks share may be blocked.
enum EndSignals {
  /// The signals that ask a process to end: of the system, of Ctrl-C, and of a terminal that is closed.
  static let all: Set<Int32> = [SIGTERM, SIGINT, SIGHUP]

  /// What is flushed, if there is something then.
  typealias Flushed = @Sendable () -> AutosaveTurns?

  private typealias Asked = (signals: Set<Int32>, limit: Duration, flushed: Flushed)

  private struct State {
    var asked: [ObjectIdentifier: Asked] = .init() {
      didSet { hold() }
    }
    var held: [Int32: HeldSignal] = .init()

    /// Holds the signals that autosaves have asked for, and no others; none while signals are sent on.
    mutating func hold() {
      let wanted = isSending.load(ordering: .acquiring) ? [] : asked.values.flatMap(\.signals)
      held = held.filter { wanted.contains($0.key) }
      for signal in wanted where held[signal] == nil {
        held[signal] = HeldSignal(signal, handler)
      }
      wire?.tell(SignalWire.news)
    }
  }

  private static let state = Mutex(State())
  private static let wire = SignalWire()
  /// Whether signals are sent on: a handler that was set later may call ours.
  private static let isSending = Atomic<Bool>(false)
  /// Only writes into a pipe: a signal handler may run anywhere, and must not lock or allocate.
  private static let handler: SignalHandler = { number in
    guard let wire else { return }
    guard wire.isOfThisProcess else { return HeldSignal.takeInFork(number) }
    if !isSending.load(ordering: .acquiring) { wire.tell(number) }
  }

  static func add(
    _ owner: ObjectIdentifier, for signals: Set<Int32>?, within limit: Duration,
    _ flushed: @escaping Flushed
  ) {
    let signals = signals.map(all.intersection) ?? all
    if signals.isEmpty { return remove(owner) }
    guard isListening else { return }
    state.withLock { $0.asked[owner] = (signals, limit, flushed) }
  }

  /// Begins to listen; false if the system gives no pipe, and then signals are not held.
  private static let isListening: Bool = {
    guard let wire else { return false }
    DispatchQueue(label: "RestorationKit.EndSignals").async {
      var endCount: Int32 = 0
      while let number = wire.next() {
        if number == SignalWire.news { takeHeld() }
        // An answer to an end that is over is none.
        guard number > 0 else { continue }
        endCount += 1
        end(with: number, wire, answer: -endCount)
      }
    }
    return true
  }()

  static func remove(_ owner: ObjectIdentifier) {
    state.withLock { if $0.asked[owner] != nil { $0.asked[owner] = nil } }
  }

  /// Lets this thread take the signals that are held, and no others, which an app may wait for itself.
  ///
  /// Dispatch blocks signals in its threads, and the main thread may be gone.
  private static func takeHeld() {
    let held = state.withLock { Set($0.held.keys) }
    for signal in all {
      var signals = sigset_t()
      unsafe sigemptyset(&signals)
      unsafe sigaddset(&signals, signal)
      unsafe pthread_sigmask(held.contains(signal) ? SIG_UNBLOCK : SIG_BLOCK, &signals, nil)
    }
  }

  // MARK: An end

  /// After this time a signal that comes again cuts the end short, and values are stored without their
  /// actor.
  private static let patience = Duration.seconds(1)
  private static let storing = DispatchQueue(label: "RestorationKit.EndSignals.values")

  /// Flushes, and sends all signals that came meanwhile again to the handlers that the app had.
  ///
  /// If these handlers do not end the process, signals are held again.
  ///
  /// - Parameters:
  ///   - signal: The first signal.
  ///   - wire: Brings other signals, and an answer of each flush that has ended.
  ///   - answer: The number of such an answer.
  private static func end(with signal: Int32, _ wire: SignalWire, answer: Int32) {
    let asked = state.withLock(\.asked).values.filter { $0.signals.contains(signal) }
    let start = ContinuousClock.now
    let limit = asked.map(\.limit).max() ?? .zero
    let end = start + limit
    let flushed = asked.compactMap { $0.flushed() }
    for turns in flushed { turns.flush { _ in wire.tell(answer) } }
    var flushCount = flushed.count
    var came = [signal]
    var waitEnd = start + min(patience, limit / 2)
    while flushCount > 0, ContinuousClock.now < end, let number = wire.next(before: waitEnd) {
      if waitEnd < end, ContinuousClock.now >= waitEnd {
        waitEnd = end
        // Another signal may come while a disk is slow.
        storing.async { ValuesAtExit.store(within: ContinuousClock.now.duration(to: end)) }
      }
      if number == answer { flushCount -= 1 }
      guard number > 0 else { continue }
      if !came.contains(number) {
        came.append(number)
      } else if start.duration(to: .now) >= patience {
        // A user who asks again does not want to wait any longer.
        break
      }
    }
    LaunchMark.noteSignal()
    isSending.store(true, ordering: .releasing)
    state.withLock { $0.hold() }
    // The handlers have run when the calls return, since the thread takes signals.
    for number in came { raise(number) }
    isSending.store(false, ordering: .releasing)
    state.withLock { $0.hold() }
  }
}
