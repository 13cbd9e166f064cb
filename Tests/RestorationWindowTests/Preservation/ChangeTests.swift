import ArchiveCodec
import Observation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Saves of what has changed since the save before: whom they ask, and what they write.
@MainActor
final class ChangeTests: ChangeTestCase {
  // MARK: What is asked and written

  func testANameOfOtherBytesIsStoredThoughItIsEqual() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    for name in ["e\u{301}", "\u{e9}"] {
      nodes[2].name = name
      _ = try await keeper.save([root])
      XCTAssertEqual(
        try launch.storedPaths().last.map { Array($0.utf8) }, Array("root/\(name)".utf8))
    }
  }

  func testNothingIsUnaskedWhereAllNodesHaveSaidThatTheyChanged() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(3, with: keeper)
    for node in [root] + nodes { node.value = "changed" }
    let report = try await keeper.save([root])
    XCTAssertEqual(report.entries.count, 4)
    XCTAssertEqual(report.unaskedCount, 0)
    nodes[0].below = [TrackedNode("new")]
    for node in [root] + nodes { node.value = "changed again" }
    let other = try await keeper.save([root])
    XCTAssertEqual(other.entries.count, 5)
    XCTAssertEqual(other.unaskedCount, 0)
  }

  func testASaveAsksTheNodesThatSaidSoAndWritesTheirRecordsAlone() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(100, with: keeper)
    let before = try XCTUnwrap(launch.storedBytes)
    nodes[7].value = "changed"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.entries.map(\.path.description), ["root/n7"])
    XCTAssertEqual(report.unaskedCount, 100)
    XCTAssertEqual(([root] + nodes).map(\.encodeCount).filter { $0 > 1 }, [2])
    let after = try XCTUnwrap(launch.storedBytes)
    XCTAssertEqual(Array(after.prefix(before.count)), before)
    XCTAssertEqual(after.count - before.count, report.writtenByteCount)
    XCTAssertLessThan(report.writtenByteCount, 400)
    XCTAssertEqual(report.byteCount, after.count)
    XCTAssertEqual(try value(of: "root/n7"), "changed")
    XCTAssertEqual(try value(of: "root/n6"), "6")
  }

  func testWhereNothingHasChangedNothingIsWritten() async throws {
    let log = CallLog()
    let store = HookedStore(launch.store) { name, call in log.add(name, call) }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    let (root, nodes) = try await savedTree(with: keeper)
    let plain = PlainNode("plain")
    _ = try await keeper.save([root, plain])
    let before = launch.storedBytes
    log.removeAll()
    nodes[0].invalidateRestorableState()
    let report = try await keeper.save([root, plain])
    XCTAssertEqual(report.outcome, .saved)
    XCTAssertEqual(report.writtenByteCount, 0)
    XCTAssertEqual(report.byteCount, before?.count)
    XCTAssertEqual(report.entries.map(\.path.description).sorted(), ["plain", "root/n0"])
    XCTAssertEqual(launch.storedBytes, before)
    XCTAssertEqual(log.all.filter(\.isChange), [])
  }

  func testANodeThatTracksNothingIsAskedAtEverySaveAndWrittenWhenItIsOtherwise() async throws {
    let keeper = try launch.keeper()
    let node = PlainNode("a")
    node.value = "1"
    _ = try await keeper.save([node])
    let same = try await keeper.save([node])
    XCTAssertEqual(same.writtenByteCount, 0)
    node.value = "2"
    let changed = try await keeper.save([node])
    XCTAssertGreaterThan(changed.writtenByteCount, 0)
    XCTAssertEqual(node.encodeCount, 3)
    XCTAssertEqual(try value(of: "a"), "2")
  }

  func testANodeThatTracksNothingIsAskedBelowOneThatDoes() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let plain = PlainNode("plain")
    plain.below = [PlainNode("below")]
    nodes[1].below = [plain]
    _ = try await keeper.save([root])
    plain.value = "new"
    (plain.below[0] as? PlainNode)?.value = "newer"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.unaskedCount, 4)
    XCTAssertEqual(try value(of: "root/n1/plain"), "new")
    XCTAssertEqual(try value(of: "root/n1/plain/below"), "newer")
  }

  func testANodeOfAStoryboardThatHasChangedIsMadeByItsStoryboardAgain() async throws {
    var made: [TrackedNode] = []
    func makeStoryboard() -> Storyboard {
      let storyboard = Storyboard("Main")
      storyboard.register("drawn") {
        let node = TrackedNode("drawn")
        made.append(node)
        return node
      }
      return storyboard
    }
    let (keeper, storyboard) = (try launch.keeper(), makeStoryboard())
    try keeper.register(storyboard)
    let root = TrackedNode("root")
    root.below = [try storyboard.instantiate("drawn")].compactMap(\.self)
    _ = try await keeper.save([root])
    made.first?.value = "new"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.entries.map(\.path.description), ["root/drawn"])
    try await assertStoredAsAWhole([root]) { try $0.register(storyboard) }
    let next = try launch.keeper()
    try next.register(makeStoryboard())
    _ = try await next.restore(into: [TrackedNode("root")])
    XCTAssertEqual(made.map(\.value), ["new", "new"])
  }

  func testAnObservedNodeIsAskedWhenWhatItReadHasChangedAndNotBefore() async throws {
    let keeper = try launch.keeper()
    let root = TrackedNode("root")
    let observed = ObservedNode("observed")
    root.below = [observed]
    _ = try await keeper.save([root])
    _ = try await keeper.save([root])
    XCTAssertEqual(observed.encodeCount, 1)
    for value in ["1", "2"] {
      observed.value = value
      _ = try await keeper.save([root])
      _ = try await keeper.save([root])
      XCTAssertEqual(try self.value(of: "root/observed"), value)
    }
    XCTAssertEqual(observed.encodeCount, 3)
    observed.below = [PlainNode("new")]
    _ = try await keeper.save([root])
    XCTAssertEqual(
      try launch.storedPaths(), ["root", "root/observed", "root/observed/new"])
    observed.name = "renamed"
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/renamed", "root/renamed/new"])
    observed.views = [TestView("view")]
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths().filter { $0.hasSuffix("view") }, ["root/renamed/view"])
  }

  /// A save that asks all nodes, as the first one after a class was registered.
  private func saveEverything(
    _ roots: [any RestorableNode], _ keeper: StateKeeper, _ number: Int = 0
  ) async throws {
    try keeper.register(UnrelatedNode.self, as: "Unrelated\(number)")
    _ = try await keeper.saveEverything(roots)
  }

  func testAnObservedNodeThatIsAskedForAnotherReasonIsObservedOnce() async throws {
    let keeper = try launch.keeper()
    let observed = ObservedNode("observed")
    for number in 0..<3 { try await saveEverything([observed], keeper, number) }
    XCTAssertEqual(observed.encodeCount, 3)
    observed.value = "1"
    _ = try await keeper.save([observed])
    XCTAssertEqual(observed.encodeCount, 4)
    _ = try await keeper.save([observed])
    XCTAssertEqual(observed.encodeCount, 4)
  }

  func testAnObservedNodeIsAskedWhenWhatItReadLastHasChanged() async throws {
    let keeper = try launch.keeper()
    let node = TwoSidedNode()
    _ = try await keeper.save([node])
    node.showsBack = true
    try await saveEverything([node], keeper)
    node.back = "1"
    _ = try await keeper.save([node])
    XCTAssertEqual(try value(of: "root"), "1")
  }

  func testAnObservedViewIsStoredUnderItsNewNameWithItsNewSubviews() async throws {
    let keeper = try launch.keeper()
    let (root, view) = (ObservedNode("root"), ObservedView("view"))
    root.views = [view]
    _ = try await keeper.save([root])
    view.restorationSubviews = [TestView("inner")]
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root])
    view.restorationIdentifier = "renamed"
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root])
  }

  func testAnObservedObjectThatGetsAnotherParentIsStoredBelowIt() async throws {
    let keeper = try launch.keeper()
    let object = ObservedObject()
    func prepare(_ keeper: StateKeeper) {
      keeper.registerObject(object, restorationIdentifier: "object")
    }
    prepare(keeper)
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[0].references = [object]
    _ = try await keeper.save([root])
    object.restorationParent = nodes[1]
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root], prepare)
  }

  func testTheTabOfAnObservedNodeIsStoredAfterAStateThatNobodyCouldRead() async throws {
    let newer = try launch.keeper()
    try newer.register(
      ObservedTabs.self, version: 2, migrations: [1: { _ in }])
    _ = try await newer.save([ObservedTabs()])
    let keeper = try launch.keeper()
    try keeper.register(ObservedTabs.self)
    let tabs = ObservedTabs()
    _ = try await keeper.restore(into: [tabs])
    _ = try await keeper.save([tabs])
    tabs.value = "typed"
    _ = try await keeper.save([tabs])
    XCTAssertEqual(try value(of: "root"), "typed")
    tabs.selectedTab = tabs.restorationChildren[1]
    _ = try await keeper.save([tabs])
    let next = try launch.keeper()
    try next.register(ObservedTabs.self)
    let restored = ObservedTabs()
    _ = try await next.restore(into: [restored])
    XCTAssertEqual(restored.value, "typed")
    XCTAssert(restored.selectedTab === restored.restorationChildren[1])
  }

  func testANodeThatSaysInASaveThatItChangedIsAskedByTheNextOne() async throws {
    let keeper = try launch.keeper()
    let root = TrackedNode("root")
    let other = TestNode("other")
    other.onEncode = { _ in root.value = "set by another" }
    _ = try await keeper.save([root, other])
    XCTAssertEqual(try value(of: "root"), "")
    other.onEncode = nil
    _ = try await keeper.save([root, other])
    XCTAssertEqual(try value(of: "root"), "set by another")
  }

  func testASecondObjectOfANameIsLeftOutThoughTheFirstIsNotAsked() async throws {
    let keeper = try launch.keeper()
    let objects = [TestObject("first"), TestObject("second")]
    func prepare(_ keeper: StateKeeper) {
      for object in objects { keeper.registerObject(object, restorationIdentifier: "same") }
    }
    prepare(keeper)
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[0].references = [objects[0]]
    _ = try await keeper.save([root])
    nodes[1].references = [objects[1]]
    let report = try await keeper.save([root])
    XCTAssertEqual(report.problems.map(\.outcome), [.duplicate])
    try await assertStoredAsAWhole([root], prepare)
  }

  func testANodeMaySayOnAnyThreadThatItChanged() async throws {
    let keeper = try launch.keeper()
    let node = ThreadedNode()
    let root = TrackedNode("root")
    root.below = [node]
    _ = try await keeper.save([root])
    await Task.detached { node.set("elsewhere") }.value
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/threaded"), "elsewhere")
  }

  func testAnObjectLiesBelowItsParentOnceThatIsPreserved() async throws {
    for isAskedAlways in [true, false] {
      let keeper = try launch.keeper()
      let object = TestObject("object")
      keeper.registerObject(object, restorationIdentifier: "object")
      let (root, scope, plain) = (TrackedNode("root"), TrackedNode("scope"), PlainNode("plain"))
      object.restorationParent = scope
      if isAskedAlways { plain.references = [object] } else { root.references = [object] }
      _ = try await keeper.save([root, plain])
      root.below = [scope]
      _ = try await keeper.save([root, plain])
      XCTAssertTrue(try launch.storedPaths().contains("root/scope/object"))
      try await assertStoredAsAWhole([root, plain]) {
        $0.registerObject(object, restorationIdentifier: "object")
      }
    }
  }

  func testANodeOfTwoStatesMarksBoth() async throws {
    let other = Launch()
    let keepers = [try launch.keeper(), try other.keeper()]
    let node = TrackedNode("a")
    for keeper in keepers { _ = try await keeper.save([node]) }
    node.value = "new"
    for keeper in keepers { _ = try await keeper.save([node]) }
    XCTAssertEqual(try value(of: "a"), "new")
    XCTAssertEqual(try other.storedRecords()?["a"]?.value, "new")
  }

  func testANodeThatIsAnObjectTooIsAskedAsANode() async throws {
    let keeper = try launch.keeper()
    func prepare(_ keeper: StateKeeper) throws {
      try keeper.register(restorationClass: TestObjectFactory.self)
    }
    try prepare(keeper)
    let root = TrackedNode("root")
    root.below = [NodeAndObject()]
    _ = try await keeper.save([root])
    let again = try await keeper.save([root])
    XCTAssertEqual(again.writtenByteCount, 0)
    try await assertStoredAsAWhole([root], prepare)
  }

  // MARK: The application

  func testTheGateAndTheDelegateAreAskedAtEverySave() async throws {
    let trace = Trace()
    let delegate = TestDelegate(trace)
    let keeper = try launch.keeper(delegate: delegate)
    let (root, _) = try await savedTree(with: keeper)
    trace.clear()
    _ = try await keeper.save([root])
    let once = trace.events
    _ = try await keeper.save([root])
    XCTAssertEqual(trace.events, once + once)
    XCTAssertFalse(once.isEmpty)
    delegate.saves = false
    let declined = try await keeper.save([root])
    XCTAssertEqual(declined.outcome, .declined)
    try launch.assertNothingIsStored()
    delegate.saves = true
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/n0", "root/n1", "root/n2"])
  }

  func testRootsThatOnlyTheApplicationRefersToAreInItsOrder() async throws {
    let delegate = TestDelegate()
    let keeper = try launch.keeper(delegate: delegate)
    let root = TrackedNode("root")
    let others: [any StateRestoring] = [TrackedNode("a"), TrackedNode("b")]
    delegate.onWillEncode = { $0.encode(others, forKey: "others") }
    _ = try await keeper.save([root])
    delegate.onWillEncode = { $0.encode(Array(others.reversed()), forKey: "others") }
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root], delegate: delegate)
  }

  func testTheTimeOfASaveIsThatOfTheLastOneThatWrote() async throws {
    let node = TestNode("a", value: "1")
    var times: [Date?] = []
    node.onDecode = { times.append($0.timestamp) }
    var keeper = try launch.keeper()
    let first = launch.now
    _ = try await keeper.save([node])
    launch.now += 100
    // Nothing has changed, so nothing is written.
    _ = try await keeper.save([node])
    node.value = "2"
    launch.now += 100.75
    let second = launch.now
    for isChanged in [false, true] {
      if isChanged { _ = try await keeper.save([node]) }
      await keeper.close()
      let reader = try launch.keeper()
      _ = try await reader.restore(into: [node])
      await reader.close()
      node.value = "2"
      keeper = try launch.keeper()
      _ = try await keeper.restore()
    }
    // Each commit tells its time in whole seconds.
    XCTAssertEqual(times, [first, second - 0.75])
  }

  func testTheTimeOfAChangeIsToldInWholeSeconds() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    launch.now += 100.75
    nodes[0].value = "new"
    _ = try await keeper.save([root])
    await keeper.close()
    var time: Date?
    let delegate = TestDelegate()
    delegate.onDidDecode = { time = $0.timestamp }
    _ = try await launch.keeper(delegate: delegate).restore(into: [root])
    XCTAssertEqual(time, launch.now - 0.75)
  }

  func testATimeThatAChangeCannotTellIsStoredAsAWhole() async throws {
    for year in [-30.0, 200] {
      let launch = Launch()
      launch.now = Date(timeIntervalSinceReferenceDate: year * 365 * 24 * 3600)
      let keeper = try launch.keeper()
      let node = TestNode("a", value: "1")
      _ = try await keeper.save([node])
      launch.now += 100.5
      node.value = "2"
      _ = try await keeper.save([node])
      await keeper.close()
      var time: Date?
      node.onDecode = { time = $0.timestamp }
      _ = try await launch.keeper().restore(into: [node])
      // A commit tells no time before 2001 or after 2137.
      XCTAssertNil(time)
    }
  }

  // MARK: Who forgets to say it

  func testASaveOfATestFindsWhatForgetsToSayIt() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    var heard: [[String]] = []
    keeper.hearProblems { heard.append($0) }
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[0].value = "loud"
    _ = try await keeper.save([root])
    nodes[1].isQuiet = true
    nodes[1].value = "quiet"
    XCTAssertEqual(heard, [[], []])
    let report = try await keeper.save([root])
    XCTAssertEqual(report.notes, [.notInvalidated])
    XCTAssertEqual(heard.last, report.problems.map(\.description))
  }

  func testANodeDidNotForgetToSayThatOneBelowItIsLeftOut() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    for name in ["", "back"] {
      nodes[0].name = name
      let report = try await keeper.save([root])
      XCTAssertEqual(report.notes, [])
    }
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/back", "root/n1", "root/n2"])
  }

  func testANodeThatThrewDidNotForgetToSayThatItChanged() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[0].throwsInEncode = true
    _ = try await keeper.save([root])
    nodes[0].isQuiet = true
    nodes[0].throwsInEncode = false
    nodes[0].value = "changed"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.notes, [])
    XCTAssertEqual(try value(of: "root/n0"), "changed")
  }
}

/// The calls of a store.
private final class CallLog: Sendable {
  private let calls = Mutex<[HookedStore.Call]>([])

  var all: [HookedStore.Call] { calls.withLock { $0 } }

  func add(_ name: String, _ call: HookedStore.Call) {
    if name == "main" { calls.withLock { $0.append(call) } }
  }

  func removeAll() { calls.withLock { $0 = [] } }
}

/// Says of itself as an object who makes it, and as a node that nobody does.
@MainActor
private final class NodeAndObject: @MainActor RestorableNode, @MainActor RestorableObject {
  var restorationIdentifier: String? { "both" }
  var objectRestorationClass: (any RestorationClass.Type)? { TestObjectFactory.self }
}

/// A node that belongs to no actor.
private final class ThreadedNode: RestorableNode, Sendable {
  private let value = Mutex("")

  static var stateTracking: StateTracking { .invalidated }

  var restorationIdentifier: String? { "threaded" }

  func set(_ new: String) {
    value.withLock { $0 = new }
    invalidateRestorableState()
  }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(value.withLock { $0 }, forKey: "value")
  }
}

/// An observed node that stores one of two values.
@MainActor @Observable
private final class TwoSidedNode: @MainActor RestorableNode {
  static var stateTracking: StateTracking { .observed }

  let restorationIdentifier: String? = "root"
  var front = ""
  var back = ""
  @ObservationIgnored var showsBack = false

  func encodeRestorableState(with coder: StateEncoder) {
    coder.encode(showsBack ? back : front, forKey: "value")
  }
}

@MainActor @Observable
private final class ObservedView: @MainActor RestorableView {
  static var stateTracking: StateTracking { .observed }

  var restorationIdentifier: String?
  var restorationSubviews: [any RestorableView] = []

  init(_ identifier: String?) {
    restorationIdentifier = identifier
  }
}

@MainActor @Observable
private final class ObservedObject: @MainActor RestorableObject {
  static var stateTracking: StateTracking { .observed }

  var restorationParent: (any StateRestoring)?
}

@MainActor @Observable
private final class ObservedTabs: @MainActor RestorableTabs {
  static var stateTracking: StateTracking { .observed }

  let restorationIdentifier: String? = "root"
  let restorationChildren: [any RestorableNode] = [TestNode("first"), TestNode("second")]
  var selectedTab: (any RestorableNode)?
  var value = ""

  func encodeRestorableState(with coder: StateEncoder) { coder.encode(value, forKey: "value") }

  func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decodeIfPresent(forKey: "value") ?? ""
  }
}
