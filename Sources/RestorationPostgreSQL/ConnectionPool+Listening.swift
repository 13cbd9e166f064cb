#if PostgreSQL
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import RestorationKit

/// Those who want to know of changes, and the connection that tells them.
struct Listening {
  var listeners: [Int: AsyncStream<RemoteChange>.Continuation] = [:]
  var count = 0
  var task: Task<Void, Never>?

  mutating func end() {
    task?.cancel()
    task = nil
    for listener in listeners.values { listener.finish() }
    listeners = [:]
  }
}

extension ConnectionPool {
  nonisolated func changes() -> AsyncStream<RemoteChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: RemoteChange.self)
    onQueue { $0.add(continuation) }
    return stream
  }

  private func add(_ listener: AsyncStream<RemoteChange>.Continuation) {
    guard !isClosed else { return listener.finish() }
    listening.count += 1
    let number = listening.count
    listening.listeners[number] = listener
    listener.onTermination = { [weak self] _ in
      guard let self else { return }
      onQueue { $0.removeListener(number) }
    }
    if listening.task == nil { listening.task = Task { await listen() } }
  }

  private func removeListener(_ number: Int) {
    listening.listeners[number] = nil
    guard listening.listeners.isEmpty else { return }
    listening.task?.cancel()
    listening.task = nil
  }

  /// Listens on a connection of its own, and again after it was lost.
  private func listen() async {
    var backoff = Backoff()
    while !Task.isCancelled {
      do {
        let connection = try await open()
        defer { close(connection) }
        connection.onNotification = { self.tell($0) }
        try await change("LISTEN \(schema.channel)", on: connection)
        backoff.noteSuccess()
        try await keep(connection)
      } catch {
        backoff.noteFailure(at: .now)
      }
      if let earliest = backoff.earliest { try? await Task.sleep(until: earliest) }
    }
  }

  /// Asks now and then whether the server is still there: what only listens does not see that.
  private func keep(_ connection: Connection) async throws {
    while true {
      let nap = Task { try await Task.sleep(for: heartbeat) }
      connection.onLoss = { nap.cancel() }
      try await withTaskCancellationHandler {
        try await nap.value
      } onCancel: {
        nap.cancel()
      }
      try await change("", on: connection)
    }
  }

  /// Tells of a payload, which is a version or a dash, a space, and the name.
  private func tell(_ payload: String) {
    guard let space = payload.firstIndex(of: " ") else { return }
    let version = UUID(uuidString: String(payload[..<space]))
    let change = RemoteChange(
      name: String(payload[payload.index(after: space)...]),
      version: version.map { RemoteVersion($0.uuidString) })
    for listener in listening.listeners.values { listener.yield(change) }
  }
}
#endif
