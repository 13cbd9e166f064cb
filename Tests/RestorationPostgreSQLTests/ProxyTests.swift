#if PostgreSQL
import Foundation
import RestorationKit
import RestorationPostgreSQL
import Synchronization
import XCTest

/// A network between the store and its server that does what networks do.
final class ProxyTests: StoreTestCase {
  private var proxy: Proxy!

  override func setUp() async throws {
    try await super.setUp()
    proxy = try Proxy(to: server.port)
  }

  override func tearDown() async throws {
    proxy?.close()
    proxy = nil
    try await super.tearDown()
  }

  private func makeProxiedStore(
    limit: Int = 1, queryTimeout: Duration = .seconds(10), notifies: Bool = false
  ) throws -> PostgreSQLStateStore {
    try makeStore(
      server.connectionString { $0.port = proxy.port }, limit: limit, queryTimeout: queryTimeout,
      notifies: notifies)
  }

  /// What a store beside the proxy finds.
  private func stored() async throws -> RemoteState? { try await makeStore().load("a") }

  func testASlowNetworkIsWaitedFor() async throws {
    let store = try makeProxiedStore()
    proxy.set(.delay(milliseconds: 20))
    let made = try await store.replace("a", with: [1], expecting: nil)
    let version = try await store.append([2], to: "a", expecting: XCTUnwrap(made))
    let state = try await store.load("a")
    XCTAssertEqual(state, RemoteState(bytes: [1, 2], version: try XCTUnwrap(version)))
  }

  func testALoadIsTheSameWhetherItsAnswerComesAtOnceOrLate() async throws {
    let store = try makeProxiedStore()
    let version = try await store.replace("a", with: [1], expecting: nil)
    let state = RemoteState(bytes: [1], version: try XCTUnwrap(version))
    for mode in [Proxy.Mode.pass, .delay(milliseconds: 2), .pass] {
      proxy.set(mode)
      // More than those that are watched for after a late one.
      for number in 0..<40 {
        let found = try await store.load("a")
        XCTAssertEqual(found, state, "\(mode) \(number)")
      }
    }
    proxy.set(.delay(milliseconds: 2))
    // One connection, so the second one waits for the first.
    async let first = store.load("a")
    async let second = store.load("a")
    let both = try await [first, second]
    XCTAssertEqual(both, [state, state])
  }

  /// A write of each kind, and what it leaves.
  private func writes(
    _ store: PostgreSQLStateStore, _ version: RemoteVersion
  ) -> [(bytes: [UInt8]?, write: () async throws -> Void)] {
    [
      ([1, 2], { _ = try await store.append([2], to: "a", expecting: version) }),
      ([3], { _ = try await store.replace("a", with: [3], expecting: version) }),
      (nil, { _ = try await store.remove("a", expecting: version) }),
    ]
  }

  /// Does each write while the network fails, on a connection that is there or on a new one.
  private func assertWrites(
    whileSet mode: Proxy.Mode, takePlace: Bool, file: StaticString = #filePath, line: UInt = #line
  ) async throws {
    for number in 0..<3 {
      let plain = try makeStore()
      if let left = try await plain.load("a") {
        _ = try await plain.remove("a", expecting: left.version)
      }
      let version = try await plain.replace("a", with: [1], expecting: nil)
      let store = try makeProxiedStore()
      let (bytes, write) = writes(store, try XCTUnwrap(version))[number]
      // Prepared, so that the next bytes are the write itself.
      try await writes(store, RemoteVersion(UUID().uuidString))[number].write()
      proxy.set(mode, cutCount: 1)
      let error = await assertStoreError(.unavailable, file: file, line: line) { try await write() }
      XCTAssertEqual(
        error.map { "\($0)".hasSuffix("Is it running?") }, true,
        "\(error.map { "\($0)" } ?? "")", file: file, line: line)
      XCTAssertEqual(proxy.mode, .pass, "Nothing was cut.", file: file, line: line)
      let found = try await stored()
      XCTAssertEqual(found?.bytes, takePlace ? bytes : [1], file: file, line: line)
      if !takePlace { XCTAssertEqual(found?.version, version, file: file, line: line) }
      // It goes on with another connection.
      let again = try await store.load("a")
      XCTAssertEqual(again, found, file: file, line: line)
    }
  }

  func testAWriteThatDoesNotArriveChangesNothingAndThrows() async throws {
    try await assertWrites(whileSet: .cutRequests, takePlace: false)
  }

  func testAWriteWhoseAnswerIsLostTakesPlaceAndThrowsAndIsNotSentAgain() async throws {
    try await assertWrites(whileSet: .cutAnswers, takePlace: true)
  }

  func testAFirstWriteWhoseAnswerIsLostIsThere() async throws {
    let store = try makeProxiedStore()
    _ = try await store.replace("b", with: [1], expecting: nil)
    proxy.set(.cutAnswers, cutCount: 1)
    await assertStoreError(.unavailable) {
      try await store.replace("a", with: [1], expecting: nil)
    }
    let again = try await store.replace("a", with: [2], expecting: nil)
    XCTAssertNil(again)
    let found = try await stored()
    XCTAssertEqual(found?.bytes, [1])
  }

  func testHalfOfALargeWriteIsNothing() async throws {
    let store = try makeProxiedStore()
    let version = try await store.replace("a", with: [1], expecting: nil)
    proxy.set(.cutRequestsAfter(byteCount: 4 << 20), cutCount: 1)
    await assertStoreError(.unavailable) {
      try await store.replace(
        "a", with: [UInt8](repeating: 7, count: 16 << 20), expecting: XCTUnwrap(version))
    }
    let found = try await stored()
    XCTAssertEqual(found, RemoteState(bytes: [1], version: try XCTUnwrap(version)))
  }

  func testAReadIsAskedOnceMoreAndNotForEver() async throws {
    let store = try makeProxiedStore()
    _ = try await store.replace("a", with: [1], expecting: nil)
    for mode in [Proxy.Mode.cutRequests, .cutAnswers] {
      _ = try await store.load("a")
      proxy.set(mode, cutCount: 1)
      let state = try await store.load("a")
      XCTAssertEqual(state?.bytes, [1])
      XCTAssertEqual(proxy.mode, .pass)
    }
  }

  func testASilentNetworkIsWaitedForNoLongerThanAllowed() async throws {
    let store = try makeProxiedStore(limit: 4, queryTimeout: .milliseconds(500))
    let version = try await store.replace("a", with: [1], expecting: nil)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { _ = try await store.load("a") } }
      try await group.waitForAll()
    }
    proxy.set(.stall)
    let error = await assertStoreError(.unavailable) {
      try await store.append([2], to: "a", expecting: XCTUnwrap(version))
    }
    XCTAssertEqual(
      error.map { "\($0)" },
      "The server of \(store.location) has not answered in 0.5 seconds. It is busy, or the network "
        + "is down.")
    proxy.set(.pass)
    // What was on its way arrives now, or never.
    let state = try await store.load("a")
    XCTAssertTrue([[1], [1, 2]].contains(state?.bytes), "\(state?.bytes ?? [])")
  }

  func testOneCallFindsOutForAllThatConnectionsAreDead() async throws {
    let session = try Session(server.connectionString, "BEGIN")
    let store = try makeProxiedStore(limit: 4, queryTimeout: .milliseconds(1500))
    _ = try await store.replace("a", with: [1], expecting: nil)
    try session.run("LOCK TABLE \"\(schema)\".states IN ACCESS EXCLUSIVE MODE")
    let loads = (0..<4).map { _ in Task { try await store.load("a") } }
    try await eventually("four wait") {
      try waiterCount() == 4
    }
    try session.run("COMMIT")
    for load in loads { _ = try await load.value }
    proxy.silenceAll()
    await assertStoreError(.unavailable) { try await store.load("a") }
    for _ in 0..<4 {
      let state = try await store.load("a")
      XCTAssertEqual(state?.bytes, [1])
    }
  }

  func testWhoWaitsForAServerThatLetsNobodyInIsToldSo() async throws {
    proxy.set(.stall)
    let store = try makeStore(
      server.connectionString { $0.port = proxy.port }, waitingTimeout: .milliseconds(200))
    let error = await assertStoreError(.unavailable) { try await store.load("a") }
    XCTAssertEqual(
      error.map { "\($0)" },
      "The server of \(store.location) cannot be reached: no answer in 0.2 seconds. Is it running?")
  }

  func testAServerThatLetsNobodyInIsWaitedForNoLongerThanAllowed() async throws {
    proxy.set(.stall)
    let store = try makeStore(
      server.connectionString { $0.port = proxy.port }, connectTimeout: .milliseconds(200),
      waitingTimeout: .seconds(2))
    let error = await assertStoreError(.unavailable) { try await store.load("a") }
    XCTAssertEqual(
      error.map { "\($0)" },
      "The server of \(store.location) cannot be reached: no answer in 0.2 seconds. Is it running?")
    proxy.set(.pass)
    try await eventually("it gets in") {
      (try? await store.replace("a", with: [1], expecting: nil)) != nil
    }
  }

  func testConnectionsThatEndWhileTheyAreMadeAreMadeAgain() async throws {
    for mode in [Proxy.Mode.cutRequests, .cutAnswers] {
      proxy.set(mode, cutCount: 3)
      let store = try makeProxiedStore()
      let state = try await store.load("a")
      XCTAssertNil(state)
      XCTAssertEqual(proxy.mode, .pass)
    }
  }

  func testAServerThatCannotBeReachedIsTriedAgainLessAndLessOften() async throws {
    proxy.set(.cutRequests)
    let store = try makeStore(
      server.connectionString { $0.port = proxy.port }, waitingTimeout: .seconds(2))
    await assertStoreError(.unavailable) { try await store.load("a") }
    XCTAssertLessThanOrEqual(proxy.acceptedCount, 20)
  }

  func testTheTimeBetweenTriesDoublesUpToFourSeconds() {
    var backoff = Backoff()
    for _ in 0..<2 {
      XCTAssertNil(backoff.earliest)
      for milliseconds in [50, 100, 200, 400, 800, 1600, 3200, 4000, 4000, 4000] {
        let now = ContinuousClock.now
        backoff.noteFailure(at: now)
        let time = backoff.earliest.map { now.duration(to: $0) } ?? .zero
        XCTAssertTrue(
          (.milliseconds(milliseconds / 2)...Duration.milliseconds(milliseconds)).contains(time),
          "\(time) for \(milliseconds) ms")
      }
      backoff.noteSuccess()
    }
  }

  func testAServerThatIsSilentGivesWayToTheNextOne() async throws {
    proxy.set(.stall)
    let string = try server.connectionString { $0.port = proxy.port }
      .replacingOccurrences(of: ":\(proxy.port)/", with: ":\(proxy.port),127.0.0.1:\(server.port)/")
    let store = try makeStore(string, connectTimeout: .milliseconds(300))
    let version = try await store.replace("a", with: [1], expecting: nil)
    XCTAssertNotNil(version)
    XCTAssertGreaterThan(proxy.acceptedCount, 0)
  }

  func testNothingAcknowledgedIsLostByANetworkThatCutsAtRandom() async throws {
    let store = try makeProxiedStore(limit: 8)
    let failureCount = try await writeNumbers(in: store) { stored in
      for _ in 0..<60 {
        let before = stored.value
        proxy.set(Bool.random() ? .cutAnswers : .cutRequests, cutCount: .random(in: 1...3))
        try await eventually("something is stored") { stored.value > before + 20 }
      }
      proxy.set(.pass)
    }
    XCTAssertGreaterThan(failureCount, 20)
  }

  func testAListenerFindsOutThatItsServerIsSilentAndHearsAgain() async throws {
    let store = try PostgreSQLStateStore(
      server.connectionString { $0.port = proxy.port }, schema: Schema(schema),
      options: PostgreSQLStateStore.Options(
        schema: schema, queryTimeout: .milliseconds(500), notifies: true),
      heartbeat: .milliseconds(100))
    let writer = try makeStore(notifies: true)
    let heard = Mutex<Set<String>>([])
    let listening = Task {
      for await change in store.changes() { heard.withLock { _ = $0.insert(change.name ?? "any") } }
    }
    defer { listening.cancel() }
    for name in ["before", "after"] {
      var version = try await writer.replace(name, with: [0], expecting: nil)
      try await eventually("it hears of “\(name)”") {
        version = try await writer.append([1], to: name, expecting: XCTUnwrap(version))
        return heard.withLock { $0.contains(name) }
      }
      proxy.silenceAll()
    }
    await store.close()
  }

  func testAListenerIsToldWhenItMayHaveMissedSomething() async throws {
    let store = try makeProxiedStore(limit: 4, notifies: true)
    let heard = Counter()
    let listening = Task {
      for await change in store.changes() where change == .any { heard.add() }
    }
    defer { listening.cancel() }
    try await eventually("it listens") { heard.value == 1 }
    let late = Counter()
    let lateListening = Task {
      for await change in store.changes() where change == .any { late.add() }
    }
    defer { lateListening.cancel() }
    try await eventually("the second one listens") { late.value == 1 }
    let writer = try makeStore(notifies: true)
    var version = try await writer.replace("a", with: [0], expecting: nil)
    proxy.set(.cutAnswers, cutCount: 1)
    try await eventually("both are told after the connection was cut") {
      version = try await writer.append([1], to: "a", expecting: XCTUnwrap(version))
      return heard.value == 2 && late.value == 2
    }
  }

  func testAListenerHearsAgainAfterItsConnectionWasCut() async throws {
    let store = try makeProxiedStore(limit: 4, notifies: true)
    let writer = try makeStore(notifies: true)
    let heard = Counter()
    let listening = Task {
      for await change in store.changes() where change.name == "a" { heard.add() }
    }
    defer { listening.cancel() }
    var version = try await writer.replace("a", with: [0], expecting: nil)
    for _ in 0..<3 {
      let before = heard.value
      try await eventually("it hears of a change") {
        version = try await writer.append([1], to: "a", expecting: XCTUnwrap(version))
        return heard.value > before
      }
      proxy.set(.cutAnswers, cutCount: 1)
      try await eventually("the connection is cut") {
        version = try await writer.append([1], to: "a", expecting: XCTUnwrap(version))
        return proxy.mode == .pass
      }
    }
  }
}
#endif
import RestorationSharing
