import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Saves by themselves that fail, or that nobody lets happen.
@MainActor
final class AutosaveFailureTests: AutosaveTestCase {
  func testAFailureIsToldOnceAndTriedAgainWithLongerPauses() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    disk.failures = 9
    node.value = "1"
    var pauses: [Duration] = []
    for _ in 1...9 {
      try await waitUntil("it pauses") { !clock.sleeps.isEmpty }
      pauses += clock.sleeps
      // It does not make the pause shorter.
      node.value += "."
      await settle()
      XCTAssertEqual(events.count, 2)
      clock.advance(by: clock.sleeps[0])
    }
    try await told(3)
    XCTAssertEqual(outcomes, ["saved", "failed full", "saved"])
    XCTAssertEqual(
      pauses,
      [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000].map { .milliseconds($0) })
    XCTAssertFalse(autosave.needsSave)
    try await self.pauses([Self.interval])
    try await assertStored("1.........", by: keeper)
  }

  func testAFailureThatComesAgainLaterIsToldAgain() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    for number in 1...2 {
      disk.failures = 1
      clock.advance(by: Self.interval)
      node.value = "\(number)"
      try await told(number * 2)
      try await passInterval()
      try await told(number * 2 + 1)
      try await pauses([Self.interval])
    }
    XCTAssertEqual(outcomes, ["saved", "failed full", "saved", "failed full", "saved"])
    XCTAssertFalse(autosave.needsSave)
  }

  func testWhatTheDiskIsNotToBlameForWaitsForAChange() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    keeper.policy.nodeLimit = 0
    node.value = "1"
    try await told(2)
    try await passInterval()
    await settle()
    XCTAssertEqual(outcomes, ["saved", "failed \(RestorationError.Code.tooManyNodes)"])
    XCTAssertEqual(clock.sleeps, [])
    XCTAssertTrue(autosave.needsSave)
    keeper.policy.nodeLimit = 10
    autosave.setNeedsSave()
    try await told(3)
    XCTAssertEqual(outcomes.last, "saved")
  }

  func testAProblemIsToldAgainAfterASaveThatHadNothingToStore() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    for _ in 0..<2 {
      keeper.delegate = TestDelegate()
      for _ in 0..<2 {
        let isStored = await autosave.flush()
        XCTAssertFalse(isStored)
      }
      keeper.delegate = nil
      let isStored = await autosave.flush()
      XCTAssertTrue(isStored)
    }
    XCTAssertEqual(outcomes, ["saved", "withheld [delegateGone]", "withheld [delegateGone]"])
  }

  func testADeclinedSaveIsNoFailure() async throws {
    let delegate = TestDelegate()
    let keeper = try await keeper()
    keeper.delegate = delegate
    let autosave = try await begun(keeper)
    delegate.saves = false
    clock.advance(by: Self.interval)
    node.value = "1"
    try await told(2)
    try await passInterval()
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    XCTAssertEqual(outcomes, ["saved", "withheld [declined]"])
    delegate.saves = true
    let isStoredNow = await autosave.flush()
    XCTAssertTrue(isStoredNow)
  }

  func testALockedStateIsSavedAfterTheRestoreThatUnlocksIt() async throws {
    launch.keys.isLocked = true
    let keeper = try await keeper()
    let autosave = autosave(keeper)
    try await told(1)
    try await passInterval()
    await settle()
    XCTAssertEqual(outcomes, ["withheld [locked]"])
    XCTAssertEqual(clock.sleeps, [])
    launch.keys.isLocked = false
    _ = try await keeper.restore(into: [node])
    try await told(2)
    XCTAssertEqual(outcomes.last, "saved")
    XCTAssertFalse(autosave.needsSave)
  }

  func testAStateThatAnotherInstanceHasIsTriedWithTheNextChange() async throws {
    let first = try await keeper()
    _ = try await first.save([node])
    let keeper = try newKeeper()
    keeper.policy.isSingleInstance = true
    _ = try await keeper.restore(into: [node])
    let autosave = autosave(keeper)
    try await told(1)
    try await passInterval()
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    guard case .success(let report)? = events.first, case .inUse = report.outcome else {
      return XCTFail("\(events)")
    }
    await first.close()
    autosave.setNeedsSave()
    try await told(2)
    XCTAssertEqual(outcomes.last, "saved")
  }
}
