#if PostgreSQL
internal import CPostgreSQL
internal import Dispatch
internal import RestorationSharing

/// What a connection is asked for.
enum Command {
  /// Statements of text, without parameters; the last answer counts.
  case text(String)

  /// Prepares a statement on this connection.
  case prepare(Statement, String)

  /// Runs a prepared statement.
  case execute(Statement, [[UInt8]])

  /// Whether it surely changes nothing.
  var isRead: Bool {
    switch self {
    case .text: false
    case .prepare: true
    case .execute(let statement, _): statement.isRead
    }
  }
}

/// One connection of libpq, which never waits.
///
/// It belongs to the pool that made it, and is used on the pool's queue only.
@safe
final class Connection {
  /// What is waited for: a connection, or the answer to a command.
  struct Work {
    let deadline: ContinuousClock.Instant

    /// What is thrown after that.
    let lateness: RemoteStoreError
    var isRead = false
    let finish: (Result<QueryResult?, any Error>) -> Void
  }

  /// What a socket has brought.
  enum Progress {
    case none
    case connected
    case answered(QueryResult)
    case lost(String)
  }

  let number: Int
  var work: Work?

  /// Whether it counts among those for queries.
  var isForQueries = false

  /// For how many reads no thread waits, since the answer to one was late.
  var watchedReadCount = 0

  /// Whether the thread that asks waits for the answer, and nothing watches for it.
  var isAwaited = false {
    didSet { if isAwaited { reading = nil } }
  }

  /// When it became idle; nil if it is not.
  var idleSince: ContinuousClock.Instant?

  /// Told when the connection is lost while nothing is waited for.
  var onLoss: (() -> Void)?

  /// Told what other connections notify.
  var onNotification: ((String) -> Void)?

  private let connection: OpaquePointer
  private let queue: DispatchQueue
  private let tell: @Sendable () -> Void
  private(set) var isConnecting = true
  private var reading: SocketWatch?
  private var writing: SocketWatch?
  private var prepared: Set<Statement> = []
  private var answer: QueryResult?

  /// Goes on with a connection that was begun.
  ///
  /// It calls `tell` on the queue when ``advance()`` is to be called.
  init(
    _ begun: BegunConnection, number: Int, on queue: DispatchQueue,
    tell: @escaping @Sendable () -> Void
  ) {
    unsafe connection = begun.connection
    self.number = number
    self.queue = queue
    self.tell = tell
  }

  /// Ends it; nothing else may be called after that.
  func close() {
    reading = nil
    writing = nil
    unsafe PQfinish(connection)
  }

  func isPrepared(for statement: Statement) -> Bool { prepared.contains(statement) }

  /// What libpq says last; it says nothing of a socket that cannot be watched.
  var message: String {
    let said = unsafe String(cString: PQerrorMessage(connection))
    return said.isEmpty ? Self.unwatched : said
  }

  private static let unwatched = "this process has too many open files"

  /// How to ask the server to end what it does for this connection.
  func cancellation() -> Cancellation? {
    isConnecting ? nil : unsafe PQgetCancel(connection).map { unsafe Cancellation($0) }
  }

  // MARK: Sending

  /// Sends a command.
  ///
  /// - Returns: Whether it may have been sent; false if the connection is lost, and then
  ///   nothing was.
  func send(_ command: Command) -> Bool {
    answer = nil
    guard isAwaited || watch() else { return false }
    let isSent =
      switch command {
      case .text(let sql): unsafe PQsendQuery(connection, sql)
      case .prepare(let statement, let sql): prepare(statement, sql)
      case .execute(let statement, let parameters): execute(statement, parameters)
      }
    return isSent == 1 && flush()
  }

  /// Says that the server has prepared a statement.
  func notePrepared(_ statement: Statement) { prepared.insert(statement) }

  private func prepare(_ statement: Statement, _ sql: String) -> CInt {
    let types = statement.parameters.map(\.rawValue)
    return unsafe PQsendPrepare(connection, statement.rawValue, sql, CInt(types.count), types)
  }

  /// All parameters and results are binary.
  ///
  /// libpq copies what it is given.
  private func execute(_ statement: Statement, _ parameters: [[UInt8]]) -> CInt {
    unsafe withPointers(to: parameters[...]) { pointers in
      unsafe PQsendQueryPrepared(
        connection, statement.rawValue, CInt(parameters.count), pointers,
        parameters.map { CInt($0.count) }, Array(repeating: 1, count: parameters.count), 1)
    }
  }

  /// Sends what the socket takes, and watches for when it takes more.
  private func flush() -> Bool {
    switch unsafe PQflush(connection) {
    case 0: writing = nil
    case 1: if writing == nil { writing = watch(for: .writable) }
    default: return false
    }
    return true
  }

  // MARK: Receiving

  /// Waits until the socket is connected, as libpq wants it at the beginning.
  func awaitConnection() {
    writing = watch(for: .writable)
    if writing == nil { tell() }
  }

  /// The socket, for who waits at it.
  var socket: CInt { unsafe PQsocket(connection) }

  /// Watches for an answer; false if the process has no descriptor left.
  func watch() -> Bool {
    if reading == nil { reading = watch(for: .readable) }
    return reading != nil
  }

  /// Goes on after the socket has told of itself.
  func advance() -> Progress {
    isConnecting ? connect() : receive()
  }

  private func connect() -> Progress {
    let status = unsafe PQconnectPoll(connection)
    // The socket may be another one now.
    reading = nil
    writing = nil
    switch status {
    case PGRES_POLLING_READING: reading = watch(for: .readable)
    case PGRES_POLLING_WRITING: writing = watch(for: .writable)
    case PGRES_POLLING_OK:
      isConnecting = false
      unsafe PQsetnonblocking(connection, 1)
      reading = watch(for: .readable)
    default: return .lost(message)
    }
    guard reading != nil || writing != nil else {
      return .lost(Self.unwatched)
    }
    return isConnecting ? .none : .connected
  }

  private func receive() -> Progress {
    guard unsafe PQconsumeInput(connection) == 1, flush() else { return loss() }
    takeNotifications()
    while unsafe PQisBusy(connection) == 0 {
      guard let result = unsafe PQgetResult(connection) else { return finishedAnswer() }
      let next = unsafe QueryResult(result)
      if answer?.errorCode == nil { answer = next }
    }
    return unsafe PQstatus(connection) == CONNECTION_OK ? .none : loss()
  }

  private func finishedAnswer() -> Progress {
    guard let finished = answer else {
      return unsafe PQstatus(connection) == CONNECTION_OK ? .none : .lost(message)
    }
    answer = nil
    return .answered(finished)
  }

  /// A server that stops says so before it goes.
  private func loss() -> Progress {
    answer?.errorCode == nil ? .lost(message) : finishedAnswer()
  }

  /// Whether the server waits for a command, outside of a transaction.
  var isIdle: Bool {
    unsafe PQstatus(connection) == CONNECTION_OK
      && PQtransactionStatus(connection) == PQTRANS_IDLE
  }

  private func takeNotifications() {
    while let notification = unsafe PQnotifies(connection) {
      if let payload = unsafe notification.pointee.extra {
        onNotification?(unsafe String(cString: payload))
      }
      unsafe PQfreemem(notification)
    }
  }

  private func watch(for event: SocketWatch.Event) -> SocketWatch? {
    SocketWatch(unsafe PQsocket(connection), for: event, on: queue, tell: tell)
  }
}

#endif
