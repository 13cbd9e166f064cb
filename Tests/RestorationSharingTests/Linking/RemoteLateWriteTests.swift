import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// First writes that get to the store late, or of which only a part gets there.
@MainActor
final class RemoteLateWriteTests: XCTestCase {
  private let base = MemoryRemoteStateStore()
  private lazy var network = NetworkStore(base)
  private let keys = MemoryKeyProvider()
  private lazy var here = Device("here", network, keys: keys)
  private lazy var there = Device("there", base, keys: keys)

  /// Saves while no write gets to the store yet.
  private func saveLate(_ root: TestNode, with keeper: StateKeeper) async throws {
    network.delaysWrites = true
    do {
      _ = try await keeper.save([root])
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .store)
    }
    network.delaysWrites = false
  }

  func testAFirstWriteThatLandsAfterADiscardBringsNothingBack() async throws {
    let keeper = try here.launch()
    try await saveLate(TestNode("root", value: "Rome"), with: keeper)
    try await keeper.discardState()
    await keeper.close()
    try await network.landDelayedWrites()
    let value = try await there.restoredValue()
    XCTAssertNil(value)
  }

  func testAFirstWriteThatLandsAfterADiscardElsewhereBringsNothingBack() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    try await saveLate(root, with: keeper)
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome, .saved)
    await keeper.close()
    try await there.launch().discardState()
    try await network.landDelayedWrites()
    let value = try await there.restoredValue()
    XCTAssertNil(value)
  }

  func testASaveAfterAFirstWriteThatLandedLateIsNoConflict() async throws {
    let root = TestNode("root", value: "Rome")
    let keeper = try here.launch()
    try await saveLate(root, with: keeper)
    try await keeper.discardState()
    try await network.landDelayedWrites()
    root.value = "Oslo"
    for keeper in [keeper, try there.launch()] {
      _ = try await keeper.restore(into: [TestNode("root")])
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome, .saved)
    }
  }

  func testWhatWasSetAsideDoesNotComeBackAfterAllOfItWasDiscarded() async throws {
    base[bytes: "main"] = Array("another".utf8)
    let keeper = try here.launch()
    try await saveLate(TestNode("root", value: "Rome"), with: keeper)
    try await keeper.discardState(includingSetAside: true)
    try await network.landDelayedWrites()
    let states = try await there.launch().setAsideStates()
    XCTAssertEqual(states, [])
  }

  func testADiscardRemovesAPlaceToWhichNoStateHasCome() async throws {
    try await saveHalf(here, network)
    XCTAssertNotNil(base[bytes: "main"])
    try await there.launch().discardState()
    XCTAssertNil(base[bytes: "main"])
  }

  func testADiscardInTheProcessWhoseFirstSaveGotHalfOfTheWayRemovesItsPlace() async throws {
    let keeper = try here.launch()
    network.writesBeforeTheCut = 1
    do {
      _ = try await keeper.save([TestNode("root", value: "Rome")])
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .store)
    }
    network.isReachable = true
    try await keeper.discardState()
    XCTAssertNil(base[bytes: "main"])
  }

  /// Ends a process whose first save has got half of the way.
  private func saveHalf(_ device: Device, _ network: NetworkStore) async throws {
    var keeper: StateKeeper? = try device.launch()
    network.writesBeforeTheCut = 1
    do {
      _ = try await keeper?.save([TestNode("root", value: "Rome")])
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .store)
    }
    keeper = nil
    network.isReachable = true
  }

  func testAFirstSaveThatWasCutOffIsNoConflictForAnother() async throws {
    try await saveHalf(here, network)
    let names = try await base.names(prefix: "")
    XCTAssertEqual(names, ["main"])
    let keeper = try there.launch()
    let report = try await keeper.save([TestNode("root", value: "Oslo")])
    XCTAssertEqual(report.outcome, .saved)
    let value = try await here.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testOfTwoFirstSavesAtOnceOneIsAConflict() async throws {
    let keepers = [try here.launch(), try there.launch()]
    for keeper in keepers { _ = try await keeper.restore() }
    network.holdsWrites = true
    let saving = Task { try await keepers[0].save([TestNode("root", value: "Rome")]) }
    try await waitUntil("a write waits for its answer") { network.isHolding }
    let second = try await keepers[1].save([TestNode("root", value: "Oslo")])
    network.holdsWrites = false
    let first = try await saving.value
    XCTAssertEqual(second.outcome, .saved)
    guard let conflict = first.conflict else {
      return XCTFail("The outcome was \(first.outcome).")
    }
    XCTAssertEqual(conflict.savedBy, "there")
  }

  func testALeaseOfAStateThatWasNeverSavedGoesWithItsRelease() async throws {
    here.lease = RemoteLease(owner: "server 1")
    let keeper = try here.launch()
    _ = try await keeper.restore()
    let before = try await base.names(prefix: "")
    XCTAssertEqual(before, ["main"])
    await keeper.close()
    let after = try await base.names(prefix: "")
    XCTAssertEqual(after, [])
  }
}
