import RestorationKit
import TestSupport
import XCTest

/// Who keeps an autosave, and whom it keeps.
@MainActor
final class AutosaveHoldingTests: AutosaveTestCase {
  func testAnAutosaveThatNobodyKeepsGoesOn() async throws {
    let keeper = try await keeper()
    _ = autosave(keeper)
    try await told(1)
    try await passInterval()
    node.value = "1"
    try await told(2)
    try await assertStored("1", by: keeper)
  }

  func testASecondAutosaveReplacesTheFirst() async throws {
    let keeper = try await keeper()
    let first = try await begun(keeper)
    let other = TrackedNode("root")
    let second = keeper.autosave(every: Self.interval, clock: clock) { [other] }
    let isStored = await first.flush()
    XCTAssertFalse(isStored)
    other.value = "other"
    let isStoredBySecond = await second.flush()
    XCTAssertTrue(isStoredBySecond)
    XCTAssertEqual(outcomes, ["saved"])
    try await assertStored("other", by: keeper)
  }

  func testWhoKeepsAnAutosaveKeepsTheKeeper() async throws {
    weak var keeper: StateKeeper?
    var autosave: Autosave?
    do {
      let made = try await self.keeper()
      keeper = made
      autosave = self.autosave(made)
    }
    try await told(1)
    node.value = "1"
    let isStored = await autosave?.flush()
    XCTAssertEqual(isStored, true)
    XCTAssertNotNil(keeper)
    autosave = nil
    try await waitUntil("the keeper is let go") { keeper == nil }
  }

  func testAStoppedAutosaveLetsGoOfItsRoots() async throws {
    let keeper = try await keeper()
    weak var root: TrackedNode?
    let autosave: Autosave
    do {
      let node = TrackedNode("root")
      root = node
      autosave = self.autosave(keeper, of: node)
    }
    try await told(1)
    autosave.stop()
    try await waitUntil("the root is let go") { root == nil }
    await keeper.close()
  }
}
