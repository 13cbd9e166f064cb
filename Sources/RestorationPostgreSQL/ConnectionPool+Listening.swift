#if PostgreSQL
internal import RestorationFoundation
internal import RestorationSharing
internal import Synchronization

/// Those who want to know of changes, and the connection that tells them.
struct Listening {
  var listeners: [Int: AsyncStream<RemoteChange>.Continuation] = [:]
  var task: Task<Void, Never>?
  /// Whether the server tells this process of changes now.
  var isTold = false

  func tell(_ change: RemoteChange) {
    for listener in listeners.values { listener.yield(change) }
  }

  mutating func stop() {
    task?.cancel()
    (task, isTold) = (nil, false)
  }

  mutating func end() {
    stop()
    for listener in listeners.values { listener.finish() }
    listeners = [:]
  }
}

extension ConnectionPool {
  nonisolated func changes() -> AsyncStream<RemoteChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: RemoteChange.self)
    let number = listenerCount.add(1, ordering: .relaxed).newValue
    onQueue { $0.add(continuation, number) }
    // What ends before it is added is removed after it.
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      onQueue { $0.removeListener(number) }
    }
    return stream
  }

  private func add(_ listener: AsyncStream<RemoteChange>.Continuation, _ number: Int) {
    guard !isClosed else { return listener.finish() }
    listening.listeners[number] = listener
    if listening.isTold { listener.yield(.any) }
    if listening.task == nil { listening.task = Task { await listen() } }
  }

  private func removeListener(_ number: Int) {
    listening.listeners[number] = nil
    if listening.listeners.isEmpty { listening.stop() }
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
        guard !Task.isCancelled else { return }
        listening.isTold = true
        // Whatever came before that was told to nobody.
        listening.tell(.any)
        try await keep(connection)
      } catch {
        guard !Task.isCancelled else { return }
        listening.isTold = false
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
    listening.tell(change)
  }
}
#endif
