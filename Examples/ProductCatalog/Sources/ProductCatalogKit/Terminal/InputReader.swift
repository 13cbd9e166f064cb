import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Waits for keys and signals on a thread of its own.
final class InputReader: Sendable {
  private let signals: Int32
  private let continuation: AsyncStream<InputEvent>.Continuation
  /// Whether a tick waits to be read.
  ///
  /// While one does, there is no need for another.
  private let tickIsPending = Atomic<Bool>(false)

  let events: AsyncStream<InputEvent>

  /// - Parameter signals: The descriptor from which the numbers of signals are read.
  init(signals: Int32) {
    self.signals = signals
    (events, continuation) = AsyncStream.makeStream()
  }

  func acknowledgeTick() {
    tickIsPending.store(false, ordering: .relaxed)
  }

  /// Reads until the input ends or the stream is finished.
  func run() {
    var decoder = KeyDecoder()
    while true {
      let patience =
        decoder.isMidSequence ? ConsoleTiming.escapeMilliseconds : ConsoleTiming.tickMilliseconds
      let ready = readiness(within: patience)
      if ready.signals { readSignals() }
      if ready.input {
        guard let bytes = readBytes(from: STDIN_FILENO) else { break }
        send(decoder.decode(bytes))
      }
      if !ready.input, !ready.signals {
        send(decoder.finish())
        sendTick()
      }
    }
    continuation.finish()
  }

  private func send(_ keys: [Key]) {
    for key in keys { continuation.yield(.key(key)) }
  }

  private func sendTick() {
    guard !tickIsPending.exchange(true, ordering: .relaxed) else { return }
    continuation.yield(.tick)
  }

  private func readSignals() {
    for number in readBytes(from: signals) ?? [] {
      let isResize = Int32(number) == SIGWINCH
      continuation.yield(
        isResize ? .resized(.ofTerminal) : .terminated(signal: Int32(number)))
    }
  }

  private func readiness(within milliseconds: Int32) -> (input: Bool, signals: Bool) {
    let wanted = Int16(POLLIN)
    var polled = [STDIN_FILENO, signals].map { pollfd(fd: $0, events: wanted, revents: 0) }
    guard unsafe poll(&polled, nfds_t(polled.count), milliseconds) > 0 else {
      return (false, false)
    }
    return (polled[0].revents != 0, polled[1].revents & wanted != 0)
  }

  /// The bytes that are there; none after an interruption, nil at the end of the input.
  private func readBytes(from descriptor: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 1024)
    let count = unsafe read(descriptor, &buffer, buffer.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return [] }
    return count > 0 ? Array(buffer[..<count]) : nil
  }
}
