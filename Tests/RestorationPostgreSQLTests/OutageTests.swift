#if PostgreSQL
import Foundation
import RestorationKit
import RestorationPostgreSQL
import TestSupport
import XCTest

/// Servers that stop, hang or are killed, each of a test's own.
final class OutageTests: XCTestCase {
  private func makeServer(_ settings: String..., replicaOf primary: Server? = nil) throws -> Server
  {
    if let obstacle = Server.obstacle { throw XCTSkip(obstacle) }
    return try Server(
      settings: ["fsync=off"] + settings, replicaOf: primary?.connectionString)
  }

  private func makeStore(
    _ connectionString: String, queryTimeout: Duration = .seconds(10),
    waitingTimeout: Duration = .seconds(10)
  ) throws -> PostgreSQLStateStore {
    try PostgreSQLStateStore(
      connectionString,
      options: PostgreSQLStateStore.Options(
        queryTimeout: queryTimeout, waitingTimeout: waitingTimeout))
  }

  func testAServerThatIsDownAtTheStartAndStartsLater() async throws {
    let server = try makeServer()
    server.stop()
    let store = try makeStore(server.connectionString, waitingTimeout: .seconds(1))
    let error = await assertStoreError(.unavailable) { try await store.load("a") }
    let text = error.map { "\($0)" } ?? ""
    XCTAssertTrue(text.contains("Connection refused"), text)
    XCTAssertTrue(
      text.hasPrefix("The server of postgresql://127.0.0.1:\(server.port)/postgres cannot"), text)
    // None of many waits for the others: one after the other would take an hour.
    let answers = Counter()
    let waiting = (0..<2000).map { number in
      Task {
        defer { answers.add() }
        return try await store.append(
          [1], to: "\(number)", expecting: RemoteVersion(UUID().uuidString))
      }
    }
    try await eventually("all have their answers") { answers.value == waiting.count }
    for task in waiting { await assertStoreError(.unavailable) { try await task.value } }
    try server.start()
    try await eventually("it stores") {
      (try? await store.replace("a", with: [1], expecting: nil)) != nil
    }
    await store.close()
  }

  func testAServerThatHangsInTheMidstAndGoesOn() async throws {
    let server = try makeServer()
    let store = try makeStore(
      server.connectionString, queryTimeout: .seconds(1), waitingTimeout: .seconds(1))
    let failureCount = try await writeNumbers(in: store) { stored in
      for _ in 0..<2 {
        let before = stored.value
        try await eventually("much is stored") { stored.value > before + 200 }
        try server.signal(SIGSTOP)
        try await Task.sleep(for: .seconds(2))
        try server.signal(SIGCONT)
      }
    }
    XCTAssertGreaterThan(failureCount, 0)
    await store.close()
  }

  func testNothingAcknowledgedIsLostWhenTheServerIsKilled() async throws {
    let server = try makeServer()
    let store = try makeStore(server.connectionString)
    let failureCount = try await writeNumbers(in: store) { stored in
      for _ in 0..<3 {
        let before = stored.value
        try await eventually("much is stored") { stored.value > before + 500 }
        try server.kill()
        try server.start()
      }
    }
    XCTAssertGreaterThan(failureCount, 0)
    await store.close()
  }

  func testNothingAcknowledgedIsLostWhenTheServerIsRestarted() async throws {
    let server = try makeServer()
    let store = try makeStore(server.connectionString)
    try await writeNumbers(in: store) { stored in
      try await eventually("much is stored") { stored.value > 500 }
      server.stop()
      try server.start()
    }
    await store.close()
  }

  // MARK: A primary and a synchronous replica

  func testNothingAcknowledgedIsLostWhenThePrimaryIsKilledAndItsReplicaPromoted() async throws {
    for commit in ["on", "remote_apply"] {
      let primary = try makeServer(
        "synchronous_standby_names=*", "synchronous_commit=\(commit)")
      let replica = try makeServer(replicaOf: primary)
      let string =
        try primary.connectionString {
          $0.queryItems = [URLQueryItem(name: "target_session_attrs", value: "read-write")]
        }.replacingOccurrences(
          of: ":\(primary.port)/", with: ":\(primary.port),127.0.0.1:\(replica.port)/")
      let store = try makeStore(string)
      XCTAssertEqual(
        store.location,
        "postgresql://127.0.0.1:\(primary.port),127.0.0.1:\(replica.port)/postgres")
      try await writeNumbers(in: store) { stored in
        try await eventually("much is stored") { stored.value > 500 }
        XCTAssertEqual(
          try primary.value("SELECT sync_state FROM pg_stat_replication"), "sync")
        try primary.kill()
        XCTAssertEqual(try replica.value("SELECT pg_promote()"), "t")
      }
      await store.close()
    }
  }

  func testAStandbyIsReadAndTakesNoWrites() async throws {
    let primary = try makeServer("synchronous_standby_names=*", "synchronous_commit=remote_apply")
    let replica = try makeServer(replicaOf: primary)
    let early = try makeStore(replica.connectionString, waitingTimeout: .milliseconds(500))
    await assertStoreError(.unavailable) { try await early.load("a") }
    let (store, standby) = (
      try makeStore(primary.connectionString), try makeStore(replica.connectionString)
    )
    let version = try await store.replace("a", with: [1], expecting: nil)
    let state = try await standby.load("a")
    XCTAssertEqual(state, RemoteState(bytes: [1], version: try XCTUnwrap(version)))
    let error = await assertStoreError(.unavailable) {
      try await standby.append([2], to: "a", expecting: XCTUnwrap(version))
    }
    let text = error.map { "\($0)" } ?? ""
    XCTAssertTrue(text.contains("takes no writes now, as a standby does"), text)
    for store in [early, store, standby] { await store.close() }
  }

  func testAWriteThatNoStandbyHasIsSeenByNobodyAlsoAfterItsTime() async throws {
    let primary = try makeServer("synchronous_standby_names=*")
    let replica = try makeServer(replicaOf: primary)
    let store = try makeStore(primary.connectionString, queryTimeout: .milliseconds(500))
    let version = try await store.replace("a", with: [1], expecting: nil)
    try replica.signal(SIGSTOP)
    await assertStoreError(.unavailable) {
      try await store.append([2], to: "a", expecting: XCTUnwrap(version))
    }
    // A server that was told to end the write ends its waiting some moments later.
    for _ in 0..<20 {
      let state = try await store.load("a")
      XCTAssertEqual(state?.bytes, [1])
      try await Task.sleep(for: .milliseconds(20))
    }
    try replica.signal(SIGCONT)
    try await eventually("it is there") { try await store.load("a")?.bytes == [1, 2] }
    await store.close()
  }

  // MARK: TLS

  func testAnEncryptedConnectionCarriesLargeStatesAndACertificateOfAnotherIsRefused() async throws {
    let folder = try TemporaryDirectory()
    let server = try makeServer()
    server.stop()
    let openssl = Process()
    openssl.executableURL = URL(filePath: "/usr/bin/env")
    openssl.arguments = [
      "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
      "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
      "\(server.dataPath)/server.key", "-out", folder.child("server.crt"),
    ]
    openssl.standardError = FileHandle.nullDevice
    try openssl.run()
    openssl.waitUntilExit()
    guard openssl.terminationStatus == 0 else { throw XCTSkip("openssl is not on this machine.") }
    let manager = FileManager.default
    let owner = try XCTUnwrap(manager.attributesOfItem(atPath: server.dataPath)[.ownerAccountID])
    try manager.setAttributes(
      [.ownerAccountID: owner, .posixPermissions: 0o600],
      ofItemAtPath: "\(server.dataPath)/server.key")
    try manager.copyItem(
      atPath: folder.child("server.crt"), toPath: "\(server.dataPath)/server.crt")
    let settings = "\(server.dataPath)/postgresql.conf"
    let text = try String(contentsOfFile: settings, encoding: .utf8)
    try Data("\(text)\nssl = on\n".utf8).write(to: URL(filePath: settings))
    try server.start()
    func string(_ items: [String: String]) throws -> String {
      try server.connectionString {
        $0.queryItems = items.map { URLQueryItem(name: $0.key, value: $0.value) }
      }
    }
    let store = try makeStore(
      string(["sslmode": "verify-full", "sslrootcert": folder.child("server.crt")]))
    let bytes = (0..<16 << 20).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }
    let version = try await store.replace("a", with: bytes, expecting: nil)
    let state = try await store.load("a")
    XCTAssertEqual(state?.version, version)
    XCTAssertTrue(state?.bytes == bytes)
    XCTAssertEqual(
      try server.value("SELECT count(*) FROM pg_stat_ssl WHERE ssl AND pid <> pg_backend_pid()"),
      "1")
    let stranger = try PostgreSQLStateStore(
      string([
        "sslmode": "verify-full", "sslrootcert": "/etc/ssl/certs/ca-certificates.crt",
      ]), options: PostgreSQLStateStore.Options(waitingTimeout: .seconds(3)))
    let error = await assertStoreError(.unavailable) { try await stranger.load("a") }
    let reason = error.map { "\($0)" } ?? ""
    XCTAssertTrue(reason.contains("certificate"), reason)
    try await writeNumbers(in: store) { stored in
      try await eventually("much is stored") { stored.value > 200 }
      try server.kill()
      try server.start()
    }
    for store in [store, stranger] { await store.close() }
  }
}
#endif
import RestorationSharing
