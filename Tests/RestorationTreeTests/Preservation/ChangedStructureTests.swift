import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Saves of changes of a tree whose nodes come, move and go.
@MainActor
final class ChangedStructureTests: ChangeTestCase {
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
    let back = try await launch.keeper().restore().entries.map(\.path.description)
    XCTAssertEqual(back, ["root", "root/n2", "root/new", "root/new/inner", "root/n0"])
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

  func testTheContentsOfANodeAreKnownAfterOthersHaveChangedTheirsAThousandTimes() async throws {
    let keeper = try launch.keeper()
    let quiet = TrackedNode("quiet")
    quiet.below = (0..<3).map { TrackedNode("q\($0)") }
    quiet.views = (0..<2).map { TestView("v\($0)") }
    let list = TrackedNode("list")
    list.below = (0..<400).map { TrackedNode("n\($0)") }
    let root = TrackedNode("root")
    root.below = [list, quiet]
    _ = try await keeper.save([root])
    for _ in 0..<8 {
      list.below.reverse()
      _ = try await keeper.save([root])
    }
    quiet.below.removeFirst(2)
    list.below.removeFirst(100)
    let report = try await keeper.save([root])
    XCTAssertEqual(report.unaskedCount, 1 + 300 + 1)
    try await assertStoredAsAWhole([root])
    quiet.views.removeLast()
    quiet.below = []
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

  func testAnObjectThatSaysNothingInThePlaceOfOneOfAnotherClassIsStoredWithItsOwn() async throws {
    let keeper = try launch.keeper()
    let (plain, tracked) = (PlainNode("plain"), TrackedNode("tracked"))
    plain.views = [FirstView()]
    let root = PlainNode("root")
    root.below = [plain, tracked]
    for number in 0..<50 {
      // The memory of the one before is likely to be used again, and nobody tells of the change.
      plain.below = []
      plain.below = [number % 2 == 0 ? PlainNode("same") : PlainStack("same")]
      plain.views = []
      plain.views = [number % 2 == 0 ? FirstView() : SecondView()]
      tracked.value = "\(number)"
      _ = try await keeper.save([root])
      try await assertStoredAsAWhole([root])
    }
  }

  func testAnObjectThatGetsItsNameAfterItWasReferredToIsStoredByTheNextSave() async throws {
    let keeper = try launch.keeper()
    let (root, nodes) = try await savedTree(with: keeper)
    let (node, view) = (PlainNode(nil), RenamedView(nil))
    nodes[0].references = [node]
    nodes[1].references = [view]
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/n0", "root/n1", "root/n2"])
    node.name = "node"
    _ = try await keeper.save([root])
    XCTAssertEqual(
      try launch.storedPaths(), ["root", "root/n0", "root/n0/node", "root/n1", "root/n2"])
    try await assertStoredAsAWhole([root])
    nodes[2].views = [view]
    view.restorationIdentifier = "view"
    _ = try await keeper.save([root])
    try await assertStoredAsAWhole([root])
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

  func testAnObjectWhoseParentIsNotStoredIsSavedWithoutTheOthers() async throws {
    for parent in [TestObject("not registered"), nil] as [TestObject?] {
      try launch.removeState()
      let object = TrackedObject("1")
      object.restorationParent = parent
      let keeper = try launch.keeper()
      keeper.registerObject(object, restorationIdentifier: "object")
      let (root, nodes) = try await savedTree(with: keeper)
      nodes[0].references = [object]
      _ = try await keeper.save([root])
      object.value = "2"
      let report = try await keeper.save([root])
      XCTAssertEqual(report.entries.map(\.kind), [.object])
      XCTAssertEqual(report.unaskedCount, 4)
      XCTAssertEqual(try value(of: "object"), "2")
      await keeper.close()
    }
  }

  func testWhateverIsRegisteredLetsTheNextSaveAskEverything() async throws {
    for (isClass, isObject) in [(false, false), (true, false), (false, true), (true, true)] {
      try launch.removeState()
      let keeper = try launch.keeper()
      let (root, nodes) = try await savedTree(with: keeper)
      if isClass { try keeper.register(TrackedNode.self, as: "Renamed") }
      let object = TestObject("object")
      if isObject { keeper.registerObject(object, restorationIdentifier: "object") }
      _ = try await keeper.save([root])
      let count = isClass || isObject ? 2 : 1
      XCTAssertEqual(nodes.map(\.encodeCount), [count, count, count], "\(isClass) \(isObject)")
      XCTAssertEqual(
        try launch.storedRecords()?["root/n0"]?.className, isClass ? "Renamed" : "TrackedNode")
      await keeper.close()
    }
  }

  func testAnObjectWhoseParentGoesIsStoredBelowNothing() async throws {
    for isBelowView in [false, true] {
      let keeper = try launch.keeper()
      let object = TrackedObject("object")
      func prepare(_ keeper: StateKeeper) {
        keeper.registerObject(object, restorationIdentifier: "object")
      }
      prepare(keeper)
      let (root, nodes) = try await savedTree(with: keeper)
      let view = TestView("view")
      nodes[1].views = [view]
      object.restorationParent = isBelowView ? view : nodes[1]
      nodes[0].references = [object]
      _ = try await keeper.save([root])
      // A view scopes nothing.
      let path = isBelowView ? "object" : "root/n1/object"
      XCTAssertEqual(try value(of: path), "object")
      root.below = [nodes[0], nodes[2]]
      _ = try await keeper.save([root])
      XCTAssertEqual(try value(of: "object"), "object")
      try await assertStoredAsAWhole([root], prepare)
    }
  }

  func testAnObjectWhoseParentMovesIsStoredBelowItThere() async throws {
    let keeper = try launch.keeper()
    let object = TrackedObject("object")
    func prepare(_ keeper: StateKeeper) {
      keeper.registerObject(object, restorationIdentifier: "object")
    }
    prepare(keeper)
    let (root, nodes) = try await savedTree(with: keeper)
    object.restorationParent = nodes[1]
    nodes[0].references = [object]
    _ = try await keeper.save([root])
    root.below = [nodes[0], nodes[2]]
    nodes[2].below = [nodes[1]]
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/n2/n1/object"), "object")
    try await assertStoredAsAWhole([root], prepare)
    nodes[1].name = "renamed"
    _ = try await keeper.save([root])
    XCTAssertEqual(try value(of: "root/n2/renamed/object"), "object")
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

  func testAViewBelowANodeThatIsNotAskedIsStoredUnderItsNewName() async throws {
    let keeper = try launch.keeper()
    let node = TrackedNode("node")
    let view = RenamedView("old")
    node.views = [view]
    _ = try await keeper.save([node])
    view.restorationIdentifier = "new"
    _ = try await keeper.save([node])
    XCTAssertEqual(try launch.storedPaths(), ["node", "node/new"])
    try await assertStoredAsAWhole([node])
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

  func testANodeComesOutOfAWrapperThatGoesAndContainsItStill() async throws {
    for isNear in [true, false] {
      try launch.removeState()
      let keeper = try launch.keeper()
      let (root, other, node) = (TrackedNode("root"), TrackedNode("other"), TrackedNode("node"))
      let (outer, wrapper) = (TrackedNode("outer"), TrackedNode("wrapper"))
      wrapper.below = [node]
      outer.below = [wrapper]
      root.below = [other, outer]
      _ = try await keeper.save([root])
      if isNear {
        root.below = [node, other]
      } else {
        (root.below, other.below) = ([other], [node])
      }
      _ = try await keeper.save([root])
      XCTAssertEqual(try value(of: isNear ? "root/node" : "root/other/node"), node.value)
      try await assertStoredAsAWhole([root])
      await keeper.close()
    }
  }

  func testOfTwoWhoContainANodeTheOneStaysBelowWhichItIsStored() async throws {
    let kinds: [(String) -> any HistoryNode] = [{ TrackedNode($0) }, { PlainNode($0) }]
    for (makeFirst, makeSecond) in kinds.flatMap({ first in kinds.map { (first, $0) } }) {
      try launch.removeState()
      let keeper = try launch.keeper()
      let (root, node) = (TrackedNode("root"), TrackedNode("node"))
      let (first, second) = (makeFirst("first"), makeSecond("second"))
      (first.below, second.below, root.below) = ([node], [node], [first, second])
      _ = try await keeper.save([root])
      for changed in [nil, first, second, root] {
        changed?.value = "changed \(changed?.value ?? "")"
        let report = try await keeper.save([root])
        let kinds = "\(type(of: first)) \(type(of: second)), \(changed?.name ?? "none")"
        if changed == nil { XCTAssertEqual(report.writtenByteCount, 0, kinds) }
        XCTAssertTrue(try launch.storedPaths().contains("root/first/node"), kinds)
      }
      first.below = []
      _ = try await keeper.save([root])
      XCTAssertTrue(try launch.storedPaths().contains("root/second/node"))
      await keeper.close()
    }
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
}

@MainActor
private final class RenamedView: @MainActor RestorableView {
  var restorationIdentifier: String?

  init(_ identifier: String?) { restorationIdentifier = identifier }
}

@MainActor
private final class FirstView: @MainActor RestorableView {
  var restorationIdentifier: String? { "view" }
}

@MainActor
private final class SecondView: @MainActor RestorableView {
  var restorationIdentifier: String? { "view" }
}
