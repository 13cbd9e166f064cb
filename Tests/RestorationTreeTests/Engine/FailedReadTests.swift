import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Launches that cannot read their state at first, as where too many files are open.
@MainActor
final class FailedReadTests: XCTestCase {
  private let launch = Launch()
  private let clock = TestClock()
  private let reads = Reads()
  private var events: [Result<PreservationReport, RestorationError>] = []

  override func setUp() async throws {
    // Otherwise the first save of each launch stores the facts of another one.
    launch.environment = ApplicationEnvironment()
  }

  /// How many of the next reads fail, and what happens in those that do not.
  private final class Reads: Sendable {
    private let state = Mutex<(failing: Int, seen: (@Sendable () -> Void)?)>((0, nil))

    func fail(_ count: Int) { state.withLock { $0.failing = count } }

    func onSuccess(_ seen: @escaping @Sendable () -> Void) { state.withLock { $0.seen = seen } }

    func read() throws(ArchiveError) {
      let (isFailing, seen) = state.withLock { state in
        defer { state.failing = max(0, state.failing - 1) }
        return (state.failing > 0, state.failing > 0 ? nil : state.seen.take())
      }
      if isFailing { throw ArchiveError(.inputOutput, systemError: EMFILE) }
      seen?()
    }
  }

  private var store: HookedStore {
    HookedStore(launch.store) { [reads] name, call throws(ArchiveError) in
      if call == .open, name == "main" { try reads.read() }
    }
  }

  private var setAside: [[UInt8]] { launch.setAside }

  private func inLaunch<Result>(_ body: @MainActor () async throws -> Result) async throws -> Result
  {
    try await RestorationSession.launch(in: store, launch.keys, body)
  }

  private func begin(_ roots: [TestNode] = []) async throws {
    try await Restoration.begin(Launch.application, signals: [], roots: { roots })
  }

  private func assertHasFailed(file: StaticString = #filePath, line: UInt = #line) {
    guard case .failure(let error)? = Restoration.report else {
      return XCTFail("The state was read.", file: file, line: line)
    }
    XCTAssertEqual(error.archive?.systemError, EMFILE, file: file, line: line)
  }

  // MARK: Apps that begin

  func testALaunchThatDoesNothingHasItsNodesAsSoonAsTheyCanBeRead() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "typed")])
    launch.endProcess()
    let before = launch.storedBytes
    let node = TestNode("a")
    try await inLaunch {
      reads.fail(.max)
      try await begin([node])
      assertHasFailed()
      reads.fail(0)
      try await waitUntil("the state is restored") {
        (try? Restoration.report?.get())?.outcome == .restored
      }
      XCTAssertEqual(node.value, "typed")
    }
    XCTAssertEqual(launch.storedBytes, before)
    XCTAssertEqual(setAside, [])
  }

  func testALaunchThatDoesNothingAndEndsLeavesTheNodesWhereTheyAre() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "typed")])
    launch.endProcess()
    let before = launch.storedBytes
    for endsNow in [false, true] {
      try await inLaunch {
        reads.fail(.max)
        try await begin([TestNode("a")])
        assertHasFailed()
        reads.fail(0)
        let isStored = endsNow ? Restoration.endNow() : await Restoration.end()
        XCTAssertTrue(isStored)
      }
      XCTAssertEqual(launch.storedBytes, before, "ends now: \(endsNow)")
      XCTAssertEqual(setAside, [], "ends now: \(endsNow)")
    }
  }

  func testANodeThatChangesWhileTheStateIsReadAgainStays() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "typed for hours")])
    let before = try XCTUnwrap(launch.storedBytes)
    let (node, gate) = (TestNode("a", value: "default"), Gate())
    let autosave = try await autosaved(node)
    gate.holdUp()
    reads.onSuccess { gate.pass() }
    reads.fail(0)
    try await waitUntil("the state is read again") {
      for sleep in clock.sleeps { clock.advance(by: sleep) }
      return gate.isWaitedFor
    }
    node.value = "typed since"
    gate.goOn()
    let isStored = await autosave.flush()
    XCTAssertTrue(isStored)
    XCTAssertEqual(node.value, "typed since")
    XCTAssertEqual(try launch.storedRecords()?["a"]?.value, "typed since")
    XCTAssertEqual(setAside, [before])
  }

  // MARK: Keepers

  private func autosaved(
    _ node: some RestorableNode, delegate: TestDelegate? = nil
  ) async throws -> Autosave {
    launch.endProcess()
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    keeper.delegate = delegate
    reads.fail(.max)
    do {
      _ = try await keeper.restore(into: [node])
      XCTFail("The state was read.")
    } catch {
      XCTAssertEqual(error.archive?.systemError, EMFILE)
    }
    return keeper.autosave(clock: clock) {
      [node]
    } told: { [unowned self] in
      events.append($0)
    }
  }

  func testANodeThatHasNotChangedIsRestored() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "typed for hours")])
    let before = launch.storedBytes
    let node = TestNode("a", value: "default")
    let autosave = try await autosaved(node)
    reads.fail(0)
    let isStored = await autosave.flush()
    XCTAssertTrue(isStored)
    XCTAssertEqual(node.value, "typed for hours")
    XCTAssertEqual(launch.storedBytes, before)
    XCTAssertEqual(setAside, [])
    node.value = "and another hour"
    let isNextStored = await autosave.flush()
    XCTAssertTrue(isNextStored)
    XCTAssertNotEqual(launch.storedBytes, before)
    XCTAssertEqual(setAside, [], "What was restored is replaced.")
  }

  func testANodeThatHasChangedIsNotTouchedAndOneLineSaysSo() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "typed for hours")])
    let before = try XCTUnwrap(launch.storedBytes)
    for isTracked in [false, true] {
      launch.storedBytes = before
      events = []
      let (polled, tracked) = (TestNode("a", value: "default"), TrackedNode("a"))
      let autosave = try await isTracked ? autosaved(tracked) : autosaved(polled)
      if isTracked {
        tracked.value = "typed since"
      } else {
        polled.value = "typed since"
      }
      reads.fail(0)
      let isStored = await autosave.flush()
      XCTAssertTrue(isStored)
      XCTAssertEqual(isTracked ? tracked.value : polled.value, "typed since")
      XCTAssertEqual(setAside.last, before)
      let reports = events.compactMap { event in
        if case .success(let report) = event, report.outcome == .saved { report } else { nil }
      }
      XCTAssertNotNil(reports.first?.setAside)
      let unread = ArchiveError(.inputOutput, systemError: EMFILE)
      XCTAssertEqual(reports.flatMap(\.notes), [.unreadable(unread.description)])
    }
    // The history has one state once.
    XCTAssertEqual(setAside.count, 1)
  }

  func testASaveThatTheAppHasAskedForGoesOn() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "typed for hours")])
    let before = try XCTUnwrap(launch.storedBytes)
    let delegate = TestDelegate()
    let autosave = try await autosaved(TestNode("a"), delegate: delegate)
    // The save compares what the delegate says with what it said before.
    delegate.onWillEncode = { $0.encode("set since", forKey: "value") }
    autosave.setNeedsSave()
    reads.fail(0)
    let isStored = await autosave.flush()
    XCTAssertTrue(isStored)
    XCTAssertEqual(setAside, [before])
  }

  func testAnEndThatBlocksLeavesWhatCouldNotBeRead() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "typed for hours")])
    let before = launch.storedBytes
    launch.endProcess()
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    reads.fail(.max)
    let node = TestNode("a", value: "default")
    _ = try? await keeper.restore(into: [node])
    reads.fail(0)
    XCTAssertTrue(keeper.endNow(saving: [node]))
    XCTAssertEqual(launch.storedBytes, before)
    node.value = "typed since"
    XCTAssertTrue(keeper.endNow(saving: [node]))
    XCTAssertEqual(setAside, [before].compactMap(\.self))
  }
}
