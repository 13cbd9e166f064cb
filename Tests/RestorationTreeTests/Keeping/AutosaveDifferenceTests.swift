import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What a poll takes for a change, and what not.
@MainActor
final class AutosaveDifferenceTests: AutosavePollTestCase {
  /// Sees that a poll finds each of some changes, and no other one after its save.
  private func assertFinds(
    _ changes: [(String, () -> Void)], in root: (any RestorableNode)? = nil,
    _ keeper: StateKeeper
  ) async throws {
    _ = try await polled(keeper, of: root)
    for (place, (name, change)) in changes.enumerated() {
      change()
      try await pass(.seconds(2))
      try await waitUntil("\(name) is found") { events.count == place + 2 }
      XCTAssertEqual(outcomes.last, "saved", name)
      try await passInterval()
      try await pass(.milliseconds(1750))
      try await pauses([.seconds(2)])
      XCTAssertEqual(events.count, place + 2, name)
    }
    await keeper.close()
  }

  /// Sees that polls find nothing where nothing changes.
  private func assertFindsNothing(
    in root: (any RestorableNode)? = nil, _ keeper: StateKeeper, line: UInt = #line
  ) async throws {
    _ = try await polled(keeper, of: root)
    try await assertSavesByTimeWriteNothing(keeper, line: line)
    XCTAssertEqual(events.count, 1, line: line)
    await keeper.close()
  }

  /// Sees that saves by time write nothing.
  private func assertSavesByTimeWriteNothing(
    _ keeper: StateKeeper, line: UInt = #line
  ) async throws {
    let delegate = TestDelegate()
    keeper.delegate = delegate
    let writes = disk.writes
    for _ in 0..<3 {
      try await pass(.seconds(2))
      try await pauses([.seconds(2)])
    }
    XCTAssertEqual(disk.writes, writes, line: line)
    withExtendedLifetime(delegate) { keeper.delegate = nil }
  }

  func testWhateverIsStoredOfANodeIsADifference() async throws {
    let (below, shown) = (PlainNode("below"), PlainNode("shown"))
    let (view, inner) = (TestView("view"), TestView("inner"))
    try await assertFinds(
      [
        ("a node that it contains", { self.plain.below = [below] }),
        ("a value below", { below.value = "1" }),
        ("a node below that", { below.below = [PlainNode("far")] }),
        ("a node that it presents", { self.plain.shown = shown }),
        ("a value of that", { shown.value = "1" }),
        ("a view", { self.plain.views = [view] }),
        ("the value of a view", { view.value = "1" }),
        ("the offset of a view", { view.contentOffset = (0, 1) }),
        ("a view in a view", { view.restorationSubviews = [inner] }),
        ("the value of that", { inner.value = "1" }),
        ("another order", { self.plain.below = [PlainNode("first"), below] }),
        ("a reference", { self.plain.references = [below] }),
        ("another identifier", { below.name = "renamed" }),
        ("a node of another class", { self.plain.shown = TrackedNode("shown") }),
        ("a node that goes", { self.plain.below = [] }),
      ], try await keeper())
  }

  func testANodeThatSaysWhenItChangesAndIsAnotherObjectIsADifference() async throws {
    plain.below = [TrackedNode("below")]
    let other = TrackedNode("below")
    other.value = "other"
    try await assertFinds(
      [("another object of equal name and class", { self.plain.below = [other] })],
      try await keeper())
  }

  func testTheSelectedTabIsADifference() async throws {
    let tabs = PlainTabs("root")
    let (first, second) = (PlainNode("first"), PlainNode("second"))
    tabs.below = [first, second]
    let keeper = try await keeper()
    try await assertFinds(
      [
        ("a selected tab", { tabs.selectedTab = first }),
        ("another selected tab", { tabs.selectedTab = second }),
      ], in: tabs, keeper)
  }

  func testTheStateOfASharedObjectIsADifference() async throws {
    let keeper = try await keeper()
    let shared = PlainObject()
    keeper.registerObject(shared, restorationIdentifier: "shared")
    plain.references = [shared]
    try await assertFinds([("its value", { shared.value = "1" })], keeper)
  }

  func testOtherRootsAreADifference() async throws {
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
    await keeper.close()
  }

  func testReferencesAreNoDifferenceByThemselves() async throws {
    let keeper = try await keeper()
    let shared = TrackedObject("1")
    keeper.registerObject(shared, restorationIdentifier: "shared")
    let below = PlainNode("below")
    plain.below = [below]
    // A node that nothing contains, and one that has no identifier.
    below.references = [plain, shared, PlainNode("loose"), PlainNode(nil)]
    try await assertFindsNothing(keeper)
  }

  func testWhatIsLeftOutIsNoDifference() async throws {
    let twice = PlainNode("twice")
    let throwing = PlainNode("throwing")
    throwing.throwsInEncode = true
    let long = String(repeating: "x", count: 5000)
    plain.below = [
      PlainNode(nil), PlainNode("same"), PlainNode("same"), twice, twice, throwing,
      PlainNode(long), TrackedNode("tracked"),
    ]
    plain.views = [TestView(nil), TestView("view"), TestView("view"), TestView(long)]
    try await assertFindsNothing(try await keeper())
  }

  func testAStackIsNoDifference() async throws {
    let stack = PlainStack("root")
    stack.below = [PlainNode("a"), PlainNode("a"), PlainNode(nil), PlainNode("a")]
    try await assertFindsNothing(in: stack, try await keeper())
  }

  func testANodeThatThrowsIsFoundWhenItDoesNotThrowAnyMore() async throws {
    plain.throwsInEncode = true
    try await assertFinds(
      [("a state that can be encoded", { self.plain.throwsInEncode = false })],
      try await keeper())
  }

  /// A node whose stored state is newer than this version of the app, after its restore.
  private func withheld() async throws -> (keeper: StateKeeper, node: TestNode) {
    let newer = try newKeeper()
    try newer.register(
      TestNode.self, version: 2, migrations: [1: { _ in }])
    _ = try await newer.restore()
    _ = try await newer.save([TestNode("root", value: "newer")])
    await newer.close()
    let keeper = try newKeeper()
    try keeper.register(TestNode.self)
    let node = TestNode("root")
    _ = try await keeper.restore(into: [node])
    node.value = "typed"
    return (keeper, node)
  }

  func testANodeThatThrowsBesideAStateThatNobodyCouldReadIsFoundWhenItDoesNotThrowAnyMore()
    async throws
  {
    let (keeper, node) = try await withheld()
    node.onEncode = { _ in throw CocoaError(.coderInvalidValue) }
    _ = try await polled(keeper, of: node)
    for _ in 0..<2 {
      try await pass(.seconds(2))
      try await pauses([.seconds(2)])
    }
    XCTAssertEqual(events.count, 1)
    node.onEncode = nil
    try await pass(.seconds(2))
    try await told(2)
    await keeper.close()
    XCTAssertEqual(try launch.storedRecords()?["root"]?.value, "typed")
  }

  func testANodeThatThrowsOnlyWhenItIsWrittenIsFoundWithTheNextPoll() async throws {
    let (keeper, node) = try await withheld()
    var encodeCount = 0
    node.onEncode = { _ in
      encodeCount += 1
      if encodeCount == 2 { throw CocoaError(.coderInvalidValue) }
    }
    _ = try await begun(keeper, of: node)
    try await passInterval()
    try await pass(.milliseconds(1750))
    try await told(2)
    await keeper.close()
    XCTAssertEqual(try launch.storedRecords()?["root"]?.value, "typed")
  }

  func testNodesThatAreMadeAnewWheneverTheyAreAskedForAreNoDifference() async throws {
    let root = MakingNode()
    let keeper = try await keeper()
    _ = try await polled(keeper, of: root)
    for _ in 0..<3 {
      try await pass(.seconds(2))
      try await pauses([.seconds(2)])
    }
    XCTAssertEqual(events.count, 1)
    root.values[1] = "changed"
    try await pass(.seconds(2))
    try await told(2)
    await keeper.close()
  }

  func testWhatIsKeptIsNoDifference() async throws {
    let first = try await keeper()
    plain.below = [PlainNode("gone")]
    _ = try await first.save([plain])
    await first.close()
    plain.below = []
    let keeper = try newKeeper()
    _ = try await keeper.restore(into: [plain])
    try await assertFindsNothing(keeper)
  }

  func testACoderThatANodeKeepsIsNoDifference() async throws {
    let keeper = try await keeper()
    var kept: [StateEncoder] = []
    let node = TestNode("root")
    node.onEncode = { kept.append($0) }
    _ = try await polled(keeper, of: node)
    kept.last?.encode("late", forKey: "late")
    try await assertSavesByTimeWriteNothing(keeper)
    await keeper.close()
  }
}

/// Roots that a test sets.
@MainActor
private final class Roots {
  var nodes: [any RestorableNode]

  init(_ nodes: [any RestorableNode]) {
    self.nodes = nodes
  }
}

/// A registered object that says nothing of its changes.
@MainActor
private final class PlainObject: @MainActor RestorableObject {
  var value = ""

  func encodeRestorableState(with coder: StateEncoder) {
    coder.encode(value, forKey: "value")
  }
}

/// A node that makes what it contains from a model, whenever it is asked.
@MainActor
private final class MakingNode: @MainActor RestorableNode {
  let restorationIdentifier: String? = "root"
  var values = ["0", "1", "2"]

  var restorationChildren: [any RestorableNode] {
    values.enumerated().map { place, value in
      let node = PlainNode("\(place)")
      node.value = value
      return node
    }
  }
}
