import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Ends that block the actor, whatever else is under way.
@MainActor
final class EndNowTests: AutosaveTestCase {
  /// Lets the held up write go on while the actor is blocked.
  private func goOnSoon() {
    Thread.detachNewThread { [gate = disk.gate] in
      usleep(20_000)
      gate.goOn()
    }
  }

  func testTheLastChangeIsStoredAndTheAutosaveEnds() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    node.value = "1"
    XCTAssertTrue(keeper.endNow(within: .seconds(60)))
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    try await assertStored("1", by: keeper)
  }

  func testWhatIsWrittenMeanwhileIsTakenAndWhatCameAfterItIsStored() async throws {
    let keeper = try await keeper()
    _ = try await idle(keeper)
    let below = TrackedNode("below")
    node.below = [below]
    try await holdUpSave(of: "1")
    below.value = "late"
    goOnSoon()
    XCTAssertTrue(keeper.endNow(within: .seconds(60)))
    XCTAssertEqual(disk.writes, 3)
    await settle()
    let records = try launch.storedRecords()
    XCTAssertEqual(try records?["root"]?.value, "1")
    XCTAssertEqual(try records?["root/below"]?.value, "late")
    // The process goes on after all.
    node.value = "2"
    _ = try await keeper.save([node])
    try await assertStored("2", by: keeper)
  }

  func testAStateThatIsClosedAfterAnEndIsFreeAtOnce() async throws {
    let files = try FilesOfTest()
    let directory = FileStateDirectory(path: files.path)
    for number in 1...300 {
      let keeper = try StateKeeper(
        application: Launch.application, directory: directory, keys: launch.keys)
      _ = try await keeper.restore()
      node.value = "\(number)"
      XCTAssertTrue(keeper.endNow(saving: [node], within: .seconds(60)))
      await keeper.close()
      XCTAssertFalse(try directory.storage(named: "main").isLocked(), "\(number)")
    }
  }

  func testAWriteThatFailsMeanwhileIsMadeUpFor() async throws {
    let keeper = try await keeper()
    _ = try await idle(keeper)
    disk.failures = 1
    try await holdUpSave(of: "1")
    goOnSoon()
    XCTAssertTrue(keeper.endNow(within: .seconds(60)))
    try await assertStored("1", by: keeper)
  }

  func testAWriteThatDoesNotEndInTimeIsTakenByTheNextSave() async throws {
    let keeper = try await keeper()
    _ = try await idle(keeper)
    try await holdUpSave(of: "1")
    node.value = "2"
    XCTAssertFalse(keeper.endNow(within: .milliseconds(20)))
    disk.gate.goOn()
    _ = try await keeper.save([node])
    try await assertStored("2", by: keeper)
  }

  func testItsOwnWriteThatDoesNotEndInTimeIsTakenByTheNextSave() async throws {
    let keeper = try await keeper()
    _ = try await idle(keeper)
    disk.gate.holdUp()
    node.value = "1"
    XCTAssertFalse(keeper.endNow(within: .milliseconds(20)))
    disk.gate.goOn()
    let writes = disk.writes
    _ = try await keeper.save([node])
    XCTAssertLessThanOrEqual(disk.writes, writes + 1)
    XCTAssertEqual(disk.writes, 2)
    try await assertStored("1", by: keeper)
  }

  func testNothingIsStoredBeforeARestoreAndDuringOne() async throws {
    let gate = disk.gate
    let store = HookedStore(disk.directory(launch.store)) { _, call throws(ArchiveError) in
      if call == .lock { gate.pass() }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    XCTAssertFalse(keeper.endNow(saving: [node]))
    XCTAssertNil(launch.storedBytes)
    gate.holdUp()
    let restore = Task {
      try await keeper.restore(into: [node])
    }
    try await waitUntil("the restore waits for its file") { gate.isWaitedFor }
    XCTAssertNil(keeper.problem)
    goOnSoon()
    XCTAssertFalse(keeper.endNow(saving: [node]))
    _ = try await restore.value
    XCTAssertNil(launch.storedBytes)
    XCTAssertTrue(keeper.endNow(saving: [node]))
    XCTAssertNotNil(launch.storedBytes)
    await keeper.close()
  }

  func testInAHookNothingIsStoredAndTheSaveGoesOn() async throws {
    let keeper = try await keeper()
    let node = TestNode("root", value: "1")
    var isStored: Bool?
    node.onEncode = { _ in isStored = keeper.endNow(saving: [node]) }
    _ = try await keeper.save([node])
    XCTAssertEqual(isStored, false)
    XCTAssertEqual(disk.writes, 1)
    await keeper.close()
    XCTAssertEqual(try launch.storedRecords()?["root"]?.value, "1")
  }

  func testWhatWasCalledBeforeTakesThePlaceOfNothing() async throws {
    for isDiscard in [false, true] {
      let keeper = try await keeper()
      _ = try await keeper.save([node])
      disk.gate.holdUp()
      let running = Task { try await keeper.save([TestNode("root", value: "running")]) }
      try await waitUntil("a write is held up") { disk.gate.isWaitedFor }
      let waiting = Task { () -> PreservationReport? in
        if isDiscard {
          try await keeper.discardState()
          return nil
        }
        return try await keeper.save([TestNode("root", value: "waiting")])
      }
      await settle()
      goOnSoon()
      XCTAssertTrue(
        keeper.endNow(saving: [TestNode("root", value: "last")], within: .seconds(60)))
      let reports = [try await running.value, try await waiting.value]
      XCTAssertEqual(reports.compactMap(\.?.outcome), isDiscard ? [.saved] : [.saved, .saved])
      await keeper.close()
      XCTAssertEqual(try launch.storedRecords()?["root"]?.value, "last", "\(isDiscard)")
    }
  }

  func testWhatIsSavedWhileTheKeeperClosesHasAllThatWasStoredBefore() async throws {
    let keeper = try await keeper()
    let (one, other) = (TrackedNode("one"), TrackedNode("other"))
    (one.value, other.value) = ("before", "before")
    node.below = [one, other]
    // After the first save the keeper knows its file.
    for value in ["1", "2"] {
      node.value = value
      _ = try await keeper.save([node])
    }
    let closing = Task { await keeper.close() }
    await Task.yield()
    one.value = "last"
    XCTAssertTrue(keeper.endNow(saving: [node], within: .seconds(60)))
    await closing.value
    let records = try launch.storedRecords()
    XCTAssertEqual(try records?["root"]?.value, "2")
    XCTAssertEqual(try records?["root/one"]?.value, "last")
    XCTAssertEqual(try records?["root/other"]?.value, "before")
  }

  func testADiscardThatIsUnderWayLeavesWhatIsStoredAfterIt() async throws {
    let keeper = try await keeper()
    _ = try await keeper.save([node])
    disk.gate.holdUp()
    let discard = Task { try await keeper.discardState() }
    try await waitUntil("a write is held up") { disk.gate.isWaitedFor }
    node.value = "last"
    goOnSoon()
    XCTAssertTrue(keeper.endNow(saving: [node], within: .seconds(60)))
    try await discard.value
    node.value = "later"
    _ = try await keeper.save([node])
    try await assertStored("later", by: keeper)
  }

  func testALockedKeyAndADelegateThatDeclinesAreNotStored() async throws {
    let delegate = TestDelegate()
    let keeper = try await keeper()
    keeper.delegate = delegate
    delegate.saves = false
    XCTAssertFalse(keeper.endNow(saving: [node]))
    delegate.saves = true
    XCTAssertTrue(keeper.endNow(saving: [node]))
    XCTAssertFalse(keeper.endNow())
    await keeper.close()
  }
}
