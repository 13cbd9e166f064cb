import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// A state that is discarded while something of it is due to be saved.
@MainActor
final class DiscardWhileDueTests: AutosaveTestCase {
  private func assertNothingIsStored(line: UInt = #line) throws {
    XCTAssertEqual(try launch.storedPaths(), [], line: line)
  }

  func testADiscardBeforeTheFirstSaveLeavesTheTimer() async throws {
    let keeper = try await keeper()
    let plain = PlainNode("root")
    _ = autosave(keeper, of: plain)
    try await keeper.discardState()
    plain.value = "typed"
    try await pauses([.seconds(2)])
    clock.advance(by: .seconds(2))
    try await told(1)
    XCTAssertEqual(try launch.storedPaths(), ["root"])
    await keeper.close()
  }

  func testAChangeWhileADiscardWaitsIsSaved() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    try await holdUpSave(of: "1")
    let discard = Task { try await keeper.discardState() }
    try await waitUntil("what was due is taken back") { !autosave.needsSave }
    node.value = "2"
    disk.gate.goOn()
    try await discard.value
    try await told(2)
    try await passInterval()
    try await told(3)
    try await assertStored("2", by: keeper)
  }

  func testWhatTheTimerFindsAsItWasIsNotStoredAgainAndAChangeIs() async throws {
    let plain = PlainNode("root")
    let new = TrackedNode("new")
    let keeper = try await keeper()
    _ = try await begun(keeper, of: plain)
    plain.below = [new]
    try await keeper.discardState()
    try await passInterval()
    try await pauses([.seconds(2) - Self.interval])
    clock.advance(by: .seconds(2))
    try await pauses([.seconds(2)])
    try assertNothingIsStored()
    // A node that no save has met.
    new.value = "1"
    try await told(2)
    try await passInterval()
    try await keeper.discardState()
    plain.value = "2"
    try await pauses([.seconds(2)])
    clock.advance(by: .seconds(2))
    try await told(3)
    try await assertStored("2", by: keeper)
  }

  func testASaveOfTheAppStoresAllAfterADiscard() async throws {
    let keeper = try await keeper()
    _ = try await begun(keeper)
    node.value = "1"
    try await keeper.discardState()
    _ = try await keeper.save([node])
    try await assertStored("1", by: keeper)
  }

  func testADiscardThatFailsLeavesTheSaveDue() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    node.value = "1"
    disk.failures = 1
    let error = await restorationError { try await keeper.discardState() }
    XCTAssertEqual(error?.archive?.code, .storageFull)
    XCTAssertTrue(autosave.needsSave)
    try await passInterval()
    try await told(2)
    try await assertStored("1", by: keeper)
  }
}
