#if PostgreSQL
import Foundation
import RestorationKit
import RestorationPostgreSQL
import XCTest

/// The article “States in PostgreSQL”.
struct Article {
  private let text: String

  init() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(
        path: "../../Sources/RestorationSharing/RestorationSharing.docc/states-in-postgresql.md")
    text = try String(contentsOf: file, encoding: .utf8)
  }

  /// The blocks of SQL in their order.
  var blocks: [String] {
    text.components(separatedBy: "\n```sql\n").dropFirst()
      .compactMap { $0.components(separatedBy: "\n```").first }
  }

  /// The only block with some words.
  func block(containing words: String) throws -> String {
    let found = blocks.filter { $0.contains(words) }
    XCTAssertEqual(found.count, 1, words)
    return try XCTUnwrap(found.first)
  }
}

final class ArticleTests: StoreTestCase {
  /// What the article says, in the schema of the test.
  private func adapted(_ sql: String) -> String {
    sql.replacingOccurrences(of: "restoration", with: "\"\(schema)\"")
  }

  func testWhoMakesTheTablesByTheArticleNeedsNoRightToMakeThem() async throws {
    try server.sql(adapted(try Article().block(containing: "CREATE TABLE")))
    let store = try makeStore(managesSchema: false)
    let version = try await store.replace("a", with: [1], expecting: nil)
    let state = try await store.load("a")
    XCTAssertEqual(state, RemoteState(bytes: [1], version: try XCTUnwrap(version)))
  }

  func testOperatorsSeeNamesSizesAndTimesAndRemoveWhatIsOld() async throws {
    let store = try makeStore()
    for name in ["old", "new"] {
      let version = try await store.replace(
        name, with: [UInt8](repeating: 1, count: 3000), expecting: nil)
      _ = try await store.append([1], to: name, expecting: XCTUnwrap(version))
    }
    try server.sql(
      "UPDATE \"\(schema)\".states SET updated = now() - interval '500 days' WHERE name = 'old'")
    let rows = try server.sql(adapted(try Article().block(containing: "pg_size_pretty")))
    XCTAssertEqual(rows.map { $0[0] }, ["new", "old"])
    XCTAssertEqual(rows.map { $0[1] }, ["3001 bytes", "3001 bytes"])
    XCTAssertEqual(rows.map { $0[2] }, ["2", "2"])
    try server.sql(adapted(try Article().block(containing: "gone")))
    let names = try await store.names(prefix: "")
    XCTAssertEqual(names, ["new"])
    XCTAssertEqual(try server.value("SELECT count(*) FROM \"\(schema)\".commits"), "2")
  }

  /// A name is quoted where it need not be.
  private func plain(_ sql: String) -> String {
    sql.replacingOccurrences(of: "\"restoration\"", with: "restoration")
  }

  func testTheTablesOfTheArticleAreThoseOfTheLibrary() throws {
    let schema = Schema("restoration")
    let sql =
      ([schema.creation + ";"] + schema.steps + [schema.note(version: schema.version) + ";"])
      .joined(separator: "\n")
    XCTAssertEqual(
      try Article().block(containing: "CREATE TABLE"),
      plain(sql).replacingOccurrences(of: "; INSERT", with: ";\nINSERT"))
  }
}
#endif
import RestorationSharing
