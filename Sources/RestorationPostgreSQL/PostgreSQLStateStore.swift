#if PostgreSQL
internal import RestorationFoundation
public import RestorationSharing

/// States in a PostgreSQL database that many servers share.
///
///     let store = try PostgreSQLStateStore(
///       "postgresql://catalog@db1,db2/catalog?target_session_attrs=read-write&sslmode=verify-full")
///
/// The connection string is libpq's, as a URI or as pairs of keywords and values. So TLS,
/// certificates, a password file and several servers are as in every program that uses
/// libpq. Several servers are tried in their order. No password is in a description or
/// an error.
///
/// The store opens connections when it needs them, up to a limit, and no call holds a
/// thread while it waits, but for the first 200 µs of a read while nothing else is asked:
/// to wake a thread takes longer than a near server. The tables are made at the first
/// use; “States in PostgreSQL” has their SQL.
///
/// Each call is one statement, or shares one with others. A write is durable as the server is
/// configured to make it: with `synchronous_commit` and a synchronous standby, on both.
///
/// ## Errors
///
/// A write is sent once. If its connection is lost, the error does not say whether it took
/// place, except that a server that says no has changed nothing. What only reads is sent
/// once more on another connection. A call whose task is cancelled ends at once. A write may
/// still be on its way then, so nobody else gets its connection.
public final class PostgreSQLStateStore: RemoteStateStore {
  /// The largest value that a call stores, in bytes.
  public static let largestWrite = 256 << 20

  private let pool: ConnectionPool
  private let batches: AppendBatches

  /// Creates a store, and connects at the first call.
  ///
  /// - Parameters:
  ///   - connection: The connection string.
  ///   - options: How the store uses the database.
  /// - Throws: ``/RestorationSharing/RemoteStoreError`` with `refused` if libpq cannot read
  ///   the string, or PostgreSQL knows no schema of that name.
  public convenience init(
    _ connection: String, options: Options = Options()
  ) throws(RemoteStoreError) {
    guard (1...63).contains(options.schema.utf8.count), !options.schema.utf8.contains(0) else {
      throw RemoteStoreError(
        .refused,
        "The name of a schema has 1 to 63 bytes without NUL, and this one has "
          + "\(options.schema.utf8.count). Choose another one.")
    }
    try self.init(connection, schema: Schema(options.schema), options: options)
  }

  package init(
    _ connection: String, schema: Schema, options: Options, heartbeat: Duration = .seconds(20)
  ) throws(RemoteStoreError) {
    pool = ConnectionPool(
      try ConnectionString(connection), schema: schema, options: options, heartbeat: heartbeat)
    batches = AppendBatches(pool)
  }

  deinit {
    pool.onQueue { $0.shutDown() }
  }

  /// The servers and the database, without user and password.
  public var location: String { pool.place }

  /// Ends all connections and all calls, and every later call fails.
  ///
  /// A store that is let go does the same.
  public func close() async {
    await pool.shutDown()
  }

  /// Reads what is stored under a name.
  public func load(_ name: String) async throws -> RemoteState? {
    let rows = try await pool.run(.load, [Array(name.utf8)])
    guard rows.rowCount > 0 else { return nil }
    guard let version = rows.uuid(0, 0) else { throw damaged(name) }
    let first = rows.integer(0, 1)
    let (span, overflow) = rows.integer(0, 2).subtractingReportingOverflow(first)
    var bytes: [UInt8] = []
    let stored = (0..<rows.rowCount).reduce(0) { $0 + rows.byteCount($1, 5) }
    guard !overflow, span == rows.rowCount - 1, rows.integer(0, 3) == stored else {
      throw damaged(name)
    }
    bytes.reserveCapacity(stored)
    for row in 0..<rows.rowCount {
      guard !rows.isNull(row, 4), rows.integer(row, 4) == first + Int64(row) else {
        throw damaged(name)
      }
      rows.append(row, 5, to: &bytes)
    }
    return RemoteState(bytes: bytes, version: RemoteVersion(version.uuidString))
  }

  /// Stores bytes if the version is as expected.
  public func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    guard let version else { return try await write(.create, name, nil, bytes) }
    guard let expected = UUID(uuidString: version.name) else { return nil }
    return try await write(.replace, name, expected, bytes)
  }

  /// Adds bytes as one row if the version is as expected.
  ///
  /// Appends of other states that wait meanwhile go in the same statement. One that is
  /// refused does not touch the others; if the connection is lost, all of them throw.
  public func append(
    _ bytes: [UInt8], to name: String, expecting version: RemoteVersion
  ) async throws -> RemoteVersion? {
    guard let expected = UUID(uuidString: version.name) else { return nil }
    try check(bytes)
    let append = AppendBatches.Append(
      name: name, expected: expected, version: UUID(), bytes: bytes)
    return try await batches.run(append) ? RemoteVersion(append.version.uuidString) : nil
  }

  /// Removes what is stored if the version is as expected.
  public func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    guard let expected = UUID(uuidString: version.name) else { return false }
    return try await pool.run(.remove, [Array(name.utf8), expected.bytes]).rowCount == 1
  }

  /// The names that begin with the prefix.
  public func names(prefix: String) async throws -> [String] {
    let rows =
      if let end = prefix.followingPrefix {
        try await pool.run(.namesBefore, [Array(prefix.utf8), Array(end.utf8)])
      } else {
        try await pool.run(.names, [Array(prefix.utf8)])
      }
    return (0..<rows.rowCount).map { rows.text($0, 0) }
  }

  /// Tells of what stores with ``Options/notifies`` have changed, this one included.
  ///
  /// It takes a connection of its own while somebody listens, beside those of
  /// ``Options/connectionLimit``. What changes while that connection is lost is not told;
  /// when it is there again, `RemoteChange.any` is.
  public func changes() -> AsyncStream<RemoteChange> { pool.changes() }

  private func write(
    _ statement: Statement, _ name: String, _ expected: UUID?, _ bytes: [UInt8]
  ) async throws -> RemoteVersion? {
    try check(bytes)
    let version = UUID()
    let versions = [expected, version].compactMap { $0?.bytes }
    let rows = try await pool.run(statement, [Array(name.utf8)] + versions + [bytes])
    return rows.rowCount == 1 ? RemoteVersion(version.uuidString) : nil
  }

  private func check(_ bytes: [UInt8]) throws(RemoteStoreError) {
    guard bytes.count > Self.largestWrite else { return }
    throw RemoteStoreError(
      .tooLarge,
      "A value of \(bytes.count) bytes is larger than the \(Self.largestWrite) that the store "
        + "takes at once. Save less.")
  }

  private func damaged(_ name: String) -> RemoteStoreError {
    RemoteStoreError(
      .damaged,
      "The rows of “\(name)” in \(location) do not fit together: some are missing, or somebody "
        + "changed them. Bring them back from a backup, or remove the state.")
  }
}

extension PostgreSQLStateStore: CustomStringConvertible, CustomReflectable {
  /// The same as the location.
  public var description: String { location }

  /// Shows the location and nothing of the connections.
  public var customMirror: Mirror { Mirror(self, children: ["location": location]) }
}

extension UUID {
  var bytes: [UInt8] { unsafe withUnsafeBytes(of: uuid) { unsafe Array($0) } }
}

extension String {
  /// The first string after all that begin with this one, in the order of bytes; nil if there
  /// is none.
  fileprivate var followingPrefix: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      // What is between are no characters, and in UTF-8 they have no bytes.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      scalars.append(scalar)
      var following = ""
      following.unicodeScalars.append(contentsOf: scalars)
      return following
    }
    return nil
  }
}
#else
public import RestorationSharing

/// States in a PostgreSQL database; it is there with the package trait only.
@available(
  *, unavailable,
  message: "Depend on the package with traits: [\"PostgreSQL\"], and install libpq-dev."
)
public struct PostgreSQLStateStore: Sendable {
  /// Is not available without the trait.
  public init(_ connection: String) throws(RemoteStoreError) {}
}
#endif
