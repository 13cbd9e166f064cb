import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// Looks at a local copy, which change nothing of it.
@MainActor
final class LocalCopyLookingTests: XCTestCase {
  private func expectNoChange(
    _ saved: SavedOften, _ what: String, _ look: (StateKeeper) async throws -> Void
  ) async throws {
    let keeper = try saved.here.launch()
    let before = try saved.files
    try await look(keeper)
    XCTAssertEqual(try saved.files, before, what)
    XCTAssertEqual(try saved.copy.asideBytes(), [], what)
    await keeper.close()
  }

  func testALookReplacesNothingThatIsDamaged() async throws {
    let saved = try await SavedOften()
    saved.copy.memory(named: "main").bytes = saved.older["main"]
    try await expectNoChange(saved, "generations") { _ = try await $0.generations() }
    try await expectNoChange(saved, "setAsideStates") { _ = try await $0.setAsideStates() }
    let root = SavedOften.node()
    _ = try await saved.here.launch().restore(into: [root])
    XCTAssertEqual(root.value, "state \(SavedOften.count)")
  }

  func testALookAtWhatIsRestoredWithoutTheStoreReplacesNothing() async throws {
    let saved = try await SavedOften()
    saved.copy.memory(named: "main").bytes = saved.older["main"]
    saved.network.isReachable = false
    let (keeper, root) = (try saved.here.launch(), SavedOften.node())
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "state \(SavedOften.olderCount)")
    saved.network.isReachable = true
    _ = try await keeper.setAsideStates()
    XCTAssertEqual(saved.copy.memory(named: "main").bytes, saved.older["main"])
    let before = saved.base[bytes: "main"]
    root.value = "next"
    let report = try await keeper.save([root])
    guard report.conflict != nil else { return XCTFail("\(report.outcome)") }
    XCTAssertEqual(saved.base[bytes: "main"], before)
  }

  func testAnAnswerThatComesLateReplacesNothingOfAnotherInstance() async throws {
    for older in [true, false] {
      let saved = try await SavedOften()
      saved.copy.memory(named: "main").bytes = older ? saved.older["main"] : nil
      if !older { saved.copy.memory(named: "main.remote.launch").bytes = nil }
      let looking = try saved.here.launch()
      saved.network.holdsLoads = true
      let look = Task { try await looking.setAsideStates() }
      if !older { try await waitUntil("it asks the store") { saved.network.isHolding } }
      let other = try Device("here", saved.base, keys: saved.keys, localCopy: saved.copy).launch()
      let root = SavedOften.node()
      _ = try await other.restore(into: [root])
      root.value = "next"
      _ = try await other.save([root])
      let last = saved.copy.memory(named: "main").bytes
      saved.network.holdsLoads = false
      _ = try await look.value
      XCTAssertEqual(saved.copy.memory(named: "main").bytes, last, "an older one: \(older)")
      root.value = "last"
      let report = try await other.save([root])
      XCTAssertEqual(report.outcome, .saved, "an older one: \(older)")
      XCTAssertNil(report.setAside, "an older one: \(older)")
      await other.close()
    }
  }
}
