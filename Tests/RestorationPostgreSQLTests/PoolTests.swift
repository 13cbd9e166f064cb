#if PostgreSQL
import Foundation
import RestorationKit
import RestorationPostgreSQL
import XCTest

/// Connections and those who wait for them.
final class PoolTests: StoreTestCase {
  /// Makes a state, and holds all tables until the session goes.
  private func hold(_ name: String = "held") async throws -> Session {
    _ = try await makeStore().replace(name, with: [1], expecting: nil)
    return try Session(
      server.connectionString,
      "BEGIN; LOCK TABLE \"\(schema)\".states, \"\(schema)\".commits IN ACCESS EXCLUSIVE MODE")
  }

  private func waitUntilHeld(_ count: Int) async throws {
    try await eventually("\(count) wait for a lock") {
      try server.connectionCount(of: schema, where: "wait_event_type = 'Lock'") == count
    }
  }

  private func heldProcesses() throws -> [String?] {
    try server.sql(
      """
      SELECT pid FROM pg_stat_activity
      WHERE application_name = '\(schema)' AND wait_event_type = 'Lock'
      """
    ).map { $0[0] }
  }

  private func assertCancelled<Value>(
    _ task: Task<Value, any Error>, file: StaticString = #filePath, line: UInt = #line
  ) async {
    do {
      let value = try await task.value
      XCTFail("\(value)", file: file, line: line)
    } catch {
      XCTAssertTrue(error is CancellationError, "\(error)", file: file, line: line)
    }
  }

  func testThereAreNoMoreConnectionsThanAllowed() async throws {
    let session = try await hold()
    let store = try makeStore(named(schema), limit: 3)
    let loads = (0..<50).map { _ in Task { try await store.load("held")?.bytes } }
    try await waitUntilHeld(3)
    XCTAssertEqual(try server.connectionCount(of: schema), 3)
    try session.run("COMMIT")
    for load in loads {
      let bytes = try await load.value
      XCTAssertEqual(bytes, [1])
    }
    XCTAssertEqual(try server.connectionCount(of: schema), 3)
  }

  func testThoseWhoWaitGetTheirTurnInOrder() async throws {
    let session = try await hold()
    let store = try makeStore(named(schema), limit: 1)
    let writes = (0..<20).map { number in
      Task.immediate { try await store.replace("\(number)", with: [1], expecting: nil) }
    }
    try await waitUntilHeld(1)
    try session.run("COMMIT")
    for write in writes {
      let version = try await write.value
      XCTAssertNotNil(version)
    }
    XCTAssertEqual(
      try server.sql(
        "SELECT name FROM \"\(schema)\".states WHERE name <> 'held' ORDER BY updated"
      ).map { $0[0] }, (0..<20).map { "\($0)" })
  }

  func testWhoWaitsForTooLongIsToldSo() async throws {
    let session = try await hold()
    let store = try makeStore(named(schema), limit: 1, waitingTimeout: .milliseconds(200))
    let first = Task { try await store.load("held") }
    try await waitUntilHeld(1)
    let error = await assertStoreError(.unavailable) { try await store.load("held") }
    XCTAssertEqual(
      error.map { "\($0)" },
      "No connection to \(store.location) was free for 0.2 seconds. Raise the connectionLimit, or "
        + "ask for less at once.")
    try session.run("COMMIT")
    let state = try await first.value
    XCTAssertNotNil(state)
  }

  func testACallThatTakesTooLongEndsAtTheServerToo() async throws {
    let store = try makeStore(named(schema), queryTimeout: .milliseconds(300))
    // Prepared, so that it is the write that waits.
    _ = try await store.replace("other", with: [1], expecting: nil)
    let session = try await hold()
    await assertStoreError(.unavailable) {
      try await store.replace("new", with: [1], expecting: nil)
    }
    await assertStoreError(.unavailable) { try await store.load("held") }
    try await waitUntilHeld(0)
    try session.run("COMMIT")
    let state = try await store.load("new")
    XCTAssertNil(state)
  }

  func testACancelledCallEndsAtOnceAndLeavesNothingBehind() async throws {
    let session = try await hold()
    let store = try makeStore(named(schema), limit: 1, queryTimeout: .seconds(60))
    let running = Task { try await store.load("held") }
    try await waitUntilHeld(1)
    let waiting = Task.immediate { try await store.load("held") }
    let later = Task.immediate { try await store.load("held")?.bytes }
    waiting.cancel()
    await assertCancelled(waiting)
    let held = try heldProcesses()
    running.cancel()
    await assertCancelled(running)
    // The later one has a connection of its own now, and the other is gone.
    try await eventually("another one waits") {
      let processes = try heldProcesses()
      return processes.count == 1 && processes != held
    }
    try await eventually("one connection") { try server.connectionCount(of: schema) == 1 }
    try session.run("COMMIT")
    let bytes = try await later.value
    XCTAssertEqual(bytes, [1])
    XCTAssertEqual(try server.connectionCount(of: schema), 1)
  }

  func testACallOfACancelledTaskDoesNothing() async throws {
    let store = try makeStore()
    _ = try await store.load("a")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.replace("a", with: [1], expecting: nil)
    }
    await assertCancelled(task)
    let state = try await store.load("a")
    XCTAssertNil(state)
  }

  func testATimeThatHasComeIsNotForgottenForALaterOne() async throws {
    let queue = DispatchQueue(label: "test")
    let told = Flag()
    let timer = ExpiryTimer(on: queue)
    timer.tell { told.set() }
    queue.sync {
      timer.plan(.now + .milliseconds(20))
      // The queue is busy when the time comes.
      usleep(60_000)
      timer.plan(.now + .seconds(3600))
    }
    try await eventually("it tells") { told.isSet }
    withExtendedLifetime(timer) {}
  }

  func testWhoHoldsUpOneStateHoldsUpNoAppendsToOthers() async throws {
    let store = try makeStore(limit: 2, queryTimeout: .seconds(1))
    let names = (0..<40).map { "state \($0)" }
    var versions: [String: RemoteVersion] = [:]
    for name in names { versions[name] = try await store.replace(name, with: [1], expecting: nil) }
    let known = versions
    let session = try Session(
      server.connectionString,
      "BEGIN; SELECT * FROM \"\(schema)\".states WHERE name = 'state 7' FOR UPDATE")
    let appends = names.map { name in
      Task {
        let version = try XCTUnwrap(known[name])
        return try await store.append([2], to: name, expecting: version)
      }
    }
    for (name, append) in zip(names, appends) where name != "state 7" {
      let version = try await append.value
      XCTAssertNotNil(version, name)
    }
    await assertStoreError(.unavailable) { try await appends[7].value }
    try session.run("COMMIT")
  }

  func testALoadIsAskedAgainWhenItsServerEndsTheConnection() async throws {
    let store = try makeStore()
    _ = try await store.replace("a", with: [1], expecting: nil)
    let session = try Session(
      server.connectionString,
      "BEGIN; LOCK TABLE \"\(schema)\".states IN ACCESS EXCLUSIVE MODE")
    let load = Task { try await store.load("a") }
    try await eventually("it waits") { try waiterCount() == 1 }
    try server.sql(
      """
      SELECT pg_terminate_backend(pid) FROM pg_locks
      WHERE NOT granted AND relation = '"\(schema)".states'::regclass
      """)
    try session.run("COMMIT")
    let state = try await load.value
    XCTAssertEqual(state?.bytes, [1])
  }

  func testACancelledWriteIsThereOrNotAndTheStoreGoesOn() async throws {
    let store = try makeStore(named(schema), limit: 2)
    var version = try await store.replace("a", with: [0], expecting: nil)
    var possible: [[UInt8]] = [[0]]
    for round in 0..<200 {
      let expected = try XCTUnwrap(version)
      let task = Task { try await store.append([1], to: "a", expecting: expected) }
      for _ in 0..<round { await Task.yield() }
      task.cancel()
      let result = await task.result
      possible = possible.flatMap { [$0, $0 + [1]] }
      if case .success(let new) = result {
        version = new
        let found = try await store.load("a")
        XCTAssertEqual(found?.bytes, possible.last)
        possible = [found?.bytes ?? []]
      }
      if case .failure = result {
        // It may still be on its way: the next write waits for it, or was before it.
        while true {
          let found = try await store.load("a")
          XCTAssertTrue(possible.contains(found?.bytes ?? []), "\(found?.bytes ?? [])")
          version = try await store.replace("a", with: [0], expecting: XCTUnwrap(found?.version))
          if version != nil { break }
        }
        possible = [[0]]
      }
    }
    try await eventually("no more connections than allowed") {
      try server.connectionCount(of: schema) <= 2
    }
  }

  func testACloseEndsAllCallsAndAllConnections() async throws {
    let session = try await hold()
    let store = try makeStore(named(schema), limit: 2, notifies: true)
    let listening = Task {
      for await _ in store.changes() {}
    }
    let loads = (0..<5).map { _ in Task { try await store.load("held") } }
    try await waitUntilHeld(2)
    await store.close()
    for load in loads {
      let error = await assertStoreError(.unavailable) { try await load.value }
      XCTAssertEqual(
        error.map { "\($0)" }, "The store of \(store.location) is closed. Make a new one.")
    }
    await listening.value
    await assertStoreError(.unavailable) { try await store.load("held") }
    for await _ in store.changes() { XCTFail("It tells of changes.") }
    try session.run("COMMIT")
    try await eventually("no connections") { try server.connectionCount(of: schema) == 0 }
    await store.close()
  }

  func testAStoreThatIsLetGoEndsItsConnections() async throws {
    var store: PostgreSQLStateStore? = try PostgreSQLStateStore(
      named(schema), options: PostgreSQLStateStore.Options(schema: schema))
    _ = try await store?.load("a")
    XCTAssertEqual(try server.connectionCount(of: schema), 1)
    store = nil
    try await eventually("no connections") { try server.connectionCount(of: schema) == 0 }
  }

  func testConnectionsThatNobodyUsesEnd() async throws {
    let store = try makeStore(named(schema), idleTimeout: .milliseconds(100))
    _ = try await store.load("a")
    try await eventually("no connections") { try server.connectionCount(of: schema) == 0 }
    _ = try await store.load("a")
  }

  func testConnectionsThatTheServerHasEndedAreNotUsed() async throws {
    let store = try makeStore(named(schema))
    var version = try await store.replace("a", with: [1], expecting: nil)
    for _ in 0..<20 {
      try server.sql(
        """
        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE application_name = '\(schema)'
        """)
      version = try await store.append([1], to: "a", expecting: XCTUnwrap(version))
      XCTAssertNotNil(version)
    }
  }

  func testAStoreGetsAlongWithLessConnectionsThanItWants() async throws {
    let role = try server.makeRole(attributes: "CONNECTION LIMIT 1")
    try server.sql("CREATE SCHEMA \"\(schema)\" AUTHORIZATION \"\(role.name)\"")
    let store = try makeStore(role.connectionString)
    try await withThrowingTaskGroup(of: RemoteVersion?.self) { group in
      for number in 0..<50 {
        group.addTask { try await store.replace("\(number)", with: [1], expecting: nil) }
      }
      for try await version in group { XCTAssertNotNil(version) }
    }
    let other = try makeStore(role.connectionString, waitingTimeout: .seconds(2))
    let error = await assertStoreError(.unavailable) { try await other.load("1") }
    XCTAssertEqual(
      error.map { "\($0)" },
      "The server of \(store.location) has no connection left: too many connections for role "
        + "\"\(role.name)\". Raise its max_connections, or lower the connectionLimit of the stores."
    )
    await store.close()
    try await eventually("the other one gets in") { (try? await other.load("1")) != nil }
  }

  func testAThousandFailuresLeaveNoDescriptorAndNoThread() async throws {
    let store = try makeStore(limit: 4)
    _ = try await store.replace("a", with: [1], expecting: nil)
    let wrong = try makeStore(server.connectionString { $0.password = "wrong" }, limit: 4)
    try await fail(20, store, wrong)
    let before = (descriptors: count("/proc/self/fd"), threads: count("/proc/self/task"))
    try await fail(250, store, wrong)
    try await eventually("no more descriptors than \(before.descriptors)") {
      count("/proc/self/fd") <= before.descriptors + 4
    }
    try await eventually("not many more threads than \(before.threads)") {
      count("/proc/self/task") <= before.threads + 8
    }
    let state = try await store.load("a")
    XCTAssertEqual(state?.bytes, [1])
  }

  private func count(_ folder: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
  }

  /// Fails so often in each of four ways.
  private func fail(
    _ times: Int, _ store: PostgreSQLStateStore, _ wrong: PostgreSQLStateStore
  ) async throws {
    let nowhere = try server.connectionString { $0.port = 1 }
    for round in 0..<times {
      await assertStoreError(.refused) { try await store.load("a\0") }
      await assertStoreError(.refused) {
        try await PostgreSQLStateStore(
          self.server.connectionString { $0.path = "/nowhere" }
        ).load("a")
      }
      await assertStoreError(.unavailable) {
        try await PostgreSQLStateStore(
          nowhere, options: PostgreSQLStateStore.Options(waitingTimeout: .milliseconds(5))
        ).load("a")
      }
      let cancelled = Task { try await store.load("a") }
      for _ in 0..<round % 20 { await Task.yield() }
      cancelled.cancel()
      _ = await cancelled.result
    }
    // One that waits between its tries, for all at once.
    await assertStoreError(.refused) { try await wrong.load("a") }
  }
}
#endif
import RestorationSharing
