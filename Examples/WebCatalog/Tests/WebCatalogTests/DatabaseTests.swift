import Foundation
import TestSupport
import XCTest

/// The database goes away and comes back while servers run.
final class DatabaseTests: XCTestCase {
  func testADatabaseThatIsKilledAndStartedAgainLosesNothingThatWasAcknowledged() throws {
    let site = try Site()
    var database = try Database(in: site.directory)
    let visitor = Visitor(
      try site.serve("--database", database.connection, "--schema", "killed"))
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    var acknowledged = ""
    for number in 1...60 {
      if number == 30 { try database.kill() }
      if number == 32 { database = try Database(in: site.directory) }
      let change: [String: Any] = ["page": "a", "number": number, "search": "word \(number)"]
      let answer = try visitor.tell(change, in: tab, token: token)
      if answer.status == 200 { acknowledged = "word \(number)" }
      if (30..<32).contains(number) {
        XCTAssertEqual(answer.status, 503)
        XCTAssertEqual(
          answer.text, #"{"problem":"What is stored cannot be reached. Try again in a moment."}"#)
      }
    }
    XCTAssertEqual(acknowledged, "word 60")
    XCTAssertFalse(visitor.server.words.contains(database.password), visitor.server.words)
    try visitor.server.kill()
    visitor.server = try site.serve("--database", database.connection, "--schema", "killed")
    XCTAssertTrue(try visitor.get(tab).text.contains(#"value="word 60""#))
  }

  func testAServerWithoutItsDatabaseSaysSoAndNoPassword() throws {
    let site = try Site()
    XCTAssertThrowsError(
      try site.serve("--database", "postgresql://ann:secret@127.0.0.1:1/catalog")
    ) {
      XCTAssertTrue("\($0)".contains("127.0.0.1"), "\($0)")
      XCTAssertFalse("\($0)".contains("secret"), "\($0)")
    }
  }
}

/// A PostgreSQL of a test's own, in a folder of the test's.
private final class Database {
  let connection: String
  private let child: Child
  private let folder: URL

  /// Starts it; with what is in the folder, if it was there before.
  init(in directory: URL) throws {
    folder = directory.appending(path: "postgres")
    let output = directory.appending(path: "postgres-\(UUID().uuidString)")
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../../Scripts/postgres").standardized
    child = try Child(
      [
        script.path, "--folder", folder.path, "bash", "-c",
        "echo $RESTORATION_POSTGRES; exec setpriv --pdeathsig KILL sleep infinity",
      ], output: output)
    var connection = ""
    try TestSupport.wait(for: "PostgreSQL", seconds: 60) { [child] in
      connection = try String(contentsOf: output, encoding: .utf8)
      guard child.isRunning else { throw XCTSkip("There is no PostgreSQL here. \(connection)") }
      return connection.hasSuffix("\n")
    }
    self.connection = connection.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  var password: String {
    URLComponents(string: connection)?.password ?? ""
  }

  /// Kills all of its processes: one that is left would go on answering for a moment.
  func kill() throws {
    let file = folder.appending(path: "data/postmaster.pid")
    let number = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").first
    let main = try XCTUnwrap(number.flatMap { pid_t($0) })
    let others = try FileManager.default.contentsOfDirectory(atPath: "/proc")
      .compactMap { pid_t($0) }.filter { Self.parent(of: $0) == main }
    for process in [main] + others { Glibc.kill(process, SIGKILL) }
    child.send(SIGKILL)
    try child.ending()
    try TestSupport.wait(for: "the end of PostgreSQL") {
      ([main] + others).allSatisfy { Glibc.kill($0, 0) != 0 }
    }
  }

  private static func parent(of process: pid_t) -> pid_t? {
    // The name of a program may have spaces and parentheses in it.
    let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    return status?.split(separator: ")").last?.split(separator: " ").dropFirst().first
      .flatMap { pid_t($0) }
  }
}
