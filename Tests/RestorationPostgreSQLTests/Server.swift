#if PostgreSQL
import CPostgreSQL
import Foundation
import RestorationKit
import RestorationPostgreSQL
import TestSupport
import XCTest

/// A PostgreSQL of its own, which ends with this process however that ends.
final class Server: @unchecked Sendable {
  /// One for all tests that leave it running.
  static let shared: Result<Server, any Error> = Result {
    let server = try Server(settings: ["fsync=off"])
    // Else its folder would go first, and it would write there again.
    atexit { try? Server.shared.get().stop() }
    return server
  }

  private let folder: TemporaryDirectory
  private let settings: [String]
  private let primary: String?
  private var script: Process?
  private var input = Pipe()

  /// For the library; the user is the owner of all.
  private(set) var connectionString = ""

  /// Why there can be none here; nil if there can.
  static let obstacle: String? = {
    let script = try? String(contentsOfFile: path, encoding: .utf8)
    guard script != nil else { return "Scripts/postgres is not there." }
    let places = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map(String.init)
    let versions =
      (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let programs = places + versions.map { "/usr/lib/postgresql/\($0)/bin" }
    let isThere = programs.contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/postgres")
    }
    return isThere ? nil : "PostgreSQL is not on this machine."
  }()

  private static let path = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Scripts/postgres").path

  /// Makes a server with settings such as `fsync=off` and starts it.
  ///
  /// It follows the primary with the connection string, if there is one.
  init(settings: [String] = [], replicaOf primary: String? = nil) throws {
    folder = try TemporaryDirectory()
    self.settings = settings
    self.primary = primary
    try start()
  }

  deinit {
    stop()
  }

  /// The files of the server, for its user only.
  var dataPath: String { folder.child("server/data") }

  var port: Int { URLComponents(string: connectionString)?.port ?? 0 }

  /// The connection string with other parts.
  func connectionString(_ change: (inout URLComponents) -> Void) throws -> String {
    var parts = try XCTUnwrap(URLComponents(string: connectionString))
    change(&parts)
    return try XCTUnwrap(parts.string)
  }

  /// Starts it, or starts it again where it was.
  func start() throws {
    let script = Process()
    input = Pipe()
    let output = Pipe()
    script.executableURL = URL(filePath: Self.path)
    script.arguments =
      ["--folder", folder.child("server")] + settings.flatMap { ["--set", $0] }
      + (primary.map { ["--replica-of", $0] } ?? []) + ["--serve"]
    script.standardInput = input
    script.standardOutput = output
    try script.run()
    self.script = script
    let text = output.fileHandleForReading.availableData
    connectionString = String(decoding: text, as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    if connectionString.isEmpty { throw ServerFailure(reason: "Scripts/postgres has failed") }
  }

  /// Ends it at once, with its connections.
  func stop() {
    try? input.fileHandleForWriting.close()
    script?.waitUntilExit()
    script = nil
  }

  /// Kills all of its processes, as a machine that goes down.
  func kill() throws {
    let processes = try processes()
    for process in processes { Glibc.kill(process, SIGKILL) }
    let end = ContinuousClock.now + .seconds(20)
    while !processes.allSatisfy(Self.hasEnded) {
      guard ContinuousClock.now < end else { throw ServerFailure(reason: "It does not end.") }
      usleep(1000)
    }
    stop()
  }

  /// Whether a process runs no more; nobody may have asked how it has ended.
  private static func hasEnded(_ process: pid_t) -> Bool {
    guard Glibc.kill(process, 0) == 0, let fields = fields(of: process) else { return true }
    return fields.first == "Z"
  }

  /// What follows the name of a process in what the system says of it; nil if it is gone.
  private static func fields(of process: pid_t) -> [Substring]? {
    let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    return status?.split(separator: ")").last?.split(separator: " ")
  }

  /// Stops or continues all of its processes: what is sent to them is not answered.
  func signal(_ signal: Int32) throws {
    for process in try processes() { Glibc.kill(process, signal) }
  }

  private func processes() throws -> [pid_t] {
    let file = try String(
      contentsOfFile: folder.child("server/data/postmaster.pid"), encoding: .utf8)
    let main = try XCTUnwrap(file.split(separator: "\n").first.flatMap { pid_t($0) })
    let others = try FileManager.default.contentsOfDirectory(atPath: "/proc")
      .compactMap { pid_t($0) }.filter { Self.parent(of: $0) == main }
    return [main] + others
  }

  private static func parent(of process: pid_t) -> pid_t? {
    fields(of: process)?.dropFirst().first.flatMap { pid_t($0) }
  }

  /// Runs SQL as the owner, and gives the fields of the answer as text.
  @discardableResult
  func sql(_ text: String, in database: String? = nil) throws -> [[String?]] {
    let string = try connectionString { if let database { $0.path = "/\(database)" } }
    let connection = PQconnectdb(string)
    defer { PQfinish(connection) }
    let result = PQexec(connection, text)
    defer { PQclear(result) }
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK: break
    default: throw ServerFailure(reason: String(cString: PQerrorMessage(connection)))
    }
    return (0..<PQntuples(result)).map { row in
      (0..<PQnfields(result)).map { column in
        PQgetisnull(result, row, column) != 0
          ? nil : String(cString: PQgetvalue(result, row, column))
      }
    }
  }

  /// A role of its own, which may do nothing yet, as a connection string.
  func makeRole(
    _ name: String = "role \(UUID().uuidString)", password: String = "p\(UUID().uuidString)",
    attributes: String = ""
  ) throws -> (name: String, connectionString: String) {
    try sql("CREATE ROLE \"\(name)\" LOGIN PASSWORD '\(password)' \(attributes)")
    let string = try connectionString {
      $0.user = name
      $0.password = password
    }
    return (name, string)
  }

  /// How many connections with this `application_name` do something, or any at all.
  func connectionCount(of application: String, where condition: String = "true") throws -> Int {
    let count = try value(
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(application)' AND "
        + condition)
    return count.flatMap { Int($0) } ?? -1
  }

  /// The only field of the answer.
  func value(_ text: String) throws -> String? { try sql(text).first?.first ?? nil }
}

struct ServerFailure: Error {
  let reason: String
}

/// A connection that holds what others wait for.
final class Session {
  private let connection: OpaquePointer

  /// Connects, and runs SQL.
  init(_ connectionString: String, _ sql: String) throws {
    connection = PQconnectdb(connectionString)
    try run(sql)
  }

  deinit {
    PQfinish(connection)
  }

  func run(_ sql: String) throws {
    let result = PQexec(connection, sql)
    defer { PQclear(result) }
    guard PQresultStatus(result) != PGRES_FATAL_ERROR else {
      throw ServerFailure(reason: String(cString: PQerrorMessage(connection)))
    }
  }
}

@available(*, unavailable, message: "a session belongs to the test that holds something with it")
extension Session: Sendable {}

/// A test on the server that all share, in a schema of its own.
class StoreTestCase: XCTestCase {
  private(set) var server: Server!
  private(set) var schema = ""
  private var stores: [PostgreSQLStateStore] = []

  override func setUp() async throws {
    if let obstacle = Server.obstacle { throw XCTSkip(obstacle) }
    server = try Server.shared.get()
    schema = "test \(UUID().uuidString)"
  }

  override func tearDown() async throws {
    for store in stores { await store.close() }
    stores = []
    try server?.sql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE")
    server = nil
  }

  /// Another store of the test's schema, closed at its end.
  func makeStore(
    _ connection: String? = nil, managesSchema: Bool = true, limit: Int = 8,
    connectTimeout: Duration = .seconds(5), queryTimeout: Duration = .seconds(10),
    waitingTimeout: Duration = .seconds(10), idleTimeout: Duration = .seconds(120),
    notifies: Bool = false
  ) throws -> PostgreSQLStateStore {
    let store = try PostgreSQLStateStore(
      connection ?? server.connectionString,
      options: PostgreSQLStateStore.Options(
        schema: schema, managesSchema: managesSchema, connectionLimit: limit,
        connectTimeout: connectTimeout, queryTimeout: queryTimeout,
        waitingTimeout: waitingTimeout, idleTimeout: idleTimeout, notifies: notifies))
    stores.append(store)
    return store
  }

  /// How many connections wait for the test's table of states.
  func waiterCount() throws -> Int? {
    try server.value(
      """
      SELECT count(*) FROM pg_locks
      WHERE NOT granted AND relation = '"\(schema)".states'::regclass
      """
    ).flatMap { Int($0) }
  }

  /// The connection string with an `application_name`, so that its connections can be counted.
  func named(_ application: String) throws -> String {
    try server.connectionString {
      $0.queryItems =
        ($0.queryItems ?? []) + [
          URLQueryItem(name: "application_name", value: application)
        ]
    }
  }
}

/// Waits until something is so, and fails if it is not.
func eventually(
  _ what: String, within time: Duration = .seconds(20), file: StaticString = #filePath,
  line: UInt = #line, _ isSo: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + time
  while try await !isSo() {
    guard ContinuousClock.now < end else {
      return XCTFail("Not in \(time): \(what)", file: file, line: line)
    }
    try await Task.sleep(for: .milliseconds(5))
  }
}

/// Asserts that a call throws an error of the store, and gives it.
@discardableResult
func assertStoreError<Value>(
  _ code: RemoteStoreError.Code, file: StaticString = #filePath, line: UInt = #line,
  _ body: () async throws -> Value
) async -> RemoteStoreError? {
  do {
    let value = try await body()
    XCTFail("No error, but \(value)", file: file, line: line)
  } catch let error as RemoteStoreError {
    XCTAssertEqual(error.code, code, "\(error)", file: file, line: line)
    return error
  } catch {
    XCTFail("\(error)", file: file, line: line)
  }
  return nil
}
#endif
import RestorationSharing
