internal import ArchiveCodec

internal import RestorationLibc

typealias SignalHandler = @convention(c) (Int32) -> Void

/// Brings numbers, such as those of signals, from any thread and from a signal handler to one thread.
///
/// A handler must not allocate and not lock, so the handler writes into a pipe.
struct SignalWire: Sendable {
  /// What a thread that waits looks at again without a signal.
  static let news: Int32 = 0

  private let output: Int32
  private let input: Int32
  private let process = SystemCall.processIdentifier

  /// Nil if the system gives no pipe.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0, let output = try? SystemCall.moveAboveStandard(ends[0]),
      let input = try? SystemCall.moveAboveStandard(ends[1])
    else { return nil }
    (self.output, self.input) = (output, input)
    for end in [output, input] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // A handler must not wait, even if nobody reads the pipe.
    _ = fcntl(input, F_SETFL, O_NONBLOCK)
  }

  /// Whether the process made the wire, and is no fork of the one that did.
  var isOfThisProcess: Bool { process == SystemCall.processIdentifier }

  /// Writes a number; a signal handler may call it.
  func tell(_ number: Int32) {
    let error = errno
    var number = number
    // A pipe takes so few bytes as a whole or not at all.
    _ = unsafe write(input, &number, MemoryLayout<Int32>.size)
    errno = error
  }

  /// Waits for the next number.
  ///
  /// - Parameter end: When the wait ends; nil for never.
  /// - Returns: The number; ``news`` if none came before the end, or before a signal has ended the wait; nil
  ///   if none can come.
  func next(before end: ContinuousClock.Instant? = nil) -> Int32? {
    var number = Self.news
    var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    let rest = end.map { ContinuousClock.now.duration(to: $0) / .milliseconds(1) }
    // Rounded up, or the last millisecond would be spent in calls.
    let timeout = rest.map { Int32(min(max(0, $0.rounded(.up)), Double(Int32.max))) } ?? -1
    let count = unsafe poll(&request, 1, timeout)
    guard count == 1 else { return count == 0 || errno == EINTR ? Self.news : nil }
    let size = unsafe read(output, &number, MemoryLayout<Int32>.size)
    return size == MemoryLayout<Int32>.size ? number : nil
  }
}

/// A signal that the library handles; the end of the object puts back the handler that the app had.
final class HeldSignal: Sendable {
  private let number: Int32
  private let handler: SignalHandler

  /// The actions that the app had, also for a handler, which must not lock: each is written before its
  /// signal is held, by one thread at a time.
  private nonisolated(unsafe) static let actionsBefore =
    UnsafeMutablePointer<sigaction>.allocate(capacity: 65)

  /// Nil if the process ignores the signal, as with `nohup`: the signal stays ignored.
  init?(_ number: Int32, _ handler: SignalHandler) {
    (self.number, self.handler) = (number, handler)
    unsafe Self.actionsBefore[Int(number)] = Self.action(of: number)
    if Self.address(signal(number, handler)) == Self.address(SIG_IGN) { return nil }
  }

  /// Puts back the handler that was there before, unless somebody has set another one since.
  deinit {
    guard Self.handler(in: Self.action(of: number)) == Self.address(handler) else { return }
    unsafe sigaction(number, &Self.actionsBefore[Int(number)], nil)
  }

  /// Does in a fork of the process what the app did for the signal, when the handler returns; a
  /// signal handler may call it.
  static func takeInFork(_ number: Int32) {
    let error = errno
    unsafe sigaction(number, &actionsBefore[Int(number)], nil)
    raise(number)
    errno = error
  }

  private static func action(of number: Int32) -> sigaction {
    var action = sigaction()
    unsafe sigaction(number, nil, &action)
    return action
  }

  private static func handler(in action: sigaction) -> Int {
    #if canImport(Glibc)
    let handler = unsafe action.__sigaction_handler.sa_handler
    #elseif canImport(Musl)
    let handler = unsafe action.__sa_handler.sa_handler
    #elseif canImport(Android)
    let handler = unsafe action.sa_handler
    #elseif canImport(Darwin)
    let handler = unsafe action.__sigaction_u.__sa_handler
    #endif
    return unsafe unsafeBitCast(handler, to: Int.self)
  }

  private static func address(_ handler: SignalHandler?) -> Int {
    unsafe unsafeBitCast(handler, to: Int.self)
  }
}
