import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// What comes between a call of a store and its answer, and processes that end there.
@MainActor
final class RemoteOverlapTests: XCTestCase {
  private let base = MemoryRemoteStateStore()
  private lazy var network = NetworkStore(base)
  private let keys = MemoryKeyProvider()
  private let copy = MemoryStateDirectory()
  private lazy var here = Device("here", network, keys: keys)
  private lazy var withCopy = Device("here", network, keys: keys, localCopy: copy)
  private lazy var there = Device("there", base, keys: keys)

  /// Saves on the other machine what follows the state in the store.
  private func saveThere(_ value: String) async throws {
    let root = TestNode("root")
    let keeper = try there.launch()
    _ = try await keeper.restore(into: [root])
    root.value = value
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome, .saved)
  }

  /// Discards what is being sent, and saves another state that is not sent.
  private func replaceDuringASend(_ value: String) async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try withCopy.launch()
    _ = try await keeper.save([root])
    network.holdsWrites = true
    root.value = "Oslo"
    let saving = Task { try await keeper.save([root]) }
    try await waitUntil("a write waits for its answer") { network.isHolding }
    let discarding = Task { try await keeper.discardState() }
    try await waitUntil("the state is gone") { copy.isMainGone }
    root.value = value
    let replacing = Task { try await keeper.save([root]) }
    try await waitUntil("there is another") { !copy.isMainGone }
    network.isReachable = false
    network.holdsWrites = false
    _ = try await saving.value
    _ = try await discarding.value
    let report = try await replacing.value
    XCTAssertNotNil(report.unsent)
  }

  func testAStateThatTookAnothersPlaceDuringASendIsSentWholeAfterARelaunch() async throws {
    let value = String(repeating: "Paris ", count: 1000)
    try await replaceDuringASend(value)
    network.isReachable = true
    let next = try withCopy.launch()
    _ = try await next.restore(into: [TestNode("root")])
    XCTAssertEqual(next.stateName, "main")
    let status = await next.checkRemoteState()
    XCTAssertEqual(status, .current)
    let stored = try await there.restoredValue()
    XCTAssertEqual(stored, value)
  }

  func testADiscardAfterALostAnswerIsSentByTheNextLaunch() async throws {
    let root = TestNode("root", value: "Rome")
    var keeper: StateKeeper? = try withCopy.launch()
    _ = try await keeper?.save([root])
    network.losesAnswers = true
    root.value = "Oslo"
    _ = try await keeper?.save([root])
    network.isReachable = false
    try await keeper?.discardState()
    keeper = nil
    network.isReachable = true
    network.losesAnswers = false
    let next = try withCopy.launch()
    let restored = TestNode("root")
    _ = try await next.restore(into: [restored])
    XCTAssertNil(restored.value)
    _ = await next.checkRemoteState()
    switch next.remoteStatus {
    case .current:
      let names = try await base.names(prefix: "")
      XCTAssertEqual(names, [])
    case .conflict: break
    default: XCTFail("It was \(next.remoteStatus as Any).")
    }
  }

  /// A keeper that has heard of what followed the release of its lease, which got no answer.
  private func closeWithALostRelease(_ root: TestNode) async throws -> StateKeeper {
    here.lease = RemoteLease(owner: "server 1")
    let keeper = try here.launch()
    _ = try await keeper.save([root])
    network.losesAnswers = true
    await keeper.close()
    network.losesAnswers = false
    try await saveThere("Oslo")
    _ = await keeper.checkRemoteState()
    return keeper
  }

  func testNothingIsAppendedToWhatFollowedALostRelease() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try await closeWithALostRelease(root)
    let stored = base[bytes: "main"]
    root.value = "Paris"
    let report = try await keeper.save([root])
    guard report.conflict != nil else {
      return XCTFail("The outcome was \(report.outcome).")
    }
    XCTAssertEqual(base[bytes: "main"], stored)
  }

  func testARestoreBringsBackWhatFollowedALostRelease() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try await closeWithALostRelease(root)
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
  }

  func testAnAnswerFromBeforeASaveIsNothingNewer() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    _ = try await keeper.save([root])
    network.holdsLoads = true
    let check = Task { await keeper.checkRemoteState() }
    try await waitUntil("a load waits for its answer") { network.isHolding }
    root.value = "Oslo"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome, .saved)
    network.holdsLoads = false
    let status = await check.value
    XCTAssertEqual(status, .current)
  }

  func testAPutBackThatIsInConflictLeavesTheStateInTheStore() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    _ = try await keeper.save([root])
    try await saveThere("Oslo")
    root.value = "Paris"
    _ = try await keeper.save([root])
    try await keeper.resolveConflict(keeping: .theirs)
    let aside = try await base.asides()
    XCTAssertEqual(aside.count, 1)
    let states = try await keeper.setAsideStates()
    try await saveThere("Bern")
    do {
      try await keeper.putBack(try XCTUnwrap(states.first))
      XCTFail("It did not throw.")
    } catch let error as RestorationError {
      XCTAssertEqual(error.code, .conflict)
    }
    let left = try await base.asides("conflict")
    XCTAssertEqual(left, aside)
  }

  func testWhatAnEarlierLaunchSetAsideIsListedOnceAndRemovedFromTheStore() async throws {
    let root = TestNode("root", value: "Rome")
    var keeper: StateKeeper? = try withCopy.launch()
    _ = try await keeper?.save([root])
    try await saveThere("Oslo")
    root.value = "Paris"
    _ = try await keeper?.save([root])
    try await keeper?.resolveConflict(keeping: .theirs)
    keeper = nil
    let next = try withCopy.launch()
    _ = try await next.restore(into: [root])
    let states = try await next.setAsideStates()
    XCTAssertEqual(states.map(\.reason), [.conflict])
    for state in states { try await next.removeSetAside(state) }
    let names = try await base.asides()
    XCTAssertEqual(names, [])
  }

  func testAStateOfTheStoreIsPutBackWhereTheCopyIsInFiles() async throws {
    let directory = try TemporaryDirectory()
    let device = Device(
      "here", network, keys: keys,
      localCopy: FileStateDirectory(path: directory.child("states")))
    let root = TestNode("root", value: "Rome")
    let keeper = try device.launch()
    _ = try await keeper.save([root])
    try await saveThere("Oslo")
    root.value = "Paris"
    _ = try await keeper.save([root])
    try await keeper.resolveConflict(keeping: .ours)
    let states = try await keeper.setAsideStates()
    XCTAssertEqual(states.map(\.reason), [.conflict])
    try await keeper.putBack(try XCTUnwrap(states.first))
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Oslo")
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
  }

  func testWhatConflictsSetAsideGoesFromTheStoreInTime() async throws {
    let keeper = try here.launch()
    let root = TestNode("root", value: "Rome")
    _ = try await keeper.save([root])
    for day in 0..<50 {
      (here.now, there.now) = (here.now + 24 * 3600, here.now + 24 * 3600)
      try await saveThere("Oslo \(day)")
      root.value = "Paris \(day)"
      _ = try await keeper.save([root])
      try await keeper.resolveConflict(keeping: .ours)
    }
    let names = try await base.asides("conflict")
    XCTAssertEqual(names.count, 31)
    let states = try await keeper.setAsideStates()
    XCTAssertEqual(states.count, names.count)
  }

  private final class Left {
    weak var store: NetworkStore?
  }

  /// Lets a keeper go that could not send what it has saved.
  private func loseKeeper(_ left: Left) async throws {
    let store = NetworkStore(MemoryRemoteStateStore())
    left.store = store
    let device = Device("here", store, keys: keys)
    device.lease = RemoteLease(owner: "server 1")
    let keeper = try device.launch()
    let changes = keeper.remoteStatusChanges
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    store.isReachable = false
    do {
      _ = try await keeper.save([TestNode("root", value: "Oslo")])
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .store)
    }
    withExtendedLifetime(changes) {}
  }

  func testAKeeperThatIsGoneLeavesNothing() async throws {
    let left = Left()
    try await loseKeeper(left)
    try await waitUntil("the store is gone", within: .seconds(10)) { left.store == nil }
  }

  func testAKeeperThatFollowsAClosedOneSavesWhileThatOneStillSends() async throws {
    let directory = RemoteStateDirectory(network)
    func launch() throws -> StateKeeper {
      try StateKeeper(application: Launch.application, directory: directory, keys: keys)
    }
    let root = TestNode("root", value: "Rome")
    let closed = try launch()
    _ = try await closed.save([root])
    network.isReachable = false
    root.value = "Oslo"
    do {
      _ = try await closed.save([root])
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .store)
    }
    await closed.close()
    network.isReachable = true
    network.holdsWrites = true
    try await waitUntil("it is sent again") { network.isHolding }
    let keeper = try launch()
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
    root.value = "Bern"
    let saving = Task { try await keeper.save([root]) }
    let first = base[bytes: "main"]
    for _ in 0..<200 where base[bytes: "main"] == first {
      try await Task.sleep(for: .milliseconds(1))
    }
    network.holdsWrites = false
    let report = try await saving.value
    XCTAssertEqual(report.outcome, .saved)
    root.value = "Lima"
    let last = try await keeper.save([root])
    XCTAssertEqual(last.outcome, .saved)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Lima")
    withExtendedLifetime(closed) {}
  }

  func testACancelledSaveIsInTheStoreOrSaysThatItIsNot() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    let first = Task { try await keeper.save([root]) }
    first.cancel()
    _ = await first.result
    network.holdsWrites = true
    root.value = "Oslo"
    let saving = Task { try await keeper.save([root]) }
    try await waitUntil("a write waits for its answer") { network.isHolding }
    saving.cancel()
    network.holdsWrites = false
    let report = try await saving.value
    XCTAssertEqual(report.outcome, .saved)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testADecisionNeedsNoKey() async throws {
    for (device, choice) in [
      (Device("here", network, keys: keys), ConflictChoice.ours),
      (Device("here", network, keys: keys), .theirs),
      (Device("here", network, keys: keys, localCopy: copy), .ours),
      (Device("here", network, keys: keys, localCopy: MemoryStateDirectory()), .theirs),
    ] {
      for name in try await base.names(prefix: "") { base[bytes: name] = nil }
      func node(_ value: String) -> TestNode { TestNode("root", value: value) }
      let keeper = try device.launch()
      _ = try await keeper.save([node("Rome")])
      let other = try there.launch()
      _ = try await other.restore(into: [TestNode("root")])
      _ = try await other.save([node("Oslo")])
      _ = try await keeper.save([node("Paris")])
      keys.isLocked = true
      try await keeper.resolveConflict(keeping: choice)
      keys.isLocked = false
      let value = try await there.restoredValue()
      XCTAssertEqual(value, choice == .ours ? "Paris" : "Oslo")
      let states = try await keeper.setAsideStates()
      XCTAssertEqual(states.map(\.reason), [.conflict])
      await keeper.close()
    }
  }
}
