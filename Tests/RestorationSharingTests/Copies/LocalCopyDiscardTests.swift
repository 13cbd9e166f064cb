import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// What goes from a local copy goes from the store, and what has gone from the store from the copy.
@MainActor
final class LocalCopyDiscardTests: LocalCopyTestCase {
  /// Saves with an older version of the app and with this one, so that a generation stays.
  private func saveTwice() async throws {
    for version in ["10", "11"] {
      let keeper = try StateKeeper(
        application: Launch.application, directory: RemoteStateDirectory(store, localCopy: copy),
        keys: keys,
        environment: ApplicationEnvironment(applicationVersion: version, deviceName: "here"))
      let root = TestNode("root")
      _ = try await keeper.restore(into: [root])
      root.value = "Rome \(version)"
      _ = try await keeper.save([root])
      await keeper.close()
    }
  }

  func testAStateThatAnotherHasDiscardedDoesNotComeBackFromAGeneration() async throws {
    for isConflict in [false, true] {
      try await saveTwice()
      let (keeper, root) = (try here.launch(), TestNode("root"))
      _ = try await keeper.restore(into: [root])
      XCTAssertEqual(root.value, "Rome 11")
      let generations = try await keeper.generations()
      XCTAssertEqual(generations.count, 1)
      try await there.launch().discardState()
      if isConflict {
        root.value = "Oslo"
        let report = try await keeper.save([root])
        guard report.conflict != nil else { return XCTFail("\(report.outcome)") }
        try await keeper.resolveConflict(keeping: .theirs)
      } else {
        _ = await keeper.checkRemoteState()
      }
      let restored = try await keeper.restore(into: [root])
      XCTAssertEqual(restored.outcome, .noArchive, "a conflict: \(isConflict)")
      await keeper.close()
    }
  }

  func testWhatAnotherHasSetAsideIsPutBackWhereNothingWasRestored() async throws {
    let other = try there.launch()
    _ = try await other.save([TestNode("root", value: "Rome")])
    await other.close()
    // Nobody has read what this one replaces.
    _ = try await there.launch().save([TestNode("root", value: "Oslo")])
    let keeper = try here.launch()
    let states = try await keeper.setAsideStates()
    try await keeper.putBack(XCTUnwrap(states.first))
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Rome")
  }

  private func removeNote() throws {
    copy.memory(named: "main.remote.launch").bytes = nil
  }

  func testADiscardOfACopyWhoseNoteIsGoneIsNoConflictWithItself() async throws {
    var keeper: StateKeeper? = try here.launch()
    _ = try await keeper?.save([TestNode("root", value: "Rome")])
    await keeper?.close()
    keeper = nil
    try removeNote()
    let next = try here.launch()
    try await next.discardState()
    XCTAssertNil(base[bytes: "main"])
    await next.close()
  }

  func testADiscardWithoutTheStoreAndTheNoteIsNotForgotten() async throws {
    var keeper: StateKeeper? = try here.launch()
    _ = try await keeper?.save([TestNode("root", value: "Rome")])
    await keeper?.close()
    try removeNote()
    store.isReachable = false
    keeper = try here.launch()
    try await keeper?.discardState()
    keeper = nil
    store.isReachable = true
    let next = try here.launch()
    let report = try await next.restore(into: [TestNode("root")])
    XCTAssertEqual(report.outcome, .noArchive)
    // What the store has may be newer, so somebody has to decide.
    guard case .conflict = await next.checkRemoteState() else {
      return XCTFail("\(String(describing: next.remoteStatus))")
    }
    try await next.resolveConflict(keeping: .ours)
    XCTAssertNil(base[bytes: "main"])
  }

  func testAnOlderStateThatIsPutInPlaceOfADiscardedOneIsAConflict() async throws {
    for (hasAll, choice) in [
      (false, ConflictChoice.ours), (false, .theirs), (true, .ours),
    ] {
      let what = "the last state: \(hasAll), \(choice)"
      let saved = try await SavedOften()
      let before = saved.base[bytes: "main"]
      let old = try hasAll ? saved.files["main"] : saved.older["main"]
      saved.network.isReachable = false
      var keeper: StateKeeper? = try saved.here.launch()
      try await keeper?.discardState()
      await keeper?.close()
      keeper = nil
      saved.copy.memory(named: "main").bytes = old
      saved.network.isReachable = true
      keeper = try saved.here.launch()
      let root = SavedOften.node()
      let restored = try await keeper?.restore(into: [root])
      XCTAssertEqual(
        root.value, "state \(hasAll ? SavedOften.count : SavedOften.olderCount)", what)
      XCTAssertEqual(
        restored?.launchProblem?.contains("The state was discarded here"), true,
        "\(what) \(restored as Any)")
      _ = await keeper?.checkRemoteState()
      XCTAssertEqual(saved.base[bytes: "main"], before, what)
      root.value = "next"
      let report = try await keeper?.save([root])
      if hasAll {
        // It goes on from what the store has.
        XCTAssertEqual(report?.outcome, .saved)
        let stored = try await saved.stored().value
        XCTAssertEqual(stored, "next")
        await keeper?.close()
        continue
      }
      guard report?.conflict != nil else {
        XCTFail("\(what) \(report as Any)")
        continue
      }
      XCTAssertEqual(saved.base[bytes: "main"], before, what)
      try await keeper?.resolveConflict(keeping: choice)
      let stored = try await saved.stored().value
      XCTAssertEqual(stored, choice == .ours ? "next" : "state \(SavedOften.count)", what)
      let states = try await keeper?.setAsideStates() ?? []
      XCTAssertTrue(states.contains { $0.reason == .conflict }, what)
      await keeper?.close()
    }
  }

  func testWhatIsPutBackInAConflictAfterADiscardIsALocalStateInTheNextLaunch() async throws {
    var keeper: StateKeeper? = try here.launch()
    _ = try await keeper?.save([TestNode("root", value: "Rome")])
    // Nobody has read what this one replaces.
    _ = try await there.launch().save([TestNode("root", value: "Oslo")])
    _ = try await keeper?.save([TestNode("root", value: "Bern")])
    var error = await restorationError { try await keeper?.discardState() }
    XCTAssertEqual(error?.code, .conflict)
    let states = try await keeper?.setAsideStates() ?? []
    let rome = try XCTUnwrap(states.first)
    error = await restorationError { try await keeper?.putBack(rome) }
    XCTAssertEqual(error?.code, .conflict)
    keeper = nil
    let next = try here.launch()
    let root = TestNode("root")
    let restored = try await next.restore(into: [root])
    XCTAssertEqual(root.value, "Rome")
    XCTAssertNil(restored.launchProblem)
    _ = await next.checkRemoteState()
    try await next.resolveConflict(keeping: .ours)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Rome")
    await next.close()
  }

  func testWhatIsSavedAfterADiscardWithoutTheStoreIsSentByTheNextLaunch() async throws {
    let saved = try await SavedOften()
    saved.network.isReachable = false
    var keeper: StateKeeper? = try saved.here.launch()
    try await keeper?.discardState()
    let root = SavedOften.node()
    root.value = "next"
    _ = try await keeper?.save([root])
    await keeper?.close()
    keeper = nil
    saved.network.isReachable = true
    keeper = try saved.here.launch()
    _ = try await keeper?.restore(into: [root])
    let status = await keeper?.checkRemoteState()
    XCTAssertEqual(status, .current)
    let stored = try await saved.stored()
    XCTAssertEqual(stored.value, "next")
    await keeper?.close()
  }

  func testWhatIsSavedWhileADiscardWaitsForTheStoreIsSentByTheNextLaunch() async throws {
    let saved = try await SavedOften()
    let (keeper, root) = (try saved.here.launch(), SavedOften.node())
    _ = try await keeper.restore(into: [root])
    _ = await keeper.checkRemoteState()
    saved.network.answers = false
    let discard = Task { try await keeper.discardState() }
    try await waitUntil("it is gone here") { saved.copy.isMainGone }
    root.value = "next"
    let report = try await keeper.save([root])
    XCTAssertNotNil(report.unsent)
    // As of a process that is killed now.
    let copy = MemoryStateDirectory()
    for (name, bytes) in try saved.files { copy.memory(named: name).bytes = bytes }
    let next = try Device("here", saved.base, keys: saved.keys, localCopy: copy).launch()
    _ = try await next.restore(into: [root])
    XCTAssertEqual(root.value, "next")
    let status = await next.checkRemoteState()
    XCTAssertEqual(status, .current)
    let stored = try await saved.stored().value
    XCTAssertEqual(stored, "next")
    await next.close()
    saved.network.isReachable = false
    saved.network.answers = true
    try await discard.value
    await keeper.close()
  }

  func testWhatIsRemovedOfWhatWasSetAsideWithoutTheStoreIsRemovedLater() async throws {
    for endsBefore in [false, true] {
      var keeper: StateKeeper? = try here.launch()
      _ = try await keeper?.save([TestNode("root", value: "Rome")])
      // Nobody has read what this one replaces.
      let other = try there.launch()
      _ = try await other.save([TestNode("root", value: "Oslo")])
      _ = await keeper?.checkRemoteState()
      let root = TestNode("root", value: "Bern")
      _ = try await keeper?.save([root])
      try await keeper?.resolveConflict(keeping: .theirs)
      let states = try await keeper?.setAsideStates() ?? []
      let before = try await base.asides()
      XCTAssertEqual(states.count, before.count)
      XCTAssertFalse(states.isEmpty)
      store.isReachable = false
      for state in states { try await keeper?.removeSetAside(state) }
      if endsBefore {
        keeper = nil
        keeper = try here.launch()
        _ = try await keeper?.restore(into: [root])
      }
      store.isReachable = true
      _ = await keeper?.checkRemoteState()
      let names = try await base.asides()
      XCTAssertEqual(names, [], "the process ends before: \(endsBefore)")
      let left = try await keeper?.setAsideStates()
      XCTAssertEqual(left, [])
      await keeper?.close()
    }
  }

  func testWhatWasSetAsideStaysIfADiscardOfAllOfItGivesWayToAnotherMachine() async throws {
    for device in [here, Device("here", store, keys: keys)] {
      let other = try there.launch()
      for value in ["Rome", "Oslo"] {
        // Nobody has read what the second one replaces.
        _ = try await device.launch().save([TestNode("root", value: value)])
      }
      let asides = try await base.asides()
      XCTAssertFalse(asides.isEmpty)
      let keeper = try device.launch()
      _ = try await keeper.restore(into: [TestNode("root")])
      let root = TestNode("root")
      _ = try await other.restore(into: [root])
      root.value = "Bern"
      _ = try await other.save([root])
      let error = await restorationError {
        try await keeper.discardState(includingSetAside: true)
      }
      XCTAssertEqual(error?.code, .conflict)
      try await keeper.resolveConflict(keeping: .theirs)
      _ = await keeper.checkRemoteState()
      let left = try await base.asides()
      XCTAssertEqual(left, asides)
      let listed = try await keeper.setAsideStates()
      XCTAssertEqual(listed.count, asides.count)
      try await keeper.discardState(includingSetAside: true)
      let names = try await base.names(prefix: "")
      XCTAssertEqual(names, [])
    }
  }

  func testAPlaceForWhatWasSetAsideGoesWithADiscardOfAllOfIt() async throws {
    let keeper = try here.launch()
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    // The first parcel of what a killed process would have set aside.
    let place = Device("place", base, keys: keys)
    place.lease = RemoteLease(owner: "server 1")
    _ = try await place.launch("other").restore()
    base[bytes: "main.history-000000001-1-conflict-9"] = base[bytes: "other"]
    // It may still come, for a day.
    here.now += 25 * 3600
    try await keeper.discardState(includingSetAside: true)
    let names = try await base.names(prefix: "main")
    XCTAssertEqual(names, [])
  }
}
