#if PostgreSQL
internal import RestorationLibc
internal import Dispatch

/// Tells when a socket can be read or written, until it is let go.
///
/// It watches a descriptor of its own, and closes it when nothing watches it any more. That of
/// libpq can be closed, and its number be that of another socket, at any call of libpq.
final class SocketWatch {
  enum Event {
    case readable, writable
  }

  private let source: any DispatchSourceProtocol

  /// Begins to watch; nil if the process has no descriptor left.
  init?(
    _ socket: CInt, for event: Event, on queue: DispatchQueue, tell: @escaping @Sendable () -> Void
  ) {
    let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    guard descriptor >= 0 else { return nil }
    switch event {
    case .readable:
      source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    case .writable:
      source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
    }
    source.setEventHandler(handler: tell)
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  deinit {
    source.cancel()
  }

  /// Asks a socket until it can be read or the time is over; whoever else wants the core has it meanwhile.
  ///
  /// That costs less than to sleep and be woken, if the time is short. A socket that is closed meanwhile ends it.
  ///
  /// - Returns: Whether there is something to read.
  static func spin(at socket: CInt, for duration: Duration) -> Bool {
    var socket = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    let end = ContinuousClock.now + duration
    while unsafe poll(&socket, 1, 0) == 0 {
      guard ContinuousClock.now < end else { return false }
      sched_yield()
    }
    return true
  }
}
#endif
