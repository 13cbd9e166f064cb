import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// A body that the app could not decode is kept beside the next one of its element.
@MainActor
final class UndecodedStateTests: PartlyDecodedTestCase {
  private struct Failure: Error {}

  /// The bodies that stay beside those of their elements, in words; the last saved comes first.
  private func undecoded() throws -> [String] {
    guard let records = try launch.storedRecords() else { return [] }
    let kept = (records.elements.flatMap(\.kept) + records.keptOfApplication)
      .map { records.words(of: $0.state) }
    let moments = try launch.store.names().filter { $0.contains("-unread-") }.sorted()
    return kept
      + (try moments.flatMap {
        bodies(try XCTUnwrap(try launch.storedRecords(named: $0, as: "main")))
      })
  }

  /// All bodies that are stored for elements and for the application, in words.
  private func stored() throws -> [String] {
    bodies(try XCTUnwrap(try launch.storedRecords()))
  }

  private func bodies(_ records: TestSupport.StoredRecords) -> [String] {
    (records.elements.map(\.state) + [records.application]).compactMap(\.self)
      .map { records.words(of: $0) }
  }

  /// Saves after a restore, and says what stays because of that.
  private func saveAgain(
    _ keeper: StateKeeper, _ nodes: [any RestorableNode], line: UInt = #line
  ) async throws -> [String] {
    let before = try undecoded()
    let report = try await keeper.save(nodes)
    let added = try undecoded().filter { !before.contains($0) }
    // A state is set aside only where nothing is stored after it.
    let isSetAside = !added.isEmpty && report.outcome == .declined
    XCTAssertEqual(report.setAside != nil, isSetAside, line: line)
    return added
  }

  func testAStateWithAFieldThatDidNotFitIsSetAsideOnce() async throws {
    try await save([Noted(TitleAndCount(title: "stored", count: 1))])
    let stored = try stored()
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    let (keeper, _) = try await restore([node])
    XCTAssertEqual(try undecoded(), [], "nothing has taken its place")
    var added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, stored)
    node.restorableState.title = "changed"
    added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, [])
    await keeper.close()

    let (later, report) = try await restore([node])
    XCTAssertEqual(report.problems, [])
    added = try await saveAgain(later, [node])
    XCTAssertEqual(added, [])
    await later.close()
    let back = Noted(TitleAndCount(title: "own", count: 0))
    let (last, _) = try await restore([back])
    try await last.restore(late: back)
    XCTAssertEqual(back.restorableState, TitleAndCount(title: "stored", count: 1))
  }

  func testAStateThatNeverDecodesIsNotSetAsideByEachLaunch() async throws {
    let root = TestNode("root", value: "first")
    root.onDecode = { _ in throw Failure() }
    try await save([root])
    var counts: [Int] = []
    for value in ["first", "first", "first", "second", "second"] {
      let keeper = try launch.keeper()
      _ = try await keeper.restore(into: [root])
      root.value = value
      _ = try await keeper.save([root])
      counts.append(try undecoded().count)
      await keeper.close()
    }
    // Nothing takes the place of a body that the node says again, and one that the first save of a
    // launch has kept is not kept once more.
    XCTAssertEqual(counts, [0, 0, 0, 1, 1])
    XCTAssertEqual(try undecoded(), ["value: first"])
    XCTAssertEqual(try stored(), ["value: second"])
  }

  func testAStateThatWasNotDecodedAtAllIsSetAside() async throws {
    let (whole, number) = (AllOrNothing(TitleAndWord(title: "own", count: "own")), Noted(5))
    for (node, type) in [
      (whole, { whole.restorableState.title = "typed" }), (number, { number.restorableState = 6 }),
    ] as [(any RestorableNode, () -> Void)] {
      launch = Launch()
      try await save([Noted(TitleAndCount(title: "stored", count: 1))])
      let stored = try stored()
      let (keeper, _) = try await restore([node])
      let untouched = try await saveAgain(keeper, [node])
      XCTAssertEqual(untouched, [], "nothing has taken its place")
      XCTAssertEqual(try self.stored(), stored)
      type()
      let added = try await saveAgain(keeper, [node])
      XCTAssertEqual(added, stored)
    }
  }

  func testAStateWhoseHooksThrowIsSetAside() async throws {
    for hook in 0..<3 {
      launch = Launch()
      let node = TestNode("root", value: "stored")
      let delegate = TestDelegate()
      delegate.onWillEncode = { $0.encode("of the app", forKey: "value") }
      let first = try launch.keeper(delegate: delegate)
      _ = try await first.save([node])
      await first.close()
      let stored = try stored()
      delegate.onWillEncode = { $0.encode("another", forKey: "value") }
      delegate.onDidDecode = { _ = try $0.decodeIfPresent(String.self, forKey: "value") }
      switch hook {
      case 0: node.onDecode = { _ in throw Failure() }
      case 1: delegate.onDidDecode = { _ in throw Failure() }
      default: break
      }
      let keeper = try launch.keeper(delegate: delegate)
      _ = try await keeper.restore(into: [node])
      node.value = "another"
      let added = try await saveAgain(keeper, [node])
      XCTAssertEqual(added, hook == 2 ? [] : [stored[hook]], "\(hook)")
    }
  }

  func testTheStateOfANodeThatIsOfAnotherClassNowIsSetAside() async throws {
    try await save([TestNode("note", value: "stored")])
    let stored = try stored()
    let keeper = try launch.keeper()
    let node = Noted(5)
    _ = try await keeper.restore(into: [node])
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, stored)
  }

  func testAFieldThatWasAddedSetsNothingAside() async throws {
    try await save([Noted(["title": "stored"])])
    let node = Noted(TitleAndCount(title: "own", count: 3))
    let (keeper, report) = try await restore([node])
    XCTAssertEqual(report.notes, [.missingFields(["count"])])
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, [])
  }

  func testAFieldThatGotAnotherNameWithoutAMigrationSetsTheStateAside() async throws {
    try await save([Noted(["title": "stored", "number": "3"])])
    let stored = try stored()
    let node = Noted(TitleAndCount(title: "own", count: 3))
    let (keeper, report) = try await restore([node])
    XCTAssertEqual(report.notes, [.missingFields(["count"])])
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, stored)
  }

  // MARK: Other ways to lose it

  func testATrackedNodeThatSaysNothingIsWrittenAnewAndTheStateSetAside() async throws {
    try await save([Tracked(TitleAndCount(title: "stored", count: 1))])
    let stored = try stored()
    let node = Tracked(TitleAndWord(title: "own", count: "own"))
    let (keeper, _) = try await restore([node])
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, stored)
    await keeper.close()
    let again = Tracked(TitleAndWord(title: "", count: ""))
    let (_, report) = try await restore([again])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(again.restorableState, TitleAndWord(title: "stored", count: "own"))
  }

  func testADeclinedSaveSetsItAside() async throws {
    try await save([Noted(TitleAndCount(title: "stored", count: 1))])
    let stored = try stored()
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    let delegate = TestDelegate()
    delegate.saves = false
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(Noted<TitleAndWord>.self, as: "Note")
    _ = try await keeper.restore(into: [node])
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, stored)
    try launch.assertNothingIsStored()
  }

  func testAGenerationThatStoodInIsSetAside() async throws {
    try await save([Noted(TitleAndCount(title: "stored", count: 1))])
    let stored = try stored()
    launch.environment = ApplicationEnvironment(applicationVersion: "12")
    let same = Noted(TitleAndCount(title: "", count: 0))
    let (other, _) = try await restore([same])
    _ = try await other.save([same])
    await other.close()
    launch.storedBytes = nil
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    let (keeper, report) = try await restore([node])
    XCTAssertEqual(report.location, launch.asideLocation)
    XCTAssertEqual(node.restorableState, TitleAndWord(title: "stored", count: "own"))
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, stored)
  }

  func testALateNodeSetsTheStateAsideThatHasIt() async throws {
    let keeper = try launch.keeper()
    try keeper.register(Noted<TitleAndCount>.self, as: "Note")
    _ = try await keeper.save([
      TestTabs(
        "tabs",
        children: [TestNode("first"), Noted(TitleAndCount(title: "stored", count: 1))])
    ])
    await keeper.close()

    let later = try launch.keeper()
    try later.register(Noted<TitleAndWord>.self, as: "Note")
    let tabs = TestTabs("tabs", children: [TestNode("first")])
    _ = try await later.restore(into: [tabs])
    var added = try await saveAgain(later, [tabs])
    XCTAssertEqual(added, [], "it is kept")
    let stored = try stored()
    let late = Noted(TitleAndWord(title: "own", count: "own"))
    tabs.restorationChildren.append(late)
    let report = try await later.restore(late: late, below: tabs)
    XCTAssertEqual(late.restorableState, TitleAndWord(title: "stored", count: "own"))
    XCTAssertEqual(report.problems.count, 1)
    added = try await saveAgain(later, [tabs])
    XCTAssertEqual(added, Array(stored.suffix(1)))
  }

  // MARK: Saves that fail

  func testASaveThatFailsLeavesItForTheNext() async throws {
    try await save([Noted(TitleAndCount(title: "stored", count: 1))])
    let stored = try stored()
    let bytes = launch.storedBytes
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    let (keeper, _) = try await restore([node])
    launch.keys.isLocked = true
    let report = try await keeper.save([node])
    XCTAssertEqual(report.outcome, .locked)
    XCTAssertEqual(launch.storedBytes, bytes)
    launch.keys.isLocked = false
    _ = try await keeper.restore(into: [node])
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, stored)
  }

  func testWhatWasDiscardedIsNotSetAside() async throws {
    try await save([Noted(TitleAndCount(title: "stored", count: 1))])
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    let (keeper, _) = try await restore([node])
    try await keeper.discardState()
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, [])
  }
}

@MainActor
private final class Tracked<State: Codable>: @MainActor StatefulNode {
  static var stateTracking: StateTracking { .invalidated }

  let restorationIdentifier: String? = "note"
  var restorableState: State { didSet { invalidateRestorableState() } }

  init(_ state: State) { restorableState = state }
}
