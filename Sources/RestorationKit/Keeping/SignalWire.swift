#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#elseif canImport(Darwin)
internal import Darwin
#endif

typealias SignalHandler = @convention(c) (Int32) -> Void

/// Brings the numbers of signals from a signal handler to a thread.
///
/// A handler must not allocate and not lock, so the handler writes into a pipe.
struct SignalWire: Sendable {
  private let output: Int32
  private let input: Int32

  /// Nil if the system gives no pipe.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    (output, input) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // A handler must not wait, even if nobody reads the pipe.
    _ = fcntl(input, F_SETFL, O_NONBLOCK)
  }

  /// Writes a number; a signal handler may call it.
  func tell(_ number: Int32) {
    let error = errno
    var number = number
    // A pipe takes so few bytes as a whole or not at all.
    _ = unsafe write(input, &number, MemoryLayout<Int32>.size)
    errno = error
  }

  /// Waits for the next number; nil if there can be none.
  func next() -> Int32? {
    var number: Int32 = 0
    while true {
      let count = unsafe read(output, &number, MemoryLayout<Int32>.size)
      if count == MemoryLayout<Int32>.size { return number }
      guard count < 0, errno == EINTR else { return nil }
    }
  }
}

/// A signal that the library handles, until the handler that the app had is put back.
struct HeldSignal: @unchecked Sendable {
  private let number: Int32
  // A plain value of C: its pointers lead to code, which never changes.
  private let before: sigaction
  private let handler: Int

  /// Nil if the process ignores the signal, as with `nohup`: the signal stays ignored.
  init?(_ number: Int32, _ handler: SignalHandler) {
    self.number = number
    before = Self.action(of: number)
    let previous = signal(number, handler)
    self.handler = Self.handler(in: Self.action(of: number))
    if unsafe unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
      letGo()
      return nil
    }
  }

  /// Puts back the handler that was there before, unless somebody has set another one since.
  func letGo() {
    guard Self.handler(in: Self.action(of: number)) == handler else { return }
    var before = before
    unsafe sigaction(number, &before, nil)
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
}
