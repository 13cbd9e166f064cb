import ArchiveCodec
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// Saves by themselves to a store that cannot be reached, or has something else.
@MainActor
final class RemoteAutosaveTests: XCTestCase {
  private static let interval = Duration.milliseconds(250)
  private let base = MemoryRemoteStateStore()
  private lazy var network = NetworkStore(base)
  private let keys = MemoryKeyProvider()
  private lazy var here = Device("here", network, keys: keys)
  private lazy var there = Device("there", base, keys: keys)
  private let clock = TestClock()
  private let node = TrackedNode("root")
  private var events: [Result<PreservationReport, RestorationError>] = []

  private func autosave(_ keeper: StateKeeper) -> Autosave {
    keeper.autosave(every: Self.interval, clock: clock) { [unowned self] in
      [node]
    } told: { [unowned self] in
      events.append($0)
    }
  }

  func testAStateIsSavedOnceTheStoreIsThere() async throws {
    let keeper = try here.launch()
    network.isReachable = false
    do {
      _ = try await keeper.restore(into: [node])
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .store)
    }
    node.value = "Rome"
    let autosave = autosave(keeper)
    for _ in 0..<3 {
      try await waitUntil("it pauses") { !clock.sleeps.isEmpty }
      clock.advance(by: clock.sleeps[0])
    }
    network.isReachable = true
    for _ in 0..<3 where autosave.needsSave {
      try await waitUntil("it pauses") { !clock.sleeps.isEmpty }
      clock.advance(by: clock.sleeps[0])
      try await waitUntil("it has saved or pauses") {
        !autosave.needsSave || !clock.sleeps.isEmpty
      }
    }
    XCTAssertFalse(autosave.needsSave)
    XCTAssertEqual(events.count, 2)
    let restored = TrackedNode("root")
    _ = try await there.launch().restore(into: [restored])
    XCTAssertEqual(restored.value, "Rome")
  }

  func testAPollWithoutADifferenceDoesNotTouchTheStore() async throws {
    let keeper = try here.launch()
    let plain = PlainNode("root")
    _ = try await keeper.restore(into: [plain])
    keeper.autosave(every: Self.interval, clock: clock) { [plain] in
      [plain]
    } told: { [unowned self] in
      events.append($0)
    }
    func pass(_ duration: Duration) async throws {
      try await waitUntil("it sleeps \(duration)") { clock.sleeps == [duration] }
      clock.advance(by: duration)
    }
    try await pass(Self.interval)
    let (callCount, encodeCount) = (network.callCount, plain.encodeCount)
    XCTAssertGreaterThan(callCount, 0)
    try await pass(.milliseconds(1750))
    for poll in 1...3 {
      try await waitUntil("it was asked") { plain.encodeCount == encodeCount + poll }
      try await pass(.seconds(2))
    }
    try await waitUntil("it was asked") { plain.encodeCount == encodeCount + 4 }
    XCTAssertEqual(network.callCount, callCount)
    XCTAssertEqual(events.count, 1)
    plain.value = "Rome"
    try await pass(.seconds(2))
    try await waitUntil("it is saved") { events.count == 2 }
    XCTAssertGreaterThan(network.callCount, callCount)
    await keeper.close()
  }

  func testAConflictIsToldOnceAndDoesNotGoRound() async throws {
    let keeper = try here.launch()
    _ = try await keeper.restore(into: [node])
    node.value = "Rome"
    let autosave = autosave(keeper)
    try await waitUntil("it is saved") { !autosave.needsSave }
    base[bytes: "main"] = Array("another".utf8)
    for value in ["Oslo", "Bern", "Paris"] {
      try await waitUntil("it pauses") { !clock.sleeps.isEmpty }
      clock.advance(by: clock.sleeps[0])
      node.value = value
      try await waitUntil("it has saved") { !clock.sleeps.isEmpty }
    }
    XCTAssertEqual(events.count, 2)
    guard case .success(let report) = events.last, report.conflict != nil else {
      return XCTFail("\(events)")
    }
    try await waitUntil("it pauses") { !clock.sleeps.isEmpty }
    clock.advance(by: Self.interval)
    for _ in 0..<200 { await Task.yield() }
    XCTAssertEqual(clock.sleeps, [])
  }
}
