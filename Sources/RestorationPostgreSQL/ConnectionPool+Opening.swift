#if PostgreSQL
internal import Dispatch
internal import RestorationSharing

extension ConnectionPool {
  /// Opens a connection to the first server that takes it, ready for statements.
  ///
  /// - Throws: `RemoteStoreError` of the first server at which somebody has to mend something, or
  ///   of the last one.
  func open() async throws -> Connection {
    var failure = RemoteStoreError.unreachable(place, "the connection string names no server")
    func note(_ error: RemoteStoreError) {
      if failure.code == .unavailable { failure = error }
    }
    for (server, queue) in zip(string.servers, resolving) {
      do {
        return try await open(server, on: queue)
      } catch let error as RemoteStoreError {
        note(error)
      } catch let error as ConnectionLoss {
        note(error.storeError)
      }
    }
    throw failure
  }

  private func open(
    _ server: [(keyword: String, value: String)], on queue: DispatchQueue
  ) async throws -> Connection {
    let deadline = ContinuousClock.now + options.connectTimeout
    let connection = take(try await begin(server, on: queue, until: deadline))
    do {
      try await connect(connection, until: deadline)
      try await prepareSession(of: connection)
      guard connections[connection.number] != nil else { throw lostConnection }
      return connection
    } catch {
      close(connection)
      throw error
    }
  }

  /// Waits for the name of a server, but not for longer than for the server itself.
  private func begin(
    _ server: [(keyword: String, value: String)], on queue: DispatchQueue,
    until deadline: ContinuousClock.Instant
  ) async throws -> BegunConnection {
    guard !isClosed else { throw RemoteStoreError.closed(place) }
    let arrival = Arrival()
    let begun = await withCheckedContinuation { continuation in
      arrival.continuation = continuation
      queue.async {
        // Those who came while a name was not resolved have gone.
        guard deadline > .now else { return }
        let begun = BegunConnection(to: server)
        self.onQueue { _ in arrival.arrive(begun) }
      }
      after(deadline) { arrival.arrive(nil) }
    }
    guard let begun else { throw lateConnection }
    guard begun.hasFailed || isClosed else { return begun }
    let message = begun.message
    begun.close()
    throw isClosed ? RemoteStoreError.closed(place) : connectionError(message)
  }

  private func connect(
    _ connection: Connection, until deadline: ContinuousClock.Instant
  ) async throws {
    do {
      _ = try await withCheckedThrowingContinuation { continuation in
        connection.work = Connection.Work(deadline: deadline, lateness: lateConnection) {
          continuation.resume(with: $0.map { _ in })
        }
        planExpiry(deadline)
        // libpq wants to be told first that the socket can be written.
        connection.awaitConnection()
      }
    } catch let loss as ConnectionLoss {
      throw connectionError(loss.message)
    }
  }

  private var lateConnection: RemoteStoreError {
    .unreachable(place, "no answer in \(options.connectTimeout)")
  }

  private func connectionError(_ message: String) -> RemoteStoreError {
    let message = string.redacted(message)
    if let error = ServerError(connectionMessage: message, place: place) { return error.storeError }
    return .unreachable(place, firstLine(of: message))
  }

  // MARK: The session

  /// Gives the server the time that a statement may take, and looks at the tables.
  private func prepareSession(of connection: Connection) async throws {
    let milliseconds = Int(options.queryTimeout / .milliseconds(1))
    let setup = "SET statement_timeout = \(milliseconds); \(schema.versionQuery)"
    var answer = try await ask(setup, of: connection)
    if options.managesSchema, try shouldMigrate(answer) {
      try await migrate(connection)
      answer = try await ask(setup, of: connection)
    }
    if let error = error(in: answer) { throw error.storeError }
    try check(version(in: answer))
  }

  private func shouldMigrate(_ answer: QueryResult) throws -> Bool {
    guard let error = error(in: answer) else { return version(in: answer) < schema.version }
    if ["3F000", "42P01"].contains(error.code) { return true }
    throw error.storeError
  }

  private func version(in answer: QueryResult) -> Int {
    answer.rowCount == 1 ? Int(answer.text(0, 0)) ?? 0 : 0
  }

  private func check(_ version: Int) throws(RemoteStoreError) {
    if version > schema.version {
      throw RemoteStoreError(
        .incompatible,
        "The tables in \(place) are of version \(version), and this software knows "
          + "\(schema.version). Update it.")
    }
    if version < schema.version {
      throw RemoteStoreError(
        .incompatible,
        "The tables in \(place) are of version \(version), and this software needs "
          + "\(schema.version). Let it change them, or run the SQL of “States in PostgreSQL”.")
    }
  }

  /// Makes the tables, or brings them to this version; other processes wait meanwhile.
  private func migrate(_ connection: Connection) async throws {
    try await change("BEGIN", on: connection)
    try await change(Schema.lock, on: connection)
    let presence = try await change(schema.presenceQuery, on: connection)
    if presence.text(0, 0) != "t" { try await change(schema.creation, on: connection) }
    var stored = 0
    if presence.text(0, 1) == "t" {
      stored = version(in: try await change(schema.versionQuery, on: connection))
    }
    for step in schema.steps.dropFirst(stored) { try await change(step, on: connection) }
    if stored < schema.version {
      try await change(schema.note(version: schema.version), on: connection)
    }
    try await change("COMMIT", on: connection)
  }

  /// Sends a text and waits until the server has done it.
  @discardableResult
  func change(_ sql: String, on connection: Connection) async throws -> QueryResult {
    let answer = try await ask(sql, of: connection)
    if let error = error(in: answer) { throw error.storeError }
    return answer
  }

  /// Sends a text and waits for the answer, also if it is an error.
  private func ask(_ sql: String, of connection: Connection) async throws -> QueryResult {
    let deadline = ContinuousClock.now + options.queryTimeout
    let answer = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<QueryResult?, any Error>) in
      perform(.text(sql), on: connection, until: deadline) { continuation.resume(with: $0) }
    }
    guard let answer else { throw RemoteStoreError.unreachable(place, "it has not answered") }
    return answer
  }
}

/// Where a connection that libpq has begun is waited for, for some time.
///
/// It is `@unchecked Sendable` because it is used on the pool's queue only.
private final class Arrival: @unchecked Sendable {
  var continuation: CheckedContinuation<BegunConnection?, Never>?

  /// Nil says that it is too late.
  func arrive(_ begun: BegunConnection?) {
    if let continuation {
      continuation.resume(returning: begun)
      self.continuation = nil
    } else {
      begun?.close()
    }
  }
}
#endif
