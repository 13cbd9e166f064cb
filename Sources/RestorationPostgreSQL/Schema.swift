#if PostgreSQL
/// The tables of the store, and how they came to be.
package struct Schema: Sendable {
  /// Each brings the tables from the version that is its place to the next one.
  ///
  /// A step that was released stays as it is. One that changes or removes what the statements
  /// use renames a table, so that a server of the version before fails rather than goes wrong.
  package let steps: [String]

  private let identifier: String
  private let name: String

  package init(_ name: String) {
    self.init(name, furtherSteps: [])
  }

  /// A schema of a version that does not exist yet, for tests.
  package init(_ name: String, furtherSteps: [String]) {
    self.name = name
    identifier = Self.quoted(name, with: "\"")
    steps = [Self.firstStep(identifier)] + furtherSteps
  }

  package var version: Int { steps.count }
  var states: String { "\(identifier).states" }
  var commits: String { "\(identifier).commits" }

  /// The name under which changes are told.
  var channel: String { identifier }
  var channelLiteral: String { Self.quoted(name, with: "'") }

  /// Makes the place for the tables.
  package var creation: String { "CREATE SCHEMA \(identifier)" }

  /// Answers the version of the tables.
  var versionQuery: String { "SELECT version FROM \(identifier).layout" }

  /// Answers whether the place and the tables are there.
  var presenceQuery: String {
    let table = Self.quoted("\(identifier).layout", with: "'")
    return """
      SELECT to_regnamespace(\(Self.quoted(identifier, with: "'"))) IS NOT NULL, \
      to_regclass(\(table)) IS NOT NULL
      """
  }

  /// Notes that the tables are those of the version.
  package func note(version: Int) -> String {
    """
    DELETE FROM \(identifier).layout; INSERT INTO \(identifier).layout VALUES (\(version))
    """
  }

  /// One process at a time changes tables.
  ///
  /// The number says nothing; it is that of no other
  /// software that is known.
  static let lock = "SELECT pg_advisory_xact_lock(5271009127365480203)"

  private static func firstStep(_ identifier: String) -> String {
    """
    CREATE TABLE \(identifier).states (
      name text COLLATE "C" PRIMARY KEY,
      id uuid NOT NULL,
      version uuid NOT NULL,
      first_commit bigint NOT NULL DEFAULT 1,
      last_commit bigint NOT NULL DEFAULT 1,
      byte_count bigint NOT NULL,
      updated timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 70);
    CREATE TABLE \(identifier).commits (
      state uuid NOT NULL,
      position bigint NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (state, position)
    );
    CREATE TABLE \(identifier).layout (version integer PRIMARY KEY);
    """
  }

  private static func quoted(_ text: String, with mark: Character) -> String {
    var quoted = String(mark)
    for character in text.unicodeScalars {
      quoted.unicodeScalars.append(character)
      if Character(character) == mark { quoted.append(mark) }
    }
    quoted.append(mark)
    return quoted
  }
}
#endif
