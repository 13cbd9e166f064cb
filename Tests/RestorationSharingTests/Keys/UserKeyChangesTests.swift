import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import RestorationTesting
import TestSupport
import XCTest

/// Keys of users under another master key, and of users who are removed.
final class UserKeyChangesTests: UserKeysTestCase {
  func testServersOfBothConfigurationsWorkDuringARotation() async throws {
    let new = ArchiveKey.new()
    let users = (0..<20).map { "user \($0)" }
    var expected: [ArchiveKey] = []
    for user in users { expected.append(try await key(of: user, keys())) }
    let (before, after) = (keys(former: [new]), keys(master: new, former: [master]))
    let stored = expected
    let made = try await withThrowingTaskGroup(of: [ArchiveKey].self) { group in
      for (number, server) in [before, after].enumerated() {
        group.addTask {
          var made: [ArchiveKey] = []
          for round in 0..<100 {
            let user = round % users.count
            let key = try await server.key(of: users[user])
            XCTAssertTrue(key.isSame(as: stored[user]))
            made.append(try await server.key(of: "new \(number) \(round)"))
            await Task.yield()
          }
          return made
        }
      }
      let rotation = try await after.rotate()
      XCTAssertEqual(rotation.problems, [])
      XCTAssertGreaterThanOrEqual(rotation.sealedAnewCount, users.count)
      return try await group.reduce(into: [[ArchiveKey]]()) { $0.append($1) }
    }
    XCTAssertEqual(made.map(\.count), [100, 100])
    // What the first one has made meanwhile.
    _ = try await after.rotate()
    let last = try await after.rotate()
    XCTAssertEqual(last.sealedAnewCount, 0)
    XCTAssertEqual(last.unchangedCount, 1 + users.count + 200)
    let alone = keys(master: new)
    for (user, key) in zip(users, expected) {
      let found = try await self.key(of: user, alone)
      XCTAssertTrue(found.isSame(as: key))
    }
    await assertThrows(.masterKeyWrong, nil) { _ = try await self.keys().provider(for: users[0]) }
  }

  func testARotationThatEndsAnywhereGoesOnWhereItWas() async throws {
    let users = (0..<4).map { "user \($0)" }
    for lost in [RemoteFault.unreachable, .lostAnswer] {
      for callCount in 0..<12 {
        let base = MemoryRemoteStateStore()
        let new = ArchiveKey.new()
        var expected: [ArchiveKey] = []
        for user in users { expected.append(try await key(of: user, keys(base))) }
        // All calls fail from then on, as for a process that is gone.
        let dying = FaultyRemoteStateStore(base) { call in
          call.number < callCount ? nil : call.number == callCount ? lost : .unreachable
        }
        let rotation = try? await keys(dying, master: new, former: [master]).rotate()
        XCTAssertEqual(rotation == nil, callCount < 11)
        for server in [
          keys(base, former: [new]), keys(base, master: new, former: [master]),
        ] {
          for (user, key) in zip(users, expected) {
            let found = try await self.key(of: user, server)
            XCTAssertTrue(found.isSame(as: key), "\(callCount)")
          }
        }
        _ = try await keys(base, master: new, former: [master]).rotate()
        for (user, key) in zip(users, expected) {
          let found = try await self.key(of: user, keys(base, master: new))
          XCTAssertTrue(found.isSame(as: key), "\(callCount)")
        }
      }
    }
  }

  func testARotationSaysWhichKeysItCouldNotRead() async throws {
    let (ada, bob) = (try await row(of: "ada"), try await row(of: "bob"))
    base[bytes: ada] = [1, 2, 3]
    let new = ArchiveKey.new()
    let rotation = try await keys(master: new, former: [master]).rotate()
    XCTAssertEqual(rotation.sealedAnewCount, 2)
    XCTAssertEqual(rotation.problems.map(\.code), [.userKeyDamaged])
    XCTAssertEqual(rotation.problems.map { $0.description.contains(ada) }, [true])
    XCTAssertEqual(
      "\(rotation)".split(separator: "\n").first, "2 keys are sealed anew, 0 were before.")
    XCTAssertEqual(base[bytes: ada], [1, 2, 3])
    XCTAssertNotNil(base[bytes: bob])
  }

  func testAnEmptyStoreHasNothingToRotate() async throws {
    let rotation = try await keys(former: [ArchiveKey.new()]).rotate()
    XCTAssertEqual(rotation.description, "0 keys are sealed anew, 0 were before.")
    let names = try await base.names(prefix: "")
    XCTAssertEqual(names, [])
  }

  // MARK: Users who are removed

  @MainActor func testNoBackupOfARemovedUsersStatesOpens() async throws {
    let states = MemoryRemoteStateStore()
    let server = keys()
    let root = TestNode("root", value: "Rome")
    let device = Device("one", states, keys: try await server.provider(for: "ada"))
    _ = try await device.launch().save([root])
    let backup = try XCTUnwrap(states[bytes: "main"])

    let isRemoved = try await server.removeUser("ada")
    XCTAssertTrue(isRemoved)
    let again = try await server.removeUser("ada")
    XCTAssertFalse(again)
    let names = try await base.names(prefix: "user-")
    XCTAssertEqual(names, [])

    states[bytes: "main"] = backup
    for server in [server, keys()] {
      let device = Device("two", states, keys: try await server.provider(for: "ada"))
      let report = try? await device.launch().restore(into: [TestNode("root")])
      XCTAssertNil(report)
      do {
        _ = try await device.launch().restore(into: [TestNode("root")])
        XCTFail("It was restored.")
      } catch {
        XCTAssertEqual((error as? RestorationError)?.archive?.code, .wrongKey, "\(error)")
      }
    }
  }

  func testALaterUserOfTheSameNameHasAnotherKey() async throws {
    let (here, there) = (keys(), keys())
    let before = try await key(of: "ada", here)
    _ = try await there.provider(for: "ada")
    try await there.removeUser("ada")
    let after = try await key(of: "ada", there)
    XCTAssertFalse(after.isSame(as: before))
    let elsewhere = try await key(of: "ada", here)
    XCTAssertTrue(elsewhere.isSame(as: after))
  }

  func testAKeyThatCannotBeReadCanBeRemoved() async throws {
    let name = try await row(of: "ada")
    base[bytes: name] = [1]
    let isRemoved = try await keys().removeUser("ada")
    XCTAssertTrue(isRemoved)
    _ = try await keys().provider(for: "ada")
  }

  /// A server with the old master key has made a place, and is killed while the key is on its way.
  func testAKeyThatLandsAfterARotationIsNotStoredUnderTheOldMasterKey() async throws {
    let name = try await row(of: "eve")
    let sealed = base[bytes: name]
    base[bytes: name] = nil
    let store = FaultyRemoteStateStore(base)
    // The place is there, and the network is gone.
    store.fail(.delay(.zero), next: .replace)
    store.fail(.unreachable, next: .replace)
    do { _ = try await keys(store).provider(for: "eve") } catch {}
    let stored = try await base.load(name)
    let place = try XCTUnwrap(stored)
    XCTAssertNotEqual(place.bytes, sealed)
    let new = ArchiveKey.new()
    let rotation = try await keys(master: new, former: [master]).rotate()
    XCTAssertEqual(rotation.problems, [])
    let late = try await base.replace(name, with: XCTUnwrap(sealed), expecting: place.version)
    XCTAssertNil(late)
    _ = try await keys(master: new).provider(for: "eve")
  }

  func testWhoAsksAfterARepeatedRemovalGetsNothingThatWasLoadedBefore() async throws {
    let removed = try await keys().key(of: "ada")
    let faults = FaultyRemoteStateStore(base)
    let store = LateAnswers(faults)
    let server = keys(store)
    _ = try await server.key(of: "someone")
    // A load is under way, whose answer has the key.
    store.isLate.isSet = true
    let before = Task { try await server.key(of: "ada") }
    try await waitUntil("its answer waits") { store.isWaiting.isSet }
    store.isLate.isSet = false
    faults.fail(.lostAnswer, next: .remove)
    do {
      try await server.removeUser("ada")
      XCTFail("It did not throw.")
    } catch is RemoteStoreError {}
    try await server.removeUser("ada")
    let after = Task { try await server.key(of: "ada") }
    for _ in 0..<100 { await Task.yield() }
    store.goesOn.isSet = true
    let key = try await after.value
    XCTAssertFalse(key.isSame(as: removed))
    _ = try await before.value
  }

  func testARemovalWhoseAnswerIsLostCanBeRepeated() async throws {
    _ = try await keys().provider(for: "ada")
    let store = FaultyRemoteStateStore(base)
    let server = keys(store)
    store.fail(.lostAnswer, next: .remove)
    do {
      try await server.removeUser("ada")
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual((error as? RemoteStoreError)?.code, .unavailable)
    }
    let isRemoved = try await server.removeUser("ada")
    XCTAssertFalse(isRemoved)
  }
}

/// A store whose answers to loads come late.
private final class LateAnswers: RemoteStateStore {
  let isLate = Flag(), isWaiting = Flag(), goesOn = Flag()
  private let base: any RemoteStateStore

  init(_ base: any RemoteStateStore) { self.base = base }

  var location: String { base.location }

  func load(_ name: String) async throws -> RemoteState? {
    let isLate = isLate.isSet
    let state = try await base.load(name)
    guard isLate else { return state }
    isWaiting.isSet = true
    try await waitUntil("somebody lets the answer go") { goesOn.isSet }
    return state
  }

  func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) async throws -> RemoteVersion? {
    try await base.replace(name, with: bytes, expecting: version)
  }

  func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    try await base.remove(name, expecting: version)
  }

  func names(prefix: String) async throws -> [String] { try await base.names(prefix: prefix) }
}
