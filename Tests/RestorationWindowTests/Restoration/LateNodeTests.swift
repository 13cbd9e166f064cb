import RestorationKit
import TestSupport
import XCTest

/// Nodes that are built after the restore and get what was kept for them.
@MainActor
final class LateNodeTests: XCTestCase {
  private struct Failure: Error {}

  private let launch = Launch()
  private let trace = Trace()

  override func tearDown() async throws {
    TestFactory.make = { _, _ in nil }
  }

  /// Two tabs; in the second a node, a view and what a factory makes.
  private func saveTabs() async throws {
    let made = TestNode("made", value: "made")
    made.restorationClass = TestFactory.self
    let second = TestNode("second", value: "second", children: [TestNode("below"), made])
    second.restorationViews = [TestView("field", value: "typed")]
    (second.restorationChildren[0] as? TestNode)?.value = "below"
    let tabs = TestTabs("tabs", children: [TestNode("first"), second])
    _ = try await launch.keeper().save([tabs])
  }

  /// A launch that has the first tab alone.
  private func restoreTabs(delegate: TestDelegate? = nil) async throws
    -> (keeper: StateKeeper, tabs: TestTabs)
  {
    let keeper = try launch.keeper(delegate: delegate)
    let tabs = TestTabs("tabs", children: [TestNode("first")])
    _ = try await keeper.restore(into: [tabs])
    trace.clear()
    return (keeper, tabs)
  }

  private func lateTab() -> (tab: TestNode, below: TestNode, field: TestView) {
    let below = TestNode("below", trace: trace)
    let tab = TestNode("second", trace: trace, children: [below])
    let field = TestView("field")
    field.trace = trace
    tab.restorationViews = [field]
    tab.onDecode = { [weak tab] in tab?.restorationChildren = $0.restoredChildren }
    return (tab, below, field)
  }

  func testATabThatIsBuiltLateGetsWhatWasStoredInTheOrderOfARestore() async throws {
    try await saveTabs()
    let delegate = TestDelegate(trace)
    delegate.onLayOut = {}
    let (keeper, tabs) = try await restoreTabs(delegate: delegate)
    _ = try await keeper.save([tabs])
    trace.clear()
    TestFactory.make = { [trace] path, _ in
      trace.add("factory \(path)")
      return TestNode(path.identifier, trace: trace)
    }
    let (tab, below, field) = lateTab()
    tabs.restorationChildren.append(tab)
    let report = try await keeper.restore(late: tab, below: tabs)
    XCTAssertEqual(
      trace.events,
      [
        "delegate tabs/second/below", "factory tabs/second/made", "load second", "load below",
        "load made", "decode second", "decode field", "decode below", "decode made", "layOut",
        "scroll field", "finished second", "finished below", "finished made",
      ])
    XCTAssertEqual(
      report.description,
      """
      Restored 4 of 4 nodes.
        tabs/second (TestNode): restored, already there
        tabs/second/field (TestView): restored, already there
        tabs/second/below (TestNode): restored, already there
        tabs/second/made (TestNode): restored, made by what is registered for it
      """)
    XCTAssertEqual([tab.value, below.value, field.value], ["second", "below", "typed"])
    XCTAssertEqual(tab.restorationChildren.count, 2)

    let saved = try await keeper.save([tabs])
    XCTAssertEqual(
      saved.savedPaths,
      [
        "tabs", "tabs/first", "tabs/second", "tabs/second/field", "tabs/second/below",
        "tabs/second/made",
      ])
    XCTAssertEqual(saved.entries.count, 6)
  }

  func testARootThatComesLateGetsWhatWasStored() async throws {
    _ = try await launch.keeper().save([TestNode("window", value: "w"), TestNode("main")])
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [TestNode("main")])
    let window = TestNode("window")
    let report = try await keeper.restore(late: window)
    XCTAssertEqual(report.outcome(of: "window"), .restored(by: .existing))
    XCTAssertEqual(window.value, "w")
  }

  func testWithoutAnythingKeptNothingIsCalled() async throws {
    try await saveTabs()
    func assertNothing(
      _ keeper: StateKeeper, _ node: TestNode, below parent: TestNode?, line: UInt = #line
    ) async throws {
      trace.clear()
      let report = try await keeper.restore(late: node, below: parent)
      XCTAssertEqual(report.outcome, .nothingKept, line: line)
      XCTAssertEqual(report.entries, [], line: line)
      XCTAssertEqual(
        report.description,
        "Nothing restored: nothing is kept for the node. One that is saved replaces it.",
        line: line)
      XCTAssertEqual(trace.events, [], line: line)
    }
    let (tab, _, _) = lateTab()
    let tabs = TestTabs("tabs", children: [tab])
    try await assertNothing(launch.keeper(), tab, below: tabs)

    let (keeper, restored) = try await restoreTabs()
    try await assertNothing(keeper, TestNode("other"), below: restored)
    try await assertNothing(keeper, TestNode(nil), below: restored)
    try await assertNothing(keeper, tab, below: nil)
    try await assertNothing(keeper, tab, below: TestTabs("tabs"))
    XCTAssertNil(keeper.problem)
    // Once it was restored.
    let first = try await keeper.restore(late: tab, below: restored)
    XCTAssertEqual(first.outcome, .restored)
    try await assertNothing(keeper, tab, below: restored)

    // Once one was saved with a state of its own.
    let (other, otherTabs) = try await restoreTabs()
    otherTabs.restorationChildren = [tab]
    _ = try await other.save([otherTabs])
    try await assertNothing(other, tab, below: otherTabs)
    try await other.discardState()
    try await assertNothing(other, tab, below: otherTabs)
  }

  func testAfterItsParentWasSavedWhatLiesBelowCanComeLate() async throws {
    try await saveTabs()
    let (keeper, tabs) = try await restoreTabs()
    let tab = TestNode("second", value: "newer")
    tabs.restorationChildren = [tab]
    _ = try await keeper.save([tabs])
    let below = TestNode("below")
    let report = try await keeper.restore(late: below, below: tab)
    XCTAssertEqual(report.outcome(of: "tabs/second/below"), .restored(by: .existing))
    XCTAssertEqual(below.value, "below")
  }

  func testADelegateThatIsGoneRestoresNothing() async throws {
    try await saveTabs()
    let keeper = try launch.keeper()
    let tabs = TestTabs("tabs")
    _ = try await keeper.restore(into: [tabs])
    do {
      let delegate = TestDelegate()
      keeper.delegate = delegate
    }
    let report = try await keeper.restore(late: lateTab().tab, below: tabs)
    XCTAssertEqual(report.outcome, .delegateGone)
  }

  func testWhatIsStillNotBackStaysKeptAndAVetoDropsIt() async throws {
    for vetoes in [false, true] {
      try await saveTabs()
      let (keeper, tabs) = try await restoreTabs()
      TestFactory.make = { _, _ in
        if vetoes { return nil }
        throw Failure()
      }
      let tab = TestNode("second")
      tabs.restorationChildren = [tab]
      let report = try await keeper.restore(late: tab, below: tabs)
      XCTAssertEqual(report.outcome(of: "tabs/second/below"), .notFound)
      XCTAssertEqual(
        report.entries.map { $0.notes.contains(.kept) }, [false, true, true, !vetoes])
      let saved = try await keeper.save([tabs])
      XCTAssertEqual(saved.outcome(of: "tabs/second"), .saved)
      XCTAssertEqual(saved.outcome(of: "tabs/second/field"), .keptAsStored)
      XCTAssertEqual(saved.outcome(of: "tabs/second/below"), .keptAsStored)
      XCTAssertEqual(saved.outcome(of: "tabs/second/made"), vetoes ? nil : .keptAsStored)
      // It can come later still.
      let below = TestNode("below")
      _ = try await keeper.restore(late: below, below: tab)
      XCTAssertEqual(below.value, "below")
    }
  }

  func testWhatIsStillNotBackGoesOnCounting() async throws {
    try await saveTabs()
    let (keeper, tabs) = try await restoreTabs()
    let since = launch.now
    let day: Double = 24 * 60 * 60
    keeper.policy.keptAge = 30 * day
    _ = try await keeper.save([tabs])
    launch.now += 20 * day
    let tab = TestNode("second")
    tabs.restorationChildren = [tab]
    _ = try await keeper.restore(late: tab, below: tabs)
    launch.now += 11 * day
    let saved = try await keeper.save([tabs])
    guard case .expired(since, _)? = saved.outcome(of: "tabs/second/below") else {
      return XCTFail("\(saved)")
    }
  }

  func testANodeOfAnotherClassGetsNothingAndWhatIsKeptStays() async throws {
    try await saveTabs()
    let (keeper, tabs) = try await restoreTabs()
    let unrelated = UnrelatedNode("second")
    let report = try await keeper.restore(late: unrelated, below: tabs)
    XCTAssertEqual(
      report.entries.map(\.outcome), [.classMismatch(by: .existing, found: "UnrelatedNode")])
    XCTAssertEqual(report.entries.map(\.notes), [[.kept]])
    XCTAssertFalse(unrelated.wasDecoded)
    let (tab, _, _) = lateTab()
    _ = try await keeper.restore(late: tab, below: tabs)
    XCTAssertEqual(tab.value, "second")
  }

  func testReferencesGoBothWays() async throws {
    let (first, second) = (TestNode("first"), TestNode("second", value: "second"))
    let tabs = TestTabs("tabs", children: [first, second])
    second.onEncode = { $0.encode(first, forKey: "friend") }
    let third = TestNode("third", value: "third")
    third.onEncode = { $0.encode(second, forKey: "friend") }
    tabs.restorationChildren.append(third)
    _ = try await launch.keeper().save([tabs])

    let (keeper, later) = try await restoreTabs()
    let friends = LockedFriends()
    func late(_ identifier: String) -> TestNode {
      let node = TestNode(identifier)
      node.onDecode = { friends.all.append(try $0.decodeObject(forKey: "friend")) }
      return node
    }
    let (lateSecond, lateThird) = (late("second"), late("third"))
    _ = try await keeper.restore(late: lateSecond, below: later)
    _ = try await keeper.restore(late: lateThird, below: later)
    XCTAssertEqual(friends.all.count, 2)
    XCTAssertTrue(friends.all.first.flatMap(\.self) === later.restorationChildren.first)
    XCTAssertTrue(friends.all.last.flatMap(\.self) === lateSecond)
  }

  @MainActor
  private final class LockedFriends {
    var all: [TestNode?] = []
  }

  func testAKeptReferenceNamesTheNodeThatCameLate() async throws {
    let (a, b) = (TestNode("a", value: "a"), TestNode("b", value: "b"))
    a.onEncode = { $0.encode(b, forKey: "friend") }
    _ = try await launch.keeper().save([TestNode("root", children: [a, b])])
    let keeper = try launch.keeper()
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    let late = TestNode("b")
    root.restorationChildren = [late]
    _ = try await keeper.restore(late: late, below: root)
    _ = try await keeper.save([TestNode("other"), root])

    var friend: TestNode?
    let (backA, backB) = (TestNode("a"), TestNode("b"))
    backA.onDecode = { friend = try $0.decodeObject(forKey: "friend") }
    _ = try await launch.keeper().restore(into: [TestNode("root", children: [backA, backB])])
    XCTAssertNotNil(friend)
    XCTAssertTrue(friend === backB)
  }

  func testEqualNodesOfASplitAreToldApartByTheirPositions() async throws {
    let columns = ["0", "1", "2"].map { TestNode("x", value: $0) }
    _ = try await launch.keeper().save([TestSplit("split", children: columns)])
    let keeper = try launch.keeper()
    let split = TestSplit("split", children: [TestNode("x")])
    _ = try await keeper.restore(into: [split])
    let (second, third) = (TestNode("x"), TestNode("x"))
    split.restorationChildren += [second, third]
    _ = try await keeper.restore(late: third, below: split)
    split.restorationChildren = [split.restorationChildren[0]]
    // One that is not in there yet is the next.
    _ = try await keeper.restore(late: second, below: split)
    XCTAssertEqual([second.value, third.value], ["1", "2"])
  }

  func testANewerStateOfALateNodeIsWrittenBack() async throws {
    func keeper(version: Int) throws -> StateKeeper {
      let keeper = try launch.keeper()
      try keeper.register(SpecialTestNode.self, version: version)
      return keeper
    }
    _ = try await keeper(version: 2).save([SpecialTestNode("a", value: "newer")])
    let older = try keeper(version: 1)
    _ = try await older.restore()
    let node = SpecialTestNode("a", value: "default")
    let report = try await older.restore(late: node)
    XCTAssertEqual(report.outcome(of: "a"), .newerVersion(by: .existing, stored: 2, known: 1))
    XCTAssertEqual(node.value, "default")
    let saved = try await older.save([node])
    XCTAssertEqual(saved.outcome(of: "a"), .keptAsStored)
    let back = SpecialTestNode("a")
    _ = try await keeper(version: 2).restore(into: [back])
    XCTAssertEqual(back.value, "newer")
  }

  func testItWaitsForARestoreThatIsUnderWay() async throws {
    try await saveTabs()
    let keeper = try launch.keeper()
    let tabs = TestTabs("tabs", children: [TestNode("first")])
    let restore = Task { @MainActor in _ = try await keeper.restore(into: [tabs]) }
    await Task.yield()
    let (tab, _, _) = lateTab()
    let report = try await keeper.restore(late: tab, below: tabs)
    try await restore.value
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertEqual(tab.value, "second")
  }

  func testWhatIsNotBackBelowALateNodeIsAProblem() async throws {
    try await saveTabs()
    let (keeper, tabs) = try await restoreTabs()
    let tab = TestNode("second")
    let report = try await keeper.restore(late: tab, below: tabs)
    XCTAssertEqual(
      report.problems.map(\.description),
      [
        "tabs/second/field (TestView): not found; let its node have it among its"
          + " restorationViews when they are loaded; saves keep it as it is stored, until a node is"
          + " saved in its place",
        "tabs/second/below (TestNode): not found; register its class with a closure that makes it,"
          + " answer in the delegate, or let the node above it contain it before you restore; if it"
          + " is built later, call restore(late:below:); saves keep it as it is stored, until a node"
          + " is saved in its place",
      ])
    XCTAssertEqual(tab.value, "second")
  }

  func testOnlyWhatIsRestoredIsAsked() async throws {
    let tabs = (0..<100).map { TestNode("\($0)", value: "\($0)", children: [TestNode("below")]) }
    _ = try await launch.keeper().save([TestTabs("tabs", children: tabs)])
    let keeper = try launch.keeper()
    let trace = Trace()
    let later = TestTabs("tabs", trace: trace)
    _ = try await keeper.restore(into: [later])
    for number in [40, 3] {
      trace.clear()
      let tab = TestNode(
        "\(number)", trace: trace, children: [TestNode("below", trace: trace)])
      let report = try await keeper.restore(late: tab, below: later)
      XCTAssertEqual(report.entries.count, 2)
      XCTAssertEqual(
        trace.events,
        ["load", "decode", "finished"].flatMap { ["\($0) \(number)", "\($0) below"] })
      XCTAssertEqual(tab.value, "\(number)")
    }
  }

  /// A state in which the second tab was selected, and a launch that has the first tab alone.
  private func restoreSelectedTabs() async throws -> (keeper: StateKeeper, tabs: TestTabs) {
    let second = TestNode("second")
    let tabs = TestTabs("tabs", children: [TestNode("first"), second])
    tabs.selectedTab = second
    _ = try await launch.keeper().save([tabs])
    return try await restoreTabs()
  }

  func testATabThatWasSelectedIsSelectedWhenItComesLate() async throws {
    let (keeper, tabs) = try await restoreSelectedTabs()
    let second = TestNode("second")
    tabs.restorationChildren.append(second)
    _ = try await keeper.save([tabs])
    let report = try await keeper.restore(late: second, below: tabs)
    // Its body lies beside the one that the save has stored.
    XCTAssertEqual(report.outcome, .restored)
    let (again, others) = try await restoreSelectedTabs()
    let late = TestNode("second")
    others.restorationChildren.append(late)
    let restored = try await again.restore(late: late, below: others)
    XCTAssertEqual(restored.problems, [])
  }

  func testATabThatComesLateDoesNotTakeTheSelectionOfTheUser() async throws {
    let (keeper, tabs) = try await restoreSelectedTabs()
    let (second, third) = (TestNode("second"), TestNode("third"))
    tabs.restorationChildren += [second, third]
    tabs.selectedTab = third
    let report = try await keeper.restore(late: second, below: tabs)
    XCTAssertEqual(report.notes, [])
    XCTAssertEqual(report.problems, [])
    XCTAssertIdentical(tabs.selectedTab, third)
  }
}
