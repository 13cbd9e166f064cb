import ArchiveCodec
import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import RestorationTesting
import TestSupport
import XCTest

/// Answers of a replica that is behind, and stores that were brought back from a backup.
@MainActor
final class RemoteStaleReadTests: XCTestCase {
  private let base = MemoryRemoteStateStore()
  private lazy var store = FaultyRemoteStateStore(base)
  private let keys = MemoryKeyProvider()
  private lazy var here = Device("here", store, keys: keys)
  private lazy var there = Device("there", base, keys: keys)
  private let root = TestNode("root", value: "Rome")

  /// A keeper that has saved twice, and what it saved first.
  private func saveTwice() async throws -> (keeper: StateKeeper, first: [UInt8]?) {
    let keeper = try here.launch()
    _ = try await keeper.save([root])
    let first = base[bytes: "main"]
    root.value = "Oslo"
    _ = try await keeper.save([root])
    return (keeper, first)
  }

  func testWhatWasStoredBeforeIsNothingNewer() async throws {
    let (keeper, _) = try await saveTwice()
    store.fail(.staleRead, next: .load)
    let status = await keeper.checkRemoteState()
    XCTAssertEqual(status, .current)
  }

  func testThatNothingWasStoredBeforeIsNothingNewer() async throws {
    let network = NetworkStore(base)
    let keeper = try Device("here", network, keys: keys).launch()
    _ = try await keeper.restore()
    _ = try await keeper.save([root])
    network.hidesNext = true
    let status = await keeper.checkRemoteState()
    XCTAssertEqual(status, .current)
    XCTAssertFalse(network.hidesNext)
  }

  func testWhatIsRemovedStaysRemovedForWhoIsBehind() async throws {
    let (keeper, _) = try await saveTwice()
    try await keeper.discardState()
    store.fail(.staleRead, next: .load)
    let status = await keeper.checkRemoteState()
    XCTAssertEqual(status, .current)
  }

  func testARestoreBringsBackNothingOlderThanWhatWasSavedHere() async throws {
    let (keeper, _) = try await saveTwice()
    store.fail(.staleRead, next: .load)
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
    root.value = "Bern"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome, .saved)
  }

  func testAStoreThatCameBackFromABackupIsToldAndRestored() async throws {
    let (keeper, first) = try await saveTwice()
    base[bytes: "main"] = first
    guard case .newer = await keeper.checkRemoteState() else {
      return XCTFail("It was \(keeper.remoteStatus as Any).")
    }
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Rome")
  }

  func testASaveOverAStoreThatCameBackFromABackupIsAConflict() async throws {
    let (keeper, first) = try await saveTwice()
    base[bytes: "main"] = first
    root.value = "Bern"
    let report = try await keeper.save([root])
    guard let conflict = report.conflict else {
      return XCTFail("The outcome was \(report.outcome).")
    }
    XCTAssertEqual(conflict.savedBy, "here")
    try await keeper.resolveConflict(keeping: .ours)
    let value = try await there.restoredValue()
    XCTAssertEqual(value, "Bern")
  }
}
