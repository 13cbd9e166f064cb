import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What a version of the app saves of a node whose stored state it cannot read.
@MainActor
final class BesideStateTests: XCTestCase {
  private final class Screen: @MainActor RestorableNode {
    var restorationIdentifier: String?
    var restorationChildren: [any RestorableNode] = []
    var restorationViews: [any RestorableView] = []
    var value: String?
    var friend: (any RestorableNode)?
    var failure: (any Error)?
    var encodeCount = 0

    init(_ identifier: String, _ value: String? = nil, _ children: [any RestorableNode] = []) {
      restorationIdentifier = identifier
      restorationChildren = children
      self.value = value
    }

    func encodeRestorableState(with coder: StateEncoder) throws {
      encodeCount += 1
      if let failure { throw failure }
      coder.encode(value, forKey: "value")
      coder.encode(friend, forKey: "friend")
    }

    func decodeRestorableState(with coder: StateDecoder) throws {
      value = try coder.decodeIfPresent(forKey: "value")
      friend = try coder.decodeObject(forKey: "friend")
    }
  }

  private let launch = Launch()

  private func keeper(version: Int) throws -> StateKeeper {
    let keeper = try launch.keeper()
    try keeper.register(
      Screen.self, version: version,
      migrations: migrations(to: version) { _, state in
        let value = try state.decodeIfPresent(String.self, forKey: "value")
        try state.encode(value.map { "\($0)'" }, forKey: "value")
      })
    return keeper
  }

  /// A launch of a version that restores, does something, and saves.
  @discardableResult
  private func run(
    _ version: Int, _ node: Screen, _ change: (Screen) -> Void = { _ in }
  ) async throws -> (restored: RestorationReport, saved: PreservationReport) {
    let keeper = try keeper(version: version)
    let restored = try await keeper.restore(into: [node])
    change(node)
    return (restored, try await keeper.save([node]))
  }

  /// The values that are stored of a node: its own, then those that are kept beside it.
  private func values(_ path: String) throws -> [String?] {
    let element = try XCTUnwrap(try launch.storedRecords()?[path])
    return try [element.value] + element.kept.map { try $0.state?.decode(forKey: "value") }
  }

  // MARK: Going back to an older version

  func testWhatIsTypedInAnOlderVersionComesBackInTheNewerOneAndBothStay() async throws {
    try await run(3, Screen("a", "newer"))
    let saved = launch.now
    let first = try await run(2, Screen("a", "default")) { $0.value = "typed" }
    XCTAssertEqual(first.saved.outcome(of: "a"), .saved)
    XCTAssertEqual(try values("a"), ["typed", "newer"])

    // The older version goes on with what was typed in it.
    launch.now += 60
    let node = Screen("a", "default")
    let second = try await run(2, node)
    XCTAssertEqual(node.value, "typed")
    XCTAssertEqual(second.restored.outcome(of: "a"), .restored(by: .existing))
    XCTAssertEqual(second.restored.problems, [])
    XCTAssertEqual(second.restored.kept.map(\.since), [saved])
    XCTAssertEqual(
      second.restored.kept.map(\.outcome), [.newerVersion(by: .existing, stored: 3, known: 2)])
    XCTAssertEqual(second.saved.kept, second.restored.kept)
    XCTAssertEqual(try values("a"), ["typed", "newer"])

    // The newer one has what was saved last, and names the other.
    let back = Screen("a")
    let last = try await run(3, back)
    XCTAssertEqual(back.value, "typed'")
    XCTAssertEqual(last.restored.problems, [])
    XCTAssertEqual(last.restored.kept.map(\.path.description), ["a"])
    XCTAssertEqual(last.restored.kept.map { $0.outcome.step != nil }, [true])
    XCTAssertEqual(last.saved.kept, last.restored.kept)
    XCTAssertEqual(try values("a"), ["typed'", "newer"])
  }

  func testWhatNobodyHasChangedIsNotSavedOverTheStateThatCouldNotBeRead() async throws {
    try await run(3, Screen("a", "newer"))
    for _ in 0..<2 {
      let report = try await run(2, Screen("a", "default"))
      XCTAssertEqual(report.saved.outcome(of: "a"), .keptAsStored)
      XCTAssertEqual(try values("a"), ["newer"])
    }
    let back = Screen("a")
    try await run(3, back)
    XCTAssertEqual(back.value, "newer")
  }

  func testANodeThatIsBuiltLaterIsSavedBesideTheNewerState() async throws {
    try await run(2, Screen("a", "newer"))
    let older = try keeper(version: 1)
    _ = try await older.restore()
    let node = Screen("a", "older")
    for _ in 0..<2 {
      let report = try await older.save([node])
      XCTAssertEqual(report.entries.map(\.outcome), [.saved])
      XCTAssertEqual(try values("a"), ["older", "newer"])
    }
    let back = Screen("a")
    try await run(2, back)
    XCTAssertEqual(back.value, "older'")
    XCTAssertEqual(try values("a"), ["older'", "newer"])
  }

  func testAStateThatNoMigrationReadsStaysBesideTheNewOne() async throws {
    try await run(1, Screen("a", "saved"))
    let keeper = try launch.keeper()
    try keeper.register(
      Screen.self, version: 2,
      migrations: [1: { _ in throw CocoaError(.coderInvalidValue) }])
    let node = Screen("a", "default")
    _ = try await keeper.restore(into: [node])
    node.value = "typed"
    _ = try await keeper.save([node])
    XCTAssertEqual(try values("a"), ["typed", "saved"])
  }

  func testEveryVersionOnTheWayDownKeepsItsOwn() async throws {
    try await run(3, Screen("a", "three"))
    try await run(2, Screen("a")) { $0.value = "two" }
    try await run(1, Screen("a")) { $0.value = "one" }
    XCTAssertEqual(try values("a"), ["one", "two", "three"])
    let back = Screen("a")
    let report = try await run(3, back)
    XCTAssertEqual(back.value, "one''")
    XCTAssertEqual(report.restored.kept.count, 2)
    XCTAssertEqual(try values("a"), ["one''", "two", "three"])
  }

  func testANodeThatTakesTheNameOfAnotherKeepsTheStatesOfBoth() async throws {
    let saved = TestNode("root", children: [Screen("a", "first"), Screen("b", "second")])
    _ = try await keeper(version: 2).save([saved])
    let older = try keeper(version: 1)
    let node = Screen("a")
    let root = TestNode("root", children: [node])
    _ = try await older.restore(into: [root])
    node.restorationIdentifier = "b"
    for (value, all) in [(nil, ["first", "second"]), ("typed", ["typed", "first", "second"])] {
      node.value = value
      for _ in 0..<2 {
        _ = try await older.save([root])
        // The other one is an element of its own, which the name does not claim.
        let elements = try XCTUnwrap(try launch.storedRecords()).elements
        XCTAssertEqual(
          try elements.filter { $0.path.hasPrefix("root/b") }.flatMap { element in
            try [element.value] + element.kept.map { try $0.state?.decode(forKey: "value") }
          }, all)
      }
    }
  }

  // MARK: What is inside of it

  func testReferencesInAStateThatIsKeptBesideNameTheSameNodes() async throws {
    let saved = Screen("a", "newer", [Screen("b")])
    saved.friend = saved.restorationChildren.first
    try await run(2, saved)
    let older = try keeper(version: 1)
    let (node, friend) = (Screen("a"), Screen("b"))
    node.restorationChildren = [friend]
    _ = try await older.restore(into: [node])
    node.value = "typed"
    // Other records get other numbers now.
    for _ in 0..<2 {
      _ = try await older.save([Screen("x"), Screen("y"), node])
      let records = try XCTUnwrap(try launch.storedRecords())
      let kept = try XCTUnwrap(records["a"]?.kept.first?.state)
      XCTAssertEqual(try records.paths(in: kept, forKey: "friend"), ["a/b"])
      XCTAssertEqual(try records.paths(referredToFrom: "a", forKey: "friend"), [])
    }
    let back = Screen("a", nil, [Screen("b")])
    try await run(2, back)
    let records = try XCTUnwrap(try launch.storedRecords())
    let kept = try XCTUnwrap(records["a"]?.kept.first?.state)
    XCTAssertEqual(try records.paths(in: kept, forKey: "friend"), ["a/b"])
  }

  func testANodeThatCannotBeEncodedKeepsItsLastStateAndTheOneBesideIt() async throws {
    try await run(2, Screen("a", "newer"))
    let older = try keeper(version: 1)
    let node = Screen("a")
    _ = try await older.restore(into: [node])
    // Nothing was ever said: what is stored stays.
    node.failure = CocoaError(.coderInvalidValue)
    var report = try await older.save([node])
    XCTAssertEqual(report.outcome(of: "a"), .keptAsStored)
    XCTAssertEqual(report.problems.count, 1)
    XCTAssertEqual(try values("a"), ["newer"])
    (node.failure, node.value) = (nil, "typed")
    _ = try await older.save([node])
    node.failure = CocoaError(.coderInvalidValue)
    for _ in 0..<2 {
      report = try await older.save([node, Screen("b")])
      XCTAssertEqual(report.outcome(of: "a"), .savedWithLastState)
      XCTAssertEqual(try values("a"), ["typed", "newer"])
    }
  }

  func testViewsAndRegisteredObjectsHaveTwoStatesToo() async throws {
    func run(_ version: Int, _ change: (TestView, TestObject) -> Void) async throws {
      let keeper = try launch.keeper()
      let steps = migrations(to: version)
      try keeper.register(TestView.self, version: version, migrations: steps)
      try keeper.register(TestObject.self, version: version, migrations: steps)
      let (node, view, note) = (TestNode("a"), TestView("view"), TestObject())
      node.restorationViews = [view]
      node.onEncode = { $0.encode(note, forKey: "note") }
      keeper.registerObject(note, restorationIdentifier: "note")
      _ = try await keeper.restore(into: [node])
      change(view, note)
      _ = try await keeper.save([node])
    }
    try await run(2) { ($0.value, $1.value) = ("newer", "newer") }
    try await run(1) { _, _ in }
    XCTAssertEqual(try values("a/view"), ["newer"])
    XCTAssertEqual(try values("note"), ["newer"])
    try await run(1) { ($0.value, $1.value) = ("typed", "typed") }
    XCTAssertEqual(try values("a/view"), ["typed", "newer"])
    XCTAssertEqual(try values("note"), ["typed", "newer"])
  }

  // MARK: Bounds

  func testAStateThatIsKeptBesideGoesWhenItsTimeIsOver() async throws {
    try await run(2, Screen("a", "newer"))
    try await run(1, Screen("a")) { $0.value = "typed" }
    let since = launch.now
    launch.now += 365 * 24 * 60 * 60
    let last = try await run(1, Screen("a"))
    XCTAssertEqual(last.saved.kept.count, 1)
    launch.now += 1
    let report = try await run(1, Screen("a"))
    XCTAssertEqual(try values("a"), ["typed"])
    XCTAssertEqual(report.saved.kept, [])
    let byteCount = try XCTUnwrap(last.saved.kept.first?.byteCount)
    XCTAssertEqual(report.saved.notes, [.keptStateDropped(since: since, byteCount: byteCount)])
    let after = try await run(1, Screen("a"))
    XCTAssertEqual(after.restored.kept, [])
  }

  func testTheBoundInBytesCountsWhatIsKeptBeside() async throws {
    try await run(2, Screen("a", String(repeating: "n", count: 5000)))
    let keeper = try keeper(version: 1)
    (keeper.policy.keptAge, keeper.policy.keptByteCount) = (nil, 4000)
    let node = Screen("a")
    _ = try await keeper.restore(into: [node])
    node.value = "typed"
    let report = try await keeper.save([node])
    XCTAssertEqual(try values("a"), ["typed"])
    XCTAssertEqual(report.kept, [])
  }

  func testADiscardTakesBoth() async throws {
    try await run(2, Screen("a", "newer"))
    let keeper = try keeper(version: 1)
    let node = Screen("a")
    _ = try await keeper.restore(into: [node])
    node.value = "typed"
    _ = try await keeper.save([node])
    try await keeper.discardState()
    let report = try await keeper.save([node])
    XCTAssertEqual(try values("a"), ["typed"])
    XCTAssertEqual(report.kept, [])
  }
}
