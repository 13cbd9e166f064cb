import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import RestorationTesting
import Synchronization
import TestSupport
import XCTest

/// The keys of the users of a server, and of several.
final class UserKeysTests: UserKeysTestCase {
  func testEachUserHasAKeyThatStays() async throws {
    let (ada, bob) = (
      try await key(of: "ada", keys()), try await key(of: "bob", keys())
    )
    XCTAssertFalse(ada.isSame(as: bob))
    for server in [keys(), keys()] {
      let again = (try await key(of: "ada", server), try await key(of: "bob", server))
      XCTAssertTrue(again.0.isSame(as: ada))
      XCTAssertTrue(again.1.isSame(as: bob))
    }
  }

  /// After so many writes all others are late: they get to the store when the user was removed.
  func testAWriteThatLandsLateBringsNoRemovedKeyBack() async throws {
    let name = try await row(of: "ada")
    for count in 0..<4 {
      _ = try await keys().removeUser("ada")
      let network = NetworkStore(base)
      let server = keys(network)
      _ = try await server.provider(for: "bob")
      network.delaysWrites = true
      for _ in 0..<count {
        do { _ = try await server.provider(for: "ada") } catch {}
        if count > 2 { try await network.landDelayedWrites() }
      }
      do { _ = try await server.provider(for: "ada") } catch {}
      _ = try await keys().removeUser("ada")
      network.delaysWrites = false
      try await network.landDelayedWrites()
      let isRemoved = try await keys().removeUser("ada")
      XCTAssertFalse(isRemoved, "\(count)")
    }
    let names = try await base.names(prefix: "user-")
    XCTAssertFalse(names.contains(name))
  }

  func testAPlaceForAKeyIsNoKey() async throws {
    let name = try await row(of: "ada")
    _ = try await keys().removeUser("ada")
    base[bytes: name] = Array("none".utf8)
    let server = keys(master: ArchiveKey.new(), former: [master])
    let rotation = try await server.rotate()
    XCTAssertEqual(rotation.problems.count, 0)
    XCTAssertEqual(base[bytes: name], Array("none".utf8))
    let key = try await key(of: "ada", server)
    XCTAssertNotEqual(base[bytes: name], Array("none".utf8))
    let again = try await self.key(of: "ada", server)
    XCTAssertTrue(again.isSame(as: key))
  }

  func testUsersAreToldApartByTheirBytes() async throws {
    let users = [
      "", "a", "A", "é", "e\u{301}", "names", "user-", String(repeating: "a", count: 5000),
    ]
    let server = keys()
    var found: [ArchiveKey] = []
    for user in users {
      let key = try await key(of: user, server)
      XCTAssertFalse(found.contains { $0.isSame(as: key) }, user)
      found.append(key)
    }
    let names = try await base.names(prefix: "user-")
    XCTAssertEqual(names.count, users.count)
  }

  func testTheStoreHasNoNameOfAUserAndOtherHashesInAnotherStore() async throws {
    _ = try await keys().provider(for: "ada@example.org")
    let other = MemoryRemoteStateStore()
    _ = try await keys(other).provider(for: "ada@example.org")
    let names = try await base.names(prefix: "").sorted()
    XCTAssertEqual(names.count, 2)
    XCTAssertEqual(names[0], "names")
    XCTAssertNotNil(names[1].wholeMatch(of: /user-[0-9a-f]{64}/))
    let otherNames = try await other.names(prefix: "user-")
    XCTAssertNotEqual(otherNames, [names[1]])
    for name in names {
      let bytes = try XCTUnwrap(base[bytes: name])
      XCTAssertEqual(bytes.count, 160)
      XCTAssertFalse(String(decoding: bytes, as: UTF8.self).contains("ada"))
    }
  }

  func testServersThatMakeAKeyAtOnceGetTheSameOne() async throws {
    for seed in 0..<30 as Range<UInt64> {
      let base = MemoryRemoteStateStore()
      let servers = (0..<8 as Range<UInt64>).map { number in
        keys(
          FaultyRemoteStateStore(
            base, rates: RemoteFaultRates(longestDelay: .microseconds(200)),
            seed: seed * 8 + number))
      }
      let found = try await withThrowingTaskGroup(of: ArchiveKey.self) { group in
        for server in servers {
          group.addTask { try await server.key(of: "ada") }
        }
        return try await group.reduce(into: [ArchiveKey]()) { $0.append($1) }
      }
      for key in found { XCTAssertTrue(key.isSame(as: found[0]), "seed \(seed)") }
      let names = try await base.names(prefix: "")
      XCTAssertEqual(names.count, 2, "seed \(seed)")
    }
  }

  func testAskedAHundredTimesAtOnceItLoadsOnce() async throws {
    _ = try await keys().provider(for: "ada")
    let store = FaultyRemoteStateStore(base) { _ in .delay(.milliseconds(20)) }
    let server = keys(store)
    _ = try await server.provider(for: "bob")
    let before = store.calls.count
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { _ = try await server.provider(for: "ada") } }
      try await group.waitForAll()
    }
    XCTAssertEqual(store.calls.dropFirst(before).map(\.operation), [.load])
  }

  func testAKeyIsInMemoryOnceAsLongAsItIsUsed() async throws {
    let server = keys()
    weak var released: ArchiveKey?
    do {
      let (one, two) = (try await key(of: "ada", server), try await key(of: "ada", server))
      XCTAssertTrue(one === two)
      released = one
    }
    // The task that has loaded the key may end a moment later.
    try await waitUntil("the key is gone") { released == nil }
  }

  // MARK: Keys that cannot be read

  func testAMissingMasterIsAnErrorAndMakesNothing() async throws {
    let missing = MemoryKeyProvider()
    let server = keys(master: missing)
    await assertThrows(
      .masterKeyMissing,
      "A master key is not there: keyring has none. Put it back; a new one would open no key of"
        + " any user."
    ) { _ = try await server.provider(for: "ada") }
    await assertThrows(.masterKeyMissing, nil) {
      _ = try await self.keys(former: [missing]).provider(for: "ada")
    }
    XCTAssertNil(try missing.key(creating: false))
    let names = try await base.names(prefix: "")
    XCTAssertEqual(names, [])
    // It may be put back while the server runs.
    _ = try missing.key(creating: true)
    _ = try await server.provider(for: "ada")
  }

  func testALockedMasterIsTheErrorOfItsProvider() async throws {
    let locked = MemoryKeyProvider()
    locked.isLocked = true
    do {
      _ = try await keys(master: locked).provider(for: "ada")
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual((error as? RestorationError)?.archive?.code, .keyLocked)
    }
  }

  func testAnotherMasterIsAnErrorAndReplacesNothing() async throws {
    let key = try await key(of: "ada", keys())
    let (before, names) = (try await stored(), try await base.names(prefix: ""))
    await assertThrows(
      .masterKeyWrong,
      "The key “names” in memory is sealed under another master key. Give UserKeys that one, too,"
        + " as a former one."
    ) { _ = try await self.keys(master: ArchiveKey.new()).provider(for: "ada") }
    let (after, namesAfter) = (try await stored(), try await base.names(prefix: ""))
    XCTAssertEqual(before, after)
    XCTAssertEqual(Set(names), Set(namesAfter))
    let again = try await self.key(of: "ada", keys())
    XCTAssertTrue(again.isSame(as: key))
  }

  func testADamagedKeyIsAnErrorAndIsNotReplaced() async throws {
    let name = try await row(of: "ada")
    for name in [name, "names"] {
      let intact = try XCTUnwrap(base[bytes: name])
      for damaged in [Array(intact.dropLast()), intact + [0], [1], changed(intact, at: 100)] {
        base[bytes: name] = damaged
        await assertThrows(
          .userKeyDamaged,
          "The key “\(name)” in memory is damaged, or that of another user. Put it back from a"
            + " backup of the keys. Without it, what it sealed cannot be read."
        ) { _ = try await self.keys().provider(for: "ada") }
        XCTAssertEqual(base[bytes: name], damaged)
      }
      base[bytes: name] = intact
      _ = try await keys().provider(for: "ada")
    }
  }

  func testTheKeyOfAnotherUserIsNotTaken() async throws {
    let (ada, bob) = (try await row(of: "ada"), try await row(of: "bob"))
    base[bytes: ada] = base[bytes: bob]
    await assertThrows(.userKeyDamaged, nil) { _ = try await self.keys().provider(for: "ada") }
    _ = try await keys().provider(for: "bob")
  }

  func testALostKeyOfNamesIsNotReplacedWhileThereAreUsers() async throws {
    let ada = try await row(of: "ada")
    base[bytes: "names"] = nil
    await assertThrows(
      .userKeyDamaged,
      "The key “names” in memory is missing. Put it back from a backup of the keys. Without it,"
        + " what it sealed cannot be read."
    ) { _ = try await self.keys().provider(for: "ada") }
    XCTAssertNil(base[bytes: "names"])
    XCTAssertNotNil(base[bytes: ada])
  }

  // MARK: Stores that fail

  func testWhateverTheStoreDoesThereIsOneKey() async throws {
    for seed in 0..<200 as Range<UInt64> {
      let base = MemoryRemoteStateStore()
      let rates = RemoteFaultRates(
        unreachable: 0.1, lostAnswer: 0.2, repeated: 0.2, staleRead: 0.2)
      var found: [ArchiveKey] = []
      for number in 0..<3 as Range<UInt64> {
        let server = keys(FaultyRemoteStateStore(base, rates: rates, seed: seed * 3 + number))
        for _ in 0..<2 {
          try await found.append(untilItWorks { try await self.key(of: "ada", server) })
        }
      }
      for key in found { XCTAssertTrue(key.isSame(as: found[0]), "seed \(seed)") }
    }
  }

  func testAnAskerWhoIsCancelledLeavesTheOthersTheirKey() async throws {
    _ = try await keys().provider(for: "ada")
    let store = FaultyRemoteStateStore(base)
    let server = keys(store)
    _ = try await server.provider(for: "bob")
    store.fail(.delay(.milliseconds(50)))
    let (one, other) = (
      Task { try await server.provider(for: "ada") }, Task { try await server.provider(for: "ada") }
    )
    one.cancel()
    _ = try await other.value
    _ = await one.result
  }

  func testALoadThatNobodyWaitsForIsCancelled() async throws {
    let isSilent = Atomic(false)
    let store = FaultyRemoteStateStore(base) { _ in
      isSilent.load(ordering: .relaxed) ? .silence() : nil
    }
    let server = keys(store)
    _ = try await server.provider(for: "ada")
    isSilent.store(true, ordering: .relaxed)
    let tasks = (0..<3).map { _ in Task { try await server.provider(for: "ada") } }
    for task in tasks { task.cancel() }
    for task in tasks {
      let result = await task.result
      XCTAssertThrowsError(try result.get()) { XCTAssert($0 is CancellationError, "\($0)") }
    }
    isSilent.store(false, ordering: .relaxed)
    _ = try await server.provider(for: "ada")
  }
}
