import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Who has a state, for how long, and what others may do meanwhile.
@MainActor
final class ClaimTests: XCTestCase {
  private let launch = Launch()

  private func second() throws -> StateKeeper { try launch.keeper(endsLast: false) }

  private func save(_ value: String, with keeper: StateKeeper) async throws -> PreservationReport {
    try await keeper.save([TestNode("a", value: value)])
  }

  private func value(with keeper: StateKeeper) async throws -> String? {
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    return node.value
  }

  // MARK: Numbers

  func testASecondKeeperInAProcessHasAStateOfItsOwn() async throws {
    let keepers = [try launch.keeper(), try second(), try second()]
    var names: [String?] = []
    for (number, keeper) in keepers.enumerated() {
      XCTAssertNil(keeper.stateName)
      let report = try await save("\(number)", with: keeper)
      XCTAssertEqual(report.stateName, keeper.stateName)
      XCTAssertEqual(report.others.map(\.stateName), Array(names.compactMap(\.self)))
      XCTAssertEqual(report.others.map(\.process), names.map { _ in "this process" })
      names.append(keeper.stateName)
    }
    XCTAssertEqual(names, ["main", "main~2", "main~3"])
    let report = try await save("again", with: keepers[1])
    XCTAssertTrue(
      report.description.contains("The state is main~2, since this process has main."),
      report.description)
    for keeper in keepers { await keeper.close() }
    for expected in ["0", "again", "2"] {
      let found = try await value(with: try second())
      // Nobody keeps it, so the next one finds the first state free again.
      XCTAssertEqual(found, "0", expected)
    }
    let next = [try second(), try second(), try second()]
    var found: [String?] = []
    for keeper in next { found.append(try await value(with: keeper)) }
    XCTAssertEqual(found, ["0", "again", "2"])
  }

  func testNamesThatEndInANumberOfAnInstanceAreRefused() async {
    for name in ["main~2", "~1", "a~0", "main~2~33"] {
      await assertThrows(
        WholeError(
          .invalidName,
          "“\(name)” cannot name a state: with “~” and digits at its end it is that of another"
            + " instance of the app.")
      ) {
        _ = try StateKeeper(application: "org.example", name: name)
      }
    }
    for name in ["main~", "main~2a", "2", "ma~2in", "main-2"] {
      XCTAssertNoThrow(try StateKeeper(application: "org.example", name: name), name)
    }
  }

  func testAfterAThousandInstancesAStateIsInUse() async throws {
    let store = HookedStore { _, call throws(ArchiveError) in
      if call == .lock { throw ArchiveError(.locked, subject: "process 1") }
    }
    let keeper = try StateKeeper(application: "org.example", directory: store, keys: launch.keys)
    let report = try await keeper.restore()
    XCTAssertEqual(report.outcome, .inUse(by: "process 1"))
    XCTAssertEqual(keeper.problem, KeeperProblem.inUse(by: "process 1"))
    XCTAssertNil(keeper.stateName)
  }

  /// A state with a number that was saved, and is in use no more.
  private func saveSecond() async throws {
    let first = try launch.keeper()
    _ = try await save("first", with: first)
    let other = try second()
    _ = try await save("second", with: other)
    XCTAssertEqual(other.stateName, "main~2")
    await other.close()
    await first.close()
  }

  private func launchOnce() async throws {
    let keeper = try launch.keeper()
    _ = try await value(with: keeper)
    await keeper.close()
  }

  private var hasSecond: Bool { get throws { try launch.store.names().contains("main~2") } }

  func testOneLaunchWithAClockThatIsAheadRemovesNothing() async throws {
    let day: TimeInterval = 24 * 60 * 60
    try await saveSecond()
    // Launches of one start of the machine, of which each sees the wrong clock.
    launch.now += 40 * day
    for _ in 0..<3 {
      try await launchOnce()
      XCTAssertTrue(try hasSecond)
    }
    // The clock is right again, and the second instance saves.
    launch.now -= 39 * day
    launch.environment.bootSession = "second start"
    try await saveSecond()
    // Whoever sees the clock ahead now is the first to see this state old.
    launch.now += 40 * day
    launch.environment.bootSession = "third start"
    try await launchOnce()
    XCTAssertTrue(try hasSecond)
    launch.environment.bootSession = "fourth start"
    try await launchOnce()
    XCTAssertTrue(try hasSecond, "Nothing removes the state of another instance.")
  }

  func testAMachineThatIsNeverStartedAgainRemovesWhatIsOldAfterADay() async throws {
    let day: TimeInterval = 24 * 60 * 60
    launch.environment.uptime = 100 * day
    try await saveSecond()
    launch.now += 31 * day
    for uptime in [131, 131.9, 132] {
      launch.environment.uptime = uptime * day
      try await launchOnce()
      XCTAssertTrue(try hasSecond, "after \(uptime) days")
    }
  }

  func testAStateThatIsTooOldForItsInstanceIsNotForThatReasonOneThatNobodyUses() async throws {
    let day: TimeInterval = 24 * 60 * 60
    launch.environment.bootSession = "first start"
    try await saveSecond()
    launch.now += 2 * day
    let first = try launch.keeper()
    _ = try await value(with: first)
    let other = try second()
    other.policy.maximumAge = day
    let report = try await other.restore(into: [TestNode("a")])
    XCTAssertEqual(report.outcome, .tooOld(setAsideAt: nil))
    await other.close()
    await first.close()
    // One launch has a clock that is ahead.
    launch.now += 100 * day
    launch.environment.bootSession = "second start"
    try await launchOnce()
    XCTAssertTrue(try hasSecond)
  }

  func testWhatOthersHaveSetAsideIsNotPutBackOrRemoved() async throws {
    _ = try await save("old", with: try launch.keeper())
    let owner = try launch.keeper()
    _ = try await save("new", with: owner)
    let other = try second()
    let kept = try await other.setAsideStates()
    XCTAssertEqual(kept.count, 1)
    for isRestored in [true, false] {
      await assertThrows(
        WholeError(.inUse, "The state is in use by this process. Close that one first.")
      ) {
        if isRestored {
          try await other.putBack(kept[0])
        } else {
          try await other.removeSetAside(kept[0])
        }
      }
      XCTAssertNil(other.stateName)
    }
    let left = try await owner.setAsideStates()
    XCTAssertEqual(left, kept)
  }

  func testTheStatusIsThatOfNow() async throws {
    let owner = try launch.keeper()
    _ = try await save("owned", with: owner)
    let late = try second()
    late.policy.isSingleInstance = true
    _ = try await late.restore()
    XCTAssertEqual(late.problem, KeeperProblem.inUse(by: "this process"))
    await owner.close()
    XCTAssertEqual(owner.problem, KeeperProblem.notRestoredYet)
    _ = try await save("late", with: late)
    XCTAssertEqual(late.problem, KeeperProblem.notRestoredYet)
  }

  // MARK: Letting go

  func testTheEndOfAKeeperLetsItsStateGo() async throws {
    _ = try await save("first", with: try launch.keeper())
    let report = try await save("second", with: try second())
    XCTAssertEqual(report.stateName, "main")
    XCTAssertNotNil(report.setAside)
  }

  func testAKeeperThatIsClosedTakesItsStateAgainAndReplacesOnlyWhatIsStillItsOwn() async throws {
    let one = try launch.keeper()
    _ = try await save("one", with: one)
    await one.close()
    XCTAssertNil(one.stateName)
    let again = try await save("one again", with: one)
    XCTAssertNil(again.setAside)
    await one.close()
    let other = try second()
    let found = try await value(with: other)
    XCTAssertEqual(found, "one again")
    _ = try await save("other", with: other)
    await other.close()
    let late = try await save("late", with: one)
    XCTAssertNotNil(late.setAside)
  }

  func testCloseWaitsForWhatIsBeingWritten() async throws {
    let isWriting = Flag()
    let gate = Gate()
    let store = HookedStore { _, call in
      guard call.isWrite else { return }
      isWriting.isSet = true
      gate.pass()
    }
    func keeper() throws -> StateKeeper {
      try StateKeeper(application: "org.example", directory: store, keys: launch.keys)
    }
    let first = try keeper()
    gate.holdUp()
    let saving = Task { @MainActor in _ = try await self.save("slow", with: first) }
    try await waitUntil("a save writes") { isWriting.isSet }
    let isClosed = Flag()
    let closing = Task { @MainActor in
      await first.close()
      isClosed.isSet = true
    }
    for _ in 0..<50 { await Task.yield() }
    XCTAssertFalse(isClosed.isSet)
    gate.goOn()
    try await saving.value
    await closing.value
    let found = try await value(with: try keeper())
    XCTAssertEqual(found, "slow")
  }

  func testCloseWaitsForASaveThatWaitsForTheState() async throws {
    let isTried = Flag()
    let isFree = Flag()
    let store = HookedStore { _, call throws(ArchiveError) in
      guard call == .lock else { return }
      isTried.isSet = true
      if !isFree.isSet { throw ArchiveError(.locked) }
    }
    let keeper = try StateKeeper(application: "org.example", directory: store, keys: launch.keys)
    keeper.policy.isSingleInstance = true
    let saving = Task { @MainActor in try await self.save("late", with: keeper).outcome }
    try await waitUntil("the lock is asked for") { isTried.isSet }
    let closing = Task { @MainActor in await keeper.close() }
    for _ in 0..<50 { await Task.yield() }
    isFree.isSet = true
    await closing.value
    XCTAssertNil(keeper.stateName)
    let outcome = try await saving.value
    XCTAssertEqual(outcome, .saved)
    XCTAssertNil(keeper.stateName, "Nobody would let it go any more.")
  }

  func testARestoreAfterWhichANodeMayComeLateIsNoCrashIfItsKeeperIsClosed() async throws {
    _ = try await save("saved", with: try launch.keeper())
    for _ in 0..<3 {
      let keeper = try launch.keeper()
      keeper.policy.crashThreshold = 1
      let report = try await keeper.restore()
      XCTAssertEqual(report.outcome, .restored)
      XCTAssertNotNil(launch.markerBytes)
      await keeper.close()
    }
  }

  func testALockThatSomebodyRemovesIsTakenAgain() async throws {
    let directory = try TemporaryDirectory()
    func keeper() throws -> StateKeeper {
      try StateKeeper(
        application: "org.example", directory: FileStateDirectory(path: directory.path),
        keys: launch.keys)
    }
    let first = try keeper()
    _ = try await save("first", with: first)
    try FileManager.default.removeItem(atPath: directory.child(".main.rka.lock"))
    let again = try await save("again", with: first)
    XCTAssertEqual([again.stateName, again.setAside], ["main", nil])

    // Somebody else may have had it meanwhile.
    try FileManager.default.removeItem(atPath: directory.child(".main.rka.lock"))
    let other = try keeper()
    let found = try await value(with: other)
    XCTAssertEqual(found, "again")
    let number = try await save("number", with: first)
    XCTAssertEqual(number.stateName, "main~2")
    let own = try await save("own", with: other)
    XCTAssertEqual([own.stateName, own.setAside], ["main", nil])
  }

  // MARK: Looking

  func testLookingWithoutRestoringWorksBesideAnOwnerAndTakesNothing() async throws {
    let owner = try launch.keeper()
    _ = try await save("owned", with: owner)
    let looking = try second()
    let setAside = try await looking.setAsideStates()
    XCTAssertEqual(setAside, [])
    XCTAssertNil(looking.stateName)
    let own = try await save("owned", with: owner)
    XCTAssertEqual([own.stateName, own.setAside], ["main", nil])
  }

  func testAStateWhereNothingCanBeWrittenIsRestoredAllTheSame() async throws {
    let directory = try TemporaryDirectory()
    func keeper() throws -> StateKeeper {
      try StateKeeper(
        application: "org.example", directory: FileStateDirectory(path: directory.path),
        keys: launch.keys)
    }
    _ = try await save("saved", with: try keeper())
    if OrdinaryUser.isNeeded {
      XCTAssertEqual(
        chown(directory.child("main.rka"), OrdinaryUser.identifier, OrdinaryUser.identifier), 0)
    }
    chmod(directory.path, 0o555)
    let user = OrdinaryUser()
    let reader = try keeper()
    let node = TestNode("a")
    let report = try await reader.restore(into: [node])
    _ = consume user
    chmod(directory.path, 0o755)
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertEqual(node.value, "saved")
    XCTAssertNil(report.stateName)
    XCTAssertNotNil(report.launchProblem)
    // It can be taken later, and is what was read.
    let saved = try await save("later", with: reader)
    XCTAssertEqual([saved.stateName, saved.setAside], ["main", nil])
  }

  // MARK: Crashes

  func testAnOldMarkThatSomebodyPutsBackGivesNoStateUp() async throws {
    _ = try await save("old", with: try launch.keeper())
    try await launch.crash()
    try await launch.crash()
    let marker = try XCTUnwrap(launch.markerBytes)
    let keeper = try launch.keeper()
    keeper.policy.crashThreshold = 3
    _ = try await keeper.restore()
    _ = try await save("new", with: keeper)
    launch.markerBytes = marker
    let found = try await value(with: try launch.keeper())
    XCTAssertEqual(found, "new")
    XCTAssertEqual(launch.setAside, [])
  }
}
