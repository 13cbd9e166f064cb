import RestorationKit
import TestSupport
import XCTest

@MainActor
final class WalkTests: XCTestCase {
  private let launch = Launch()
  private let trace = Trace()

  func testARootWithoutIdentifierLeavesOutAllBelowIt() async throws {
    let root = TestNode(nil, children: [TestNode("a"), TestNode("b")])
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(report.savedPaths, [])
    XCTAssertEqual(try launch.storedPaths(), [])
    XCTAssertEqual(report.outcome(of: "∅"), .noIdentifier)
    XCTAssertNil(report.outcome(of: "∅/a"))
    XCTAssertNil(report.outcome(of: "∅/b"))
  }

  private func tabWithUnnamedStack() -> (tab: TestNode, screen: TestNode) {
    let screen = TestNode("screen", value: "deep")
    let stack = TestNode(nil, children: [screen, TestNode("other")])
    return (TestNode("tab", children: [stack]), screen)
  }

  func testAnUnnamedStackInsideATabLeavesOutItsScreens() async throws {
    let report = try await launch.keeper().save([tabWithUnnamedStack().tab])
    XCTAssertEqual(report.savedPaths, ["tab"])
    XCTAssertEqual(try launch.storedPaths(), ["tab"])
    XCTAssertNil(report.outcome(of: "tab/∅/screen"))
  }

  func testAReferenceFromWillEncodePreservesAScreenBelowAnUnnamedStack() async throws {
    let (tab, screen) = tabWithUnnamedStack()
    let delegate = TestDelegate()
    delegate.onWillEncode = { $0.encode(screen, forKey: "screen") }
    let report = try await launch.keeper(delegate: delegate).save([tab])
    XCTAssertEqual(report.savedPaths, ["tab", "screen"])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["tab", "screen"])
    XCTAssertEqual(try stored["screen"]?.value, "deep")
    XCTAssertEqual(
      try stored.paths(in: try XCTUnwrap(stored.application), forKey: "screen"), ["screen"])
    XCTAssertEqual(report.notes, [])
    XCTAssertEqual(report.outcome(of: "screen"), .saved)
    XCTAssertNil(report.outcome(of: "tab/∅/screen"))
    XCTAssertNil(report.outcome(of: "tab/∅/other"))

    let restored = TestNode("screen")
    delegate.onNode = { path, _ in path.description == "screen" ? restored : nil }
    var decoded: TestNode?
    delegate.onDidDecode = { decoded = try $0.decodeObject(forKey: "screen") }
    _ = try await launch.keeper(delegate: delegate).restore(into: [TestNode("tab")])
    XCTAssertIdentical(decoded, restored)
    XCTAssertEqual(restored.value, "deep")
  }

  func testWhatAnUnnamedNodePresentsIsNotRecorded() async throws {
    let parent = TestNode(nil)
    parent.restorationPresented = TestNode("m", trace: trace)
    let report = try await launch.keeper().save([parent])
    XCTAssertEqual(report.savedPaths, [])
    XCTAssertNil(report.outcome(of: "∅/m"))
    XCTAssertEqual(try launch.storedPaths(), [])
    XCTAssertEqual(trace.events, [])
  }

  func testAnEmptyIdentifierCountsAsNone() async throws {
    let report = try await launch.keeper().save([TestNode("", children: [TestNode("a")])])
    XCTAssertEqual(report.savedPaths, [])
    XCTAssertEqual(try launch.storedPaths(), [])
    XCTAssertEqual(report.outcome(of: "∅"), .noIdentifier)
  }

  func testThePathOfAScreenGoesThroughItsContainers() async throws {
    let root = TestNode("T", children: [TestNode("N", children: [TestNode("V")])])
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(report.savedPaths, ["T", "T/N", "T/N/V"])
    XCTAssertEqual(try launch.storedPaths(), ["T", "T/N", "T/N/V"])
  }

  func testThePathOfAPushedScreenGoesThroughTheStackAndNotThroughTheOneBelow() async throws {
    let stack = TestNode("stack", children: [TestNode("first"), TestNode("second")])
    let report = try await launch.keeper().save([stack])
    XCTAssertEqual(report.savedPaths, ["stack", "stack/first", "stack/second"])
    XCTAssertEqual(try launch.storedPaths(), ["stack", "stack/first", "stack/second"])
  }

  func testThePathOfAPresentedNodeGoesThroughItsPresenter() async throws {
    let screen = TestNode("V")
    screen.restorationPresented = TestNode("M")
    let report = try await launch.keeper().save([TestNode("N", children: [screen])])
    XCTAssertEqual(report.savedPaths, ["N", "N/V", "N/V/M"])
    XCTAssertEqual(try launch.storedPaths(), ["N", "N/V", "N/V/M"])
  }

  func testAContainerThatDoesNotMentionItsChildrenDoesNotPreserveThem() async throws {
    let children = ["a", "b"].map { identifier in
      let child = TestNode(identifier, trace: trace)
      child.restorationClass = TestFactory.self
      return child
    }
    _ = try await launch.keeper().save([TestNode("container", children: children)])
    XCTAssertEqual(try launch.storedPaths(), ["container", "container/a", "container/b"])
    // They are known from a restore and are still there, and it mentions them no more.
    var made: [TestNode] = []
    TestFactory.make = { [trace] path, _ in
      made.append(TestNode(path.identifier, trace: trace))
      return made[made.count - 1]
    }
    let container = TestNode("container")
    container.onDecode = { container.restorationChildren = $0.restoredChildren }
    let keeper = try launch.keeper()
    let restored = try await keeper.restore(into: [container])
    XCTAssertEqual(restored.problems, [])
    XCTAssertEqual(made.count, 2)
    _ = try await keeper.save([container])
    XCTAssertEqual(try launch.storedPaths(), ["container", "container/a", "container/b"])
    container.restorationChildren = []
    trace.clear()
    let report = try await keeper.save([container])
    XCTAssertEqual(report.savedPaths, ["container"])
    XCTAssertEqual(try launch.storedPaths(), ["container"])
    XCTAssertEqual(trace.events, [])
  }

  /// Two alternative children, of which one is visible, kept by hand.
  @MainActor
  private final class Container: @MainActor RestorableNode {
    let restorationIdentifier: String? = "container"
    var a: TestNode?
    var b: TestNode?
    func encodeRestorableState(with coder: StateEncoder) throws {
      coder.encode(a, forKey: "a")
      coder.encode(b, forKey: "b")
    }
    func decodeRestorableState(with coder: StateDecoder) throws {
      a = try coder.decodeObject(forKey: "a")
      b = try coder.decodeObject(forKey: "b")
    }
  }

  func testAContainerThatRefersToItsChildrenGetsBothBack() async throws {
    let container = Container()
    container.a = TestNode("a", value: "visible")
    container.b = TestNode("b", value: "hidden")
    container.a?.restorationClass = TestFactory.self
    container.b?.restorationClass = TestFactory.self
    let report = try await launch.keeper().save([container])
    XCTAssertEqual(report.savedPaths, ["container", "container/a", "container/b"])
    XCTAssertEqual(report.notes, [])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["container", "container/a", "container/b"])
    for child in ["a", "b"] {
      XCTAssertEqual(
        try stored.paths(referredToFrom: "container", forKey: child), ["container/\(child)"])
    }

    TestFactory.make = { path, _ in TestNode(path.identifier) }
    let restored = Container()
    _ = try await launch.keeper().restore(into: [restored])
    XCTAssertEqual(restored.a?.value, "visible")
    XCTAssertEqual(restored.b?.value, "hidden")
  }

  func testOfTwoSiblingsWithOneIdentifierTheFirstWins() async throws {
    let root = TestNode(
      "root",
      children: [
        TestNode("x", value: "first"), TestNode("x", value: "second", children: [TestNode("y")]),
      ])
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(report.savedPaths, ["root", "root/x"])
    XCTAssertEqual(report.problems.map(\.outcome), [.duplicate])
    XCTAssertNil(report.outcome(of: "root/x/y"))
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["root", "root/x"])
    XCTAssertEqual(try stored["root/x"]?.value, "first")

    let restored = TestNode("x")
    _ = try await launch.keeper().restore(into: [TestNode("root", children: [restored])])
    XCTAssertEqual(restored.value, "first")
  }

  func testOfTwoSiblingsWithOneIdentifierTheReportSaysWhatToMend() async throws {
    let root = TestNode("root", children: [TestNode("x"), UnrelatedNode("x")])
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(
      report.problems.map(\.description),
      [
        "root/x (UnrelatedNode): left out, another one has this path; give each of the two an"
          + " identifier of its own"
      ])
  }

  func testADuplicateThatIsReferredToIsStoredUnderANumber() async throws {
    let second = TestNode("x", value: "second")
    let root = TestNode("root", children: [TestNode("x", value: "first"), second])
    root.onEncode = { $0.encode(second, forKey: "selected") }
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(report.problems.map(\.outcome), [.duplicate])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/x", "root/x[1]"])

    var selected: TestNode?
    let (first, other) = (TestNode("x"), TestNode("x"))
    let restored = TestNode("root", children: [first])
    restored.onDecode = { selected = try $0.decodeObject(forKey: "selected") }
    let delegate = TestDelegate()
    delegate.onNode = { path, _ in path.siblingIndex == 1 ? other : nil }
    _ = try await launch.keeper(delegate: delegate).restore(into: [restored])
    XCTAssertIdentical(selected, other)
    XCTAssertEqual([first.value, other.value], ["first", "second"])
  }

  func testNodesOfOneIdentifierThatOnlyReferencesReachAreAllStored() async throws {
    let root = TestNode("root")
    let friends = (0..<3).map { TestNode("friend", value: "\($0)") }
    root.onEncode = { $0.encode(friends as [any StateRestoring], forKey: "friends") }
    let keeper = try launch.keeper()
    let report = try await keeper.save([root])
    XCTAssertEqual(report.problems.map(\.outcome), [])
    let paths = ["root/friend", "root/friend[1]", "root/friend[2]"]
    XCTAssertEqual(try launch.storedPaths(), ["root"] + paths)
    for (place, path) in paths.enumerated() {
      XCTAssertEqual(try launch.storedRecords()?[path]?.value, "\(place)")
    }
    let again = try await keeper.save([root])
    XCTAssertEqual(again.writtenByteCount, 0)
  }

  func testAnIdentifierThatIsTooLongCostsItsNodeAlone() async throws {
    let long = TestNode(String(repeating: "x", count: 1025))
    let report = try await launch.keeper().save([
      TestNode("root", children: [long, TestNode("other")])
    ])
    XCTAssertEqual(report.savedPaths, ["root", "root/other"])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/other"])
    XCTAssertEqual(report.notes, [.identifierTooLong(byteCount: 1025)])
  }

  func testANodeThatOnlyReferencesReachAndThatIsLeftOutHasOneLine() async throws {
    let friend = TestNode(String(repeating: "x", count: 1025))
    let root = TestNode("root", children: [TestNode("taken")])
    root.onEncode = { $0.encode(friend, forKey: "friend") }
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(report.savedPaths, ["root", "root/taken"])
    XCTAssertEqual(report.problems.map(\.outcome), [.noIdentifier])
  }

  func testBothAlternativesOfAContainerComeBackAndTheVisibleOneIsKnown() async throws {
    let (map, list) = (TestNode("map", value: "zoomed"), TestNode("list", value: "scrolled"))
    let container = TestNode("container")
    container.onEncode = { coder in
      coder.encode([map, list], forKey: "alternatives")
      coder.encode(list, forKey: "visible")
    }
    for node in [map, list] { node.restorationClass = TestFactory.self }
    _ = try await launch.keeper().save([container])

    TestFactory.make = { path, _ in TestNode(path.identifier) }
    let restored = TestNode("container")
    var alternatives: [TestNode] = []
    var visible: TestNode?
    restored.onDecode = { coder in
      alternatives = try coder.decodeObjects(forKey: "alternatives")
      visible = try coder.decodeObject(forKey: "visible")
    }
    _ = try await launch.keeper().restore(into: [restored])
    XCTAssertEqual(alternatives.map(\.value), ["zoomed", "scrolled"])
    XCTAssertIdentical(visible, alternatives.last)
  }

  func testOneIdentifierUnderTwoParentsIsNoProblem() async throws {
    let root = TestNode(
      "root",
      children: [
        TestNode("a", children: [TestNode("x")]), TestNode("b", children: [TestNode("x")]),
      ])
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(report.savedPaths, ["root", "root/a", "root/a/x", "root/b", "root/b/x"])
    XCTAssertEqual(
      try launch.storedPaths(), ["root", "root/a", "root/a/x", "root/b", "root/b/x"])
    XCTAssertEqual(report.problems, [])
  }

  func testANodeThatIsShownWithoutBeingContainedIsNotRecorded() async throws {
    let shown = TestNode("shown", trace: trace)
    let view = TestView("view", value: "of the node that is shown")
    shown.restorationViews = [view]
    let host = TestNode("host")
    host.restorationViews = [TestView(nil, subviews: [view])]
    let report = try await launch.keeper().save([host])
    XCTAssertEqual(report.savedPaths, ["host", "host/view"])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["host", "host/view"])
    XCTAssertEqual(stored.elements.map(\.kind), ["node", "view"])
    XCTAssertEqual(trace.events, [])
  }

  func testTheOrderOfASaveIsGateWillEncodeParentsBeforeChildren() async throws {
    let screen = TestNode("screen", trace: trace, children: [TestNode("pane", trace: trace)])
    screen.restorationPresented = TestNode("sheet", trace: trace)
    let root = TestNode("root", trace: trace, children: [screen, TestNode("last", trace: trace)])
    let delegate = TestDelegate(trace)
    _ = try await launch.keeper(delegate: delegate).save([root])
    XCTAssertEqual(
      trace.events,
      [
        "shouldSave", "willEncode", "encode root", "encode screen", "encode pane", "encode sheet",
        "encode last",
      ])
  }

  func testANodeThatThrowsInEncodeKeepsItsPlaceAndItsChildren() async throws {
    struct Failure: Error {}
    let root = TestNode("root", value: "lost", children: [TestNode("child", value: "kept")])
    root.onEncode = { _ in throw Failure() }
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(report.outcome(of: "root"), .savedWithoutState)
    XCTAssertEqual(report.notes, [.encodeFailed("Failure")])

    let child = TestNode("child")
    let restoredRoot = TestNode("root", value: "default", trace: trace, children: [child])
    let restored = try await launch.keeper().restore(into: [restoredRoot])
    XCTAssertEqual(restored.outcome(of: "root"), .restoredWithoutState(by: .existing))
    XCTAssertEqual(restoredRoot.value, "default")
    XCTAssertEqual(child.value, "kept")
  }

  func testAReferenceToANodeWithoutIdentifierIsReportedAndLeftOut() async throws {
    let root = TestNode("root")
    root.onEncode = { $0.encode(TestNode(nil), forKey: "other") }
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(
      report.notes, [.unstored("other", "TestNode")])
  }

  func testACoderThatIsKeptWritesNothing() async throws {
    var kept: StateEncoder?
    let first = TestNode("first", value: "own")
    first.onEncode = { kept = $0 }
    let second = TestNode("second")
    second.onEncode = { _ in kept?.encode("stray", forKey: "value") }
    let report = try await launch.keeper().save([first, second])
    XCTAssertEqual(report.notes, [])

    let restored = (TestNode("first"), TestNode("second"))
    _ = try await launch.keeper().restore(into: [restored.0, restored.1])
    XCTAssertEqual(restored.0.value, "own")
    XCTAssertNil(restored.1.value)
  }

  func testANodeThatIsContainedTwiceIsSavedOnce() async throws {
    let shared = TestNode("shared")
    let root = TestNode(
      "root",
      children: [TestNode("a", children: [shared]), TestNode("b", children: [shared])])
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(report.savedPaths, ["root", "root/a", "root/a/shared", "root/b"])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/a", "root/a/shared", "root/b"])
    XCTAssertEqual(report.problems.map(\.outcome), [.containedTwice])
  }

  func testANodeThatContainsItselfIsWalkedOnce() async throws {
    let root = TestNode("root")
    root.restorationChildren = [root]
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(report.savedPaths, ["root"])
    XCTAssertEqual(try launch.storedPaths(), ["root"])
    XCTAssertEqual(report.problems.map(\.outcome), [.containedTwice])
  }

  func testAValueThatIsTooLargeCostsTheStateOfItsNodeAlone() async throws {
    let root = TestNode("root", children: [TestNode("child", value: "kept")])
    root.onEncode = { $0.encode(String(repeating: "x", count: 1 << 24), forKey: "text") }
    let report = try await launch.keeper().save([root])
    XCTAssertEqual(report.outcome(of: "root"), .savedWithoutState)
    XCTAssertEqual(report.savedPaths, ["root/child"])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["root", "root/child"])
    XCTAssertNil(stored["root"]?.state)
    XCTAssertEqual(try stored["root/child"]?.value, "kept")
  }
}
