internal import ArchiveCodec
internal import Foundation
internal import RestorationKit
internal import RestorationPostgreSQL
internal import RestorationSharing
internal import Tables
internal import Workload

/// Restores of single states among a million others.
struct RestoreRows {
  private static let stateCount = 1_000_000
  private static let sessionCount = 500
  private static let changeCount = 3
  private static let roundCount = 5

  private let string: String
  private let products = Catalog(productCount: Session.nodeCount).products

  init(_ string: String) {
    self.string = string
  }

  func measure() async throws -> [Row] {
    let store = try PostgreSQLStateStore(string, options: .init(schema: "million"))
    let directory = RemoteStateDirectory(store)
    let keys = try ArchiveKey()
    var changed = products
    for change in 0..<Self.changeCount { changed[change].stock += 1 }
    for number in 0..<Self.sessionCount {
      // Most have saved some changes since.
      let session = try Session("user \(number)", products: products, in: directory, keys: keys)
      try await session.save()
      for change in 0..<Self.changeCount { try await session.change(change) }
    }
    let database = try Database(string)
    try fill(database)
    let json = JSONSealing()
    let body = try json.sealed(changed)
    for number in 0..<Self.sessionCount {
      try database.run(
        "INSERT INTO million_rows (name, body) VALUES ($1::text, $2::bytea)",
        [Array("json \(number)".utf8), body])
    }
    try database.run("VACUUM ANALYZE")
    var (ours, loads, peer, decoded): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
    for _ in 0..<Self.roundCount {
      ours.append(
        try await milliseconds { number in
          let session = try Session("user \(number)", products: products, in: directory, keys: keys)
          guard try await session.restore() == changed else {
            throw WorkloadError("what is restored is not what was saved")
          }
        })
      loads.append(
        try await milliseconds { number in
          guard try await store.load("user \(number)") != nil else {
            throw WorkloadError("nothing is stored")
          }
        })
      peer.append(
        try await milliseconds { number in
          guard try Self.select(JSONRows.name(number), from: database) != nil else {
            throw WorkloadError("nothing is stored")
          }
        })
      decoded.append(
        try await milliseconds { number in
          let body = try Self.select(Array("json \(number)".utf8), from: database)
          guard try body.map(json.opened) == changed else {
            throw WorkloadError("what is decoded is not what was sealed")
          }
        })
    }
    return [
      Row(
        "Restore of one scene of 1,000,000, ms, against a bare select of the same bytes",
        ours: ours.median, peer: peer.median, ratio: zip(ours, peer).map { $0 / $1 }.median,
        goal: .atMost(1.3)),
      Row(
        "Load of its bytes without restoring, ms, against that", ours: loads.median,
        peer: peer.median, ratio: zip(loads, peer).map { $0 / $1 }.median, goal: .none),
      Row(
        "The same restore, ms, against a select of sealed JSON, ChaChaPoly.open and JSONDecoder",
        ours: ours.median, peer: decoded.median,
        ratio: zip(ours, decoded).map { $0 / $1 }.median, goal: .atMost(1.5)),
    ]
  }

  private static func select(_ name: [UInt8], from database: Database) throws -> [UInt8]? {
    try database.run("SELECT body FROM million_rows WHERE name = $1::text", [name])
  }

  /// The others are short: what matters is how many there are.
  private func fill(_ database: Database) throws {
    try database.run(
      """
      INSERT INTO million.states (name, id, version, byte_count)
      SELECT 'other ' || n, md5(n::text)::uuid, md5(n::text)::uuid, 64
      FROM generate_series(1, \(Self.stateCount - Self.sessionCount)) AS n
      """)
    try database.run(
      """
      INSERT INTO million.commits (state, position, bytes)
      SELECT id, 1, decode(repeat(md5(name), 4), 'hex') FROM million.states WHERE name LIKE 'other %'
      """)
    try database.run(
      """
      CREATE TABLE million_rows AS
      SELECT s.name, string_agg(c.bytes, ''::bytea ORDER BY c.position) AS body
      FROM million.states s JOIN million.commits c ON c.state = s.id GROUP BY s.name
      """)
    try database.run("ALTER TABLE million_rows ADD PRIMARY KEY (name)")
  }

  /// The mean of all sessions, one after the other, in another order than they were stored.
  private func milliseconds(_ body: (Int) async throws -> Void) async throws -> Double {
    let duration = try await ContinuousClock().measure {
      for number in 0..<Self.sessionCount { try await body(number * 263 % Self.sessionCount) }
    }
    return duration.milliseconds / Double(Self.sessionCount)
  }
}
