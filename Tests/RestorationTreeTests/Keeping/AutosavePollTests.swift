import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Nodes that never say when they change, under an autosave.
@MainActor
final class AutosavePollTests: AutosavePollTestCase {
  func testAChangeThatNobodyTellsIsSavedWithTheNextPoll() async throws {
    let keeper = try await keeper()
    _ = try await polled(keeper)
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

  func testWithoutADifferenceAPollCallsTheNodeAndNothingElse() async throws {
    let calls = Trace()
    let delegate = TestDelegate(calls)
    let touches = Touches()
    let keeper = try StateKeeper(
      application: Launch.application, directory: touches.directory(launch.store),
      keys: touches.keys(launch.keys))
    keeper.delegate = delegate
    _ = try await keeper.restore(into: [plain])
    let autosave = try await polled(keeper)
    calls.clear()
    let (touched, encodeCount) = (touches.count, plain.encodeCount)
    for poll in 1...3 {
      try await pass(.seconds(2))
      try await waitUntil("it was asked") { plain.encodeCount == encodeCount + poll }
    }
    XCTAssertEqual(calls.events, [])
    XCTAssertEqual(touches.count, touched)
    XCTAssertEqual(outcomes, ["saved"])
    XCTAssertFalse(autosave.needsSave)
    plain.value = "1"
    try await pass(.seconds(2))
    try await told(2)
    XCTAssertEqual(calls.events.first, "shouldSave")
    XCTAssertGreaterThan(touches.count, touched)
    await keeper.close()
  }

  func testWhatASaveHasStoredIsNoDifferenceWhoeverAskedForIt() async throws {
    let keeper = try await keeper()
    let autosave = try await polled(keeper)
    plain.value = "1"
    autosave.setNeedsSave()
    try await told(2)
    try await passInterval()
    plain.value = "2"
    _ = try await keeper.save([plain])
    let writes = disk.writes
    try await pass(.milliseconds(1750))
    try await pauses([.seconds(2)])
    XCTAssertEqual(events.count, 2)
    XCTAssertEqual(disk.writes, writes)
    await keeper.close()
  }

  func testOnlyThoseWhoNeverSayWhenTheyChangeAreAsked() async throws {
    let below = PlainNode("below")
    node.below = [below]
    below.below = [TrackedNode("tracked")]
    let keeper = try await keeper()
    _ = try await polled(keeper, of: node)
    let encodeCount = node.encodeCount
    below.value = "1"
    try await pass(.seconds(2))
    try await told(2)
    guard case .saved(let reports)? = events.last else { return XCTFail("\(events)") }
    XCTAssertEqual(reports.flatMap(\.entries).map(\.path.description), ["root/below"])
    XCTAssertEqual(node.encodeCount, encodeCount)
    await keeper.close()
  }

  func testNobodyIsPolledWhereAllSayWhenTheyChange() async throws {
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
    node.below.removeLast()
    try await passInterval()
    try await told(4)
    try await passInterval()
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    await keeper.close()
  }

  func testNoneIsMadeWhereNobodyWantsThem() async throws {
    let keeper = try await keeper()
    keeper.autosave(every: Self.interval, polling: nil, clock: clock) { [plain] in [plain] }
    try await passInterval()
    await settle()
    XCTAssertEqual(clock.sleeps, [])
    await keeper.close()
  }

  func testAPollComesAtTheTimeThatWasGivenWhateverTheInterval() async throws {
    let keeper = try await keeper()
    keeper.autosave(every: .seconds(5), polling: .seconds(3), clock: clock) { [plain] in [plain] }
    try await pauses([.seconds(5)])
    let encodeCount = plain.encodeCount
    clock.advance(by: .seconds(5))
    try await waitUntil("it is asked") { plain.encodeCount == encodeCount + 1 }
    try await pass(.seconds(3))
    try await waitUntil("it is asked again") { plain.encodeCount == encodeCount + 2 }
    await keeper.close()
  }

  func testAPollMayComeAQuarterOfItsTimeLater() async throws {
    let keeper = try await keeper()
    _ = try await polled(keeper)
    XCTAssertEqual(clock.tolerances, [.milliseconds(500)])
    keeper.autosave(every: .seconds(5), polling: .seconds(6), clock: clock) { [plain] in [plain] }
    // Its first save stores nothing, so no interval comes before the poll.
    try await pauses([.seconds(6)])
    XCTAssertEqual(clock.tolerances, [.milliseconds(1500)])
    await keeper.close()
  }

  func testAKeeperThatAsksEverythingFindsAllThatNobodyTells() async throws {
    let keeper = try await keeper()
    keeper.hearProblems { XCTAssertEqual($0, []) }
    let below = PlainNode("below")
    plain.below = [below]
    _ = try await polled(keeper)
    var duration = Duration.seconds(2)
    for edit in 1...20 {
      (edit % 2 == 0 ? plain : below).value = "\(edit)"
      try await pass(duration)
      try await told(edit + 1)
      try await passInterval()
      duration = .milliseconds(1750)
    }
    XCTAssertEqual(outcomes, Array(repeating: "saved", count: 21))
    await keeper.close()
    let records = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(try ["root", "root/below"].map { try records[$0]?.value }, ["20", "19"])
  }

  func testAnySpanIsOneAfterWhichItCanBeAsked() async throws {
    // With the clock of the machine, which reckons with the time that has passed.
    for duration in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
      let keeper = try await keeper()
      let autosave = keeper.autosave(polling: duration) { [plain] in [plain] }
      let isStored = await autosave.flush()
      XCTAssertTrue(isStored)
      await keeper.close()
    }
  }

  func testAPollWaitsForTheSaveOfSomebodyElse() async throws {
    let keeper = try await keeper()
    _ = try await polled(keeper)
    disk.gate.holdUp()
    plain.value = "1"
    let save = Task { [plain] in _ = try await keeper.save([plain]) }
    try await waitUntil("a write is held up") { disk.gate.isWaitedFor }
    let encodeCount = plain.encodeCount
    plain.value = "2"
    try await pass(.seconds(2))
    try await pauses([.seconds(2)])
    XCTAssertEqual(plain.encodeCount, encodeCount)
    disk.gate.goOn()
    try await save.value
    try await pass(.seconds(2))
    try await told(2)
    try await assertStored("2", by: keeper)
  }
}

/// Counts whatever is asked of a directory, and of a key provider.
private final class Touches: Sendable {
  private let number = Count()

  var count: Int { number.value }

  func directory(_ store: MemoryStateDirectory) -> HookedStore {
    HookedStore(store) { [number] _, _ in number.add() }
  }

  func keys(_ keys: MemoryKeyProvider) -> some KeyProvider {
    CountedKeys(keys: keys, number: number)
  }

  final class Count: Sendable {
    private let number = Mutex(0)

    var value: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
  }

  private struct CountedKeys: KeyProvider {
    let keys: MemoryKeyProvider
    let number: Count

    func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
      number.add()
      return try keys.key(creating: creating)
    }
  }
}
