#if PostgreSQL
extension PostgreSQLStateStore {
  /// How a store uses its database.
  public struct Options: Hashable, Sendable {
    /// The schema of the tables in the database, which is the store's own.
    ///
    /// Two stores with different schemas have nothing in common.
    public let schema: String

    /// Whether the store makes the tables, and changes those of an older version.
    ///
    /// Otherwise it only reads their version, and needs no right to make any.
    public let managesSchema: Bool

    /// The largest number of connections for calls.
    public let connectionLimit: Int

    /// How long one server may take to let the store in.
    public let connectTimeout: Duration

    /// How long a statement may take.
    ///
    /// The server is told to end it then, and so does the store.
    public let queryTimeout: Duration

    /// How long a call waits for a connection, also while no server can be reached.
    public let waitingTimeout: Duration

    /// How long a connection is kept that nobody uses.
    public let idleTimeout: Duration

    /// Whether writes tell other stores of themselves; see ``PostgreSQLStateStore/changes()``.
    ///
    /// PostgreSQL writes such transactions one after the other, which costs throughput when
    /// many save at once.
    public let notifies: Bool

    /// Creates options.
    ///
    /// A time below a millisecond counts as one, and a time above 24 days as 24 days.
    ///
    /// - Parameters:
    ///   - schema: The schema of the tables.
    ///   - managesSchema: Whether the store makes and changes the tables.
    ///   - connectionLimit: The largest number of connections for calls; at least one.
    ///   - connectTimeout: How long one server may take to let the store in.
    ///   - queryTimeout: How long a statement may take.
    ///   - waitingTimeout: How long a call waits for a connection.
    ///   - idleTimeout: How long a connection is kept that nobody uses.
    ///   - notifies: Whether writes tell other stores of themselves.
    public init(
      schema: String = "restoration", managesSchema: Bool = true, connectionLimit: Int = 8,
      connectTimeout: Duration = .seconds(5), queryTimeout: Duration = .seconds(10),
      waitingTimeout: Duration = .seconds(10), idleTimeout: Duration = .seconds(120),
      notifies: Bool = false
    ) {
      self.schema = schema
      self.managesSchema = managesSchema
      self.connectionLimit = max(1, connectionLimit)
      self.connectTimeout = Self.bounded(connectTimeout)
      self.queryTimeout = Self.bounded(queryTimeout)
      self.waitingTimeout = Self.bounded(waitingTimeout)
      self.idleTimeout = Self.bounded(idleTimeout)
      self.notifies = notifies
    }

    /// The server takes a time of 24 days at most.
    private static func bounded(_ time: Duration) -> Duration {
      min(max(time, .milliseconds(1)), .seconds(24 * 24 * 60 * 60))
    }
  }
}
#endif
