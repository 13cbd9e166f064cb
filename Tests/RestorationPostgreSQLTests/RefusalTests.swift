#if PostgreSQL
import Foundation
import RestorationKit
import RestorationPostgreSQL
import TestSupport
import XCTest

/// What somebody has to mend.
final class RefusalTests: StoreTestCase {
  private func assertSays(
    _ words: String, _ error: RemoteStoreError?, file: StaticString = #filePath, line: UInt = #line
  ) {
    let text = error.map { "\($0)" } ?? "nothing"
    XCTAssertTrue(text.contains(words), text, file: file, line: line)
  }

  func testAWrongPasswordIsRefusedAtOnce() async throws {
    let store = try makeStore(server.connectionString { $0.password = "wrong" })
    let error = await assertStoreError(.refused) { try await store.load("a") }
    XCTAssertEqual(
      error.map { "\($0)" },
      "The server of postgresql://127.0.0.1:\(server.port)/postgres does not let this user in: "
        + "password authentication failed for user \"restoration\". Check user, password and its "
        + "pg_hba.conf.")
  }

  func testAMissingDatabaseIsRefused() async throws {
    let store = try makeStore(server.connectionString { $0.path = "/nowhere" })
    let error = await assertStoreError(.refused) { try await store.load("a") }
    assertSays("has no such database: database \"nowhere\" does not exist. Create it", error)
  }

  func testARoleThatMayMakeNoTablesIsRefused() async throws {
    let store = try makeStore(server.makeRole().connectionString)
    let error = await assertStoreError(.refused) { try await store.load("a") }
    assertSays("does not let this user do that: permission denied for database", error)
  }

  /// Makes the tables, and grants rights on them.
  private func role(withRightsTo rights: String) async throws -> String {
    _ = try await makeStore().replace("a", with: [1], expecting: nil)
    let role = try server.makeRole()
    try server.sql(
      """
      GRANT USAGE ON SCHEMA "\(schema)" TO "\(role.name)";
      GRANT \(rights) ON ALL TABLES IN SCHEMA "\(schema)" TO "\(role.name)"
      """)
    return role.connectionString
  }

  func testARoleThatMayOnlyReadLoadsAndIsRefusedToWrite() async throws {
    let store = try makeStore(await role(withRightsTo: "SELECT"))
    let state = try await store.load("a")
    let version = try XCTUnwrap(state?.version)
    for _ in 0..<2 {
      let error = await assertStoreError(.refused) {
        try await store.append([2], to: "a", expecting: version)
      }
      assertSays("permission denied for table", error)
    }
    let again = try await store.load("a")
    XCTAssertEqual(again, state)
  }

  func testTheRightsOfTheArticleAreEnough() async throws {
    _ = try await makeStore().load("a")
    let role = try server.makeRole("catalog \(UUID().uuidString)")
    let article = try Article()
    for statement in try article.block(containing: "GRANT").split(separator: ";") {
      try server.sql(
        statement.replacingOccurrences(of: "restoration", with: "\"\(schema)\"")
          .replacingOccurrences(of: "TO catalog", with: "TO \"\(role.name)\""))
    }
    let store = try makeStore(role.connectionString, managesSchema: false, notifies: true)
    let made = try await store.replace("a", with: [1], expecting: nil)
    let first = try XCTUnwrap(made)
    let added = try await store.append([2], to: "a", expecting: first)
    let second = try XCTUnwrap(added)
    let replaced = try await store.replace("a", with: [3], expecting: second)
    let third = try XCTUnwrap(replaced)
    let names = try await store.names(prefix: "")
    XCTAssertEqual(names, ["a"])
    let isRemoved = try await store.remove("a", expecting: third)
    XCTAssertTrue(isRemoved)
  }

  func testWithoutTablesAStoreThatMayNotMakeThemSaysSo() async throws {
    let store = try makeStore(managesSchema: false)
    let error = await assertStoreError(.incompatible) { try await store.load("a") }
    assertSays("does not have the tables of this version", error)
    assertSays("run the SQL of “States in PostgreSQL”", error)
    XCTAssertEqual(
      try server.value("SELECT to_regnamespace('\"\(schema)\"') IS NULL"), "t")
  }

  func testTablesOfANewerVersionAreLeftAlone() async throws {
    _ = try await makeStore().replace("a", with: [1], expecting: nil)
    try server.sql("UPDATE \"\(schema)\".layout SET version = 7")
    for managesSchema in [true, false] {
      let store = try makeStore(managesSchema: managesSchema)
      let error = await assertStoreError(.incompatible) { try await store.load("a") }
      assertSays("are of version 7, and this software knows 1. Update it.", error)
    }
    XCTAssertEqual(try server.value("SELECT version FROM \"\(schema)\".layout"), "7")
  }

  func testTablesOfAnOlderVersionAreChangedOnceByManyAndKeepTheirStates() async throws {
    let version = try await makeStore().replace("a", with: [1, 2], expecting: nil)
    let next = Schema(
      schema,
      furtherSteps: [
        """
        INSERT INTO "\(schema)".commits VALUES (gen_random_uuid(), 7, 'x'); SELECT pg_sleep(0.2)
        """
      ])
    func makeNext(managesSchema: Bool = true) throws -> PostgreSQLStateStore {
      try PostgreSQLStateStore(
        server.connectionString, schema: next,
        options: PostgreSQLStateStore.Options(schema: schema, managesSchema: managesSchema))
    }
    let unmanaged = try makeNext(managesSchema: false)
    let error = await assertStoreError(.incompatible) { try await unmanaged.load("a") }
    assertSays("are of version 1, and this software needs 2.", error)
    let stores = try (0..<8).map { _ in try makeNext() }
    try await withThrowingTaskGroup(of: RemoteState?.self) { group in
      for store in stores { group.addTask { try await store.load("a") } }
      for try await state in group {
        XCTAssertEqual(state?.bytes, [1, 2])
        XCTAssertEqual(state?.version, version)
      }
    }
    XCTAssertEqual(try server.value("SELECT version FROM \"\(schema)\".layout"), "2")
    XCTAssertEqual(
      try server.value("SELECT count(*) FROM \"\(schema)\".commits WHERE position = 7"), "1")
    let older = try makeStore()
    await assertStoreError(.incompatible) { try await older.load("a") }
    for store in stores + [unmanaged] { await store.close() }
  }

  func testAnOpenStoreWritesToNoTablesThatAnotherVersionHasChanged() async throws {
    let older = try makeStore()
    let version = try await older.replace("a", with: [1], expecting: nil)
    let next = Schema(
      schema, furtherSteps: ["ALTER TABLE \"\(schema)\".commits RENAME TO parts"])
    let newer = try PostgreSQLStateStore(
      server.connectionString, schema: next, options: PostgreSQLStateStore.Options(schema: schema))
    // The tables are changed, and the statements of this store are not those that they need.
    await assertStoreError(.incompatible) { try await newer.load("a") }
    await newer.close()
    for _ in 0..<2 {
      let error = await assertStoreError(.incompatible) {
        try await older.append([2], to: "a", expecting: XCTUnwrap(version))
      }
      XCTAssertNotNil(error)
      await assertStoreError(.incompatible) { try await older.load("a") }
    }
    XCTAssertEqual(try server.value("SELECT count(*) FROM \"\(schema)\".parts"), "1")
    XCTAssertEqual(try server.value("SELECT byte_count FROM \"\(schema)\".states"), "1")
  }

  func testAMigrationThatFailsChangesNothing() async throws {
    _ = try await makeStore().replace("a", with: [1], expecting: nil)
    let next = Schema(
      schema, furtherSteps: ["DROP TABLE \"\(schema)\".commits", "SELECT 1 / 0"])
    let store = try PostgreSQLStateStore(
      server.connectionString, schema: next,
      options: PostgreSQLStateStore.Options(
        schema: schema, waitingTimeout: .seconds(3)))
    let error = await assertStoreError(.unavailable) { try await store.load("a") }
    assertSays("has failed: division by zero. SQLSTATE 22012 says more.", error)
    await store.close()
    let state = try await makeStore().load("a")
    XCTAssertEqual(state?.bytes, [1])
  }

  func testRowsThatWereChangedByHandAreDamaged() async throws {
    let store = try makeStore()
    let changes = [
      "DELETE FROM commits WHERE position = 1", "DELETE FROM commits WHERE position = 2",
      "DELETE FROM commits WHERE position = 3", "DELETE FROM commits",
      "DELETE FROM commits; UPDATE states SET byte_count = 0",
      "UPDATE commits SET bytes = bytes || 'x' WHERE position = 2",
      "UPDATE commits SET position = 9 WHERE position = 2",
      "UPDATE states SET byte_count = 2", "UPDATE states SET last_commit = 2",
      "UPDATE states SET first_commit = 2", "UPDATE states SET id = version",
      "INSERT INTO commits SELECT state, 4, 'y' FROM commits LIMIT 1",
      "UPDATE states SET first_commit = -9223372036854775808",
      "UPDATE states SET first_commit = -9223372036854775808, last_commit = 9223372036854775807",
    ]
    for change in changes {
      var version = try await store.replace("a", with: [1], expecting: nil)
      for byte in [2, 3] as [UInt8] {
        version = try await store.append([byte], to: "a", expecting: XCTUnwrap(version))
      }
      try server.sql("SET search_path = \"\(schema)\"; \(change)")
      let error = await assertStoreError(.damaged) { try await store.load("a") }
      assertSays("The rows of “a” in postgresql://127.0.0.1:\(server.port)/postgres do not", error)
      let isRemoved = try await store.remove("a", expecting: XCTUnwrap(version))
      XCTAssertTrue(isRemoved, change)
      try server.sql("DELETE FROM \"\(schema)\".commits")
    }
    // A commit that is in the way is seen by the write.
    let version = try await store.replace("a", with: [1], expecting: nil)
    try server.sql(
      "SET search_path = \"\(schema)\"; INSERT INTO commits SELECT state, 2, 'y' FROM commits")
    await assertStoreError(.damaged) {
      try await store.append([2], to: "a", expecting: XCTUnwrap(version))
    }
  }

  func testWhatIsWrongWithOneStateIsNoMatterOfThoseThatAreSentWithIt() async throws {
    let store = try makeStore()
    let names = (0..<30).map { "state \($0)" }
    var versions: [String: RemoteVersion] = [:]
    for name in names {
      versions[name] = try await store.replace(name, with: [1], expecting: nil)
    }
    try server.sql(
      """
      SET search_path = "\(schema)"; INSERT INTO commits
      SELECT id, 2, 'y' FROM states WHERE name = 'state 7'
      """)
    let session = try Session(
      server.connectionString, "BEGIN; LOCK TABLE \"\(schema)\".states IN EXCLUSIVE MODE")
    // One or two statements are under way, and the others go together.
    let known = versions
    let appends = names.map { name in
      Task.immediate {
        let version = try XCTUnwrap(known[name])
        return try await store.append([2], to: name, expecting: version)
      }
    }
    let stray = Task.immediate {
      try await store.append([2], to: "a\0", expecting: RemoteVersion(UUID().uuidString))
    }
    try await eventually("they wait") { try waiterCount() != 0 }
    try session.run("COMMIT")
    for (name, append) in zip(names, appends) where name != "state 7" {
      let version = try await append.value
      let state = try await store.load(name)
      XCTAssertEqual(state, RemoteState(bytes: [1, 2], version: try XCTUnwrap(version)), name)
    }
    await assertStoreError(.damaged) { try await appends[7].value }
    await assertStoreError(.refused) { try await stray.value }
  }

  func testWhatIsTooLargeIsRefusedBeforeItIsSent() async throws {
    let store = try makeStore()
    let bytes = [UInt8](repeating: 0, count: PostgreSQLStateStore.largestWrite + 1)
    await assertStoreError(.tooLarge) { try await store.replace("a", with: bytes, expecting: nil) }
  }

  func testANameThatTheServerCannotStoreIsRefusedAndTheConnectionGoesOn() async throws {
    let store = try makeStore(named(schema), limit: 1)
    _ = try await store.load("a")
    let process = try server.value(
      "SELECT pid FROM pg_stat_activity WHERE application_name = '\(schema)'")
    await assertStoreError(.refused) { try await store.load("a\0b") }
    _ = try await store.load("a")
    XCTAssertEqual(
      try server.value("SELECT pid FROM pg_stat_activity WHERE application_name = '\(schema)'"),
      process)
  }

  func testASchemaOfAnyNameThatPostgreSQLKnowsIsUsed() async throws {
    for name in ["", String(repeating: "x", count: 64), "a\0b"] {
      XCTAssertThrowsError(
        try PostgreSQLStateStore(
          server.connectionString, options: PostgreSQLStateStore.Options(schema: name))
      ) { XCTAssertEqual(($0 as? RemoteStoreError)?.code, .refused) }
    }
    for name in ["x'; DROP TABLE y; --", "a\"b", "ä €", String(repeating: "x", count: 63)] {
      let store = try PostgreSQLStateStore(
        server.connectionString,
        options: PostgreSQLStateStore.Options(schema: name, notifies: true))
      _ = try await store.replace("a", with: [1], expecting: nil)
      let state = try await store.load("a")
      XCTAssertEqual(state?.bytes, [1], name)
      await store.close()
    }
  }

  func testTimesOfAnyLengthAreTaken() async throws {
    for time in [Duration.seconds(Int64.max), .seconds(-1), .zero] {
      let store = try makeStore(
        connectTimeout: max(time, .seconds(5)), queryTimeout: max(time, .seconds(5)),
        waitingTimeout: max(time, .seconds(5)), idleTimeout: time)
      _ = try await store.load("a")
      _ = try await store.load("a")
    }
  }

  func testAFullDiskIsFullAndWhatIsStoredStays() async throws {
    let folder = try TemporaryDirectory()
    let disk = try SmallDisk(over: folder.path, byteCount: 2 << 20)
    let owner = try FileManager.default.attributesOfItem(atPath: server.dataPath)[
      .ownerAccountID]
    try FileManager.default.setAttributes(
      [.ownerAccountID: try XCTUnwrap(owner), .posixPermissions: 0o700], ofItemAtPath: folder.path)
    let space = "small \(UUID().uuidString)"
    try server.sql("CREATE TABLESPACE \"\(space)\" LOCATION '\(folder.path)'")
    do {
      try server.sql(
        "CREATE TABLE ballast TABLESPACE \"\(space)\" AS SELECT generate_series(1, 10000)")
      let store = try makeStore(
        server.connectionString {
          $0.queryItems = [
            URLQueryItem(
              name: "options",
              value: "-c default_tablespace=\(space.replacingOccurrences(of: " ", with: "\\ "))")
          ]
        })
      var bytes = NumberWriter.bytes(100)
      var version = try await store.replace("a", with: bytes, expecting: nil)
      var failure: RemoteStoreError?
      while failure == nil, bytes.count < 4 << 20 {
        let more = (0..<8000).map { _ in UInt8.random(in: 0...255) }
        do {
          version = try await store.append(more, to: "a", expecting: XCTUnwrap(version))
          bytes += more
        } catch let error as RemoteStoreError {
          failure = error
        }
      }
      XCTAssertEqual(failure?.code, .full)
      assertSays("has no room on its disk: could not extend file", failure)
      let state = try await store.load("a")
      XCTAssertTrue(state?.bytes == bytes)
      XCTAssertEqual(state?.version, version)
      try server.sql("DROP TABLE ballast")
      let next = try await store.append([1], to: "a", expecting: XCTUnwrap(version))
      XCTAssertNotNil(next)
      await store.close()
    }
    try server.sql("DROP TABLE IF EXISTS ballast")
    try server.sql("DROP SCHEMA \"\(schema)\" CASCADE")
    try server.sql("DROP TABLESPACE \"\(space)\"")
    _ = consume disk
  }
}
#endif
import RestorationSharing
