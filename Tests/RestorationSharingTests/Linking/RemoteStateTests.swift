import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import RestorationTesting
import TestSupport
import XCTest

/// States of one store on several machines.
@MainActor
final class RemoteStateTests: XCTestCase {
  private let store = MemoryRemoteStateStore()
  private let keys = MemoryKeyProvider()
  private lazy var here = Device("here", store, keys: keys)
  private lazy var there = Device("there", store, keys: keys)

  func testASavedStateComesBackOnAnotherMachine() async throws {
    let root = TestNode("root", value: "Rome")
    let report = try await here.launch().save([root])
    XCTAssertEqual(report.outcome, .saved)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Rome")
  }

  func testAnotherSaveAppendsAParcelOfWhatHasChanged() async throws {
    let nodes = (0..<10).map { TestNode("node \($0)", value: "value \($0)") }
    let keeper = try here.launch()
    _ = try await keeper.save(nodes)
    let before = try XCTUnwrap(store[bytes: "main"])
    nodes[3].value = "changed"
    _ = try await keeper.save(nodes)
    let after = try XCTUnwrap(store[bytes: "main"])
    XCTAssertEqual(Array(after.prefix(before.count)), before)
    XCTAssertLessThan(after.count - before.count, 400)
    XCTAssertGreaterThan(after.count, before.count)
    let node = TestNode("node 3")
    _ = try await there.launch().restore(into: [node])
    XCTAssertEqual(node.value, "changed")
  }

  func testTheFirstSaveAfterARestoreAppends() async throws {
    _ = try await here.launch().save([TestNode("root", value: "Rome")])
    let before = try XCTUnwrap(store[bytes: "main"])
    let root = TestNode("root")
    let keeper = try here.launch()
    _ = try await keeper.restore(into: [root])
    root.value = "Oslo"
    _ = try await keeper.save([root])
    let after = try XCTUnwrap(store[bytes: "main"])
    XCTAssertEqual(Array(after.prefix(before.count)), before)
    let value = try await here.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testASaveOfNothingNewSendsNothing() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    _ = try await keeper.save([root])
    let before = try await store.load("main")
    _ = try await keeper.save([root])
    let after = try await store.load("main")
    XCTAssertEqual(before?.version, after?.version)
  }

  func testASaveAfterThatOfAnotherMachineIsAConflict() async throws {
    let (ours, theirs) = (TestNode("root", value: "Rome"), TestNode("root"))
    let (keeper, other) = (try here.launch(), try there.launch())
    _ = try await keeper.save([ours])
    _ = try await other.restore(into: [theirs])
    theirs.value = "Oslo"
    there.now += 60
    _ = try await other.save([theirs])
    let stored = store[bytes: "main"]
    ours.value = "Paris"
    let report = try await keeper.save([ours])
    guard let conflict = report.conflict else {
      return XCTFail("The outcome was \(report.outcome).")
    }
    XCTAssertEqual(conflict.savedBy, "there")
    XCTAssertEqual(conflict.savedAt, there.now)
    XCTAssertFalse(conflict.isRemoved)
    XCTAssertEqual(store[bytes: "main"], stored)
    XCTAssertEqual(keeper.remoteStatus, .conflict(conflict))
  }

  /// Two machines that have both saved, and what the first one says of it.
  private func conflict() async throws -> StateKeeper {
    let (ours, theirs) = (TestNode("root", value: "Rome"), TestNode("root"))
    let (keeper, other) = (try here.launch(), try there.launch())
    _ = try await keeper.save([ours])
    _ = try await other.restore(into: [theirs])
    theirs.value = "Oslo"
    _ = try await other.save([theirs])
    ours.value = "Paris"
    _ = try await keeper.save([ours])
    return keeper
  }

  func testTheirsIsChosenAndOursIsSetAside() async throws {
    let keeper = try await conflict()
    let location = try await keeper.resolveConflict(keeping: .theirs)
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
    XCTAssertEqual(keeper.remoteStatus, .current)
    // Another machine, and a later launch, find what was set aside.
    let later = try there.launch()
    let states = try await later.setAsideStates()
    XCTAssertEqual(states.map(\.reason), [.conflict])
    XCTAssertEqual(states.map(\.location), [location])
    try await later.putBack(try XCTUnwrap(states.first))
    let value = try await here.restoredValue()
    XCTAssertEqual(value, "Paris")
  }

  func testOursIsChosenAndTheirsIsSetAside() async throws {
    let keeper = try await conflict()
    let location = try await keeper.resolveConflict(keeping: .ours)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Paris")
    let states = try await keeper.setAsideStates()
    XCTAssertEqual(states.map(\.reason), [.conflict])
    XCTAssertEqual(states.map(\.location), [location])
    try await keeper.putBack(try XCTUnwrap(states.first))
    let older = try await there.restoredValue()
    XCTAssertEqual(older, "Oslo")
  }

  func testASaveGoesOnAfterAConflictWasDecided() async throws {
    let keeper = try await conflict()
    try await keeper.resolveConflict(keeping: .ours)
    let report = try await keeper.save([TestNode("root", value: "Bern")])
    XCTAssertEqual(report.outcome, .saved)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Bern")
  }

  func testADiscardRemovesTheStateFromTheStore() async throws {
    let keeper = try here.launch()
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    try await keeper.discardState()
    let names = try await store.names(prefix: "")
    XCTAssertEqual(names, [])
    let value = try await there.restoredValue()
    XCTAssertNil(value)
  }

  func testADiscardOfAStateThatWasNotRestoredHereRemovesItFromTheStore() async throws {
    for copy in [nil, MemoryStateDirectory()] {
      _ = try await here.launch().save([TestNode("root", value: "Rome")])
      try await Device("third", store, keys: keys, localCopy: copy).launch().discardState()
      let names = try await store.names(prefix: "")
      XCTAssertEqual(names, [])
    }
  }

  func testARemovalOfWhatWasSetAsideThatFailsIsTriedAgainAndIsNoFailureOfASave() async throws {
    for copy in [nil, MemoryStateDirectory()] {
      for name in try await store.names(prefix: "") { store[bytes: name] = nil }
      let first = try here.launch()
      _ = try await first.save([TestNode("root", value: "Rome")])
      let faulty = FaultyRemoteStateStore(store)
      let keeper = try Device("faulty", faulty, keys: keys, localCopy: copy).launch()
      let root = TestNode("root", value: "Oslo")
      if copy != nil { _ = try await keeper.restore() }
      _ = try await keeper.save([root])
      let other = try there.launch()
      _ = try await other.save([TestNode("root", value: "Paris")])
      root.value = "Bern"
      _ = try await keeper.save([root])
      try await keeper.resolveConflict(keeping: .ours)
      let states = try await keeper.setAsideStates()
      XCTAssertFalse(states.isEmpty)
      for state in states.dropFirst() { try await keeper.removeSetAside(state) }
      faulty.fail(.unreachable, next: .remove)
      do {
        try await keeper.removeSetAside(states[0])
        XCTAssertNotNil(copy, "It did not throw.")
      } catch {
        XCTAssertNil(copy, "\(error)")
      }
      XCTAssertEqual(keeper.remoteStatus, .current)
      root.value = "Lima"
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome, .saved)
      XCTAssertNil(report.unsent)
      XCTAssertEqual(keeper.remoteStatus, .current)
      let names = try await store.asides()
      XCTAssertEqual(names, [])
    }
  }

  func testWhatShortProcessesSetAsideIsBoundedInTheStore() async throws {
    for _ in 0..<8 {
      let keeper = try here.launch()
      keeper.policy.historyAge = 0
      // Nobody has read what it replaces.
      _ = try await keeper.save([TestNode("root", value: "Rome")])
      await keeper.close()
    }
    let names = try await store.asides()
    XCTAssertLessThanOrEqual(names.count, 3)
    XCTAssertGreaterThan(names.count, 0)
  }

  private func assertDiscardLeavesTheirs(_ keeper: StateKeeper, line: UInt = #line) async throws {
    do {
      try await keeper.discardState()
      XCTFail("It did not throw.", line: line)
    } catch {
      XCTAssertEqual(error.code, .conflict, line: line)
    }
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Oslo", line: line)
  }

  func testADiscardOfWhatAnotherMachineHasSavedSinceThrows() async throws {
    let keeper = try await conflict()
    try await assertDiscardLeavesTheirs(keeper)
  }

  func testADiscardOfWhatAnotherMachineHasSavedSinceNothingWasThereThrows() async throws {
    let keeper = try here.launch()
    _ = try await keeper.restore()
    _ = try await there.launch().save([TestNode("root", value: "Oslo")])
    try await assertDiscardLeavesTheirs(keeper)
  }

  func testARowThatWasRemovedByHandIsAConflict() async throws {
    let keeper = try here.launch()
    let root = TestNode("root", value: "Rome")
    _ = try await keeper.save([root])
    store[bytes: "main"] = nil
    root.value = "Oslo"
    let report = try await keeper.save([root])
    guard let conflict = report.conflict else {
      return XCTFail("The outcome was \(report.outcome).")
    }
    XCTAssertTrue(conflict.isRemoved)
    try await keeper.resolveConflict(keeping: .ours)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testEveryPrefixOfWhatIsStoredRestoresOrThrowsAndIsSetAside() async throws {
    let keeper = try here.launch()
    let root = TestNode("root", value: "Rome")
    _ = try await keeper.save([root])
    let first = try XCTUnwrap(store[bytes: "main"]).count
    root.value = "Oslo"
    _ = try await keeper.save([root])
    let whole = try XCTUnwrap(store[bytes: "main"])
    for count in LongTests.some(of: 1..<whole.count) {
      let cut = MemoryRemoteStateStore()
      cut[bytes: "main"] = Array(whole.prefix(count))
      let device = Device("other", cut, keys: keys)
      let root = TestNode("root")
      let keeper = try device.launch()
      do {
        _ = try await keeper.restore(into: [root])
        XCTAssertEqual(root.value, "Rome", "\(count)")
      } catch {
        XCTAssertNotNil(error.archive, "\(count)")
        XCTAssertNil(root.value)
      }
      root.value = "Bern"
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome, .saved, "\(count)")
      let value = try await device.restoredValue()
      XCTAssertEqual(value, "Bern", "\(count)")
      // Of a change whose first bytes are there, nothing is worth keeping.
      let isKept = count < first || count > first + 31
      let aside = try await cut.asides()
      XCTAssertEqual(aside.count, isKept ? 1 : 0, "\(count)")
    }
  }

  func testAKeeperHearsThatAnotherMachineHasSaved() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    _ = try await keeper.save([root])
    let changes = keeper.remoteStatusChanges
    let theirs = TestNode("root")
    let other = try there.launch()
    _ = try await other.restore(into: [theirs])
    theirs.value = "Oslo"
    _ = try await other.save([theirs])
    let status = try await waitFor("the store has something newer", in: changes) {
      if case .newer = $0 { true } else { false }
    }
    guard case .newer(let conflict) = status else { return XCTFail("\(status)") }
    XCTAssertEqual(conflict.savedBy, "there")
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
    XCTAssertEqual(keeper.remoteStatus, .current)
  }

  func testAKeeperHearsNothingOfItsOwnSaves() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    var heard: [RemoteStatus] = []
    let changes = keeper.remoteStatusChanges
    for value in ["Oslo", "Bern", "Wien"] {
      root.value = value
      _ = try await keeper.save([root])
    }
    await keeper.close()
    let listening = Task { for await status in changes { heard.append(status) } }
    try await Task.sleep(for: .milliseconds(50))
    listening.cancel()
    await listening.value
    XCTAssertEqual(heard, [.current])
  }

  func testSavesThatComeWhileOneIsSentAreSentTogether() async throws {
    let network = NetworkStore(store)
    let device = Device("here", network, keys: keys)
    let root = TestNode("root", value: "Rome")
    let keeper = try device.launch()
    _ = try await keeper.save([root])
    network.answers = false
    var saves: [Task<PreservationReport, any Error>] = []
    for value in ["Oslo", "Bern", "Wien", "Paris"] {
      saves.append(
        Task {
          root.value = value
          return try await keeper.save([root])
        })
      try await Task.sleep(for: .milliseconds(20))
    }
    let before = network.writeCount
    network.answers = true
    for save in saves {
      let report = try await save.value
      XCTAssertEqual(report.outcome, .saved)
    }
    XCTAssertLessThanOrEqual(network.writeCount - before, 2)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Paris")
  }

  func testARestoreThatHasEndedLeavesNothingInTheDirectoryOfTheNotes() async throws {
    let store = MemoryRemoteStateStore()
    let keys = MemoryKeyProvider()
    let folder = try TemporaryDirectory()
    func keeper() throws -> StateKeeper {
      try StateKeeper(
        application: Launch.application,
        directory: RemoteStateDirectory(store, launches: FileStateDirectory(path: folder.path)),
        keys: keys)
    }
    let first = try keeper()
    _ = try await first.save([TestNode("root", value: "Rome")])
    await first.close()
    let next = try keeper()
    let root = TestNode("root")
    var names: [String] = []
    root.onDecode = { _ in names = try folder.names() }
    _ = try await next.restore(into: [root])
    XCTAssertEqual(root.value, "Rome")
    XCTAssertEqual(names, ["main.launch.rka"], "Nobody would remove the file of a lock there.")
    await next.close()
  }
}
