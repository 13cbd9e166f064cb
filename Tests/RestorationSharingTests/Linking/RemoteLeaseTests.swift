import Foundation
import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import RestorationTesting
import TestSupport
import XCTest

/// The lease of a state that several machines share.
@MainActor
final class RemoteLeaseTests: XCTestCase {
  private let store = MemoryRemoteStateStore()
  private let keys = MemoryKeyProvider()
  private lazy var here = Device("here", store, keys: keys)
  private lazy var there = Device("there", store, keys: keys)

  override func setUp() async throws {
    here.lease = RemoteLease(owner: "server 1")
    there.lease = RemoteLease(owner: "server 2")
  }

  func testASecondProcessFindsTheStateInUse() async throws {
    let keeper = try here.launch()
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    let other = try there.launch()
    let restored = try await other.restore()
    XCTAssertEqual(restored.outcome, .inUse(by: "server 1"))
    let (advice, not) = (" End that one, and launch again.", "Nothing restored: ")
    XCTAssertEqual(restored.description, "Nothing restored: server 1 has the state.\(advice)")
    XCTAssertEqual(other.problem, "\(not)server 1 has the state.\(advice)")
    let before = store[bytes: "main"]
    let saved = try await other.save([TestNode("root", value: "Oslo")])
    XCTAssertEqual(saved.outcome, .inUse(by: "server 1"))
    XCTAssertEqual(saved.description, "Nothing saved: server 1 has the state.\(advice)")
    XCTAssertEqual(store[bytes: "main"], before)
  }

  func testAStateOfWhichNothingIsStoredCanBeInUse() async throws {
    let keeper = try here.launch()
    let restored = try await keeper.restore()
    XCTAssertEqual(restored.outcome, .noArchive)
    let other = try await there.launch().restore()
    XCTAssertEqual(other.outcome, .inUse(by: "server 1"))
    let saved = try await keeper.save([TestNode("root", value: "Rome")])
    XCTAssertEqual(saved.outcome, .saved)
  }

  func testAStateThatWasDiscardedLeavesNoLeaseInTheStore() async throws {
    for isSaved in [false, true] {
      let keeper = try here.launch()
      _ = try await keeper.restore()
      if isSaved { _ = try await keeper.save([TestNode("root", value: "Rome")]) }
      XCTAssertNotNil(store[bytes: "main"])
      try await keeper.discardState()
      XCTAssertNil(store[bytes: "main"])
      await keeper.close()
      XCTAssertNil(store[bytes: "main"])
    }
  }

  func testWhoHasLookedAtAStateThatIsInUseNeitherSavesNorDiscardsIt() async throws {
    let keeper = try here.launch()
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    let before = store[bytes: "main"]
    let looks: [(StateKeeper) async throws -> Void] = [
      { _ = try await $0.generations() },
      { _ = try await $0.setAsideStates() }, { _ in },
    ]
    for (number, look) in looks.enumerated() {
      let other = try there.launch()
      try await look(other)
      let saved = try await other.save([TestNode("root", value: "Oslo")])
      XCTAssertEqual(saved.outcome, .inUse(by: "server 1"), "\(number)")
      do {
        try await other.discardState()
        XCTFail("It did not throw.")
      } catch {
        XCTAssertEqual(error.code, .inUse, "\(number)")
      }
      XCTAssertEqual(store[bytes: "main"], before, "\(number)")
    }
    let report = try await keeper.save([TestNode("root", value: "Bern")])
    XCTAssertEqual(report.outcome, .saved)
  }

  func testADiscardAfterALeaseWhoseAnswerWasLostLeavesNothing() async throws {
    for isRestored in [false, true] {
      let isLost = Flag()
      let faulty = FaultyRemoteStateStore(store) { call in
        guard call.operation == .replace, !isLost.isSet else { return nil }
        isLost.isSet = true
        return .lostAnswer
      }
      let device = Device("here", faulty, keys: keys)
      device.lease = RemoteLease(owner: "server 1")
      let keeper = try device.launch()
      do {
        if isRestored { _ = try await keeper.restore() } else { try await keeper.discardState() }
        XCTFail("It did not throw.")
      } catch {
        XCTAssertEqual(error.code, .store)
      }
      XCTAssertNotNil(store[bytes: "main"])
      try await keeper.discardState()
      XCTAssertNil(store[bytes: "main"])
      await keeper.close()
    }
  }

  /// Waits until something has taken the place of what was stored.
  private func waitUntilStored(after before: [UInt8]?) async throws {
    let end = ContinuousClock.now + .seconds(20)
    while store[bytes: "main"] == before {
      guard ContinuousClock.now < end else { return XCTFail("Nothing was stored.") }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  @discardableResult
  private func waitForNewer(_ keeper: StateKeeper) async throws -> RemoteStatus {
    try await waitFor("the store has something newer", in: keeper.remoteStatusChanges) {
      if case .newer = $0 { true } else { false }
    }
  }

  func testARestoreFromALocalCopyTakesTheLease() async throws {
    there.lease = RemoteLease(owner: "server 2")
    let device = Device("here", store, keys: keys, localCopy: MemoryStateDirectory())
    device.lease = RemoteLease(owner: "server 1")
    let first = try device.launch()
    _ = try await first.save([TestNode("root", value: "Rome")])
    await first.close()
    // The copy is what the store has, or an older state that the next restore replaces.
    for isNewer in [false, true] {
      if isNewer {
        let other = Device("elsewhere", store, keys: keys)
        let (keeper, root) = (try other.launch(), TestNode("root"))
        _ = try await keeper.restore(into: [root])
        root.value = "Oslo"
        _ = try await keeper.save([root])
      }
      let before = store[bytes: "main"]
      let (keeper, root) = (try device.launch(), TestNode("root"))
      _ = try await keeper.restore(into: [root])
      XCTAssertEqual(root.value, "Rome")
      if isNewer {
        try await waitForNewer(keeper)
        _ = try await keeper.restore(into: [root])
        XCTAssertEqual(root.value, "Oslo")
      }
      try await waitUntilStored(after: before)
      let other = try await there.launch().restore()
      XCTAssertEqual(other.outcome, .inUse(by: "server 1"))
      await keeper.close()
    }
  }

  /// A keeper that has restored its local copy of a state, which another keeper has in use.
  private func restoredWhileUsedElsewhere() async throws -> (
    keeper: StateKeeper, root: TestNode, other: StateKeeper
  ) {
    let device = Device("here", store, keys: keys, localCopy: MemoryStateDirectory())
    device.lease = RemoteLease(owner: "server 1")
    let first = try device.launch()
    _ = try await first.save([TestNode("root", value: "Rome")])
    await first.close()
    let other = try there.launch()
    _ = try await other.restore()
    let (keeper, root) = (try device.launch(), TestNode("root"))
    _ = try await keeper.restore(into: [root])
    return (keeper, root, other)
  }

  func testARestoreFromALocalCopyLeavesTheLeaseOfAnother() async throws {
    let (keeper, root, other) = try await restoredWhileUsedElsewhere()
    let stored = store[bytes: "main"]
    let status = try await waitForNewer(keeper)
    guard case .newer(let conflict) = status else { return XCTFail("\(status)") }
    XCTAssertEqual(conflict.takenOverBy, "server 2")
    XCTAssertEqual(root.value, "Rome")
    XCTAssertEqual(store[bytes: "main"], stored)
    withExtendedLifetime(other) {}
  }

  func testASaveOfALocalCopyOfWhatIsInUseElsewhereIsAConflict() async throws {
    for restoresAgain in [false, true] {
      let (keeper, root, other) = try await restoredWhileUsedElsewhere()
      let stored = store[bytes: "main"]
      try await waitForNewer(keeper)
      if restoresAgain { _ = try await keeper.restore(into: [root]) }
      _ = await keeper.checkRemoteState()
      root.value = "Oslo"
      let report = try await keeper.save([root])
      guard let conflict = report.conflict else {
        return XCTFail("\(report.outcome), restored again: \(restoresAgain)")
      }
      XCTAssertEqual(conflict.takenOverBy, "server 2")
      XCTAssertEqual(store[bytes: "main"], stored)
      // Somebody decides that this machine goes on.
      try await keeper.resolveConflict(keeping: .ours)
      root.value = "Bern"
      let next = try await keeper.save([root])
      XCTAssertEqual(next.outcome, .saved)
      await other.close()
      await keeper.close()
      let value = try await there.restoredValue()
      XCTAssertEqual(value, "Bern")
      store[bytes: "main"] = nil
    }
  }

  func testAKeeperThatIsClosedBeforeItHasTheLeaseTakesNone() async throws {
    let device = Device("here", network, keys: keys, localCopy: MemoryStateDirectory())
    device.lease = RemoteLease(owner: "server 1")
    let first = try device.launch()
    _ = try await first.save([TestNode("root", value: "Rome")])
    await first.close()
    let before = store[bytes: "main"]
    network.answers = false
    let keeper = try device.launch()
    _ = try await keeper.restore()
    // Its question to the store is on its way.
    try await Task.sleep(for: .milliseconds(20))
    await keeper.close()
    network.answers = true
    _ = await keeper.checkRemoteState()
    try await Task.sleep(for: .milliseconds(20))
    XCTAssertEqual(store[bytes: "main"], before)
  }

  func testALeaseEndsByItself() async throws {
    let keeper = try here.launch()
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    there.now += 61
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Rome")
    _ = keeper
  }

  func testCloseLetsTheStateGo() async throws {
    let keeper = try here.launch()
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    await keeper.close()
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Rome")
  }

  private lazy var network = NetworkStore(store)

  /// Closes a keeper that could not send what it has saved, and connects the network again.
  private func closeUnsent(in directory: RemoteStateDirectory) async throws -> StateKeeper {
    let root = TestNode("root", value: "Rome")
    let keeper = try StateKeeper(
      application: Launch.application, directory: directory, keys: keys)
    _ = try await keeper.save([root])
    network.isReachable = false
    root.value = "Oslo"
    do {
      _ = try await keeper.save([root])
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .store)
    }
    await keeper.close()
    network.isReachable = true
    return keeper
  }

  private func expectInUse() async throws {
    let restored = try await there.launch().restore()
    XCTAssertEqual(restored.outcome, .inUse(by: "server 1"))
  }

  func testWhatIsUnsentAtTheEndKeepsTheLeaseUntilItIsSent() async throws {
    let now = there.now
    let directory = RemoteStateDirectory(network, lease: here.lease) { now }
    let keeper = try await closeUnsent(in: directory)
    try await expectInUse()
    let status = await keeper.checkRemoteState()
    XCTAssertEqual(status, .current)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testALeaseStaysWithAKeeperThatGoesOnWithWhatIsUnsent() async throws {
    let now = there.now
    let directory = RemoteStateDirectory(network, lease: here.lease) { now }
    let closed = try await closeUnsent(in: directory)
    let keeper = try StateKeeper(
      application: Launch.application, directory: directory, keys: keys)
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
    _ = await closed.checkRemoteState()
    try await expectInUse()
    await keeper.close()
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testWhoHasLostTheLeaseCannotSave() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    _ = try await keeper.save([root])
    there.lease = RemoteLease(owner: "server 2", takesOver: true)
    let other = try there.launch()
    let theirs = TestNode("root")
    let restored = try await other.restore(into: [theirs])
    XCTAssertEqual(restored.outcome, .restored)
    let before = store[bytes: "main"]
    root.value = "Paris"
    let report = try await keeper.save([root])
    guard let conflict = report.conflict else {
      return XCTFail("The outcome was \(report.outcome).")
    }
    XCTAssertEqual(conflict.takenOverBy, "server 2")
    XCTAssertEqual(store[bytes: "main"], before)
    theirs.value = "Oslo"
    let saved = try await other.save([theirs])
    XCTAssertEqual(saved.outcome, .saved)
  }

  func testASaveAtHalfTimeRenewsTheLease() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    _ = try await keeper.save([root])
    here.now += 40
    root.value = "Oslo"
    _ = try await keeper.save([root])
    there.now += 61
    let restored = try await there.launch().restore()
    XCTAssertEqual(restored.outcome, .inUse(by: "server 1"))
  }

  func testATimerRenewsALeaseThatCameWithWhatWasSentLater() async throws {
    let device = Device("here", network, keys: keys, localCopy: MemoryStateDirectory())
    device.lease = RemoteLease(owner: "server 1", duration: .seconds(1))
    let first = try device.launch()
    _ = try await first.save([TestNode("root", value: "Rome")])
    await first.close()
    network.isReachable = false
    var keeper: StateKeeper? = try device.launch()
    let root = TestNode("root")
    _ = try await keeper?.restore(into: [root])
    root.value = "Oslo"
    _ = try await keeper?.save([root])
    keeper = nil
    network.isReachable = true
    var before = store[bytes: "main"]
    keeper = try device.launch()
    _ = try await keeper?.restore(into: [root])
    try await waitUntilStored(after: before)
    before = store[bytes: "main"]
    device.now += 0.6
    try await waitUntilStored(after: before)
    _ = keeper
  }

  func testATimerRenewsTheLease() async throws {
    here.lease = RemoteLease(owner: "server 1", duration: .seconds(1))
    let keeper = try here.launch()
    _ = try await keeper.restore()
    let before = store[bytes: "main"]
    here.now += 1
    for _ in 0..<1000 where store[bytes: "main"] == before {
      try await Task.sleep(for: .milliseconds(10))
    }
    XCTAssertNotEqual(store[bytes: "main"], before)
    _ = keeper
  }

  func testOfManyAtOnceOneHasTheState() async throws {
    let keepers = try (0..<20).map { number in
      let device = Device("\(number)", store, keys: keys)
      device.lease = RemoteLease(owner: "server \(number)")
      return try device.launch()
    }
    var tasks: [Task<ReportOutcome, any Error>] = []
    for keeper in keepers {
      tasks.append(Task { try await keeper.restore().outcome })
    }
    var owners = 0
    for task in tasks where try await task.value == .noArchive { owners += 1 }
    XCTAssertEqual(owners, 1)
  }
}
