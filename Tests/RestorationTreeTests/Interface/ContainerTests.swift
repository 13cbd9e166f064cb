import RestorationKit
import TestSupport
import XCTest

@MainActor
final class ContainerTests: XCTestCase {
  private let launch = Launch()

  func testEqualIdentifiersInASplitComeBackInTheRightColumn() async throws {
    let columns = ["left", "right"].map { TestNode("x", value: $0) }
    let saved = try await launch.keeper().save([TestSplit("split", children: columns)])
    XCTAssertEqual(saved.problems, [])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["split", "split/x", "split/x[1]"])
    XCTAssertEqual(try stored.elements.map { try $0.value }, [nil, "left", "right"])
    let back = [TestNode("x"), TestNode("x")]
    let split = TestSplit("split", children: back)
    _ = try await launch.keeper().restore(into: [split])
    XCTAssertEqual(back.map(\.value), ["left", "right"])
    XCTAssertTrue(split.restoredColumns.elementsEqual(back) { $0 === $1 })
  }

  func testAMissingColumnDoesNotTakeTheOthersAway() async throws {
    let columns = ["a", "b"].map { TestNode($0, value: $0) }
    _ = try await launch.keeper().save([TestSplit("split", children: columns)])
    let b = TestNode("b")
    _ = try await launch.keeper().restore(into: [TestSplit("split", children: [b])])
    XCTAssertEqual(b.value, "b")
  }

  // MARK: Tabs

  private func tabs(_ identifiers: [String?], selected: Int) -> TestTabs {
    let tabs = TestTabs("tabs", children: identifiers.map { TestNode($0, value: $0) })
    tabs.selectedTab = tabs.restorationChildren[selected]
    return tabs
  }

  private func emptyTabs(_ identifiers: [String?]) -> TestTabs {
    TestTabs("tabs", children: identifiers.map { TestNode($0) })
  }

  func testTheSelectedTabComesBackWhereverItIsNow() async throws {
    _ = try await launch.keeper().save([tabs(["x", "y"], selected: 1)])
    let back = emptyTabs(["y", "x"])
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(back.selectedTab?.restorationName, "y")
    XCTAssertEqual(back.restorationChildren.map { ($0 as? TestNode)?.value }, ["y", "x"])
  }

  func testASelectedTabThatIsGoneLeavesTheSelectionAsItIs() async throws {
    _ = try await launch.keeper().save([tabs(["x", "y"], selected: 1)])
    for selected in [0, 1, nil] {
      let back = emptyTabs(["x", "z"])
      back.selectedTab = selected.map { back.restorationChildren[$0] }
      let report = try await launch.keeper().restore(into: [back])
      XCTAssertTrue(back.selectedTab === selected.map { back.restorationChildren[$0] })
      XCTAssertEqual(report.outcome(of: "tabs/y"), .tabNotFound)
    }
  }

  func testOnlyOneOfTheTabsIsStoredAsTheSelectedOne() async throws {
    let (other, inside) = (TestNode("other"), TestNode("inside"))
    let tabs = tabs(["x", "y"], selected: 1)
    (tabs.restorationChildren[0] as? TestNode)?.restorationChildren = [inside]
    for stranger in [other, inside] {
      tabs.selectedTab = stranger
      for roots in [[other, tabs], [tabs, other]] {
        _ = try await launch.keeper().save(roots)
        let words = try launch.storedRecords()?.words.filter { $0.contains("selectedTab") }
        XCTAssertEqual(words, [])
      }
    }
  }

  func testATabWithoutIdentifierStaysAtItsDefaultAndTheOthersComeBack() async throws {
    _ = try await launch.keeper().save([tabs(["x", nil], selected: 1)])
    let back = emptyTabs(["x", nil])
    back.selectedTab = back.restorationChildren[0]
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual((back.restorationChildren[0] as? TestNode)?.value, "x")
    XCTAssertNil((back.restorationChildren[1] as? TestNode)?.value)
    XCTAssertEqual(back.selectedTab?.restorationName, "x")
  }

  func testATabIsNeverMade() async throws {
    let saved = tabs(["x"], selected: 0)
    (saved.restorationChildren[0] as? TestNode)?.restorationClass = TestFactory.self
    _ = try await launch.keeper().save([saved])
    TestFactory.make = { _, _ in
      XCTFail("A factory was asked for a tab.")
      return nil
    }
    let delegate = TestDelegate()
    delegate.onNode = { path, _ in
      XCTAssertNotEqual(path.description, "tabs/x")
      return nil
    }
    let back = emptyTabs(["x"])
    _ = try await launch.keeper(delegate: delegate).restore(into: [back])
    XCTAssertEqual((back.restorationChildren[0] as? TestNode)?.value, "x")
  }

  // MARK: Presentation

  private func presented() -> TestPresenter {
    TestFactory.make = { path, _ in TestPresenter(path.identifier) }
    let (root, first, second) = (TestPresenter("a"), TestPresenter("m1"), TestPresenter("m2"))
    for node in [first, second] { node.restorationClass = TestFactory.self }
    root.restorationPresented = first
    first.restorationPresented = second
    second.value = "top"
    return root
  }

  func testWhatWasPresentedIsPresentedAgain() async throws {
    let saved = try await launch.keeper().save([presented()])
    XCTAssertEqual(saved.savedPaths, ["a", "a/m1", "a/m1/m2"])
    XCTAssertEqual(try launch.storedPaths(), ["a", "a/m1", "a/m1/m2"])
    let back = TestPresenter("a")
    let report = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(
      (back.restorationPresented?.restorationPresented as? TestNode)?.value, "top")
    XCTAssertEqual(report.problems, [])
  }

  func testWhenAPresentedNodeIsVetoedNothingIsPresented() async throws {
    _ = try await launch.keeper().save([presented()])
    var asked: [String] = []
    TestFactory.make = { path, _ in
      asked.append(path.description)
      return path.identifier == "m1" ? nil : TestPresenter(path.identifier)
    }
    let trace = Trace()
    let back = TestPresenter("a", trace: trace)
    let report = try await launch.keeper().restore(into: [back])
    XCTAssertNil(back.restorationPresented)
    XCTAssertEqual(asked, ["a/m1"])
    XCTAssertEqual(trace.events, ["load a", "decode a", "finished a"])
    XCTAssertEqual(
      report.outcome(of: "a/m1/m2"), .parentMissing(RestorationPath(["a", "m1"])))
  }

  func testANodeThatIsProvidedTwiceIsRestoredOnce() async throws {
    let children = ["b", "c"].map { identifier in
      let node = TestNode(identifier, value: identifier)
      node.restorationClass = TestFactory.self
      return node
    }
    _ = try await launch.keeper().save([TestNode("a", children: children)])
    let only = TestNode("b")
    TestFactory.make = { _, _ in only }
    let report = try await launch.keeper().restore(into: [TestNode("a", children: [only])])
    XCTAssertEqual(report.outcome(of: "a/b"), .restored(by: .restorationClass))
    XCTAssertEqual(report.outcome(of: "a/c"), .providedTwice(RestorationPath(["a", "b"])))
    XCTAssertEqual(only.value, "b")
  }
}
