import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// States of a store of which a machine has a copy.
@MainActor
final class LocalCopyTests: LocalCopyTestCase {
  func testALaunchWithoutTheStoreRestoresTheLocalState() async throws {
    _ = try await here.launch().save([TestNode("root", value: "Rome")])
    store.isReachable = false
    let value = try await here.restoredValue()
    XCTAssertEqual(value, "Rome")
  }

  func testARestoreDoesNotWaitForAStoreThatDoesNotAnswer() async throws {
    _ = try await here.launch().save([TestNode("root", value: "Rome")])
    store.answers = false
    let value = try await here.restoredValue()
    XCTAssertEqual(value, "Rome")
    store.answers = true
  }

  func testAFirstLaunchWithoutTheStoreAndWithoutACopyThrows() async throws {
    store.isReachable = false
    let keeper = try here.launch()
    do {
      _ = try await keeper.restore()
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .store)
      XCTAssertEqual(error.description, "The network is down. Connect it.")
    }
  }

  func testASaveDoesNotWaitForAStoreThatDoesNotAnswer() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    _ = try await keeper.save([root])
    store.answers = false
    root.value = "Oslo"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome, .saved)
    XCTAssertEqual(
      report.unsent,
      "a store on a network has not answered in 2.0 seconds. The state is sent when it does.")
    guard case .unsent = keeper.remoteStatus else {
      return XCTFail("It was \(keeper.remoteStatus as Any).")
    }
    store.answers = true
    try await waitFor("the store has it", in: keeper.remoteStatusChanges) { $0 == .current }
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testAnOlderStateThatSomebodyHasBroughtBackIsNotOverwritten() async throws {
    var keeper: StateKeeper? = try here.launch()
    let root = TestNode("root", value: "Rome")
    _ = try await keeper?.save([root])
    let first = base[bytes: "main"]
    root.value = "Oslo"
    _ = try await keeper?.save([root])
    keeper = nil
    base[bytes: "main"] = first
    let next = try here.launch()
    _ = try await next.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
    let status = await next.checkRemoteState()
    guard case .newer = status else { return XCTFail("It was \(status as Any).") }
    root.value = "Bern"
    guard try await next.save([root]).conflict != nil else {
      return XCTFail("No conflict")
    }
    XCTAssertEqual(base[bytes: "main"], first)
  }

  func testALaunchSaysNothingOfTheStoreUntilItWasAsked() async throws {
    var keeper: StateKeeper? = try here.launch()
    _ = try await keeper?.save([TestNode("root", value: "Rome")])
    keeper = nil
    store.answers = false
    let next = try here.launch()
    XCTAssertEqual(next.remoteStatus, .unknown)
    _ = try await next.restore(into: [TestNode("root")])
    XCTAssertEqual(next.remoteStatus, .unknown)
    store.answers = true
    try await waitFor("the store has it", in: next.remoteStatusChanges) { $0 == .current }
  }

  func testASaveWithoutTheStoreSaysSoAndIsThereAtTheNextLaunch() async throws {
    let root = TestNode("root", value: "Rome")
    var keeper: StateKeeper? = try here.launch()
    _ = try await keeper?.save([root])
    store.isReachable = false
    root.value = "Oslo"
    let report = try await keeper?.save([root])
    keeper = nil
    XCTAssertEqual(report?.outcome, .saved)
    XCTAssertEqual(report?.unsent, "The network is down. Connect it.")
    let value = try await here.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testWhatWasSavedWithoutTheStoreIsSentByTheNextSave() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    store.isReachable = false
    _ = try await keeper.save([root])
    root.value = "Oslo"
    _ = try await keeper.save([root])
    store.isReachable = true
    let report = try await keeper.save([root])
    XCTAssertNil(report.unsent)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testWhatAnEarlierLaunchSavedWithoutTheStoreIsSentByTheNextOne() async throws {
    let root = TestNode("root", value: "Rome")
    var keeper: StateKeeper? = try here.launch()
    _ = try await keeper?.save([root])
    store.isReachable = false
    root.value = "Oslo"
    _ = try await keeper?.save([root])
    keeper = nil
    store.isReachable = true
    let next = try here.launch()
    _ = try await next.restore(into: [TestNode("root")])
    let status = await next.checkRemoteState()
    XCTAssertEqual(status, .current)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testASaveWithoutTheStoreIsSentWhenItCanBeReached() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    _ = try await keeper.save([root])
    store.isReachable = false
    root.value = "Oslo"
    _ = try await keeper.save([root])
    store.isReachable = true
    try await waitFor("the store has it", in: keeper.remoteStatusChanges) { $0 == .current }
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testSomethingNewerElsewhereIsSaidAndRestoredByTheNextRestore() async throws {
    var keeper: StateKeeper? = try here.launch()
    _ = try await keeper?.save([TestNode("root", value: "Rome")])
    keeper = nil
    let theirs = TestNode("root")
    let other = try there.launch()
    _ = try await other.restore(into: [theirs])
    theirs.value = "Oslo"
    _ = try await other.save([theirs])
    let root = TestNode("root")
    let next = try here.launch()
    _ = try await next.restore(into: [root])
    XCTAssertEqual(root.value, "Rome")
    let status = await next.checkRemoteState()
    guard case .newer(let conflict) = status else { return XCTFail("It was \(status as Any).") }
    XCTAssertEqual(conflict.savedBy, "there")
    _ = try await next.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
    XCTAssertEqual(next.remoteStatus, .current)
  }

  func testSavesOfTwoMachinesWithoutTheStoreAreAConflict() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    _ = try await keeper.save([root])
    store.isReachable = false
    root.value = "Paris"
    _ = try await keeper.save([root])
    let theirs = TestNode("root")
    let other = try there.launch()
    _ = try await other.restore(into: [theirs])
    theirs.value = "Oslo"
    _ = try await other.save([theirs])
    store.isReachable = true
    let report = try await keeper.save([root])
    guard let conflict = report.conflict else {
      return XCTFail("The outcome was \(report.outcome).")
    }
    XCTAssertEqual(conflict.savedBy, "there")
    try await keeper.resolveConflict(keeping: .theirs)
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
    let states = try await keeper.setAsideStates()
    XCTAssertEqual(states.map(\.reason), [.conflict])
    try await keeper.putBack(try XCTUnwrap(states.first))
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Paris")
  }

  func testAnAnswerThatWasLostWithTheProcessIsNoConflict() async throws {
    let root = TestNode("root", value: "Rome")
    var keeper: StateKeeper? = try here.launch()
    _ = try await keeper?.save([root])
    store.losesAnswers = true
    root.value = "Oslo"
    _ = try await keeper?.save([root])
    keeper = nil
    store.losesAnswers = false
    let next = try here.launch()
    _ = try await next.restore(into: [root])
    let status = await next.checkRemoteState()
    XCTAssertEqual(status, .current)
    root.value = "Bern"
    let report = try await next.save([root])
    XCTAssertEqual(report.outcome, .saved)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Bern")
  }

  func testADiscardWithoutTheStoreIsSentLater() async throws {
    var keeper: StateKeeper? = try here.launch()
    _ = try await keeper?.save([TestNode("root", value: "Rome")])
    store.isReachable = false
    try await keeper?.discardState()
    keeper = nil
    let value = try await here.restoredValue()
    XCTAssertNil(value)
    store.isReachable = true
    let next = try here.launch()
    _ = try await next.restore()
    _ = await next.checkRemoteState()
    let names = try await base.names(prefix: "")
    XCTAssertEqual(names, [])
  }

  func testACopyThatSomebodyHasRemovedIsFetchedAndNotDiscarded() async throws {
    var keeper: StateKeeper? = try here.launch()
    _ = try await keeper?.save([TestNode("root", value: "Rome")])
    keeper = nil
    copy.memory(named: "main").bytes = nil
    let value = try await here.restoredValue()
    XCTAssertEqual(value, "Rome")
    let there = try await there.restoredValue()
    XCTAssertEqual(there, "Rome")
  }

  func testFilesOfAnAppThatUsedNoStoreGoToTheStore() async throws {
    let files = try StateKeeper(
      application: Launch.application, directory: copy, keys: keys)
    _ = try await files.save([TestNode("root", value: "Rome")])
    await files.close()
    let keeper = try here.launch()
    _ = try await keeper.restore(into: [TestNode("root")])
    _ = await keeper.checkRemoteState()
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Rome")
  }
}
