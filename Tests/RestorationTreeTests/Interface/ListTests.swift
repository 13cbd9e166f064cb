import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class ListTests: XCTestCase {
  private let launch = Launch()
  private let names = RowNames()

  private func list(_ rows: [String], isNamed: Bool = true) -> TestList {
    let list = TestList("list", rows: rows)
    if isNamed { list.modelAssociation = names }
    return list
  }

  private func save(_ list: TestList, selecting: [String], first: Int) async throws {
    list.selectedRows = selecting
    list.firstVisibleIndexPath = IndexPath(index: first)
    _ = try await launch.keeper().save([list])
  }

  func testARowThatHasMovedIsSelectedWhereItIsNow() async throws {
    try await save(list(["a", "b", "k"]), selecting: ["k"], first: 1)
    let back = list(["k", "x", "a", "y", "b"])
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(back.selectedRows, ["k"])
    XCTAssertEqual(back.firstVisibleIndexPath, IndexPath(index: 4))
  }

  func testARowThatIsGoneIsNotSelectedAndTheOthersAre() async throws {
    try await save(list(["a", "b", "k"]), selecting: ["k", "a"], first: 2)
    let back = list(["b", "a"])
    let report = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(back.selectedRows, ["a"])
    XCTAssertNil(back.firstVisibleIndexPath)
    XCTAssertEqual(report.problems, [])
  }

  func testWithoutAModelTheSamePositionsComeBackAndAreMarked() async throws {
    try await save(list(["a", "b", "c"], isNamed: false), selecting: ["b"], first: 1)
    let back = list(["x", "y"], isNamed: false)
    var isRaw: Bool?
    back.onDecode = { isRaw = $0.hasRawListPositions }
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(back.selectedRows, ["y"])
    XCTAssertEqual(back.firstVisibleIndexPath, IndexPath(index: 1))
    XCTAssertEqual(isRaw, true)
  }

  func testPositionsAreMarkedWhateverOfThemIsSaved() async throws {
    let savings: [(selected: [String], first: IndexPath?)] = [
      (["b"], nil), ([], IndexPath(index: 1)), (["b"], IndexPath(index: 1)), ([], nil),
    ]
    for isNamed in [false, true] {
      for (selected, first) in savings {
        let saved = list(["a", "b"], isNamed: isNamed)
        (saved.selectedRows, saved.firstVisibleIndexPath) = (selected, first)
        _ = try await launch.keeper().save([saved])
        let back = list(["a", "b"], isNamed: isNamed)
        var isRaw: Bool?
        back.onDecode = { isRaw = $0.hasRawListPositions }
        _ = try await launch.keeper().restore(into: [back])
        XCTAssertEqual(isRaw, !isNamed, "\(selected) \(String(describing: first))")
        XCTAssertEqual(back.selectedRows, selected)
        XCTAssertEqual(back.firstVisibleIndexPath, first)
      }
    }
  }

  func testPositionsThatAreNotThereAnyMoreAreSkipped() async throws {
    try await save(list(["a", "b", "c"], isNamed: false), selecting: ["c", "a"], first: 2)
    let back = list(["x"], isNamed: false)
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(back.selectedRows, ["x"])
    XCTAssertNil(back.firstVisibleIndexPath)
  }

  func testARowWithoutIdentifierIsLeftOut() async throws {
    try await save(list(["a", "?"]), selecting: ["?", "a"], first: 1)
    let back = list(["a", "?"])
    var isRaw: Bool?
    back.onDecode = { isRaw = $0.hasRawListPositions }
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(back.selectedRows, ["a"])
    XCTAssertNil(back.firstVisibleIndexPath)
    XCTAssertEqual(isRaw, false)
  }

  func testTheSelectionFollowsTheDecodingAndTheFirstRowTheLayout() async throws {
    try await save(list(["a", "b"]), selecting: ["b"], first: 1)
    let trace = Trace()
    let back = list([])
    back.trace = trace
    // The rows are loaded while the list decodes itself.
    back.onDecode = { _ in back.rows = ["a", "b"] }
    let delegate = TestDelegate(trace)
    delegate.onLayOut = {}
    _ = try await launch.keeper(delegate: delegate).restore(into: [back])
    XCTAssertEqual(back.selectedRows, ["b"])
    XCTAssertEqual(
      trace.events,
      [
        "shouldRestore", "delegate list", "load list", "decode list", "layOut", "first 1",
        "didDecode", "finished list",
      ])
  }

  func testAListIsRestoredByASubclassThatForgetsSuper() async throws {
    let saved = ForgetfulList("list")
    saved.selectedIndexPaths = [IndexPath(index: 3)]
    _ = try await launch.keeper().save([saved])
    let back = ForgetfulList("list")
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(back.selectedIndexPaths, [IndexPath(index: 3)])
  }

  func testWhatANodePresentsAndItsViewsAreRestoredByASubclassThatForgetsSuper() async throws {
    func screen(_ text: String?) -> (ForgetfulPresenter, TestView) {
      let view = TestView("view", value: text)
      (view.text, view.maximumContentOffset) = ("text", (0, 100))
      let screen = ForgetfulPresenter("screen")
      screen.restorationViews = [view]
      return (screen, view)
    }
    let (saved, savedView) = screen("scrolled")
    (savedView.contentOffset, savedView.selectedTextRange) = ((0, 40), 1..<3)
    let sheet = TestNode("sheet", value: "presented")
    sheet.restorationClass = TestFactory.self
    saved.restorationPresented = sheet
    _ = try await launch.keeper().save([saved])
    XCTAssertEqual(try launch.storedPaths(), ["screen", "screen/view", "screen/sheet"])
    TestFactory.make = { path, _ in TestNode(path.identifier) }
    let (back, view) = screen(nil)
    let report = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual((back.restorationPresented as? TestNode)?.value, "presented")
    XCTAssertEqual(view.value, "scrolled")
    XCTAssertEqual([view.contentOffset.x, view.contentOffset.y], [0, 40])
    XCTAssertEqual(view.selectedTextRange, 1..<3)
  }
}
