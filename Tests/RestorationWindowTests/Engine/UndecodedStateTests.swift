import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What the app could not decode is set aside before another state takes its place.
@MainActor
final class UndecodedStateTests: PartlyDecodedTestCase {
  private struct Failure: Error {}

  /// Saves after a restore, and says what was set aside by that.
  private func saveAgain(
    _ keeper: StateKeeper, _ nodes: [any RestorableNode], line: UInt = #line
  ) async throws -> [[UInt8]] {
    let before = launch.setAside
    let report = try await keeper.save(nodes)
    let added = launch.setAside.filter { !before.contains($0) }
    XCTAssertEqual(report.setAside != nil, !added.isEmpty, line: line)
    return added
  }

  func testAStateWithAFieldThatDidNotFitIsSetAsideOnce() async throws {
    try await save([Noted(TitleAndCount(title: "stored", count: 1))])
    let stored = try XCTUnwrap(launch.storedBytes)
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    let (keeper, _) = try await restore([node])
    XCTAssertEqual(launch.setAside, [], "nothing has taken its place")
    var added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, [stored])
    let asides = try await keeper.setAsideStates()
    XCTAssertEqual(asides.map(\.reason), [.undecoded])
    XCTAssertEqual(
      asides.map(\.description),
      ["memory 1, set aside since the app could not decode all of it"])
    node.restorableState.title = "changed"
    added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, [])
    await keeper.close()

    let (later, report) = try await restore([node])
    XCTAssertEqual(report.problems, [])
    added = try await saveAgain(later, [node])
    XCTAssertEqual(added, [])
    try await later.putBack(try XCTUnwrap(asides.first))
    XCTAssertEqual(launch.storedBytes, stored)
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
      counts.append(launch.setAside.count)
      await keeper.close()
    }
    XCTAssertEqual(counts, [1, 1, 1, 1, 2])
  }

  func testAStateThatWasNotDecodedAtAllIsSetAside() async throws {
    for make in [
      { AllOrNothing(TitleAndWord(title: "own", count: "own")) },
      { Noted(5) },
    ] as [() -> any RestorableNode] {
      launch = Launch()
      try await save([Noted(TitleAndCount(title: "stored", count: 1))])
      let stored = try XCTUnwrap(launch.storedBytes)
      let node = make()
      let (keeper, _) = try await restore([node])
      let added = try await saveAgain(keeper, [node])
      XCTAssertEqual(added, [stored])
    }
  }

  func testAStateWhoseHooksThrowIsSetAside() async throws {
    for hook in 0..<3 {
      launch = Launch()
      let node = TestNode("root", value: "stored")
      try await save([node])
      let stored = try XCTUnwrap(launch.storedBytes)
      let delegate = TestDelegate()
      switch hook {
      case 0: node.onDecode = { _ in throw Failure() }
      case 1: delegate.onDidDecode = { _ in throw Failure() }
      default: break
      }
      let keeper = try launch.keeper(delegate: delegate)
      _ = try await keeper.restore(into: [node])
      let added = try await saveAgain(keeper, [node])
      XCTAssertEqual(added, hook == 2 ? [] : [stored], "\(hook)")
    }
  }

  func testTheStateOfANodeThatIsOfAnotherClassNowIsSetAside() async throws {
    try await save([TestNode("note", value: "stored")])
    let stored = try XCTUnwrap(launch.storedBytes)
    let keeper = try launch.keeper()
    let node = Noted(5)
    _ = try await keeper.restore(into: [node])
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, [stored])
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
    let stored = try XCTUnwrap(launch.storedBytes)
    let node = Noted(TitleAndCount(title: "own", count: 3))
    let (keeper, report) = try await restore([node])
    XCTAssertEqual(report.notes, [.missingFields(["count"])])
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, [stored])
  }

  // MARK: Other ways to lose it

  func testATrackedNodeThatSaysNothingIsWrittenAnewAndTheStateSetAside() async throws {
    try await save([Tracked(TitleAndCount(title: "stored", count: 1))])
    let stored = try XCTUnwrap(launch.storedBytes)
    let node = Tracked(TitleAndWord(title: "own", count: "own"))
    let (keeper, _) = try await restore([node])
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, [stored])
    await keeper.close()
    let again = Tracked(TitleAndWord(title: "", count: ""))
    let (_, report) = try await restore([again])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(again.restorableState, TitleAndWord(title: "stored", count: "own"))
  }

  func testADeclinedSaveSetsItAside() async throws {
    try await save([Noted(TitleAndCount(title: "stored", count: 1))])
    let stored = try XCTUnwrap(launch.storedBytes)
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    let delegate = TestDelegate()
    delegate.saves = false
    let keeper = try launch.keeper(delegate: delegate)
    try keeper.register(Noted<TitleAndWord>.self, as: "Note")
    _ = try await keeper.restore(into: [node])
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, [stored])
    XCTAssertNil(launch.storedBytes)
  }

  func testAGenerationThatStoodInIsSetAside() async throws {
    try await save([Noted(TitleAndCount(title: "stored", count: 1))])
    let stored = try XCTUnwrap(launch.storedBytes)
    launch.environment = ApplicationEnvironment(applicationVersion: "12")
    let same = Noted(TitleAndCount(title: "", count: 0))
    let (other, _) = try await restore([same])
    _ = try await other.save([same])
    await other.close()
    launch.storedBytes = nil
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    let (keeper, report) = try await restore([node])
    XCTAssertEqual(report.source?.generation, .upgraded)
    XCTAssertEqual(node.restorableState, TitleAndWord(title: "stored", count: "own"))
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, [stored])
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
    let stored = try XCTUnwrap(launch.storedBytes)
    let late = Noted(TitleAndWord(title: "own", count: "own"))
    tabs.restorationChildren.append(late)
    let report = try await later.restore(late: late, below: tabs)
    XCTAssertEqual(late.restorableState, TitleAndWord(title: "stored", count: "own"))
    XCTAssertEqual(report.problems.count, 1)
    added = try await saveAgain(later, [tabs])
    XCTAssertEqual(added, [stored])
  }

  func testTheStateOfASceneIsSetAsideBesideIt() async throws {
    let app = SceneLaunch()
    let first = try app.launch.keeper()
    try first.register(Noted<TitleAndCount>.self, as: "Note")
    let host = SceneHost(first)
    app.prepare = { $0.roots = [Noted(TitleAndCount(title: "stored", count: 1))] }
    host.register(SceneConfiguration { app.makeDelegate() })
    try await host.launch()
    let scene = try await host.open()
    try await host.background(scene)
    let identifier = scene.session.persistentIdentifier
    let stored = try XCTUnwrap(app.bytes(of: identifier))

    let second = try app.launch.keeper()
    try second.register(Noted<TitleAndWord>.self, as: "Note")
    let later = SceneHost(second)
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    app.prepare = { $0.roots = [node] }
    later.register(SceneConfiguration { app.makeDelegate() })
    try await later.launch()
    let failures = await later.restoreScenes()
    XCTAssertEqual(failures.count, 0)
    let again = try XCTUnwrap(later.connectedScenes.first)
    XCTAssertEqual(node.restorableState, TitleAndWord(title: "stored", count: "own"))
    _ = try await later.save(again)
    XCTAssertEqual(
      app.launch.store.memory(named: "main.scene-\(identifier)").setAsideBytes, [stored])
  }

  // MARK: Saves that fail

  func testASaveThatFailsLeavesItForTheNext() async throws {
    try await save([Noted(TitleAndCount(title: "stored", count: 1))])
    let stored = try XCTUnwrap(launch.storedBytes)
    let node = Noted(TitleAndWord(title: "own", count: "own"))
    let (keeper, _) = try await restore([node])
    launch.keys.isLocked = true
    let report = try await keeper.save([node])
    XCTAssertEqual(report.outcome, .locked)
    XCTAssertEqual(launch.storedBytes, stored)
    launch.keys.isLocked = false
    _ = try await keeper.restore(into: [node])
    let added = try await saveAgain(keeper, [node])
    XCTAssertEqual(added, [stored])
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
