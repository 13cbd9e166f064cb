internal import Dispatch
internal import Synchronization

internal import RestorationLibc

/// A signal that asks a process to end.
public enum EndSignal: CaseIterable, Hashable, Sendable {
  /// SIGTERM: the system, a service manager or `kill` ends the process.
  case terminate
  /// SIGINT: the user presses Ctrl-C.
  case interrupt
  /// SIGHUP: the terminal is closed.
  case hangup

  fileprivate init?(_ number: Int32) {
    guard let signal = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = signal
  }

  fileprivate var number: Int32 {
    switch self {
    case .terminate: SIGTERM
    case .interrupt: SIGINT
    case .hangup: SIGHUP
    }
  }
}

/// Holds the signals that ask the process to end, until unsaved changes are stored.
///
/// The handlers of signals belong to the process, so all autosaves share this state. A thread of
/// its own takes the signals and ends the process: all threads that tasks share may be blocked.
enum EndSignals {
  /// Begins to store changes, and tells once, on any thread, whether they are stored.
  typealias Flush = @Sendable (_ told: @escaping @Sendable (Bool) -> Void) -> Void

  private struct Asked {
    let signals: Set<EndSignal>
    let limit: Duration
    let flush: Flush
  }

  private struct State {
    var asked: [ObjectIdentifier: Asked] = [:]
    var held: [EndSignal: HeldSignal] = [:]
    /// While signals are sent on, none is held.
    var isSending = false
    /// The number of the last end; an answer to an earlier one does not count.
    var endNumber: UInt64 = 0
    /// How many flushes have not ended.
    var flushCount = 0
    var isAllStored = true
    /// Whether the values are being stored without their actor; nil as long as nobody has begun.
    var storesValues: Bool?

    var isOver: Bool { flushCount == 0 && (isAllStored || storesValues == false) }

    /// Holds the signals that autosaves have asked for, and no others.
    mutating func hold() {
      let wanted = isSending ? [] : Set(asked.values.flatMap(\.signals))
      held = held.filter { wanted.contains($0.key) }
      for signal in wanted where held[signal] == nil {
        held[signal] = HeldSignal(signal.number, EndSignals.handler)
      }
    }
  }

  private static let state = Mutex(State())
  private static let wire = SignalWire()
  /// Whether a signal is sent on: a handler that was set later may call ours.
  private static let isSending = Atomic<Bool>(false)
  /// Only writes into a pipe: a signal handler may run anywhere, and must not lock or allocate.
  private static let handler: SignalHandler = { number in
    guard let wire else { return }
    guard wire.isOfThisProcess else { return HeldSignal.takeInFork(number) }
    if !isSending.load(ordering: .acquiring) { wire.tell(number) }
  }

  static func add(
    _ owner: ObjectIdentifier, for signals: Set<EndSignal>, within limit: Duration,
    _ flush: @escaping Flush
  ) {
    guard isListening else { return }
    state.withLock { state in
      state.asked[owner] = Asked(signals: signals, limit: limit, flush: flush)
      state.hold()
    }
  }

  /// Begins to listen; false if the system gives no pipe, and then signals are not held.
  private static let isListening: Bool = {
    guard let wire else { return false }
    DispatchQueue(label: "RestorationKit.EndSignals").async {
      // Dispatch blocks signals in its threads, and the main thread may be gone, so
      // this thread takes them.
      unblock(EndSignal.allCases.map(\.number))
      while let number = wire.next() {
        if let signal = EndSignal(number) { end(with: signal, wire) }
      }
    }
    return true
  }()

  static func remove(_ owner: ObjectIdentifier) {
    state.withLock { state in
      if state.asked.removeValue(forKey: owner) != nil { state.hold() }
    }
  }

  // MARK: An end

  /// After this time a signal that comes again cuts the end short, and the values are stored
  /// without their actor if that is busy.
  private static let patience = Duration.seconds(1)

  /// Flushes, and sends all signals that came meanwhile again to the handlers that the app had.
  ///
  /// If these handlers do not end the process, signals are held again.
  private static func end(with signal: EndSignal, _ wire: SignalWire) {
    // The signal came when nobody held it any more.
    guard let limit = flush(for: signal, wire) else { return send(signal.number) }
    let start = ContinuousClock.now
    let end = start + limit
    var waitEnd = start + min(patience, limit / 2)
    var came = [(signal: signal, time: start)]
    while !state.withLock(\.isOver), ContinuousClock.now < end {
      if ContinuousClock.now >= waitEnd || state.withLock({ $0.flushCount == 0 }) {
        storeValues(before: end, wire)
        waitEnd = end
      }
      guard let number = wire.next(before: waitEnd) else { break }
      guard let signal = EndSignal(number) else { continue }
      guard let first = came.first(where: { $0.signal == signal }) else {
        came.append((signal, .now))
        continue
      }
      // A user who asks again does not want to wait any longer.
      if first.time.duration(to: .now) >= patience { break }
    }
    LaunchNote.noteSignal()
    state.withLock { state in
      state.isSending = true
      state.hold()
    }
    for (signal, _) in came { send(signal.number) }
    state.withLock { state in
      state.isSending = false
      state.hold()
    }
  }

  /// Begins the flushes of a signal; returns the longest limit, nil if nobody holds the signal.
  private static func flush(for signal: EndSignal, _ wire: SignalWire) -> Duration? {
    let begun = state.withLock { state -> (number: UInt64, asked: [Asked])? in
      guard state.held[signal] != nil else { return nil }
      let asked = state.asked.values.filter { $0.signals.contains(signal) }
      state.endNumber += 1
      (state.flushCount, state.isAllStored, state.storesValues) = (asked.count, true, nil)
      return (state.endNumber, asked)
    }
    guard let begun else { return nil }
    for one in begun.asked {
      one.flush { isStored in
        state.withLock { state in
          guard state.endNumber == begun.number else { return }
          state.flushCount -= 1
          if !isStored { state.isAllStored = false }
        }
        wire.tell(SignalWire.news)
      }
    }
    return begun.asked.map(\.limit).max() ?? .zero
  }

  /// Begins to store the values, unless that has begun.
  private static func storeValues(before end: ContinuousClock.Instant, _ wire: SignalWire) {
    let number = state.withLock { state -> UInt64? in
      guard state.storesValues == nil else { return nil }
      state.storesValues = true
      return state.endNumber
    }
    guard let number else { return }
    ValuesAtExit.queue.async {
      ValuesAtExit.store(within: ContinuousClock.now.duration(to: end))
      state.withLock { if $0.endNumber == number { $0.storesValues = false } }
      wire.tell(SignalWire.news)
    }
  }

  /// Sends a signal to this thread, and returns when its handler has: tasks block signals.
  private static func send(_ number: Int32) {
    let before = unblock([number])
    isSending.store(true, ordering: .releasing)
    raise(number)
    isSending.store(false, ordering: .releasing)
    var mask = before
    unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
  }

  /// Lets this thread take signals.
  ///
  /// - Returns: The signals that the thread blocked before.
  @discardableResult
  private static func unblock(_ numbers: [Int32]) -> sigset_t {
    var (signals, before) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&signals)
    for number in numbers { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, &before)
    return before
  }
}
