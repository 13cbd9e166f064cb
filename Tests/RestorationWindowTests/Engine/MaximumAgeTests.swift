import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// States that are older than the policy lets them be.
@MainActor
final class MaximumAgeTests: XCTestCase {
  private static let day: TimeInterval = 24 * 60 * 60
  private static let start = Date(timeIntervalSince1970: 1_800_000_000)

  private var launch = Launch()
  private var old: [UInt8]?

  override func setUp() async throws {
    launch = Launch()
    (launch.now, launch.environment.bootSession, launch.environment.uptime) = (
      Self.start, "1", 1000
    )
    _ = try await launch.keeper().save([TestNode("a", value: "old")])
    old = launch.storedBytes
  }

  private func keeper() throws -> StateKeeper {
    let keeper = try launch.keeper()
    keeper.policy.maximumAge = 30 * Self.day
    return keeper
  }

  private func restored(
    _ keeper: StateKeeper
  ) async throws -> (outcome: ReportOutcome, value: String?) {
    let node = TestNode("a")
    let report = try await keeper.restore(into: [node])
    return (report.outcome, node.value)
  }

  private var setAside: [[UInt8]] { launch.setAside }

  func testALaunchThatFindsAStateTooOldAgainSetsItAside() async throws {
    let laterLaunches: [(boot: String, uptime: Double, isAgain: Bool)] = [
      ("1", 1000, false), ("1", 1000 + Self.day - 1, false), ("1", 1000 + Self.day, true),
      ("1", 999, true), ("2", 1000, true), ("2", 1001, true),
    ]
    for later in laterLaunches {
      try await setUp()
      let before = setAside.count
      launch.now += 31 * Self.day
      let first = try keeper()
      var found = try await restored(first)
      XCTAssertEqual(found.outcome, .tooOld(setAsideAt: nil), "\(later)")
      XCTAssertNil(found.value)
      XCTAssertEqual(first.problem, KeeperProblem.tooOld(setAsideAt: nil))
      XCTAssertEqual(launch.storedBytes, old)

      (launch.environment.bootSession, launch.environment.uptime) = (later.boot, later.uptime)
      let second = try keeper()
      found = try await restored(second)
      XCTAssertNil(found.value)
      if later.isAgain {
        try launch.assertNothingIsStored()
      } else {
        XCTAssertEqual(launch.storedBytes, old, "\(later)")
      }
      XCTAssertEqual(setAside.count, before + (later.isAgain ? 1 : 0), "\(later)")
      guard later.isAgain else {
        XCTAssertEqual(found.outcome, .tooOld(setAsideAt: nil), "\(later)")
        continue
      }
      XCTAssertEqual(setAside.last, old)
      let states = try await second.setAsideStates()
      let last = try XCTUnwrap(states.last)
      XCTAssertEqual(found.outcome, .tooOld(setAsideAt: last.location))
      XCTAssertEqual(second.problem, KeeperProblem.tooOld(setAsideAt: last.location))
      try await second.putBack(last)
      found = try await restored(second)
      XCTAssertEqual(found.value, "old", "It is wanted, whatever its age.")
    }
  }

  func testTheReportSaysWhenTheStateWasSaved() async throws {
    launch.now += 31 * Self.day
    let report = try await keeper().restore(into: [TestNode("a")])
    XCTAssertEqual(report.savedAt, Self.start)
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(
      report.description,
      "Nothing restored: the state is older than policy.maximumAge. The next save sets it aside."
        + " It was saved \(Self.start).")
  }

  func testAYoungStateAndOneOfTheFutureAreRestored() async throws {
    for age in [0, 30 * Self.day, -300 * Self.day] {
      launch.now = Self.start + age
      let found = try await restored(try keeper())
      XCTAssertEqual(found.value, "old", "\(age)")
    }
    launch.now = Self.start + 3000 * Self.day
    let found = try await restored(try launch.keeper())
    XCTAssertEqual(found.value, "old", "Without a bound no age is too much.")
  }

  func testOneLaunchWithAClockThatIsAheadLosesNothing() async throws {
    for (number, isAhead) in [true, false, true].enumerated() {
      launch.environment.bootSession = "\(number)"
      launch.now = Self.start + (isAhead ? 1000 : 1) * Self.day
      let found = try await restored(try keeper())
      XCTAssertEqual(found.outcome, isAhead ? .tooOld(setAsideAt: nil) : .restored, "\(number)")
      XCTAssertEqual(found.value, isAhead ? nil : "old")
      XCTAssertEqual(launch.storedBytes, old, "\(number)")
      XCTAssertEqual(setAside, [])
    }
  }

  func testASaveOfALaunchThatFindsAStateTooOldSetsItAsideFirst() async throws {
    launch.now += 1000 * Self.day
    let ahead = try keeper()
    _ = try await restored(ahead)
    let report = try await ahead.save([TestNode("a", value: "new")])
    XCTAssertNotNil(report.setAside)
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(setAside, [old])

    launch.now = Self.start + Self.day
    launch.environment.bootSession = "2"
    let next = try keeper()
    var found = try await restored(next)
    XCTAssertEqual(found.value, "new")
    let states = try await next.setAsideStates()
    try await next.putBack(try XCTUnwrap(states.first))
    found = try await restored(next)
    XCTAssertEqual(found.value, "old")
  }

  func testTheWindowsOfAStateThatIsTooOldComeBackOnlyIfItIsPutBack() async throws {
    let app = SceneLaunch()
    (app.launch.now, app.launch.environment.bootSession) = (Self.start, "0")
    let stored = try await app.store(1, in: try await app.host())
    let bytes = try XCTUnwrap(app.launch.storedBytes)
    app.launch.now += 31 * Self.day
    app.prepare = { $0.roots = [TestNode("root", value: "new")] }
    var host: SceneHost?
    for (boot, isAgain) in [("1", false), ("2", true)] {
      app.launch.environment.bootSession = boot
      let keeper = try app.launch.keeper()
      keeper.policy.maximumAge = 30 * Self.day
      let next = SceneHost(keeper)
      next.declaredActivityTypes = ["product"]
      next.register(SceneConfiguration { app.makeDelegate() })
      try await next.launch()
      XCTAssertEqual(next.openSessions, [])
      let moments = try await keeper.history()
      XCTAssertEqual(moments.map(\.byteCount), isAgain ? [bytes.count] : [])
      XCTAssertEqual(keeper.problem, KeeperProblem.tooOld(setAsideAt: moments.first?.id))
      XCTAssertEqual(app.launch.storedBytes == bytes, !isAgain)
      host = next
    }
    let last = try XCTUnwrap(host)
    let opened = try await last.open()
    XCTAssertEqual(DraftModel(opened).draft, "")
    try await last.close(opened)
    let moment = try await last.keeper.history().first
    try await last.putBack(try XCTUnwrap(moment))
    XCTAssertEqual(last.openSessions.map(\.persistentIdentifier), [stored])
    let scene = try await last.connect(try XCTUnwrap(last.openSessions.first))
    XCTAssertEqual(scene.testRoot?.value, "1")
    XCTAssertEqual(scene.session.stateRestorationActivity?.id, 1)
    XCTAssertEqual(DraftModel(scene).draft, "draft 1")
  }
}
