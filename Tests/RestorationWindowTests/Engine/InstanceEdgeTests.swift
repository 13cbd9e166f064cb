import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What several keepers of one app do at the edges of each other's time.
@MainActor
final class InstanceEdgeTests: InstanceTestCase {
  private var hosts: [SceneHost] = []

  func testAStateOfAnotherNameThatLooksNumberedIsNotRemoved() async throws {
    let other = try second("main~2.draft")
    _ = try await save("mine", with: other)
    await other.close()
    launch.now += 31 * day
    let main = try second()
    _ = try await value(with: main)
    let found = try await value(with: other)
    XCTAssertEqual(found, "mine")
  }

  func testAStateThatAnOwnerHasIsNotRemovedByTheLaunchOfAnotherName() async throws {
    let owner = try second("main~2.draft")
    _ = try await save("mine", with: owner)
    launch.now += 31 * day
    _ = try await value(with: try second())
    XCTAssertNotNil(launch.store.memory(named: "main~2.draft").bytes)
    withExtendedLifetime(owner) {}
  }

  func testAClosedSecondInstanceThatSavesAgainLeavesTheStateOfTheFirst() async throws {
    let one = try second()
    _ = try await save("one", with: one)
    let two = try second()
    _ = try await save("two", with: two)
    XCTAssertEqual(two.stateName, "main~2")
    await two.close()
    await one.close()
    let report = try await save("two again", with: two)
    XCTAssertEqual(report.stateName, "main~2")
    XCTAssertNil(report.setAside)
    await two.close()
    let found = try await value(with: try second())
    XCTAssertEqual(found, "one")
  }

  func testCloseWaitsForASaveThatWaitsForARestore() async throws {
    _ = try await save("one", with: try second())
    let isReading = Flag()
    let gate = Gate()
    let store = HookedStore(launch.store) { name, call in
      if call == .open, name == "main" {
        isReading.isSet = true
        gate.pass()
      }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    gate.holdUp()
    let restoring = Task { @MainActor in try await keeper.restore(into: [TestNode("a")]) }
    try await waitUntil("a restore reads") { isReading.isSet }
    let isSaved = Flag()
    let saving = Task { @MainActor in
      let report = try await keeper.save([TestNode("a", value: "last")])
      isSaved.isSet = true
      return report
    }
    for _ in 0..<100 { await Task.yield() }
    let closing = Task { @MainActor in
      await keeper.close()
      return isSaved.isSet
    }
    for _ in 0..<100 { await Task.yield() }
    gate.goOn()
    let wasSaved = await closing.value
    XCTAssertTrue(wasSaved, "The save was called before close().")
    _ = try await restoring.value
    _ = try await saving.value
    XCTAssertNil(keeper.stateName, "Nothing was called after close().")
  }

  func testDiscardBesideAnotherInstanceDiscardsItsOwn() async throws {
    let one = try second()
    _ = try await save("one", with: one)
    let two = try second()
    _ = try await save("secret", with: two)
    await two.close()
    // The first one has discarded its own, and lives.
    try await one.discardState()
    let again = try second()
    try await again.discardState(includingSetAside: true)
    let found = try await value(with: again)
    XCTAssertEqual(again.stateName, "main~2")
    XCTAssertNil(found)
  }

  // No keeper removes the state of another instance: nothing of it is lost, and there are at most as many
  // as instances ever ran at once.

  /// Two instances whose states have changed in a second launch, so that each has one of before in its history.
  private func instancesWithSessions() async throws -> [StateKeeper] {
    var keepers: [StateKeeper] = []
    for isFirst in [true, false] {
      for keeper in keepers { await keeper.close() }
      keepers = [try second(), try second()]
      for (keeper, name) in zip(keepers, ["one", "two"]) {
        keeper.policy.historyCounts[.session] = 1
        _ = try await value(with: keeper)
        _ = try await save(isFirst ? "old \(name)" : name, with: keeper)
      }
    }
    XCTAssertEqual(keepers.map(\.stateName), ["main", "main~2"])
    return keepers
  }

  func testADiscardOfASecondInstanceLeavesNothingOfItAndAllOfTheFirst() async throws {
    let keepers = try await instancesWithSessions()
    try await keepers[1].discardState()
    let counts = [launch.setAside.count, launch.setAside(of: "main~2").count]
    XCTAssertEqual(counts, [1, 0])
    for keeper in keepers { await keeper.close() }
    let next = [try second(), try second()]
    var found: [String?] = []
    for keeper in next { found.append(try await value(with: keeper)) }
    XCTAssertEqual(found, ["one", nil])
  }

  func testMomentsOfASecondInstanceGoWithItsDiscardThoughItsStateIsMissing() async throws {
    for keeper in try await instancesWithSessions() { await keeper.close() }
    launch.store.memory(named: "main~2").bytes = nil
    let (first, keeper) = (try second(), try second())
    _ = try await value(with: first)
    try await keeper.discardState()
    XCTAssertEqual(keeper.stateName, "main~2")
    let counts = [launch.setAside.count, launch.setAside(of: "main~2").count]
    XCTAssertEqual(counts, [1, 0])
  }

  func testWhatStandsInForADamagedStateOfASecondInstanceIsItsOwn() async throws {
    for keeper in try await instancesWithSessions() { await keeper.close() }
    launch.store.memory(named: "main~2").bytes = [1, 2, 3]
    let next = [try second(), try second()]
    var found: [String?] = []
    for keeper in next { found.append(try await value(with: keeper)) }
    XCTAssertEqual(found, ["one", "old two"])
  }

  func testASecondHostHasWindowsOfItsOwn() async throws {
    let first = host(try second())
    try await first.launch()
    let stored = try await app.store(1, in: first)
    let other = host(try second())
    try await other.launch()
    XCTAssertEqual(other.openSessions, [])
    let own = try await app.store(2, in: other)
    for host in [first, other] { await host.close() }
    for (name, identifier) in [("main", stored), ("main~2", own)] {
      let next = host(try second())
      try await next.launch()
      XCTAssertEqual(next.keeper.stateName, name)
      XCTAssertEqual(next.openSessions.map(\.persistentIdentifier), [identifier])
      hosts.append(next)
    }
  }

  func testASetAsideStateOfAnotherInstanceIsNotMistakenForOnesOwn() async throws {
    let one = try second()
    _ = try await save("one old", with: one)
    let two = try second()
    _ = try await save("two old", with: two)
    await one.close()
    await two.close()
    // Both are set aside, since nobody reads them.
    let three = try second()
    _ = try await save("one", with: three)
    let four = try second()
    _ = try await save("two", with: four)
    await four.close()
    let five = try second()
    let kept = try await five.setAsideStates()
    XCTAssertEqual(kept.count, 1)
    await assertThrows(
      WholeError(.inUse, "The state is in use by this process. Close that one first.")
    ) {
      try await five.removeSetAside(kept[0])
    }
    _ = try await save("five", with: five)
    do {
      try await five.removeSetAside(kept[0])
      XCTFail("It is a state of another instance, which runs.")
    } catch {
      XCTAssertEqual(error.code, .inUse)
    }
    XCTAssertEqual(launch.setAside(of: "main~2").count, 2)
    withExtendedLifetime(three) {}
  }

  func testAClockThatWasInThePastMakesNothingOld() async throws {
    let now = launch.now
    let one = try second()
    _ = try await save("one", with: one)
    let two = try second()
    launch.now = Date(timeIntervalSince1970: 0)
    _ = try await save("two", with: two)
    await two.close()
    await one.close()
    launch.now = now
    _ = try await value(with: try second())
    XCTAssertNotNil(launch.store.memory(named: "main~2").bytes)
  }

  func testOddDatesTrapNowhere() async throws {
    for odd in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
      launch.now = Date(timeIntervalSinceReferenceDate: odd)
      let keeper = try second("odd")
      _ = try? await save("a", with: keeper)
      _ = try? await value(with: keeper)
      let other = try second("odd")
      _ = try? await save("a", with: other)
      await keeper.close()
      await other.close()
      let third = try second("odd")
      _ = try? await value(with: third)
      for kept in (try? await third.setAsideStates()) ?? [] { try? await third.putBack(kept) }
      await third.close()
      await third.close()
    }
  }

  func testTwoClosesAndASaveAtOnceEnd() async throws {
    let keeper = try second()
    for round in 0..<50 {
      let tasks: [Task<Void, Never>] = [
        Task { @MainActor in _ = try? await self.save("\(round)", with: keeper) },
        Task { @MainActor in await keeper.close() },
        Task { @MainActor in _ = try? await self.value(with: keeper) },
        Task { @MainActor in await keeper.close() },
        Task { @MainActor in try? await keeper.discardState() },
        Task { @MainActor in _ = try? await self.save("\(round)", with: keeper) },
      ]
      if round % 3 == 0 { tasks[0].cancel(); tasks[2].cancel() }
      for task in tasks { await task.value }
    }
    await keeper.close()
    let other = try second()
    _ = try await save("x", with: other)
    XCTAssertEqual(other.stateName, "main")
  }

  func testACancelledRestoreOfANumberedInstanceHasAState() async throws {
    let one = try second()
    _ = try await save("one", with: one)
    let two = try second()
    let restoring = Task { @MainActor in try await two.restore(into: [TestNode("a")]) }
    restoring.cancel()
    let report = try await restoring.value
    XCTAssertEqual(report.outcome, .noArchive)
    let saving = Task { @MainActor in try await two.save([TestNode("a", value: "x")]) }
    saving.cancel()
    let saved = try await saving.value
    XCTAssertEqual(saved.outcome, .saved)
    withExtendedLifetime(one) {}
  }

  func testADiscardThatFailsForgetsNothing() async throws {
    let root = TestNode("root", children: [TestNode("gone", value: "typed")])
    _ = try await launch.keeper().save([root])
    let isFailing = Flag()
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      guard isFailing.isSet, call == .remove || call == .replace, name == "main" else { return }
      throw ArchiveError(.inputOutput)
    }
    launch.endProcess()
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys,
      now: { [launch] in launch.now })
    let empty = TestNode("root")
    _ = try await keeper.restore(into: [empty])
    isFailing.isSet = true
    do {
      try await keeper.discardState()
      XCTFail("fails")
    } catch {}
    isFailing.isSet = false
    let stored = try XCTUnwrap(launch.storedBytes)
    _ = try await keeper.save([empty])
    // The app has wanted to begin anew, so what was stored is a moment.
    XCTAssertEqual(launch.setAside.last, stored)
  }

  func testARestoreThatFindsNothingEndsTheMark() async throws {
    let keeper = try second()
    _ = try await save("one", with: keeper)
    // What is not back may come late, so the mark stays.
    _ = try await keeper.restore()
    XCTAssertNotNil(launch.markerBytes)
    try await keeper.discardState()
    _ = try await keeper.restore(into: [TestNode("a")])
    _ = try await save("two", with: keeper)
    XCTAssertNil(launch.markerBytes)
  }

  func testRestoreSetAsideStateBesideAnOwnerSaysWhoHasIt() async throws {
    let one = try second()
    _ = try await save("one", with: one)
    await one.close()
    let owner = try second()
    _ = try await save("two", with: owner)
    let two = try second()
    let kept = try await two.setAsideStates()
    XCTAssertEqual(kept.count, 1)
    await assertThrows(
      WholeError(.inUse, "The state is in use by this process. Close that one first.")
    ) {
      try await two.putBack(kept[0])
    }
    withExtendedLifetime(owner) {}
  }

  func testAStoreThatLocksSlowlyDoesNotHoldUpTheApp() async throws {
    let gate = Gate()
    let store = HookedStore { _, call in if call == .lock { gate.pass() } }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    gate.holdUp()
    let saving = Task { @MainActor in _ = try await self.save("slow", with: keeper) }
    try await waitUntil("a write is held up") { gate.isWaitedFor }
    XCTAssertNil(keeper.stateName)
    XCTAssertEqual(keeper.problem, KeeperProblem.notRestoredYet)
    gate.goOn()
    try await saving.value
    XCTAssertEqual(keeper.stateName, "main")
  }
}
