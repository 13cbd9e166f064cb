import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Glibc
#endif

/// Signals, noted by a handler that does nothing but write to an atomic and a pipe.
package enum Signals {
  private static let endings = [SIGTERM, SIGINT, SIGHUP]
  private static let firstEnding = Atomic<Int32>(0)
  private static let pipeEntrance = Atomic<Int32>(-1)

  /// The first signal that asked the program to end.
  static var ending: Int32? {
    let signal = firstEnding.load(ordering: .relaxed)
    return signal == 0 ? nil : signal
  }

  /// From now on signals that ask the program to end are noted, not obeyed.
  package static func holdEndings() {
    // The atomics are made here, before a handler can need them.
    firstEnding.store(0, ordering: .relaxed)
    _ = pipeEntrance.load(ordering: .relaxed)
    for number in endings { signal(number) { Signals.note($0) } }
  }

  /// Also notes what happens to the terminal, and writes a byte to a pipe for each signal.
  ///
  /// - Returns: The end of the pipe to read the signal numbers from.
  static func openPipe() -> Int32? {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    pipeEntrance.store(ends[1], ordering: .relaxed)
    for number in [SIGWINCH, SIGCONT, SIGTSTP] { signal(number) { Signals.note($0) } }
    return ends[0]
  }

  /// Stops all processes of the job, as a terminal does, and returns when they go on.
  static func stopJob() {
    // This process is not stopped with the others: another thread could take that signal, and this
    // one go on for a while.
    signal(SIGTSTP, SIG_IGN)
    kill(0, SIGTSTP)
    signal(SIGTSTP, SIG_DFL)
    unblockStop()
    raise(SIGTSTP)
    signal(SIGTSTP) { Signals.note($0) }
  }

  /// The threads on which Swift runs tasks block signals.
  private static func unblockStop() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGTSTP)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  private static func note(_ number: Int32) {
    let interruptedErrno = errno
    if number != SIGWINCH, number != SIGCONT, number != SIGTSTP {
      _ = firstEnding.compareExchange(expected: 0, desired: number, ordering: .relaxed)
    }
    var byte = UInt8(truncatingIfNeeded: number)
    _ = unsafe write(pipeEntrance.load(ordering: .relaxed), &byte, 1)
    errno = interruptedErrno
  }
}
