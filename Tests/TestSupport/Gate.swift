internal import Dispatch
internal import Synchronization

/// Says something between tasks and threads.
package final class Flag: Sendable {
  private let value = Mutex(false)

  package init() {}

  package var isSet: Bool {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}

/// Holds up those who pass it.
package final class Gate: Sendable {
  private struct Content {
    var isClosed = false
    var waiting: [DispatchSemaphore] = []
  }

  private let content = Mutex(Content())

  package init() {}

  /// Whether somebody is held up now.
  package var isWaitedFor: Bool { content.withLock { !$0.waiting.isEmpty } }

  package func holdUp() { content.withLock { $0.isClosed = true } }

  package func goOn() {
    let waiting = content.withLock { content in
      defer { content = Content() }
      return content.waiting
    }
    for one in waiting { one.signal() }
  }

  package func pass() {
    let turn = content.withLock { content -> DispatchSemaphore? in
      guard content.isClosed else { return nil }
      let turn = DispatchSemaphore(value: 0)
      content.waiting.append(turn)
      return turn
    }
    turn?.wait()
  }
}

/// Lets others run until something is so.
///
/// - Parameters:
///   - what: What is waited for, as “a save has begun”.
///   - limit: How long at most; more than any machine takes.
///   - isSo: Asked again and again.
/// - Throws: ``WaitedInVain`` at the limit, so that a test fails where it would hang.
package func waitUntil(
  _ what: String, within limit: Duration = .seconds(60), _ isSo: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit
  while try await !isSo() {
    guard ContinuousClock.now < end else { throw WaitedInVain(what: what, limit: limit) }
    await Task.yield()
  }
}

/// The first element that a test waits for.
///
/// - Parameters:
///   - what: What is waited for, as “the store has it”.
///   - stream: Where it comes.
///   - limit: How long at most; more than any machine takes.
///   - isWanted: Whether it is that.
/// - Returns: That element.
/// - Throws: ``WaitedInVain`` at the limit or at the end of the stream.
@discardableResult
package func waitFor<Value: Sendable>(
  _ what: String, in stream: AsyncStream<Value>, within limit: Duration = .seconds(60),
  where isWanted: @escaping @Sendable (Value) -> Bool
) async throws -> Value {
  let found = try await limited(what, limit) { await stream.first(where: isWanted) }
  guard let found else { throw WaitedInVain(what: what, limit: limit) }
  return found
}

/// Waits for the end of a stream.
package func waitForEnd<Value: Sendable>(
  _ what: String, of stream: AsyncStream<Value>, within limit: Duration = .seconds(60)
) async throws {
  try await limited(what, limit) { for await _ in stream {} }
}

private func limited<Value: Sendable>(
  _ what: String, _ limit: Duration, _ body: @escaping @Sendable () async -> Value
) async throws -> Value {
  try await withThrowingTaskGroup(of: Value.self) { group in
    defer { group.cancelAll() }
    group.addTask { await body() }
    group.addTask {
      try await Task.sleep(for: limit)
      throw WaitedInVain(what: what, limit: limit)
    }
    guard let first = try await group.next() else {
      throw WaitedInVain(what: what, limit: limit)
    }
    return first
  }
}

/// What a test waited for has not come.
package struct WaitedInVain: Error, Hashable, CustomStringConvertible {
  package let what: String
  package let limit: Duration

  package init(what: String, limit: Duration) {
    (self.what, self.limit) = (what, limit)
  }

  package var description: String { "It is not so within \(limit) that \(what)." }
}
