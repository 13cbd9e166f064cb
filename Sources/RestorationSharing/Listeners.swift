internal import Synchronization

/// Those who are told of changes.
final class Listeners<Element: Sendable>: Sendable {
  private struct Table {
    var streams: [Int: AsyncStream<Element>.Continuation] = [:]
    var count = 0
  }

  private let table = Mutex(Table())

  deinit {
    table.withLock { table in
      for stream in table.streams.values { stream.finish() }
    }
  }

  /// Tells all who listen.
  func tell(_ element: Element) {
    let streams = table.withLock { Array($0.streams.values) }
    for stream in streams { stream.yield(element) }
  }

  /// Adds a listener, who is told this first.
  func stream(
    from first: Element,
    _ bufferingPolicy: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Element.self, bufferingPolicy: bufferingPolicy)
    continuation.yield(first)
    let number = table.withLock { table in
      table.count += 1
      table.streams[table.count] = continuation
      return table.count
    }
    continuation.onTermination = { [weak self] _ in
      self?.table.withLock { _ = $0.streams.removeValue(forKey: number) }
    }
    return stream
  }
}
