#if PostgreSQL
internal import Dispatch
internal import RestorationSharing
internal import Synchronization

/// The connections of a store, and the queries that wait for one.
///
/// All of it happens on one queue: what sockets and timers tell, and what calls ask for.
actor ConnectionPool {
  nonisolated let options: PostgreSQLStateStore.Options
  nonisolated let place: String
  nonisolated let executor = QueueExecutor(label: "RestorationPostgreSQL")
  nonisolated let schema: Schema

  /// How long a connection that listens may say nothing until it is asked for a sign of life.
  nonisolated let heartbeat: Duration

  let string: ConnectionString
  let texts: StatementTexts

  /// Where the name of each server is resolved, and where servers are asked to end a query: libpq
  /// waits there.
  let resolving: [DispatchQueue]
  let cancelling = DispatchQueue(label: "RestorationPostgreSQL.cancelling")
  var cancellationCount = 0

  /// All that are open or being opened, by their number.
  var connections: [Int: Connection] = [:]
  private var connectionCount = 0

  /// Those that nobody uses; the last one was used last.
  private var idle: [Connection] = []

  /// Those in the order in which they came.
  private var waiting: [Query] = []

  /// How many connections are for queries: idle, at work or being opened.
  private var queryConnectionCount = 0
  private var openingCount = 0
  private var backoff = Backoff()
  private var lastFailure: RemoteStoreError?
  private var isRetryPlanned = false

  private let timer: ExpiryTimer
  private static let largeByteCount = 1 << 16
  /// How long the thread of a caller waits for an answer, and how often it does not after one that was late.
  private static let (patience, watchedReadCount) = (Duration.microseconds(200), 16)

  var isClosed = false
  var listening = Listening()
  nonisolated let listenerCount = Atomic(0)

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  init(
    _ string: ConnectionString, schema: Schema, options: PostgreSQLStateStore.Options,
    heartbeat: Duration
  ) {
    self.string = string
    self.schema = schema
    self.heartbeat = heartbeat
    self.options = options
    place = string.location
    resolving = string.servers.map { _ in DispatchQueue(label: "RestorationPostgreSQL.resolving") }
    texts = StatementTexts(schema: schema, notifies: options.notifies)
    let timer = ExpiryTimer(on: executor.queue)
    self.timer = timer
    timer.tell { [weak self] in self?.assumeIsolated { $0.expire() } }
  }

  /// Does something on the queue.
  nonisolated func onQueue(_ body: @escaping @Sendable (isolated ConnectionPool) -> Void) {
    executor.queue.async { self.assumeIsolated(body) }
  }

  // MARK: Asking

  /// Runs a statement, as soon as a connection is free.
  ///
  /// It is sent from the thread of the caller, which takes the answer, too, if that comes at once: to wake another
  /// thread takes longer. Nothing on the queue waits for a server. What takes long to copy and to encrypt is done
  /// on a thread of the queue.
  nonisolated func run(
    _ statement: Statement, _ parameters: [[UInt8]]
  ) async throws -> QueryResult {
    let query = Query(statement, parameters)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if parameters.reduce(0, { $0 + $1.count }) < Self.largeByteCount {
          let near = executor.queue.sync { assumeIsolated { $0.submit(query, continuation) } }
          guard let near else { return }
          let isLate = !SocketWatch.spin(at: near.socket, for: Self.patience)
          executor.queue.sync { assumeIsolated { $0.goOn(near.number, isLate: isLate) } }
        } else {
          onQueue {
            if let near = $0.submit(query, continuation) { $0.goOn(near.number, isLate: false) }
          }
        }
      }
    } onCancel: {
      onQueue { $0.cancel(query) }
    }
  }

  /// Sends a query, or lets it wait for a connection.
  ///
  /// - Returns: The connection that nothing watches until ``goOn(_:isLate:)``: the answer to a lone read of a near
  ///   server comes before a thread is awake to take it.
  private func submit(
    _ query: Query, _ continuation: CheckedContinuation<QueryResult, any Error>
  ) -> (number: Int, socket: CInt)? {
    query.begin(continuation)
    guard !query.isFinished else { return nil }
    guard !isClosed else {
      query.finish(.failure(RemoteStoreError.closed(place)))
      return nil
    }
    query.latestStart = .now + options.waitingTimeout
    guard let connection = takeIdle() else {
      waiting.append(query)
      planExpiry(query.latestStart)
      openIfNeeded()
      return nil
    }
    let isLoneRead = query.statement.isRead && idle.count + 1 == queryConnectionCount
    connection.isAwaited = isLoneRead && connection.watchedReadCount == 0
    if isLoneRead, !connection.isAwaited { connection.watchedReadCount -= 1 }
    let near = connection.isAwaited ? (connection.number, connection.socket) : nil
    start(query, on: connection)
    return near
  }

  /// Takes the answer that a caller has waited for, or watches for it.
  private func goOn(_ number: Int, isLate: Bool) {
    guard let connection = connections[number] else { return }
    connection.isAwaited = false
    if isLate { connection.watchedReadCount = Self.watchedReadCount }
    advance(number)
    if connection.work != nil, !connection.watch() { lose(connection, connection.message) }
  }

  /// Ends a query whose task was cancelled, wherever it is.
  private func cancel(_ query: Query) {
    guard !query.isFinished else { return }
    query.finish(.failure(CancellationError()))
    if let number = query.connection, let connection = connections[number] {
      // What the server does with it is not known.
      abandon(connection, CancellationError())
    } else {
      waiting.removeAll { $0 === query }
    }
  }

  // MARK: Queries

  /// For the way to the server and back.
  private static let graceTime = Duration.seconds(1)

  private func start(_ query: Query, on connection: Connection) {
    query.connection = connection.number
    // The server ends it before: what that says is more than silence does.
    let deadline = ContinuousClock.now + options.queryTimeout + Self.graceTime
    guard connection.isPrepared(for: query.statement) else {
      let command = Command.prepare(query.statement, texts[query.statement])
      perform(command, on: connection, until: deadline) { result in
        if case .success(let answer) = result, answer?.errorCode == nil {
          connection.notePrepared(query.statement)
          self.execute(query, on: connection, until: deadline)
        } else {
          self.finish(query, on: connection, with: result)
        }
      }
      return
    }
    execute(query, on: connection, until: deadline)
  }

  private func execute(
    _ query: Query, on connection: Connection, until deadline: ContinuousClock.Instant
  ) {
    perform(.execute(query.statement, query.parameters), on: connection, until: deadline) {
      self.finish(query, on: connection, with: $0)
    }
  }

  private func finish(
    _ query: Query, on connection: Connection, with result: Result<QueryResult?, any Error>
  ) {
    query.connection = nil
    switch result {
    case .success(let answer?):
      guard let error = error(in: answer) else {
        query.finish(.success(answer))
        return release(connection)
      }
      if error.leavesConnection { release(connection) } else { close(connection) }
      if error.invitesRetry, query.returnCount < 5 {
        giveBack(query)
      } else if error.isOfShutdown, query.statement.isRead, query.returnCount < 1 {
        giveBack(query)
      } else if error.isOfWaiting, query.statement == .appendMany {
        query.finish(.failure(UndoneAppends(error: error.storeError)))
      } else {
        query.finish(.failure(error.storeError))
      }
    case .success(nil):
      close(connection)
      query.finish(.failure(RemoteStoreError.unreachable(place, "it has not answered")))
    case .failure(let error):
      // The connection is closed already. What changes nothing is asked once more.
      if error is ConnectionLoss, query.statement.isRead, query.returnCount < 1 {
        giveBack(query)
      } else {
        query.finish(.failure((error as? ConnectionLoss)?.storeError ?? error))
      }
    }
    openIfNeeded()
  }

  /// Puts a query that has changed nothing before all others.
  private func giveBack(_ query: Query) {
    guard !query.isFinished else { return }
    query.returnCount += 1
    if let connection = takeIdle() {
      start(query, on: connection)
    } else {
      waiting.insert(query, at: 0)
      planExpiry(query.latestStart)
    }
  }

  func error(in answer: QueryResult) -> ServerError? {
    answer.errorCode.map {
      ServerError(code: $0, message: string.redacted(answer.errorMessage), place: place)
    }
  }

  // MARK: Connections

  /// Sends a command on a connection that nobody else uses.
  func perform(
    _ command: Command, on connection: Connection, until deadline: ContinuousClock.Instant,
    finish: @escaping (Result<QueryResult?, any Error>) -> Void
  ) {
    guard connections[connection.number] != nil else {
      return finish(.failure(lostConnection))
    }
    connection.work = Connection.Work(
      deadline: deadline, lateness: .timedOut(place, after: options.queryTimeout),
      isRead: command.isRead, finish: finish)
    planExpiry(deadline)
    if !connection.send(command) { lose(connection, connection.message) }
  }

  var lostConnection: RemoteStoreError {
    isClosed ? .closed(place) : .unreachable(place, "the connection was lost")
  }

  /// Goes on where a socket has told of itself.
  func advance(_ number: Int) {
    guard let connection = connections[number] else { return }
    switch connection.advance() {
    case .none: break
    case .connected: finishWork(of: connection, with: .success(nil))
    case .answered(let answer): finishWork(of: connection, with: .success(answer))
    case .lost(let message): lose(connection, message)
    }
  }

  private func finishWork(
    of connection: Connection, with result: Result<QueryResult?, any Error>
  ) {
    guard let work = connection.work else { return }
    connection.work = nil
    work.finish(result)
  }

  /// Takes a connection that libpq has begun into the pool.
  func take(_ begun: BegunConnection) -> Connection {
    connectionCount += 1
    let number = connectionCount
    let connection = Connection(begun, number: number, on: executor.queue) { [weak self] in
      self?.assumeIsolated { $0.advance(number) }
    }
    connections[number] = connection
    return connection
  }

  private func lose(_ connection: Connection, _ message: String) {
    let reason = string.redacted(message)
    close(connection)
    let loss = ConnectionLoss(
      storeError: .unreachable(place, firstLine(of: reason)), message: reason)
    finishWork(of: connection, with: .failure(loss))
    openIfNeeded()
  }

  /// Ends a connection that has not answered, and what the server reads for it.
  ///
  /// A write is not ended. If it waits for a synchronous standby, the server would end the waiting
  /// and not the write: others would see what is on no standby, and take it for stored. What else
  /// holds it up is ended by the server's own limit.
  func abandon(_ connection: Connection, _ error: any Error) {
    if connection.work?.isRead == true, cancellationCount < 16,
      let cancellation = connection.cancellation()
    {
      cancellationCount += 1
      cancelling.async {
        cancellation.send()
        self.onQueue { $0.cancellationCount -= 1 }
      }
    }
    close(connection)
    finishWork(of: connection, with: .failure(error))
    openIfNeeded()
  }

  func close(_ connection: Connection) {
    guard connections.removeValue(forKey: connection.number) != nil else { return }
    if connection.isForQueries { queryConnectionCount -= 1 }
    idle.removeAll { $0 === connection }
    connection.close()
    connection.onLoss?()
    connection.onLoss = nil
  }

  // MARK: The pool

  /// The one that was used last, if its server has not ended it meanwhile.
  private func takeIdle() -> Connection? {
    while let connection = idle.popLast() {
      connection.idleSince = nil
      advance(connection.number)
      if connections[connection.number] != nil { return connection }
    }
    return nil
  }

  private func release(_ connection: Connection) {
    guard !isClosed, connection.isIdle else { return close(connection) }
    if waiting.isEmpty {
      connection.idleSince = .now
      idle.append(connection)
      planExpiry(.now + options.idleTimeout)
    } else {
      start(waiting.removeFirst(), on: connection)
    }
  }

  /// Opens connections for those that wait, as many as there may be.
  private func openIfNeeded() {
    guard !isClosed, waiting.count > openingCount,
      queryConnectionCount < options.connectionLimit
    else { return }
    if backoff.isActive {
      guard openingCount == 0 else { return }
      if let earliest = backoff.earliest, earliest > .now { return planRetry(earliest) }
    }
    openingCount += 1
    queryConnectionCount += 1
    Task { await openForQueries() }
    openIfNeeded()
  }

  private func planRetry(_ time: ContinuousClock.Instant) {
    guard !isRetryPlanned else { return }
    isRetryPlanned = true
    after(time) {
      self.assumeIsolated {
        $0.isRetryPlanned = false
        $0.openIfNeeded()
      }
    }
  }

  private func openForQueries() async {
    do {
      let connection = try await open()
      openingCount -= 1
      backoff.noteSuccess()
      lastFailure = nil
      connection.isForQueries = true
      release(connection)
    } catch {
      openingCount -= 1
      queryConnectionCount -= 1
      backoff.noteFailure(at: .now)
      let failure = error as? RemoteStoreError ?? .unreachable(place, "\(error)")
      lastFailure = failure
      // What somebody has to mend is said at once; what may pass is waited for.
      if failure.code != .unavailable { failWaiting(failure) }
    }
    openIfNeeded()
  }

  private func failWaiting(_ error: RemoteStoreError) {
    let failed = waiting
    waiting = []
    for query in failed { query.finish(.failure(error)) }
  }

  // MARK: Time

  /// Calls on the queue at a time; for what is rare.
  nonisolated func after(_ time: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void) {
    executor.queue.asyncAfter(
      deadline: .now() + ContinuousClock.now.seconds(to: time), execute: body)
  }

  /// Sees to it that ``expire()`` is called at a time, or before.
  func planExpiry(_ time: ContinuousClock.Instant) {
    timer.plan(time)
  }

  /// Ends whatever has waited for too long.
  private func expire() {
    timer.noteTold()
    let now = ContinuousClock.now
    let late = waiting.filter { $0.latestStart <= now }
    waiting.removeAll { $0.latestStart <= now }
    for query in late { query.finish(.failure(waitingError)) }
    for connection in Array(connections.values) {
      if let work = connection.work, work.deadline <= now {
        let wasOpen = !connection.isConnecting
        abandon(connection, work.lateness)
        // The next calls need not find out one by one that the server is gone. A server that does
        // not let in may be another one.
        if wasOpen { for other in idle { close(other) } }
      } else if let idleSince = connection.idleSince, idleSince + options.idleTimeout <= now {
        close(connection)
      }
    }
    let times =
      waiting.map(\.latestStart) + connections.values.compactMap { $0.work?.deadline }
      + connections.values.compactMap { $0.idleSince.map { $0 + options.idleTimeout } }
    if let next = times.min() { planExpiry(next) }
  }

  private var waitingError: RemoteStoreError {
    if let lastFailure { return lastFailure }
    guard queryConnectionCount > openingCount else {
      return .unreachable(place, "no answer in \(options.waitingTimeout)")
    }
    return RemoteStoreError(
      .unavailable,
      "No connection to \(place) was free for \(options.waitingTimeout). Raise the "
        + "connectionLimit, or ask for less at once.")
  }

  // MARK: The end

  /// Ends all queries and connections.
  func shutDown() {
    guard !isClosed else { return }
    isClosed = true
    let error = RemoteStoreError.closed(place)
    failWaiting(error)
    for connection in Array(connections.values) { abandon(connection, error) }
    listening.end()
  }
}

/// A connection has ended before it answered.
struct ConnectionLoss: Error {
  let storeError: RemoteStoreError

  /// All that libpq has said.
  let message: String
}

/// The first line says what, the others what that may mean.
func firstLine(of text: String) -> String {
  var line = text.prefix { !$0.isNewline }
  while line.last == " " || line.last == "." { line.removeLast() }
  return String(line)
}
#endif
