internal import ArchiveCodec
internal import Foundation
internal import RestorationKit
internal import RestorationPostgreSQL
internal import RestorationSharing
internal import Tables
internal import Workload

/// Changes of a thousand sessions, many at once and at a steady rate.
struct SaveRows {
  private static let sessionCount = 1_000
  private static let connectionCount = 8
  /// How many sessions save at once.
  private static let taskCount = 64
  private static let roundCount = 5
  private static let savesPerRound = 4_000

  private let string: String
  private let port: Int
  private let products = Catalog(productCount: Session.nodeCount).products
  private let store: PostgreSQLStateStore

  init(_ string: String) throws {
    self.string = string
    port = URLComponents(string: string)?.port ?? 5432
    store = try PostgreSQLStateStore(
      string, options: .init(schema: "sessions", connectionLimit: Self.connectionCount))
  }

  func measure() async throws -> [Row] {
    let directory = RemoteStateDirectory(store)
    let keys = try ArchiveKey()
    let sessions = try (0..<Self.sessionCount).map { number in
      try Session("user \(number)", products: products, in: directory, keys: keys)
    }
    try await inParallel(Self.sessionCount) { number in try await sessions[number].save() }
    let json = try JSONRows(string, products: products, count: Self.sessionCount)

    var (ours, peer): ([Double], [Double]) = ([], [])
    var (ourBytes, peerBytes) = (0.0, 0.0)
    for round in 0..<Self.roundCount {
      let before = try sentByteCount(port: port)
      ours.append(
        try await perSecond {
          try await inParallel(Self.savesPerRound) { number in
            try await sessions[number % Self.sessionCount].change(
              number / Self.sessionCount + round)
          }
        })
      let after = try sentByteCount(port: port)
      // Later rounds begin while connections of the peer end.
      if round == 0 { ourBytes = Double(after - before) }
      let connections = try saveJSON(json, round) { peer.append($0) }
      if round == 0 { peerBytes = Double(try sentByteCount(port: port) - after) }
      withExtendedLifetime(connections) {}
    }
    let count = Double(Self.savesPerRound)
    let ratio = zip(ours, peer).map { $0 / $1 }.median
    let rate = try await steady(sessions, json)
    return [
      Row(
        "Saves a second, 1,000 sessions of 10 nodes, 1 changed, against sealed JSON rows",
        ours: ours.median, peer: peer.median, ratio: ratio, goal: .atLeast(1.5)),
      Row(
        "Bytes sent for such a save", ours: ourBytes / count, peer: peerBytes / count,
        goal: .atMost(0.3)),
    ] + rate
  }

  private func perSecond(_ body: () async throws -> Void) async rethrows -> Double {
    let duration = try await ContinuousClock().measure { try await body() }
    return Double(Self.savesPerRound) / (duration / .seconds(1))
  }

  private func inParallel(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup { group in
      for worker in 0..<Self.taskCount {
        group.addTask {
          for number in stride(from: worker, to: count, by: Self.taskCount) {
            try await body(number)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// The same with a thread and a connection each.
  ///
  /// - Returns: What keeps the connections open.
  private func saveJSON(
    _ json: JSONRows, _ round: Int, told: (_ perSecond: Double) -> Void
  ) throws -> Failures {
    let failures = Failures()
    let products = products
    let databases = try (0..<Self.connectionCount).map { _ in
      let database = try Database(json.string)
      failures.keep(database)
      return database
    }
    let threads = databases.enumerated().map { worker, database in
      WorkerThread {
        do {
          var products = products
          for number in stride(from: worker, to: Self.savesPerRound, by: Self.connectionCount) {
            products[(number / Self.sessionCount + round) % products.count].stock += 1
            try json.save(
              products, as: number % Self.sessionCount, with: database)
          }
        } catch {
          failures.note(error)
        }
      }
    }
    let duration = ContinuousClock().measure {
      for thread in threads { thread.start() }
      for thread in threads { thread.wait() }
    }
    if let failure = failures.first { throw failure }
    told(Double(Self.savesPerRound) / (duration / .seconds(1)))
    return failures
  }

  /// 200 saves a second, each begun at its time whether or not those before it have ended.
  private func steady(_ sessions: [Session], _ json: JSONRows) async throws -> [Row] {
    let count = 2_000
    let ours = Times()
    try await atRate(count) { number in
      let time = try await ContinuousClock().measure {
        try await sessions[number % sessions.count].change(number)
      }
      ours.add(time.milliseconds)
    }
    let peer = Times()
    let pool = try DatabasePool(string, count: Self.connectionCount)
    let body = try json.sealed(products)
    try await atRate(count) { number in
      let start = ContinuousClock.now
      try await pool.run { database in
        try database.run(
          "UPDATE json_sessions SET body = $2::bytea WHERE name = $1::text",
          [JSONRows.name(number % Self.sessionCount), body])
      }
      peer.add(start.duration(to: .now).milliseconds)
    }
    let (all, bare) = (ours.all, peer.all)
    return [
      Row(
        "Median of a save at 200 a second, ms, against a bare update", ours: all.median,
        peer: bare.median, goal: .none),
      Row(
        "99th percentile of a save at 200 a second, ms, against that of a bare update",
        ours: all.quantile(0.99), peer: bare.quantile(0.99), goal: .atMost(5)),
    ]
  }

  private func atRate(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup { group in
      for number in 0..<count {
        try await Task.sleep(until: start + .milliseconds(5) * number, clock: .continuous)
        group.addTask { try await body(number) }
      }
      try await group.waitForAll()
    }
  }
}
