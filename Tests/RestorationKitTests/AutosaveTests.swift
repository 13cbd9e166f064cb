import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// When an autosave saves, and what.
@MainActor
final class AutosaveTests: AutosaveTestCase {
  func testItSavesOnceAtTheStartAndTheFirstChangeAtOnce() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    node.value = "1"
    try await told(2)
    XCTAssertEqual(disk.writes, 2)
    XCTAssertFalse(autosave.needsSave)
    try await assertStored("1", by: keeper)
  }

  func testWhatFollowsIsSavedTogetherWhenTheIntervalIsOver() async throws {
    let keeper = try await keeper()
    let autosave = try await begun(keeper)
    for number in 1...100 { node.value = "\(number)" }
    await settle()
    clock.advance(by: .milliseconds(249))
    await settle()
    XCTAssertEqual(disk.writes, 1)
    XCTAssertTrue(autosave.needsSave)
    clock.advance(by: .milliseconds(1))
    try await told(2)
    XCTAssertEqual(disk.writes, 2)
    XCTAssertFalse(autosave.needsSave)
    try await assertStored("100", by: keeper)
  }

  func testNothingHappensWithoutAChange() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    clock.advance(by: .seconds(3600))
    await settle()
    XCTAssertEqual(outcomes, ["saved"])
    XCTAssertFalse(autosave.needsSave)
  }

  func testAChangeDuringASaveIsSavedByTheNextOneAndOneIsUnderWayAtATime() async throws {
    let keeper = try await keeper()
    let autosave = try await idle(keeper)
    try await holdUpSave(of: "1")
    node.value = "2"
    clock.advance(by: .seconds(10))
    await settle()
    disk.gate.goOn()
    try await told(2)
    XCTAssertTrue(autosave.needsSave)
    try await passInterval()
    try await told(3)
    XCTAssertEqual(disk.writes, 3)
    XCTAssertFalse(autosave.needsSave)
    try await assertStored("2", by: keeper)
  }

  func testANodeThatDoesNotTrackIsSavedWhenSomebodySaysSo() async throws {
    let keeper = try newKeeper()
    _ = try await keeper.restore()
    let plain = PlainNode("root")
    let autosave = try await idle(keeper, of: plain)
    plain.value = "1"
    await settle()
    XCTAssertEqual(disk.writes, 1)
    autosave.setNeedsSave()
    try await told(2)
    XCTAssertEqual(disk.writes, 2)
    try await assertStored("1", by: keeper)
  }

  func testAnObservedNodeSaysItself() async throws {
    let keeper = try newKeeper()
    _ = try await keeper.restore()
    let observed = ObservedNode("root")
    let autosave = try await idle(keeper, of: observed)
    observed.value = "1"
    try await told(2)
    XCTAssertEqual(disk.writes, 2)
    withExtendedLifetime(autosave) {}
  }

  func testNothingIsSavedBeforeTheRestore() async throws {
    try await storeValue("stored")
    let keeper = try newKeeper()
    let autosave = autosave(keeper)
    try await told(1)
    let isStored = await autosave.flush()
    XCTAssertFalse(isStored)
    XCTAssertEqual(outcomes, ["withheld []"])
    XCTAssertEqual(disk.writes, 0)
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "stored")
    try await passInterval()
    try await told(2)
    XCTAssertEqual(outcomes, ["withheld []", "saved"])
    guard case .saved(let reports)? = events.last else { return XCTFail("\(events)") }
    XCTAssertEqual(reports.map(\.setAside), [nil])
  }

  private func storeValue(_ value: String) async throws {
    let keeper = try launch.keeper()
    let node = TrackedNode("root")
    node.value = value
    _ = try await keeper.save([node])
    await keeper.close()
  }

  func testChangesAreASequenceThatEndsWithTheKeeper() async throws {
    let keeper = try await keeper()
    _ = try await keeper.save([node])
    let changes = keeper.needsSaveChanges
    node.value = "1"
    node.value = "2"
    var iterator = changes.makeAsyncIterator()
    let first: Void? = await iterator.next()
    XCTAssertNotNil(first)
    await keeper.close()
    let end: Void? = await iterator.next()
    XCTAssertNil(end)
  }
}
