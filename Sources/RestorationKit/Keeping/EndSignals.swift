internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#elseif canImport(Darwin)
internal import Darwin
#endif

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
/// The handlers of signals belong to the process, so all autosaves share this state.
enum EndSignals {
  typealias Flush = @Sendable () async -> Void

  private struct Asked {
    let signals: Set<EndSignal>
    let flush: Flush
  }

  private struct State {
    var asked: [ObjectIdentifier: Asked] = [:]
    var held: [EndSignal: HeldSignal] = [:]
    /// During a flush no signal is held: a second one goes through at once.
    var isEnding = false

    /// Holds the signals that autosaves have asked for, and no others.
    mutating func hold() {
      let wanted = isEnding ? [] : Set(asked.values.flatMap(\.signals))
      for (signal, held) in held where !wanted.contains(signal) {
        held.letGo()
        self.held[signal] = nil
      }
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
    if !isSending.load(ordering: .acquiring) { wire?.tell(number) }
  }

  static func add(
    _ owner: ObjectIdentifier, for signals: Set<EndSignal>, _ flush: @escaping Flush
  ) {
    guard isListening else { return }
    state.withLock { state in
      state.asked[owner] = Asked(signals: signals, flush: flush)
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
        if let signal = EndSignal(number) { end(with: signal) }
      }
    }
    return true
  }()

  static func remove(_ owner: ObjectIdentifier) {
    state.withLock { state in
      if state.asked.removeValue(forKey: owner) != nil { state.hold() }
    }
  }

  /// Flushes, and sends the signal again to the handler that the app had.
  ///
  /// If that handler does not end the process, signals are held again.
  private static func end(with signal: EndSignal) {
    let flushes = state.withLock { state -> [Flush]? in
      guard state.held[signal] != nil else { return nil }
      state.isEnding = true
      state.hold()
      return state.asked.values.filter { $0.signals.contains(signal) }.map(\.flush)
    }
    // The signal came when nobody held it any more.
    guard let flushes else { return send(signal.number) }
    Task {
      await withTaskGroup { group in
        for flush in flushes { group.addTask { await flush() } }
      }
      send(signal.number)
      state.withLock { state in
        state.isEnding = false
        state.hold()
      }
    }
  }

  /// Sends a signal to this thread, and returns when its handler has: tasks block signals.
  private static func send(_ number: Int32) {
    Problems.printWaiting()
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
