#if PostgreSQL
import Foundation
import RestorationKit
import RestorationPostgreSQL
import Synchronization
import XCTest

/// What a store has told of.
private final class Told: Sendable {
  private let content = Mutex<[RemoteChange]>([])
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ stream: AsyncStream<RemoteChange>) {
    let listening = Task { [weak self] in
      for await change in stream { self?.content.withLock { $0.append(change) } }
    }
    task.withLock { $0 = listening }
  }

  var changes: [RemoteChange] { content.withLock { $0 } }

  func end() { task.withLock { $0?.cancel() } }
}

final class StoreTests: StoreTestCase {
  func testWhatIsStoredComesBackAndIsReplacedAppendedToAndRemoved() async throws {
    let store = try makeStore()
    let nothing = try await store.load("a")
    XCTAssertNil(nothing)
    let made = try await store.replace("a", with: [0, 1, 255], expecting: nil)
    let first = try XCTUnwrap(made)
    var loaded = try await store.load("a")
    XCTAssertEqual(loaded, RemoteState(bytes: [0, 1, 255], version: first))
    let again = try await store.replace("a", with: [9], expecting: nil)
    XCTAssertNil(again)
    let replaced = try await store.replace("a", with: [2], expecting: first)
    let second = try XCTUnwrap(replaced)
    let stale = try await store.append([9], to: "a", expecting: first)
    XCTAssertNil(stale)
    let appended = try await store.append([3, 4], to: "a", expecting: second)
    let third = try XCTUnwrap(appended)
    loaded = try await store.load("a")
    XCTAssertEqual(loaded, RemoteState(bytes: [2, 3, 4], version: third))
    XCTAssertEqual(Set([first, second, third]).count, 3)
    let removedStale = try await store.remove("a", expecting: second)
    XCTAssertFalse(removedStale)
    let removed = try await store.remove("a", expecting: third)
    XCTAssertTrue(removed)
    loaded = try await store.load("a")
    XCTAssertNil(loaded)
    XCTAssertEqual(try server.value("SELECT count(*) FROM \"\(schema)\".commits"), "0")
  }

  func testOfManyAppendsThatAreSentTogetherThoseOfTheStoredVersionTakePlace() async throws {
    let store = try makeStore(notifies: true)
    let told = Told(store.changes())
    defer { told.end() }
    let names = (0..<100).map { "state \($0)" }
    var versions: [String: RemoteVersion] = [:]
    for name in names {
      versions[name] = try await store.replace(name, with: [1], expecting: nil)
    }
    let (known, stale) = (versions, RemoteVersion(UUID().uuidString))
    let session = try Session(
      server.connectionString, "BEGIN; LOCK TABLE \"\(schema)\".states IN EXCLUSIVE MODE")
    // Each is asked for twice, and every third one with a version that is not stored.
    let appends = names.enumerated().flatMap { number, name in
      (0..<2).map { byte in
        Task.immediate {
          let version = try XCTUnwrap(number.isMultiple(of: 3) ? stale : known[name])
          return try await store.append([UInt8(byte)], to: name, expecting: version)
        }
      }
    }
    try await eventually("they wait") { try waiterCount() != 0 }
    try session.run("COMMIT")
    for (number, name) in names.enumerated() {
      let outcomes = [try await appends[2 * number].value, try await appends[2 * number + 1].value]
      let new = outcomes.compactMap { $0 }
      XCTAssertEqual(new.count, number.isMultiple(of: 3) ? 0 : 1, name)
      let state = try await store.load(name)
      XCTAssertEqual(state?.version, new.first ?? known[name], name)
      XCTAssertEqual(
        state?.bytes,
        number.isMultiple(of: 3) ? [1] : [1, outcomes[0] == nil ? 1 : 0] as [UInt8], name)
      if let version = new.first {
        try await eventually("it is told of \(name)") {
          told.changes.contains(RemoteChange(name: name, version: version))
        }
      }
    }
  }

  func testStatesOfEverySizeComeBack() async throws {
    let store = try makeStore()
    for count in [1, 100, 1999, 2100, 8192, 100_000, 1 << 20, 16 << 20] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }
      let version = try await store.replace("size \(count)", with: bytes, expecting: nil)
      let loaded = try await store.load("size \(count)")
      XCTAssertEqual(loaded?.version, version)
      XCTAssertTrue(loaded?.bytes == bytes, "\(count)")
    }
  }
}
#endif
import RestorationSharing
