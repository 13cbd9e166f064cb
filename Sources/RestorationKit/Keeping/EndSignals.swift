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

/// Holds the signals that ask the process to end until what is unsaved is stored.
///
/// What is done for a signal belongs to the process, so all autosaves share this.
enum EndSignals {
  typealias Flush = @Sendable () async -> Void

  /// What was done for a signal before; read where it was written, under the lock.
  private struct Disposition: @unchecked Sendable {
    var action: sigaction
  }

  private struct Held {
    let source: any DispatchSourceSignal
    let before: Disposition
  }

  private struct State {
    var flushes: [ObjectIdentifier: Flush] = [:]
    var held: [Int32: Held] = [:]

    mutating func hold() {
      guard held.isEmpty else { return }
      for number in [SIGTERM, SIGINT, SIGHUP] { held[number] = EndSignals.hold(number) }
    }

    /// Puts back what was done before, so that the next signal is not held.
    mutating func letGo() {
      for (number, held) in held {
        var before = held.before.action
        unsafe sigaction(number, &before, nil)
        held.source.cancel()
      }
      held = [:]
    }
  }

  private static let queue = DispatchQueue(label: "RestorationKit.EndSignals")
  private static let state = Mutex(State())

  static func add(_ owner: ObjectIdentifier, _ flush: @escaping Flush) {
    state.withLock { state in
      state.flushes[owner] = flush
      state.hold()
    }
  }

  static func remove(_ owner: ObjectIdentifier) {
    state.withLock { state in
      guard state.flushes.removeValue(forKey: owner) != nil, state.flushes.isEmpty else { return }
      state.letGo()
    }
  }

  /// Lets a dispatch source have the signal; nil if the process ignores it, as with `nohup`.
  private static func hold(_ number: Int32) -> Held? {
    var before = Disposition(action: sigaction())
    guard unsafe sigaction(number, nil, &before.action) == 0 else { return nil }
    let handler = signal(number, SIG_IGN)
    guard unsafe unsafeBitCast(handler, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self)
    else { return nil }
    let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
    source.setEventHandler { end(with: number) }
    source.resume()
    return Held(source: source, before: before)
  }

  /// Flushes, and lets the signal do what it would have done.
  private static func end(with number: Int32) {
    let flushes = state.withLock { state in
      // A second one ends the process at once.
      state.letGo()
      defer { state.flushes = [:] }
      return Array(state.flushes.values)
    }
    unblock(number)
    Task {
      await withTaskGroup { group in
        for flush in flushes { group.addTask { await flush() } }
      }
      unblock(number)
      kill(getpid(), number)
    }
  }

  /// Lets this thread take a signal: those of dispatch and of tasks block it, and the main
  /// thread may be gone.
  private static func unblock(_ number: Int32) {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, number)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
