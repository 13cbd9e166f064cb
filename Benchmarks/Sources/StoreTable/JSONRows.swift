internal import Crypto
internal import Foundation
internal import Workload

/// Sessions as rows of sealed JSON, as they are usually kept: each change writes the row.
final class JSONRows: Sendable {
  let string: String
  private let sealing = JSONSealing()

  init(_ string: String, products: [Product], count: Int) throws {
    self.string = string
    let database = try Database(string)
    try database.run("DROP TABLE IF EXISTS json_sessions")
    try database.run(
      "CREATE TABLE json_sessions (name text PRIMARY KEY, body bytea NOT NULL,"
        + " updated timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 70)")
    let body = try sealing.sealed(products)
    for number in 0..<count {
      try database.run(
        "INSERT INTO json_sessions (name, body) VALUES ($1::text, $2::bytea)",
        [Self.name(number), body])
    }
  }

  static func name(_ number: Int) -> [UInt8] { Array("user \(number)".utf8) }

  func sealed(_ products: [Product]) throws -> [UInt8] { try sealing.sealed(products) }

  func save(_ products: [Product], as number: Int, with database: Database) throws {
    try database.run(
      "UPDATE json_sessions SET body = $2::bytea, updated = now() WHERE name = $1::text",
      [Self.name(number), try sealed(products)])
  }
}

/// Products as JSON that is sealed with a key of its own.
struct JSONSealing {
  private let key = SymmetricKey(size: .bits256)

  func sealed(_ products: [Product]) throws -> [UInt8] {
    Array(try ChaChaPoly.seal(try JSONEncoder().encode(products), using: key).combined)
  }

  func opened(_ sealed: [UInt8]) throws -> [Product] {
    let encoded = try ChaChaPoly.open(try ChaChaPoly.SealedBox(combined: sealed), using: key)
    return try JSONDecoder().decode([Product].self, from: encoded)
  }
}
