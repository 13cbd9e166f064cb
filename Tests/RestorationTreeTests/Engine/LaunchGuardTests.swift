import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What a launch does after launches whose restore did not end.
@MainActor
final class LaunchGuardTests: XCTestCase {
  private let launch = Launch()
  private let trace = Trace()

  private func save(_ value: String = "saved") async throws {
    _ = try await launch.keeper().save([TestNode("a", value: value)])
  }

  func testTheLaunchAfterAsManyCrashesAsTheThresholdSetsTheStateAsideAndAsksNothing()
    async throws
  {
    for threshold in [-1, 0, 1, 2, 3] {
      let launch = Launch()
      _ = try await launch.keeper().save([TestNode("a", value: "saved")])
      let saved = try XCTUnwrap(launch.storedBytes)
      for _ in 1...max(1, threshold) {
        let report = try await launch.crash(threshold: threshold)
        XCTAssertEqual(report.outcome, .restored)
      }
      let trace = Trace()
      let delegate = TestDelegate(trace)
      let keeper = try launch.keeper(delegate: delegate)
      keeper.policy.crashThreshold = threshold
      let report = try await keeper.restore(into: [TestNode("a", trace: trace)])
      let location = try XCTUnwrap(launch.crashedLocation)
      XCTAssertEqual(report.outcome, .crashed(setAsideAt: location))
      XCTAssertEqual(
        report.description,
        "Nothing restored: the last restores crashed."
          + " What was stored is set aside at \(location).")
      XCTAssertEqual(trace.events, [])
      XCTAssertEqual(launch.setAside, [saved])
      try launch.assertNothingIsStored()
      XCTAssertNil(launch.markerBytes)
    }
  }

  func testLaunchesAfterAStateWasSetAsideAreAsEver() async throws {
    try await save()
    for _ in 1...3 { try await launch.crash() }
    let empty = try await launch.keeper().restore()
    XCTAssertEqual(empty.outcome, .noArchive)
    try await save("new")
    let node = TestNode("a")
    let report = try await launch.keeper().restore(into: [node])
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertEqual(node.value, "new")
  }

  func testTheMarkIsThereFromTheGateToTheLastCallAndGoneAfterTheRestore() async throws {
    try await save()
    var marked: [Bool] = []
    let delegate = TestDelegate()
    let node = TestNode("a")
    let look = { [launch] in marked.append(launch.isInRestore) }
    delegate.onShouldRestore = { _ in look() }
    node.onDecode = { _ in look() }
    delegate.onDidDecode = { _ in look() }
    let report = try await launch.keeper(delegate: delegate).restore(into: [node])
    XCTAssertEqual(marked, [true, true, true])
    launch.assertIsNotMarked()
    XCTAssertNil(report.launchProblem)
  }

  func testALaunchThatEndsItsRestoreForgetsTheCrashesBeforeIt() async throws {
    try await save()
    for _ in 1...5 {
      try await launch.crash()
      let report = try await launch.keeper().restore(into: [TestNode("a")])
      XCTAssertEqual(report.outcome, .restored)
    }
  }

  func testACrashAfterTheRestoreIsNotBlamedOnIt() async throws {
    try await save()
    for _ in 1...5 {
      let keeper = try launch.keeper()
      keeper.policy.crashThreshold = 1
      let report = try await keeper.restore(into: [TestNode("a")])
      // Nothing is saved any more: the process is gone.
      XCTAssertEqual(report.outcome, .restored)
    }
  }

  func testARestoreThatIsDeclinedOrHasProblemsHasEnded() async throws {
    try await save()
    let delegate = TestDelegate()
    delegate.restores = false
    let declined = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(declined.outcome, .declined)
    launch.assertIsNotMarked()
    let keeper = try launch.keeper()
    let report = try await keeper.restore()
    XCTAssertEqual(
      report.problems.map(\.description),
      [
        "a (TestNode): not found; register its class with a closure that makes it, answer in the"
          + " delegate, or let the node above it contain it before you restore; if it is built later,"
          + " call restore(late:below:); saves keep it as it is stored, until a node is saved in its"
          + " place"
      ])
    XCTAssertFalse(launch.isInRestore)
    XCTAssertNil(keeper.problem)
  }

  func testWithoutAStateNoMarkIsLeft() async throws {
    try await save()
    try await launch.crash()
    launch.storedBytes = nil
    _ = try await launch.keeper().restore()
    XCTAssertEqual(launch.disk, LaunchDisk())
  }

  func testNoDamageOfTheMarkStopsARestore() async throws {
    try await save()
    try await launch.crash()
    // What is behind it says where the restore was.
    let marker = try XCTUnwrap(launch.markerBytes).dropLast(Launch.noteByteCount)
    func check(_ bytes: [UInt8], _ message: String) async throws {
      launch.markerBytes = bytes
      let keeper = try launch.keeper()
      keeper.policy.crashThreshold = 1
      let node = TestNode("a")
      let report = try await keeper.restore(into: [node])
      XCTAssertEqual(report.outcome, .restored, message)
      XCTAssertEqual(node.value, "saved", message)
      XCTAssertNil(report.launchProblem, message)
    }
    for position in marker.indices {
      var damaged = marker
      damaged[position] ^= 1 << (position % 8)
      try await check(Array(damaged), "byte \(position)")
      try await check(Array(marker[..<position]), "\(position) bytes")
    }
  }

  func testOnlyTheKeyCanMakeAMark() async throws {
    try await save()
    let other = Launch()
    _ = try await other.keeper().save([TestNode("a")])
    for _ in 1...2 { try await other.crash() }
    launch.markerBytes = other.markerBytes
    let report = try await launch.keeper().restore(into: [TestNode("a")])
    XCTAssertEqual(report.outcome, .restored)
  }

  private func setCount(_ count: Int, _ version: ArchiveVersion, _ key: ArchiveKey) throws {
    let context = ArchiveContext([Launch.application, "main", "launch"])
    var record = LaunchRecord()
    (record.crashes, record.stateMAC) = (count, version.mac)
    record.applicationVersion = launch.environment.applicationVersion
    launch.markerBytes =
      try record.sealed(key, context) + LaunchNote(.restoring).bytes(record.tag)
  }

  func testACountThatNoLaunchCanReachIsNoTrap() async throws {
    try await save()
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    let version = try XCTUnwrap(try launch.archive()).version
    // The largest comes last, because it sets the state aside.
    for count in [Int.min, -1, .max - 1, .max] {
      launch.endProcess()
      try setCount(count, version, key)
      let keeper = try launch.keeper()
      keeper.policy.crashThreshold = .max
      let report = try await keeper.restore(into: [TestNode("a")])
      XCTAssertEqual(report.outcome == .restored, count != .max, "\(count)")
    }
  }

  func testAMarkThatCannotBeWrittenIsReportedAndTheRestoreGoesOn() async throws {
    try await save()
    let faulty = FaultyStorage { _, _ in ArchiveError(.storageFull) }
    let keeper = try StateKeeper(
      application: Launch.application, directory: TwoStores(launch.store, launches: faulty),
      keys: launch.keys)
    let node = TestNode("a")
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "saved")
    XCTAssertEqual(
      report.launchProblem, "The launch could not be marked: \(ArchiveError(.storageFull))")
  }

  func testAStoreWithOnePlaceForEveryNameLosesTheGuardAndNotTheState() async throws {
    struct OnePlace: StateDirectory {
      let storage = MemoryStorage()
      func storage(named name: String) -> any ArchiveStorage { storage }
    }
    let store = OnePlace()
    func keeper() throws -> StateKeeper {
      try StateKeeper(application: Launch.application, directory: store, keys: launch.keys)
    }
    _ = try await keeper().save([TestNode("a", value: "saved")])
    let bytes = store.storage.bytes
    let node = TestNode("a")
    let report = try await keeper().restore(into: [node])
    XCTAssertEqual(node.value, "saved")
    XCTAssertEqual(
      report.launchProblem, "The launch could not be marked: \(ArchiveError(.notAFile))")
    XCTAssertEqual(store.storage.bytes, bytes)
  }

  func testAStateCannotHaveTheNameOfAMark() async {
    await assertThrows(
      WholeError(
        .invalidName,
        "“main.launch” cannot name a state: it must not end in “.launch” or “.remote”,"
          + " or contain “.history”."
      )
    ) {
      _ = try StateKeeper(application: "org.example", name: "main.launch")
    }
  }

  func testDiscardingTheStateForgetsItsCrashes() async throws {
    try await save()
    try await launch.crash()
    try await launch.keeper().discardState()
    try launch.assertNothingIsStored()
    XCTAssertNil(launch.markerBytes)
  }

  func testASecondRestoreOfALaunchIsNotCountedTwice() async throws {
    try await save()
    let keeper = try launch.keeper()
    keeper.policy.crashThreshold = 1
    for _ in 1...2 {
      // What is not back may come late, so the mark stays.
      let report = try await keeper.restore()
      XCTAssertEqual(report.outcome, .restored)
      XCTAssertNotNil(launch.markerBytes)
    }
    var crashed: LaunchDisk?
    let node = TestNode("a")
    node.onDecode = { [launch] _ in crashed = launch.disk }
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(report.outcome, .restored)
    launch.assertIsNotMarked()
    // Had it crashed instead, it would be one launch.
    launch.endProcess()
    launch.disk = try XCTUnwrap(crashed)
    let next = try await launch.keeper().restore(into: [TestNode("a")])
    XCTAssertEqual(next.outcome, .restored)
  }

  func testAKeeperThatGoesAfterItsKeyWasLostMakesNoOtherKey() async throws {
    try await save()
    var keeper: StateKeeper? = try launch.keeper()
    // What is not back may come late, so the mark stays.
    _ = try await keeper?.restore()
    XCTAssertNotNil(launch.markerBytes)
    launch.keys.lose()
    keeper = nil
    // The file of its state goes after it, and not on this thread.
    try await waitUntil("the lock is let go") {
      try !launch.store.storage(named: "main").isLocked()
    }
    XCTAssertNil(try launch.keys.key(creating: false))
  }
}

/// States in one store and the marks of launches in another.
private struct TwoStores: StateDirectory {
  let states: MemoryStateDirectory
  let launches: FaultyStorage

  init(_ states: MemoryStateDirectory, launches: FaultyStorage) {
    self.states = states
    self.launches = launches
  }

  func storage(named name: String) -> any ArchiveStorage {
    name.hasSuffix(".launch") ? launches : states.storage(named: name)
  }
}
