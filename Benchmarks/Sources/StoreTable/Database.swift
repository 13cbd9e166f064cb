internal import Foundation
internal import Libpq

/// A connection that waits for each answer, as a plain program has it.
///
/// One thread at a time may use it, which those who use it see to.
final class Database: @unchecked Sendable {
  struct Failure: Error {
    let message: String
  }

  private let connection: OpaquePointer
  private var prepared: Set<String> = []

  init(_ string: String) throws {
    guard let connection = PQconnectdb(string) else { throw Failure(message: "no memory") }
    self.connection = connection
    guard PQstatus(connection) == CONNECTION_OK else { throw failure }
  }

  deinit {
    PQfinish(connection)
  }

  private var failure: Failure { Failure(message: String(cString: PQerrorMessage(connection))) }

  func run(_ sql: String) throws {
    let result = PQexec(connection, sql)
    defer { PQclear(result) }
    guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
      throw failure
    }
  }

  /// Runs a prepared statement with binary parameters, and gives the first field.
  @discardableResult
  func run(_ sql: String, _ parameters: [[UInt8]]) throws -> [UInt8]? {
    if prepared.insert(sql).inserted {
      let result = PQprepare(connection, sql, sql, 0, nil)
      defer { PQclear(result) }
      guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure }
    }
    // All of them one after the other, which stay where they are during the call.
    var bytes = parameters.flatMap(\.self)
    if bytes.isEmpty { bytes = [0] }
    let result = bytes.withUnsafeBytes { bytes in
      var offset = 0
      let pointers = parameters.map { parameter -> UnsafePointer<CChar>? in
        defer { offset += parameter.count }
        return bytes.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
      }
      return PQexecPrepared(
        connection, sql, Int32(parameters.count), pointers, parameters.map { Int32($0.count) },
        parameters.map { _ in 1 }, 1)
    }
    defer { PQclear(result) }
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK: return nil
    case PGRES_TUPLES_OK:
      guard PQntuples(result) > 0, let value = PQgetvalue(result, 0, 0) else { return nil }
      let count = Int(PQgetlength(result, 0, 0))
      return Array(UnsafeRawBufferPointer(start: value, count: count))
    default: throw failure
    }
  }
}

/// How many bytes this process has sent to a server, by what the system says of its sockets.
func sentByteCount(port: Int) throws -> Int {
  let process = Process()
  let output = Pipe()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = ["ss", "-tinH", "dport", "=", ":\(port)"]
  process.standardOutput = output
  try process.run()
  let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
  process.waitUntilExit()
  return text.split(whereSeparator: \.isWhitespace).reduce(0) { sum, word in
    word.hasPrefix("bytes_sent:") ? sum + (Int(word.dropFirst(11)) ?? 0) : sum
  }
}
