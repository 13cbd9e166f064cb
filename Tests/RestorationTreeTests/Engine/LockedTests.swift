import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What a keeper does while its key is locked.
@MainActor
final class LockedTests: XCTestCase {
  private let launch = Launch()
  private let trace = Trace()
  private let lock = MemoryKeyProvider()

  private func keeper() throws -> StateKeeper {
    try StateKeeper(application: Launch.application, directory: launch.store, keys: lock)
  }

  private func saveState() async throws -> [UInt8] {
    _ = try await keeper().save([TestNode("a", value: "saved")])
    return try XCTUnwrap(launch.storedBytes)
  }

  func testALockedLaunchAsksNothingSavesNothingAndLeavesTheStateIntact() async throws {
    let bytes = try await saveState()
    lock.isLocked = true
    let delegate = TestDelegate(trace)
    let keeper = try keeper()
    keeper.delegate = delegate
    let node = TestNode("a", value: "fresh", trace: trace)
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(report.outcome, .locked)
    XCTAssertEqual(
      report.description,
      "Nothing restored: the key is locked. Restore again when it is unlocked.")
    XCTAssertEqual(keeper.problem, KeeperProblem.locked)

    lock.isLocked = false
    let saved = try await keeper.save([node])
    XCTAssertEqual(saved.outcome, .locked)
    XCTAssertEqual(
      saved.description,
      "Nothing saved: the key is locked. Restore again when it is unlocked.")
    XCTAssertEqual(trace.events, [])
    XCTAssertEqual(launch.disk, LaunchDisk(state: bytes))
    XCTAssertEqual(launch.setAside, [])
  }

  func testARestoreAfterUnlockingSucceedsAndSavesFollow() async throws {
    _ = try await saveState()
    lock.isLocked = true
    let keeper = try keeper()
    _ = try await keeper.restore()
    lock.isLocked = false
    let node = TestNode("a")
    let restored = try await keeper.restore(into: [node])
    XCTAssertEqual(restored.outcome, .restored)
    XCTAssertEqual(node.value, "saved")
    XCTAssertNil(keeper.problem)
    let saved = try await keeper.save([node])
    XCTAssertEqual(saved.outcome, .saved)
  }

  func testDiscardingTheStateLetsSavesFollow() async throws {
    _ = try await saveState()
    lock.isLocked = true
    let keeper = try keeper()
    _ = try await keeper.restore()
    try await keeper.discardState()
    XCTAssertEqual(keeper.problem, KeeperProblem.notRestoredYet)
    lock.isLocked = false
    let saved = try await keeper.save([TestNode("a")])
    XCTAssertEqual(saved.outcome, .saved)
  }

  func testAStateThatTurnsOutDamagedAfterUnlockingIsSetAsideByTheNextSave() async throws {
    var bytes = try await saveState()
    bytes[bytes.count - 100] ^= 1
    launch.storedBytes = bytes
    lock.isLocked = true
    let keeper = try keeper()
    _ = try await keeper.restore()
    lock.isLocked = false
    do {
      _ = try await keeper.restore()
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(
        WholeError(error),
        WholeError(
          notRestored: ArchiveError(
            .damaged, offset: 320, subject: "chunk 0", location: "memory")))
      XCTAssertEqual(keeper.problem, "Nothing was restored. \(error)")
    }
    let saved = try await keeper.save([TestNode("a")])
    XCTAssertEqual(saved.outcome, .saved)
    XCTAssertEqual(launch.setAside, [bytes])
  }

  func testASaveThatFindsTheKeyLockedChangesNothing() async throws {
    let bytes = try await saveState()
    lock.isLocked = true
    for saves in [true, false] {
      let delegate = TestDelegate()
      delegate.saves = saves
      let keeper = try keeper()
      keeper.delegate = delegate
      let report = try await keeper.save([TestNode("a")])
      XCTAssertEqual(report.outcome, .locked)
      XCTAssertEqual(launch.disk, LaunchDisk(state: bytes))
    }
  }

  func testLockedIsNeitherMissingNorDamaged() async throws {
    _ = try await saveState()
    lock.isLocked = true
    do {
      _ = try lock.key(creating: false)
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(error, .keyLocked(at: "keyring"))
      XCTAssertEqual(
        error.description,
        "The key is locked. Unlock the device or the keyring, then try again."
          + " (keyLocked: in keyring)")
    }
    do {
      try await keeper().retrySkippedNodes()
      XCTFail("did not throw")
    } catch let error as RestorationError {
      XCTAssertEqual(error.archive, .keyLocked(at: "keyring"))
    }
  }

  func testALaunchWithoutStateIsNotLocked() async throws {
    lock.isLocked = true
    let keeper = try keeper()
    let report = try await keeper.restore()
    XCTAssertEqual(report.outcome, .noArchive)
    XCTAssertNil(keeper.problem)
  }

  func testAProviderThatWaitsHoldsUpNoCaller() async throws {
    let keys = WatchedKeys()
    func keeper() throws -> StateKeeper {
      try StateKeeper(application: Launch.application, directory: launch.store, keys: keys)
    }
    var last: StateKeeper? = try keeper()
    _ = try await last?.save([TestNode("a", value: "saved")])
    try await last?.retrySkippedNodes()
    last = try keeper()
    _ = try await last?.restore(into: [TestNode("a")])
    _ = try await last?.save([TestNode("a", value: "again")])
    last = nil
    while try launch.store.storage(named: "main").isLocked() { await Task.yield() }
    try await keeper().discardState()
    XCTAssertGreaterThan(keys.count.withLock { $0 }, 3)
    XCTAssertEqual(keys.countOnMainThread.withLock { $0 }, 0)
  }

  private final class WatchedKeys: KeyProvider {
    let count = Mutex(0)
    let countOnMainThread = Mutex(0)
    private let keys = MemoryKeyProvider()

    func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
      count.withLock { $0 += 1 }
      if Thread.isMainThread { countOnMainThread.withLock { $0 += 1 } }
      return try keys.key(creating: creating)
    }
  }
}
