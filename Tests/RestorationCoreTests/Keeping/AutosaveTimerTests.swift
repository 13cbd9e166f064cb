import RestorationKit
import TestSupport
import XCTest

/// Nodes that never say when they change, under an autosave.
@MainActor
final class AutosaveTimerTests: AutosaveTestCase {
  private let plain = PlainNode("root")

  /// An autosave that has made its first save, and waits for its timer alone.
  private func timed(
    _ keeper: StateKeeper, of other: (any RestorableNode)? = nil
  ) async throws -> Autosave {
    let autosave = try await begun(keeper, of: other ?? plain)
    clock.advance(by: Self.interval)
    try await pass(.milliseconds(1750))
    try await pauses([.seconds(2)])
    return autosave
  }

  /// Waits until somebody sleeps for so long, and moves on by that.
  private func pass(_ duration: Duration) async throws {
    try await pauses([duration])
    clock.advance(by: duration)
  }

  func testAChangeThatNobodyTellsIsSavedWhenTheTimeHasCome() async throws {
    let keeper = try await keeper()
    _ = try await timed(keeper)
    plain.value = "1"
    try await pass(.seconds(2))
    try await told(2)
    XCTAssertEqual(disk.writes, 2)
    try await passInterval()
    plain.value = "2"
    try await pass(.milliseconds(1750))
    try await told(3)
    try await assertStored("2", by: keeper)
  }

  func testASaveThatFindsNothingWritesNothingAndIsNotTold() async throws {
    let keeper = try await keeper()
    let autosave = try await timed(keeper)
    let encodeCount = plain.encodeCount
    for number in 1...3 {
      try await pass(.seconds(2))
      try await waitUntil("the node was asked") { plain.encodeCount == encodeCount + number }
    }
    try await pauses([.seconds(2)])
    XCTAssertEqual(outcomes, ["saved"])
    XCTAssertEqual(disk.writes, 1)
    XCTAssertFalse(autosave.needsSave)
    await keeper.close()
  }

  func testOtherRootsAreFound() async throws {
    let keeper = try await keeper()
    let roots = Roots([plain])
    keeper.autosave(every: Self.interval, clock: clock) {
      roots.nodes
    } told: { [unowned self] in
      events.append($0)
    }
    try await passInterval()
    roots.nodes.append(TrackedNode("second"))
    try await pass(.milliseconds(1750))
    try await told(2)
    XCTAssertEqual(try launch.storedPaths(), ["root", "second"])
    await keeper.close()
  }

  func testThereIsNoTimerWhereAllSayWhenTheyChange() async throws {
    node.below = [TrackedNode("below")]
    let keeper = try await keeper()
    _ = try await idle(keeper)
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    let plain = PlainNode("plain")
    node.below.append(plain)
    try await told(2)
    try await passInterval()
    plain.value = "1"
    try await pass(.milliseconds(1750))
    try await told(3)
    await keeper.close()
  }

  func testThereIsNoneWhereNobodyWantsIt() async throws {
    let keeper = try await keeper()
    keeper.autosave(every: Self.interval, polling: nil, clock: clock) { [plain] in [plain] }
    try await passInterval()
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    await keeper.close()
  }

  func testThereIsNoneWhileTheDelegateDeclinesAndOneAfterASaveOfTheApp() async throws {
    let delegate = TestDelegate()
    let keeper = try await keeper()
    keeper.delegate = delegate
    _ = try await timed(keeper)
    delegate.saves = false
    try await pass(.seconds(2))
    try await told(2)
    try await passInterval()
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    XCTAssertEqual(outcomes.last, "withheld [declined]")
    delegate.saves = true
    _ = try await keeper.save([plain])
    try await pauses([.seconds(2)])
    plain.value = "1"
    try await pass(.seconds(2))
    try await told(3)
    await keeper.close()
  }

  func testASaveByTheTimerThatFailsIsTriedAgain() async throws {
    let keeper = try await keeper()
    let autosave = try await timed(keeper)
    plain.value = "1"
    disk.failures = 1
    try await pass(.seconds(2))
    try await told(2)
    XCTAssertTrue(autosave.needsSave)
    try await passInterval()
    try await told(3)
    XCTAssertEqual(outcomes, ["saved", "failed full", "saved"])
    try await assertStored("1", by: keeper)
  }

  func testTheTimeIsTheOneThatWasGivenWhateverTheInterval() async throws {
    let keeper = try await keeper()
    keeper.autosave(every: .seconds(5), polling: .seconds(3), clock: clock) { [plain] in [plain] }
    try await pauses([.seconds(5)])
    let encodeCount = plain.encodeCount
    clock.advance(by: .seconds(5))
    try await waitUntil("the node is asked") { plain.encodeCount == encodeCount + 1 }
    try await pass(.seconds(3))
    try await waitUntil("the node is asked again") { plain.encodeCount == encodeCount + 2 }
    await keeper.close()
  }

  func testASaveMayComeAQuarterOfTheTimeLater() async throws {
    let keeper = try await keeper()
    _ = try await timed(keeper)
    XCTAssertEqual(clock.tolerances, [.milliseconds(500)])
    await keeper.close()
  }

  func testAnySpanIsOneAfterWhichASaveCanCome() async throws {
    // With the clock of the machine, which reckons with the time that has passed.
    for duration in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
      let keeper = try await keeper()
      let autosave = keeper.autosave(polling: duration) { [plain] in [plain] }
      let isStored = await autosave.flush()
      XCTAssertTrue(isStored)
      await keeper.close()
    }
  }
}

@MainActor
private final class Roots {
  var nodes: [any RestorableNode]

  init(_ nodes: [any RestorableNode]) { self.nodes = nodes }
}
