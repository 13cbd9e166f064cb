import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Saves of what has changed since the save before.
@MainActor
final class ChangeTests: XCTestCase {
  private let launch = Launch()

  /// A tree of tracked nodes under a tracked root, saved once.
  private func savedTree(
    _ count: Int = 3, with keeper: StateKeeper
  ) async throws -> (root: TrackedNode, nodes: [TrackedNode]) {
    let root = TrackedNode("root")
    let nodes = (0..<count).map { TrackedNode("n\($0)") }
    for (place, node) in nodes.enumerated() { node.value = "\(place)" }
    root.below = nodes
    _ = try await keeper.save([root])
    return (root, nodes)
  }

  private func value(of path: String) throws -> String? {
    try launch.storedRecords()?[path]?.value
  }

  /// What is stored is what a new keeper stores that asks everything.
  private func assertStoredAsAWhole(
    _ roots: [any RestorableNode], delegate: TestDelegate? = nil,
    _ prepare: (StateKeeper) throws -> Void = { _ in }, line: UInt = #line
  ) async throws {
    let fresh = Launch()
    let whole = try fresh.keeper(delegate: delegate)
    try prepare(whole)
    _ = try await whole.save(roots)
    XCTAssertEqual(
      try launch.storedRecords()?.words, try fresh.storedRecords()?.words, line: line)
  }

  private func generation() throws -> UInt64? { try launch.archive()?.version.generation }

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

  func testAnObservedNodeThatIsAskedForAnotherReasonIsObservedOnce() async throws {
    let keeper = try launch.keeper()
    let observed = ObservedNode("observed")
    for _ in 0..<3 { _ = try await keeper.saveEverything([observed]) }
    observed.value = "1"
    _ = try await keeper.save([observed])
    XCTAssertEqual(observed.encodeCount, 4)
    _ = try await keeper.save([observed])
    XCTAssertEqual(observed.encodeCount, 4)
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
    XCTAssertNil(launch.storedBytes)
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
    XCTAssertEqual(times, [first, second])
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
      XCTAssertEqual(time, launch.now)
    }
  }

  // MARK: Structure

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

  func testWhatIsNewIsStoredAndWhatIsGoneIsNot() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let new = TrackedNode("new")
    new.below = [TrackedNode("inner")]
    root.below = [nodes[2], new, nodes[0]]
    let report = try await keeper.save([root])
    XCTAssertEqual(
      try launch.storedPaths(), ["root", "root/n2", "root/new", "root/new/inner", "root/n0"])
    XCTAssertEqual(report.unaskedCount, 2)
    XCTAssertEqual(nodes.map(\.encodeCount), [1, 1, 1])
    let back = try await restoredPaths()
    XCTAssertEqual(back, ["root", "root/n2", "root/new", "root/new/inner", "root/n0"])
  }

  private func restoredPaths() async throws -> [String] {
    try await launch.keeper().checkStoredState().entries.map(\.path.description)
  }

  func testANodeThatMovesAndContainsNothingAnyMoreIsStoredWithoutChildren() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let moved = TrackedNode("moved")
    moved.below = [TrackedNode("below")]
    moved.shown = TrackedNode("shown")
    nodes[0].below = [moved]
    _ = try await keeper.save([root])
    nodes[0].below = []
    nodes[1].below = [moved]
    moved.below = []
    moved.shown = nil
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root])
  }

  func testANodeThatMovesKeepsItsStateAndItsOldPlaceIsEmpty() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[0].below = [TrackedNode("child")]
    _ = try await keeper.save([root])
    nodes[1].below = nodes[0].below
    nodes[0].below = []
    nodes[1].below[0].invalidateRestorableState()
    _ = try await keeper.save([root])
    XCTAssertEqual(
      try launch.storedPaths(), ["root", "root/n0", "root/n1", "root/n1/child", "root/n2"])
  }

  func testANodeInThePlaceOfOneThatWentIsAskedWhereverItLies() async throws {
    let keeper = try launch.keeper()
    let root = TrackedNode("root")
    for number in 0..<50 {
      // The memory of the one before is likely to be used again.
      let node = TrackedNode("same")
      node.isQuiet = true
      node.value = "\(number)"
      root.below = [node]
      _ = try await keeper.save([root])
      XCTAssertEqual(try value(of: "root/same"), "\(number)")
    }
  }

  func testANodeOfAnotherClassInThePlaceOfOneThatWentIsStoredWithItsOwn() async throws {
    let keeper = try launch.keeper()
    let root = TrackedNode("root")
    for number in 0..<50 {
      // The memory of the one before is likely to be used again.
      root.below = []
      root.below = [number % 2 == 0 ? TrackedNode("same") : TrackedStack("same")]
      _ = try await keeper.save([root])
      XCTAssertEqual(
        try launch.storedRecords()?["root/same"]?.className,
        number % 2 == 0 ? "TrackedNode" : "TrackedStack")
    }
  }

  func testAnotherIndexAmongEqualSiblingsIsStored() async throws {
    let keeper = try launch.keeper()
    let stack = TrackedStack("stack")
    stack.below = ["a", "b", "c"].map { value in
      let page = TrackedNode("page")
      page.value = value
      return page
    }
    _ = try await keeper.save([stack])
    stack.below.removeFirst()
    _ = try await keeper.save([stack])
    XCTAssertEqual(try launch.storedPaths(), ["stack", "stack/page", "stack/page[1]"])
    XCTAssertEqual(try value(of: "stack/page"), "b")
    XCTAssertEqual(try value(of: "stack/page[1]"), "c")
  }

  func testAnObjectThatGetsAnotherAsItsParentIsStoredBelowIt() async throws {
    let keeper = try launch.keeper()
    let (object, parent) = (TrackedObject("object"), TestObject("parent"))
    func prepare(_ keeper: StateKeeper) {
      keeper.registerObject(object, restorationIdentifier: "object")
      keeper.registerObject(parent, restorationIdentifier: "parent")
    }
    prepare(keeper)
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[0].references = [object]
    _ = try await keeper.save([root])
    object.restorationParent = parent
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root], prepare)
  }

  func testWhatOnlyAReferenceReachesGoesWithTheLastOne() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let shared = TestObject("shared")
    keeper.registerObject(shared, restorationIdentifier: "shared")
    nodes[0].references = [shared]
    nodes[1].references = [shared]
    _ = try await keeper.save([root])
    XCTAssertTrue(try launch.storedPaths().contains("shared"))
    nodes[0].references = []
    _ = try await keeper.save([root])
    XCTAssertTrue(try launch.storedPaths().contains("shared"))
    shared.value = "changed"
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "shared"), "changed")
    nodes[1].references = []
    _ = try await keeper.save([root])
    XCTAssertFalse(try launch.storedPaths().contains("shared"))
  }

  func testWhatAMovedNodeRefersToNoMoreGoes() async throws {
    let keeper = try launch.keeper()
    let object = TestObject("object")
    keeper.registerObject(object, restorationIdentifier: "object")
    let (root, nodes) = try await savedTree(with: keeper)
    let moved = TrackedNode("moved")
    moved.references = [object]
    nodes[0].below = [moved]
    _ = try await keeper.save([root])
    nodes[0].below = []
    nodes[1].below = [moved]
    moved.references = []
    _ = try await keeper.save([root])
    XCTAssertFalse(try launch.storedPaths().contains("object"))
    try await assertStoredAsAWhole([root])
  }

  func testWhatIsTakenOutOfTheTreeAndReferredToStays() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[1].references = [nodes[0]]
    _ = try await keeper.save([root])
    root.below = [nodes[1], nodes[2]]
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/n1", "root/n1/n0", "root/n2"])
    XCTAssertEqual(
      try launch.storedRecords()?.paths(referredToFrom: "root/n1", forKey: "references"),
      ["root/n1/n0"])
  }

  func testANodeLiesBelowTheFirstThatRefersToItWhenTheOrderChanges() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let detached = TrackedNode("detached")
    nodes[0].references = [detached]
    nodes[1].references = [detached]
    _ = try await keeper.save([root])
    XCTAssertTrue(try launch.storedPaths().contains("root/n0/detached"))
    root.below = [nodes[1], nodes[0]]
    _ = try await keeper.save([root])
    XCTAssertTrue(try launch.storedPaths().contains("root/n1/detached"))
    try await assertStoredAsAWhole([root])
  }

  func testAViewIsAskedAtEverySaveBelowANodeThatIsNot() async throws {
    let keeper = try launch.keeper()
    let node = TrackedNode("node")
    let view = TestView("view", value: "1")
    node.views = [view]
    _ = try await keeper.save([node])
    view.value = "2"
    let report = try await keeper.save([node])
    XCTAssertEqual(report.entries.map(\.kind), [.view])
    XCTAssertEqual(try value(of: "node/view"), "2")
    XCTAssertEqual(node.encodeCount, 1)
  }

  func testANodeThatSaidThatItChangedAndWentLetsNoOthersBeAsked() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(20, with: keeper)
    root.below = nodes + [TrackedNode("closing")]
    _ = try await keeper.save([root])
    root.below.last?.invalidateRestorableState()
    root.below = nodes
    let report = try await keeper.save([root])
    XCTAssertEqual(report.unaskedCount, 20)
    XCTAssertEqual(try launch.storedPaths().count, 21)
  }

  func testANodeBelowOneThatOnlyAReferenceReachesLiesBelowWhoRefersToItBefore() async throws {
    let keeper = try launch.keeper()
    let (first, second) = (TrackedNode("first"), TrackedNode("second"))
    let (referred, inner) = (TrackedNode("referred"), TrackedNode("inner"))
    referred.below = [inner]
    second.references = [referred]
    _ = try await keeper.save([first, second])
    first.references = [inner]
    _ = try await keeper.save([first, second])
    XCTAssertTrue(try launch.storedPaths().contains("first/inner"))
    try await assertStoredAsAWhole([first, second])
  }

  // MARK: What happens between

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

  func testTheFirstSaveAfterARestoreWritesWhatIsOtherwise() async throws {
    let first = try launch.keeper()
    _ = try await savedTree(50, with: first)
    let before = try XCTUnwrap(launch.storedBytes)
    await first.close()
    let keeper = try launch.keeper()
    let root = TrackedNode("root")
    let nodes = (0..<50).map { TrackedNode("n\($0)") }
    root.below = nodes
    _ = try await keeper.restore(into: [root])
    nodes[3].value = "new"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.entries.count, 51)
    XCTAssertEqual(Array(try XCTUnwrap(launch.storedBytes).prefix(before.count)), before)
    XCTAssertLessThan(report.writtenByteCount, 600)
    XCTAssertEqual(try value(of: "root/n3"), "new")
    XCTAssertEqual(try value(of: "root/n4"), "4")
  }

  func testWhatARestoreChangedIsStoredThoughNobodySaidSo() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[0].isQuiet = true
    nodes[0].value = "not stored"
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(nodes[0].value, "0")
    nodes[0].value = "since the restore"
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/n0"), "since the restore")
  }

  func testTabsThatSelectThemselvesEndASaveOfChanges() async throws {
    let keeper = try launch.keeper()
    let tracked = TrackedNode("tracked")
    let tabs = TestTabs("tabs", children: [tracked])
    tabs.selectedTab = tabs
    _ = try await keeper.save([tabs])
    tracked.value = "changed"
    let report = try await keeper.save([tabs])
    XCTAssertEqual(report.outcome, .saved)
    try await assertStoredAsAWhole([tabs])
  }

  func testASaveThatFailedLeavesNothingForgotten() async throws {
    for call in [HookedStore.Call.append, .replace] {
      let launch = Launch()
      let fails = Flag()
      let store = HookedStore(launch.store) { name, made throws(ArchiveError) in
        if fails.isSet, name == "main", made.isWrite { throw ArchiveError(.storageFull) }
      }
      let keeper = try StateKeeper(
        application: Launch.application, directory: store, keys: launch.keys)
      let root = TrackedNode("root")
      let node = TrackedNode("a")
      root.below = [node]
      if call == .append { _ = try await keeper.save([root]) }
      let before = launch.storedBytes
      fails.isSet = true
      node.value = "changed"
      let gone = TrackedNode("new")
      root.below = [node, gone]
      await assertThrows(WholeError(ArchiveError(.storageFull, location: "memory"))) {
        _ = try await keeper.save([root])
      }
      XCTAssertEqual(launch.storedBytes, before)
      fails.isSet = false
      _ = try await keeper.save([root])
      XCTAssertEqual(try launch.storedPaths(), ["root", "root/a", "root/new"])
      XCTAssertEqual(try launch.storedRecords()?["root/a"]?.value, "changed")
    }
  }

  func testANodeWhoseEncodingThrewIsAskedAgainThoughItSaysNothing() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[0].value = "lost"
    nodes[0].throwsInEncode = true
    let lost = try await keeper.save([root])
    XCTAssertEqual(lost.outcome(of: "root/n0"), .savedWithLastState)
    XCTAssertEqual(try value(of: "root/n0"), "0")
    nodes[0].isQuiet = true
    nodes[0].throwsInEncode = false
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/n0"), "lost")
  }

  func testWhatIsNotStoredForGoodIsNotSetAside() async throws {
    for isChange in [true, false] {
      let fails = Flag()
      let storage = FaultyStorage { call, _ in
        fails.isSet && [.sync, .truncate, .publish].contains(call)
          ? ArchiveError(.inputOutput) : nil
      }
      let keeper = try StateKeeper(
        application: Launch.application, directory: FaultyDirectory(main: storage),
        keys: launch.keys)
      let root = TrackedNode("root")
      if isChange { _ = try await keeper.save([root]) }
      root.value = "new"
      fails.isSet = true
      do {
        _ = try await keeper.save([root])
        XCTFail("did not throw")
      } catch {
        XCTAssertEqual(error.archive?.code, .notDurable)
      }
      fails.isSet = false
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome, .saved)
      XCTAssertNil(report.setAside)
    }
  }

  func testAStateThatSomebodyRemovedOrReplacedIsWrittenAsAWhole() async throws {
    for isReplaced in [false, true] {
      let launch = Launch()
      let keeper = try launch.keeper()
      let root = TrackedNode("root")
      root.below = [TrackedNode("a")]
      _ = try await keeper.save([root])
      let first = launch.storedBytes
      root.value = "second"
      _ = try await keeper.save([root])
      launch.storedBytes = isReplaced ? first : nil
      let report = try await keeper.save([root])
      XCTAssertEqual(report.entries.count { $0.kind == .node }, 2)
      XCTAssertEqual(report.setAside != nil, isReplaced)
      XCTAssertEqual(try launch.storedRecords()?["root"]?.value, "second")
      XCTAssertEqual(try launch.storedPaths(), ["root", "root/a"])
    }
  }

  func testASaveThatWaitsForAnotherBringsNothingBackThatWasDiscardedSince() async throws {
    let keeper = try launch.keeper()
    let (root, _) = try await savedTree(with: keeper)
    root.value = "secret"
    let saves = (0..<2).map { _ in Task { @MainActor in try await keeper.save([root]).outcome } }
    let discard = Task { @MainActor in try await keeper.discardState() }
    for save in saves { _ = try await save.value }
    try await discard.value
    XCTAssertNil(launch.storedBytes)
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root"), "secret")
  }

  func testASaveThatIsTriedAgainBringsNothingBackThatWasDiscardedSince() async throws {
    let (gate, isClosed) = (Gate(), Flag())
    let keys = GatedKeys(launch.keys) { if isClosed.isSet { gate.pass() } }
    let keeper = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: keys)
    let (root, _) = try await savedTree(with: keeper)
    let first = launch.storedBytes
    root.value = "second"
    _ = try await keeper.save([root])
    // Somebody puts an older copy back, so that all must be written.
    launch.storedBytes = first
    root.value = "third"
    gate.holdUp()
    isClosed.isSet = true
    let save = Task { @MainActor in try await keeper.save([root]).outcome }
    while !gate.isWaitedFor { await Task.yield() }
    let discard = Task { @MainActor in try await keeper.discardState() }
    for _ in 0..<20 { await Task.yield() }
    isClosed.isSet = false
    gate.goOn()
    let outcome = try await save.value
    XCTAssertEqual(outcome, .superseded)
    try await discard.value
    XCTAssertNil(launch.storedBytes)
  }

  func testAKeyThatWasReplacedSealsTheWholeStateAnew() async throws {
    let keeper = try launch.keeper()
    let (root, _) = try await savedTree(with: keeper)
    launch.keys.lose()
    root.value = "new"
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root"), "new")
    XCTAssertEqual(try launch.storedPaths().count, 4)
  }

  func testAJournalThatHasOutgrownTheStateIsRewritten() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    for number in 0..<600 {
      nodes[0].value = String(repeating: "x", count: 400) + "\(number)"
      _ = try await keeper.save([root])
    }
    XCTAssertLessThan(try XCTUnwrap(launch.storedBytes).count, 200_000)
    XCTAssertEqual(try value(of: "root/n0")?.suffix(3), "599")
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/n0", "root/n1", "root/n2"])
  }

  func testAClassThatIsRegisteredLaterIsStoredWithItsName() async throws {
    let keeper = try launch.keeper()
    let (root, _) = try await savedTree(with: keeper)
    try keeper.register(TrackedNode.self, as: "Named")
    _ = try await keeper.save([root])
    XCTAssertEqual(Set(try XCTUnwrap(launch.storedRecords()).elements.map(\.className)), ["Named"])
  }

  func testTheFormerNamesOfAClassGoWithItsLastNode() async throws {
    let keeper = try launch.keeper()
    func prepare(_ keeper: StateKeeper) throws {
      try keeper.register(TrackedStack.self, aliases: ["Old"])
    }
    try prepare(keeper)
    let root = TrackedNode("root")
    root.below = [TrackedStack("stack")]
    _ = try await keeper.save([root])
    root.below = []
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root], prepare)
  }

  func testSavesAtOnceAreStoredInTheOrderOfTheirCalls() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let saves = (1...5).map { number in
      Task { @MainActor in
        nodes[number % 3].value = "save \(number)"
        return try await keeper.save([root]).outcome
      }
    }
    for save in saves {
      let outcome = try await save.value
      XCTAssertEqual(outcome, .saved)
    }
    XCTAssertEqual(try value(of: "root/n1"), "save 4")
    XCTAssertEqual(try value(of: "root/n2"), "save 5")
  }

  // MARK: Who forgets to say it

  func testAClassThatAHookRegistersIsStoredWithItsNameByTheNextSave() async throws {
    let keeper = try launch.keeper()
    let registering = RegisteringNode(keeper)
    let root = TrackedNode("root")
    _ = try await keeper.save([root, registering])
    XCTAssertEqual(try launch.storedRecords()?["root"]?.className, "TrackedNode")
    registering.keeper = nil
    _ = try await keeper.save([root, registering])
    XCTAssertEqual(try launch.storedRecords()?["root"]?.className, "Named")
  }

  func testANodeThatForgetsToSayItIsNamedByASaveOfEverything() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[1].isQuiet = true
    nodes[1].value = "quiet"
    nodes[2].value = "loud"
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/n1"), "1")
    let report = try await keeper.saveEverything([root])
    XCTAssertEqual(report.problems.map(\.path.description), ["root/n1"])
    XCTAssertEqual(report.notes, [.notInvalidated])
    XCTAssertEqual(try value(of: "root/n1"), "quiet")
    let again = try await keeper.saveEverything([root])
    XCTAssertEqual(again.notes, [])
    XCTAssertEqual(again.writtenByteCount, 0)
  }

  func testNewTabsAreAskedForTheOneOnTop() async throws {
    let keeper = try launch.keeper()
    let (root, tracked) = (PlainNode("root"), TrackedNode("tracked"))
    root.below = [tracked]
    _ = try await keeper.save([root])
    let tabs = TestTabs("tabs", children: [TestNode("tab")])
    tabs.selectedTab = TestNode("not preserved")
    root.below = [tracked, tabs]
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root])
  }

  func testAStrictKeeperRefusesWhatForgetsToSayIt() async throws {
    let keeper = try launch.keeper()
    keeper.isStrict = true
    _ = try await keeper.restore()
    let (root, nodes) = try await savedTree(with: keeper)
    nodes[0].value = "loud"
    _ = try await keeper.save([root])
    nodes[1].isQuiet = true
    nodes[1].value = "quiet"
    do {
      _ = try await keeper.save([root])
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(error.code, .strict)
      XCTAssertTrue(error.description.contains("invalidateRestorableState"), error.description)
    }
    XCTAssertEqual(try value(of: "root/n1"), "1")
  }

  // MARK: Scenes

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

  func testAChangeOfASceneIsAppendedToItsFileAlone() async throws {
    let app = SceneLaunch()
    let root = TrackedNode("root")
    root.below = (0..<20).map { TrackedNode("n\($0)") }
    app.prepare = { $0.roots = [root] }
    let host = try await app.host()
    let scene = try await host.open()
    try await host.save(scene)
    let name = "main.scene-\(scene.session.persistentIdentifier)"
    let before = try XCTUnwrap(app.launch.store.memory(named: name).bytes)
    root.value = "changed"
    let report = try await host.save(scene)
    XCTAssertEqual(report.unaskedCount, 20)
    let after = try XCTUnwrap(app.launch.store.memory(named: name).bytes)
    XCTAssertEqual(Array(after.prefix(before.count)), before)
    XCTAssertEqual(try app.launch.storedRecords(named: name)?["root"]?.value, "changed")
    XCTAssertEqual(scene.session.byteCount, after.count)
    let everything = try await host.saveEverything(of: scene)
    XCTAssertEqual(everything.entries.count, 21)
    XCTAssertEqual(everything.writtenByteCount, 0)
  }
}

/// A store whose state lies on a disk that can fail.
private struct FaultyDirectory: StateDirectory {
  let main: FaultyStorage
  private let others = MemoryStateDirectory()

  init(main: FaultyStorage) { self.main = main }

  func storage(named name: String) -> any ArchiveStorage {
    name == "main" ? main : others.storage(named: name)
  }
}

/// Keys that somebody holds up.
private final class GatedKeys: KeyProvider {
  private let keys: MemoryKeyProvider
  private let before: @Sendable () -> Void
  let location: String? = nil

  init(_ keys: MemoryKeyProvider, before: @escaping @Sendable () -> Void) {
    (self.keys, self.before) = (keys, before)
  }

  func key(creating: Bool) throws(ArchiveError) -> ArchiveKey? {
    before()
    return try keys.key(creating: creating)
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
  var objectRestorationClass: (any ObjectRestoration.Type)? { TestObjectFactory.self }
}

/// A node whose hook registers a class.
@MainActor
private final class RegisteringNode: @MainActor RestorableNode {
  static var stateTracking: StateTracking { .invalidated }

  var keeper: StateKeeper?
  var restorationIdentifier: String? { "registering" }

  init(_ keeper: StateKeeper) { self.keeper = keeper }

  func encodeRestorableState(with coder: StateEncoder) throws {
    try keeper?.register(TrackedNode.self, as: "Named")
  }
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
