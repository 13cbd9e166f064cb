#if PostgreSQL
/// What the store asks of the server; each connection prepares those that it needs.
package enum Statement: String {
  case load, create, replace, append, appendMany, remove, names, namesBefore

  /// Whether it changes nothing, so that it may be sent again.
  var isRead: Bool {
    switch self {
    case .load, .names, .namesBefore: true
    case .create, .replace, .append, .appendMany, .remove: false
    }
  }

  var parameters: [ParameterType] {
    switch self {
    case .load: [.text]
    case .create: [.text, .uuid, .bytes]
    case .replace, .append: [.text, .uuid, .uuid, .bytes]
    case .appendMany: [.textArray, .uuidArray, .uuidArray, .bytesArray]
    case .remove: [.text, .uuid]
    case .names: [.text]
    case .namesBefore: [.text, .text]
    }
  }
}

/// The type of a parameter, by its number in PostgreSQL.
enum ParameterType: UInt32 {
  case bytes = 17
  case text = 25
  case uuid = 2950
  case bytesArray = 1001
  case textArray = 1009
  case uuidArray = 2951
}

/// The SQL of the statements for one schema.
///
/// A write compares and changes in one statement, whose parts see one snapshot: what deletes the
/// old commits does not see the new one. A second writer waits for the row of the first, and
/// then compares with what the first has written. What changed something answers one row.
package struct StatementTexts: Sendable {
  private let schema: Schema
  private let notifies: Bool

  package init(schema: Schema, notifies: Bool) {
    self.schema = schema
    self.notifies = notifies
  }

  package subscript(statement: Statement) -> String {
    switch statement {
    case .load:
      """
      SELECT s.version, s.first_commit, s.last_commit, s.byte_count, c.position, c.bytes
      FROM \(schema.states) AS s LEFT JOIN \(schema.commits) AS c ON c.state = s.id
      WHERE s.name = $1 ORDER BY c.position
      """
    case .create:
      """
      WITH changed AS (
        INSERT INTO \(schema.states) (name, id, version, byte_count)
        VALUES ($1, $2, $2, octet_length($3)) ON CONFLICT (name) DO NOTHING RETURNING id, last_commit
      ), \(added("$3"))
      \(outcome(version: "$2::text"))
      """
    case .replace:
      """
      WITH changed AS (
        UPDATE \(schema.states) SET version = $3, first_commit = last_commit + 1,
          last_commit = last_commit + 1, byte_count = octet_length($4), updated = now()
        WHERE name = $1 AND version = $2 RETURNING id, last_commit
      ), removed AS (
        DELETE FROM \(schema.commits) WHERE state = (SELECT id FROM changed)
      ), \(added("$4"))
      \(outcome(version: "$3::text"))
      """
    case .append:
      """
      WITH changed AS (
        UPDATE \(schema.states) SET version = $3, last_commit = last_commit + 1,
          byte_count = byte_count + octet_length($4), updated = now()
        WHERE name = $1 AND version = $2 RETURNING id, last_commit
      ), \(added("$4"))
      \(outcome(version: "$3::text"))
      """
    case .appendMany:
      """
      WITH changed AS (
        UPDATE \(schema.states) AS s SET version = g.version, last_commit = s.last_commit + 1,
          byte_count = s.byte_count + octet_length(g.bytes), updated = now()
        FROM unnest($1, $2, $3, $4) AS g (name, expected, version, bytes)
        WHERE s.name = g.name AND s.version = g.expected
        RETURNING s.id, s.last_commit, s.version, s.name, g.bytes
      ), \(added("bytes"))
      \(outcomes)
      """
    case .remove:
      """
      WITH changed AS (
        DELETE FROM \(schema.states) WHERE name = $1 AND version = $2 RETURNING id
      ), removed AS (
        DELETE FROM \(schema.commits) WHERE state = (SELECT id FROM changed)
      )
      \(outcome(version: "'-'"))
      """
    case .names: "SELECT name FROM \(schema.states) WHERE name >= $1"
    case .namesBefore: "SELECT name FROM \(schema.states) WHERE name >= $1 AND name < $2"
    }
  }

  private func added(_ bytes: String) -> String {
    """
    added AS (
      INSERT INTO \(schema.commits) (state, position, bytes)
      SELECT id, last_commit, \(bytes) FROM changed
    )
    """
  }

  private var outcomes: String {
    notifies
      ? "SELECT version, pg_notify(\(schema.channelLiteral), version::text || ' ' || name) FROM changed"
      : "SELECT version FROM changed"
  }

  private func outcome(version: String) -> String {
    notifies
      ? "SELECT pg_notify(\(schema.channelLiteral), \(version) || ' ' || $1) FROM changed"
      : "SELECT 1 FROM changed"
  }
}
#endif
