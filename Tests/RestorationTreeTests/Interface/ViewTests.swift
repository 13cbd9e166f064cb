import RestorationKit
import TestSupport
import XCTest

@MainActor
final class ViewTests: XCTestCase {
  private let launch = Launch()

  private func node(_ identifier: String?, _ views: [any RestorableView]) -> TestNode {
    let node = TestNode(identifier)
    node.restorationViews = views
    return node
  }

  func testAViewOfANodeWithoutIdentifierIsNotRecorded() async throws {
    let trace = Trace()
    let view = TestView("v")
    view.trace = trace
    let report = try await launch.keeper().save([node(nil, [view])])
    XCTAssertEqual(report.savedPaths, [])
    XCTAssertEqual(try launch.storedPaths(), [])
    XCTAssertEqual(trace.events, [])
  }

  func testAViewWithoutIdentifierIsNotAskedButThoseInItAre() async throws {
    let trace = Trace()
    let (outer, inner) = (TestView(nil), TestView("v"))
    (outer.trace, inner.trace) = (trace, trace)
    outer.restorationSubviews = [TestView("", subviews: [inner])]
    let report = try await launch.keeper().save([node("a", [outer])])
    XCTAssertEqual(trace.events, ["encode v"])
    XCTAssertEqual(report.savedPaths, ["a", "a/v"])
    XCTAssertEqual(report.entries.map(\.kind), [.node, .view])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["a", "a/v"])
    XCTAssertEqual(stored.elements.map(\.kind), ["node", "view"])
  }

  func testAViewThreeLevelsDeepComesBack() async throws {
    func views(_ value: String?) -> [any RestorableView] {
      [TestView(nil, subviews: [TestView(nil, subviews: [TestView("v", value: value)])])]
    }
    _ = try await launch.keeper().save([node("a", views("deep"))])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["a", "a/v"])
    XCTAssertEqual(try stored["a/v"]?.value, "deep")
    let back = node("a", views(nil))
    let report = try await launch.keeper().restore(into: [back])
    let view = back.restorationViews[0].restorationSubviews[0].restorationSubviews[0]
    XCTAssertEqual((view as? TestView)?.value, "deep")
    XCTAssertEqual(report.outcome(of: "a/v"), .restored(by: .existing))
  }

  func testAViewOfAChildIsRecordedUnderTheChild() async throws {
    func tree(_ value: String?) -> (TestNode, TestView) {
      let view = TestView("v", value: value)
      let child = node("child", [view])
      let parent = node("parent", [TestView("frame", subviews: [view])])
      parent.restorationChildren = [child]
      return (parent, view)
    }
    let report = try await launch.keeper().save([tree("x").0])
    let paths = ["parent", "parent/frame", "parent/child", "parent/child/v"]
    XCTAssertEqual(report.savedPaths, paths)
    XCTAssertEqual(try launch.storedPaths(), paths)
    let (back, view) = tree(nil)
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(view.value, "x")
  }

  func testOfTwoViewsWithOneIdentifierTheFirstWins() async throws {
    let report = try await launch.keeper().save(
      [node("a", [TestView("v", value: "1"), TestView("v", value: "2")])])
    XCTAssertEqual(report.problems.map(\.outcome), [.duplicate])
    XCTAssertEqual(try launch.storedPaths(), ["a", "a/v"])
    let (first, second) = (TestView("v"), TestView("v"))
    _ = try await launch.keeper().restore(into: [node("a", [first, second])])
    XCTAssertEqual([first.value, second.value], ["1", nil])
  }

  func testAViewThatIsThereTwiceOrHasALongIdentifierIsLeftOutWithItsReason() async throws {
    let (view, long) = (TestView("v"), TestView(String(repeating: "x", count: 1025)))
    let other = node("b", [view])
    let report = try await launch.keeper().save([node("a", [view, long]), other])
    XCTAssertEqual(
      report.entries.filter { $0.kind == .view }.map(\.outcome),
      [.noIdentifier, .saved, .containedTwice])
    XCTAssertEqual(report.notes, [.identifierTooLong(byteCount: 1025)])
    XCTAssertEqual(report.problems.map(\.outcome), [.noIdentifier, .containedTwice])
  }

  func testAViewMayHaveTheIdentifierOfAChild() async throws {
    let parent = node("a", [TestView("x", value: "view")])
    parent.restorationChildren = [TestNode("x", value: "node")]
    let report = try await launch.keeper().save([parent])
    XCTAssertEqual(report.problems, [])
    let (view, child) = (TestView("x"), TestNode("x"))
    let back = node("a", [view])
    back.restorationChildren = [child]
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual([view.value, child.value], ["view", "node"])
  }

  func testASaveDoesNotLoadViews() async throws {
    let trace = Trace()
    let late = LateViewNode("a", views: [TestView("v")])
    late.trace = trace
    let report = try await launch.keeper().save([late])
    XCTAssertEqual(trace.events, ["encode a"])
    XCTAssertEqual(report.savedPaths, ["a"])
    XCTAssertEqual(try launch.storedPaths(), ["a"])
  }

  func testAViewIsFoundWhenItsNodeHasLoadedIt() async throws {
    _ = try await launch.keeper().save([node("a", [TestView("v", value: "late")])])
    let view = TestView("v")
    _ = try await launch.keeper().restore(into: [LateViewNode("a", views: [view])])
    XCTAssertEqual(view.value, "late")
  }

  func testAViewThatIsNotThereIsReported() async throws {
    _ = try await launch.keeper().save([node("a", [TestView("v")])])
    let report = try await launch.keeper().restore(into: [TestNode("a")])
    XCTAssertEqual(report.outcome(of: "a/v"), .viewNotFound)
  }

  func testAReferenceToAViewComesBack() async throws {
    func tree() -> (TestNode, TestView) {
      let view = TestView("v")
      return (node("a", [view]), view)
    }
    let (saved, savedView) = tree()
    saved.onEncode = { $0.encode(savedView, forKey: "focus") }
    let stray = TestView("stray")
    saved.restorationChildren = [TestNode("b")]
    (saved.restorationChildren[0] as? TestNode)?.onEncode = { $0.encode(stray, forKey: "focus") }
    let report = try await launch.keeper().save([saved])
    XCTAssertEqual(report.notes, [.unstored("focus", "TestView", isView: true)])
    let (back, view) = tree()
    var focus: TestView?
    back.onDecode = { focus = try $0.decodeObject(forKey: "focus") }
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertTrue(focus === view)
  }

  func testNodesAreDecodedBeforeTheirViewsAndThoseBeforeTheChildren() async throws {
    let trace = Trace()
    func tree() -> TestNode {
      let view = TestView("v")
      view.trace = trace
      let child = TestNode("child", trace: trace)
      let parent = TestNode("a", trace: trace, children: [child])
      parent.restorationViews = [view]
      return parent
    }
    _ = try await launch.keeper().save([tree()])
    XCTAssertEqual(trace.events, ["encode a", "encode v", "encode child"])
    trace.clear()
    _ = try await launch.keeper().restore(into: [tree()])
    XCTAssertEqual(
      trace.events,
      [
        "load a", "load child", "decode a", "decode v", "decode child", "scroll v", "finished a",
        "finished child",
      ])
  }

  // MARK: Scrolling and texts

  func testScrollOffsetsAreMovedIntoTheContentAndSetAfterLayout() async throws {
    let saved = TestView("v")
    saved.contentOffset = (-3, 900)
    _ = try await launch.keeper().save([node("a", [saved])])
    let trace = Trace()
    let view = TestView("v")
    view.trace = trace
    let delegate = TestDelegate(trace)
    delegate.onLayOut = { view.maximumContentOffset = (10, 120) }
    _ = try await launch.keeper(delegate: delegate).restore(into: [node("a", [view])])
    XCTAssertEqual([view.contentOffset.x, view.contentOffset.y], [0, 120])
    XCTAssertEqual(
      trace.events,
      ["shouldRestore", "delegate a", "decode v", "layOut", "scroll v", "didDecode"])
  }

  func testAnOffsetThatIsNoNumberOrInContentWithoutSizeIsAtTheBeginning() async throws {
    let saved = TestView("v")
    saved.contentOffset = (.nan, 900)
    _ = try await launch.keeper().save([node("a", [saved])])
    let view = TestView("v")
    (view.contentOffset, view.maximumContentOffset) = ((5, 5), (10, -1))
    _ = try await launch.keeper().restore(into: [node("a", [view])])
    XCTAssertEqual([view.contentOffset.x, view.contentOffset.y], [0, 0])
  }

  func testATextSelectionComesBackIfItFits() async throws {
    for range in [2..<5, 0..<5, 0..<0, 5..<5] {
      let saved = TestView("v")
      saved.selectedTextRange = range
      _ = try await launch.keeper().save([node("a", [saved])])
      for text in ["12345", "1234"] {
        let view = TestView("v")
        view.text = text
        view.selectedTextRange = 0..<1
        _ = try await launch.keeper().restore(into: [node("a", [view])])
        XCTAssertEqual(view.selectedTextRange, range.upperBound <= text.count ? range : nil)
      }
    }
  }
}
