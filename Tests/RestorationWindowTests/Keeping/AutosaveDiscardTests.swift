import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// A state that is discarded while something of it is due to be saved.
@MainActor
final class AutosaveDiscardTests: AutosaveTestCase {
  func testADiscardTakesBackTheSaveThatWasDue() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    node.value = "1"
    try await keeper.discardState()
    XCTAssertFalse(autosave.needsSave)
    try await passInterval()
    await settle()
    try launch.assertNothingIsStored()
    XCTAssertEqual(outcomes, ["saved"])
  }

  func testTheNextChangeAfterADiscardIsSaved() async throws {
    let keeper = try await keeper()
    _ = try await begun(keeper)
    node.value = "1"
    try await keeper.discardState()
    try await passInterval()
    node.value = "2"
    try await told(2)
    try await assertStored("2", by: keeper)
  }

  func testAnObservedNodeThatHadChangedBeforeADiscardIsHeardAfterIt() async throws {
    let observed = ObservedNode("root")
    let keeper = try await keeper()
    _ = try await begun(keeper, of: observed)
    observed.value = "1"
    try await keeper.discardState()
    try await passInterval()
    await settle()
    try launch.assertNothingIsStored()
    observed.value = "2"
    try await told(2)
    XCTAssertEqual(try launch.storedPaths(), ["root"])
    await keeper.close()
  }

  func testASaveThatIsWrittenDuringADiscardIsFollowedByNoOther() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    try await holdUpSave(of: "1")
    node.value = "2"
    let discard = Task { try await keeper.discardState() }
    try await waitUntil("what was due is taken back") { !autosave.needsSave }
    disk.gate.goOn()
    try await discard.value
    try await told(2)
    try await passInterval()
    await settle()
    try launch.assertNothingIsStored()
    XCTAssertFalse(autosave.needsSave)
    XCTAssertEqual(events.count, 2)
  }

  func testAFlushThatWaitedForItsSaveIsOverWithTheDiscard() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    try await holdUpSave(of: "1")
    let flush = Task { await autosave.flush() }
    try await waitUntil("it waits") { clock.sleeps == [.seconds(5)] }
    let discard = Task { try await keeper.discardState() }
    let isStored = await flush.value
    XCTAssertFalse(isStored)
    disk.gate.goOn()
    try await discard.value
    await settle()
    try launch.assertNothingIsStored()
  }

  func testADiscardStoresNothingAndTheSaveAfterItStoresAll() async throws {
    let keeper = try await keeper()
    let node = TestNode("root", value: "1")
    let autosave = try await begun(keeper, of: node)
    try await keeper.discardState()
    try await passInterval()
    await settle()
    try launch.assertNothingIsStored()
    node.value = "2"
    try await pauses([.milliseconds(1750)])
    clock.advance(by: .milliseconds(1750))
    try await told(2)
    XCTAssertFalse(autosave.needsSave)
    await keeper.close()
    let restored = TestNode("root")
    _ = try await launch.keeper().restore(into: [restored])
    XCTAssertEqual(restored.value, "2")
  }

  func testAChangeThatNobodyToldBeforeADiscardIsNotSavedAndOneAfterItIs() async throws {
    let plain = PlainNode("root")
    let new = TrackedNode("new")
    let keeper = try await keeper()
    _ = try await begun(keeper, of: plain)
    plain.below = [new]
    try await keeper.discardState()
    try await passInterval()
    try await pauses([.seconds(2) - Self.interval])
    clock.advance(by: .seconds(2))
    try await pauses([.seconds(2)])
    try launch.assertNothingIsStored()
    // A node that no save has met.
    new.value = "1"
    try await told(2)
    try await passInterval()
    try await keeper.discardState()
    plain.value = "2"
    try await pauses([.seconds(2)])
    clock.advance(by: .seconds(2))
    try await told(3)
    XCTAssertNotEqual(try launch.storedPaths(), [])
    await keeper.close()
  }

  func testADiscardThatFailsLeavesTheSaveDue() async throws {
    let removals = Flag()
    // A discard replaces the state by an empty one.
    let directory = HookedStore(disk.directory(launch.store)) { _, call throws(ArchiveError) in
      if call == .replace, removals.isSet {
        throw ArchiveError(.inputOutput)
      }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: directory, keys: launch.keys)
    _ = try await keeper.restore(into: [node])
    let autosave = try await begun(keeper)
    node.value = "1"
    removals.isSet = true
    do {
      try await keeper.discardState()
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.archive?.code, .inputOutput)
    }
    removals.isSet = false
    XCTAssertTrue(autosave.needsSave)
    try await passInterval()
    try await told(2)
    try await assertStored("1", by: keeper)
  }
}
