import ArchiveCodec
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// States that nobody polls, since nothing of them is stored.
@MainActor
final class AutosaveRestingTests: AutosavePollTestCase {
  /// Sees that nobody asks the node whatever it does, also in an hour.
  private func assertRests(_ line: UInt = #line) async throws {
    try await passInterval()
    let encodeCount = plain.encodeCount
    plain.value += "."
    await settle()
    XCTAssertEqual(clock.sleeps, [], line: line)
    clock.advance(by: .seconds(3600))
    await settle()
    XCTAssertEqual(plain.encodeCount, encodeCount, line: line)
  }

  /// Sees that a change of the node is found by a poll again.
  private func assertIsPolled(_ keeper: StateKeeper) async throws {
    let count = events.count
    try await passInterval()
    plain.value = "found"
    try await pass(.milliseconds(1750))
    try await told(count + 1)
    XCTAssertEqual(outcomes.last, "saved")
    await keeper.close()
  }

  func testAStateThatIsNotRestoredYetIsNotPolled() async throws {
    let keeper = try newKeeper()
    let isStored = await autosave(keeper, of: plain).flush()
    XCTAssertFalse(isStored)
    try await assertRests()
    XCTAssertEqual(outcomes, [])
    _ = try await keeper.restore(into: [plain])
    try await told(1)
    try await assertIsPolled(keeper)
  }

  func testAStateWhoseRestoreHasFailedIsNotPolledUntilASaveSucceeds() async throws {
    let first = try await keeper()
    plain.value = "stored"
    _ = try await first.save([plain])
    await first.close()
    let isBroken = Flag()
    isBroken.isSet = true
    let keeper = try StateKeeper(
      application: Launch.application,
      directory: HookedStore(launch.store) { name, _ throws(ArchiveError) in
        if isBroken.isSet, !name.contains("launch") { throw ArchiveError(.inputOutput) }
      }, keys: launch.keys)
    let failure = await restorationError { _ = try await keeper.restore(into: [self.plain]) }
    XCTAssertEqual(failure?.archive?.code, .inputOutput)
    _ = autosave(keeper, of: plain)
    try await told(1)
    XCTAssertEqual(outcomes, ["failed \(RestorationError.Code.archive)"])
    for pause in [250, 500, 1000, 2000] {
      try await pauses([.milliseconds(pause)])
      let encodeCount = plain.encodeCount
      plain.value += "."
      await settle()
      XCTAssertEqual(plain.encodeCount, encodeCount)
      clock.advance(by: .milliseconds(pause))
    }
    try await pauses([.seconds(4)])
    isBroken.isSet = false
    clock.advance(by: .seconds(4))
    try await told(2)
    XCTAssertEqual(outcomes.last, "saved")
    XCTAssertEqual(launch.setAside.count, 1)
    try await assertIsPolled(keeper)
  }

  func testALockedStateIsNotPolled() async throws {
    launch.keys.isLocked = true
    let keeper = try await keeper()
    _ = autosave(keeper, of: plain)
    try await told(1)
    try await assertRests()
    XCTAssertEqual(outcomes, ["withheld [locked]"])
    launch.keys.isLocked = false
    _ = try await keeper.restore(into: [plain])
    try await told(2)
    try await assertIsPolled(keeper)
  }

  func testAStateThatIsLockedLaterIsNotPolledFromThenOn() async throws {
    let keeper = try await keeper()
    _ = try await polled(keeper)
    launch.keys.isLocked = true
    _ = try await keeper.restore(into: [plain])
    try await told(2)
    try await assertRests()
    XCTAssertEqual(outcomes, ["saved", "withheld [locked]"])
    await keeper.close()
  }

  func testAStateThatAnotherInstanceHasIsNotPolled() async throws {
    let first = try await keeper()
    _ = try await first.save([plain])
    let keeper = try newKeeper()
    keeper.policy.isSingleInstance = true
    _ = try await keeper.restore(into: [plain])
    let autosave = autosave(keeper, of: plain)
    try await told(1)
    try await assertRests()
    await first.close()
    autosave.setNeedsSave()
    try await told(2)
    try await assertIsPolled(keeper)
  }

  func testADeclinedStateIsNotPolled() async throws {
    let delegate = TestDelegate()
    delegate.saves = false
    let keeper = try await keeper()
    keeper.delegate = delegate
    let autosave = autosave(keeper, of: plain)
    try await told(1)
    try await assertRests()
    XCTAssertEqual(outcomes, ["withheld [declined]"])
    delegate.saves = true
    autosave.setNeedsSave()
    try await told(2)
    try await assertIsPolled(keeper)
  }

  func testAStateWithoutItsDelegateIsNotPolled() async throws {
    let keeper = try await keeper()
    var delegate: TestDelegate? = TestDelegate()
    keeper.delegate = delegate
    _ = try await polled(keeper)
    delegate = nil
    let encodeCount = plain.encodeCount
    try await pass(.seconds(2))
    await settle()
    // A save that stores nothing begins an interval.
    try await passInterval()
    await settle()
    XCTAssertEqual(plain.encodeCount, encodeCount)
    XCTAssertEqual(clock.sleeps, [])
    await keeper.close()
  }

  func testAStateWhoseSaveHasFailedIsNotPolledUntilOneSucceeds() async throws {
    let keeper = try await keeper()
    let autosave = try await polled(keeper)
    keeper.policy.nodeLimit = 0
    plain.value = "1"
    try await pass(.seconds(2))
    try await told(2)
    try await assertRests()
    XCTAssertEqual(outcomes, ["saved", "failed \(RestorationError.Code.tooManyNodes)"])
    keeper.policy.nodeLimit = 10
    autosave.setNeedsSave()
    try await told(3)
    try await assertIsPolled(keeper)
  }

  func testAStateInConflictIsNotPolledUntilThatIsResolved() async throws {
    let base = MemoryRemoteStateStore()
    let keeper = try Device("here", base, keys: launch.keys).launch()
    _ = try await keeper.restore(into: [plain])
    _ = try await polled(keeper)
    base[bytes: "main"] = Array("another".utf8)
    plain.value = "1"
    try await pass(.seconds(2))
    try await told(2)
    XCTAssert(outcomes.last?.hasPrefix("withheld [") ?? false, "\(outcomes)")
    try await assertRests()
    try await keeper.resolveConflict(keeping: .ours)
    try await told(3)
    XCTAssertEqual(outcomes.last, "saved")
    try await assertIsPolled(keeper)
  }
}
