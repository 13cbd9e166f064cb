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

/// Waits for keys and signals on a thread of its own, and holds them until they are taken.
final class InputReader: Sendable {
  /// Input that never pauses is passed on in parts of about this many bytes.
  private static let mostBytes = 65536

  private let signals: Int32
  private let waiting = Mutex<[InputEvent]>([])
  private let arrivals: AsyncStream<Void>
  private let arrival: AsyncStream<Void>.Continuation

  /// - Parameter signals: The descriptor from which the numbers of signals are read.
  init(signals: Int32) {
    self.signals = signals
    (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Takes all events that have come since the last time, and waits if there are none; nil at the
  /// end of the input.
  func nextEvents() async -> [InputEvent]? {
    for await _ in arrivals {
      let events = waiting.withLock { exchange(&$0, with: []) }
      if !events.isEmpty { return events }
    }
    return nil
  }

  /// Reads until the input ends.
  func run() {
    var decoder = KeyDecoder()
    while true {
      let patience =
        decoder.isMidSequence ? ConsoleTiming.escapeMilliseconds : ConsoleTiming.tickMilliseconds
      let ready = readiness(within: patience)
      if ready.signals { readSignals() }
      if ready.input {
        guard let bytes = readInput() else { break }
        add(decoder.decode(bytes).map(InputEvent.key))
      }
      if !ready.input, !ready.signals {
        add(decoder.finish().map(InputEvent.key) + [.tick])
      }
    }
    arrival.finish()
  }

  /// A tick is of no use to somebody who has other events to take.
  private func add(_ events: [InputEvent]) {
    waiting.withLock { waiting in
      waiting += waiting.isEmpty ? events : events.filter { $0 != .tick }
    }
    arrival.yield()
  }

  private func readSignals() {
    add((readBytes(from: signals) ?? []).map { event(of: Int32($0)) })
  }

  private func event(of signal: Int32) -> InputEvent {
    switch signal {
    case SIGWINCH: .resized(.ofTerminal)
    case SIGCONT: .continued
    case SIGTSTP: .key(.control("z"))
    default: .terminated(signal: signal)
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

  /// The bytes that are there and those that follow at once, because a paste comes in pieces.
  private func readInput() -> [UInt8]? {
    guard var bytes = readBytes(from: STDIN_FILENO) else { return nil }
    while (2..<Self.mostBytes).contains(bytes.count),
      readiness(within: ConsoleTiming.pasteMilliseconds).input,
      let more = readBytes(from: STDIN_FILENO)
    {
      bytes += more
    }
    return bytes
  }

  /// The bytes that are there; none after an interruption, nil at the end of the input.
  private func readBytes(from descriptor: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(descriptor, &buffer, buffer.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return [] }
    return count > 0 ? Array(buffer[..<count]) : nil
  }
}
