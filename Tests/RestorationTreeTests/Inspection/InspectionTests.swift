import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import TestSupport
import XCTest

/// A stored state as a tool sees it that does not have the app.
@MainActor
final class InspectionTests: XCTestCase {
  private let launch = Launch()

  private func tree() -> TestNode {
    let list = TestNode("list", value: "rows", children: [TestNode("a"), TestNode("b")])
    list.restorationViews = [TestView("field", value: "text")]
    let root = TestNode("root", children: [list, TestNode("other")])
    root.restorationPresented = SpecialTestNode("sheet")
    return root
  }

  private func open() throws -> StoredState {
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    return try XCTUnwrap(
      try StoredState.open(
        launch.store.memory(named: "main"), named: "main", of: Launch.application,
        with: .key(key)))
  }

  private func elements(_ outline: StoredState.Outline) -> [StoredState.Element] {
    var elements: [StoredState.Element] = []
    outline.forEach { elements.append($0) }
    return elements
  }

  func testTheOutlineTellsWhatTheSaveReported() async throws {
    _ = try await launch.keeper().save([tree()])
    let outline = try open().outline()
    let elements = elements(outline)
    XCTAssertEqual(
      elements.map(\.path.description),
      [
        "root", "root/list", "root/list/field", "root/list/a", "root/list/b", "root/other",
        "root/sheet",
      ])
    XCTAssertEqual(
      elements.map(\.role), [.root, .child, .view, .child, .child, .child, .presented])
    XCTAssertEqual(elements.map(\.kind), ["node", "node", "view", "node", "node", "node", "node"])
    XCTAssertEqual(elements.last?.className, "SpecialTestNode")
    XCTAssertEqual(elements.map(\.version), Array(repeating: 1, count: 7))
    let records = try XCTUnwrap(try launch.archive()).verifiedRecords()
    // The bodies of elements have even numbers, and the last one is what is kept.
    let isOfElement = { $0.isMultiple(of: 2) && $0 < UInt64.max - 1 }
    XCTAssertEqual(
      elements.map(\.byteCount).filter { $0 > 0 }.sorted(),
      (0..<records.count).filter { isOfElement(records.identifier(at: $0)) }
        .map { records.byteCount(at: $0) }.sorted())
    XCTAssertEqual(outline.count, 7)
    XCTAssertNil(outline.damage)
    XCTAssertEqual(outline.problemCount, 0)
    for element in elements {
      XCTAssertEqual(outline.element(ofRecord: element.record), element)
    }
    XCTAssertNil(outline.element(ofRecord: StoredState.applicationRecord))
  }

  func testTheFactsAreThoseOfTheSave() async throws {
    _ = try await launch.keeper().save([tree()])
    let facts = try open().facts
    XCTAssertEqual(facts?.savedAt, launch.now)
    XCTAssertEqual(facts?.applicationVersion, "11")
    XCTAssertEqual(facts?.userInterfaceIdiom, "test")
    XCTAssertEqual(facts?.systemVersion, "6.1")
  }

  func testTheOutlineOfChangedRecordsIsThatOfTheTree() async throws {
    let root = tree()
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    root.restorationChildren.insert(TestNode("first", value: "new"), at: 0)
    root.restorationPresented = nil
    _ = try await keeper.save([root])
    let state = try open()
    XCTAssertEqual(state.archive.extent.changeCount, 1)
    XCTAssertEqual(
      elements(try state.outline()).map(\.path.description),
      [
        "root", "root/first", "root/list", "root/list/field", "root/list/a", "root/list/b",
        "root/other",
      ])
  }

  func testValuesAreGiven() async throws {
    let node = TestNode("node")
    node.onEncode = { $0.encode("plain", forKey: "plain") }
    _ = try await launch.keeper().save([node])
    let state = try open()
    let element = try XCTUnwrap(elements(try state.outline()).first)
    let values = try XCTUnwrap(try state.values(ofRecord: element.record))
    XCTAssertEqual(values.keys, ["plain"])
    var records: [UInt64] = []
    XCTAssertNil(
      try state.forEachValues { record, values in
        records.append(record)
        _ = try values.get()
      })
    // The application has written nothing.
    XCTAssertEqual(records, [element.record])
  }

  func testElementsThatOnlyReferencesReachComeAfterTheOthersBelowTheSameOne() async throws {
    let other = TestNode("other")
    let referred = (0..<3).map { TestNode("r\($0)", children: [TestNode("below")]) }
    referred[2].onEncode = { $0.encode(referred[0], forKey: "reference") }
    other.onEncode = { $0.encode(referred[1], forKey: "reference") }
    let root = TestNode("root", children: [TestNode("list"), other])
    root.restorationPresented = TestNode("sheet")
    root.restorationViews = [TestView("field")]
    root.onEncode = { $0.encode([referred[2], other], forKey: "references") }
    _ = try await launch.keeper().save([root])
    let elements = elements(try open().outline())
    XCTAssertEqual(
      elements.map { "\($0.role) \($0.path)" },
      [
        "root root", "view root/field", "child root/list", "child root/other",
        "presented root/sheet", "referred root/r2", "child root/r2/below",
        "referred root/other/r1", "child root/other/r1/below", "referred root/r2/r0",
        "child root/r2/r0/below",
      ])
  }

  private func launches() throws -> StoredLaunches {
    let (state, key) = (try open(), try XCTUnwrap(try launch.keys.key(creating: false)))
    return try StoredLaunches(
      in: launch.store, named: "main", of: Launch.application, before: state, state.outline(),
      with: key)
  }

  func testLaunchesTellHowManyRestoresCrashedInARow() async throws {
    _ = try await launch.keeper().save([tree()])
    XCTAssertEqual(try launches().crashCount, 0)
    let delegate = TestDelegate()
    let keeper = try launch.keeper(delegate: delegate)
    var crashed: LaunchDisk?
    delegate.onDidDecode = { [launch] _ in crashed = launch.disk }
    _ = try await keeper.restore(into: [tree()])
    launch.endProcess()
    launch.disk = try XCTUnwrap(crashed)
    let launches = try launches()
    XCTAssertEqual(launches.crashCount, 1)
    XCTAssertEqual(launches.applicationVersion, "11")
    XCTAssertEqual(launches.skipped, [])
  }

  func testLaunchesTellWhatTheNextOneLeavesOut() async throws {
    func nodes() -> (root: TestNode, bad: TestNode, good: TestNode) {
      let (bad, good) = (TestNode("bad"), TestNode("good"))
      return (TestNode("root", children: [bad, good]), bad, good)
    }
    _ = try await launch.keeper().save([nodes().root])
    for _ in 1...2 {
      let nodes = nodes()
      try await launch.crash(decoding: nodes.bad, in: nodes.root)
    }
    let last = nodes()
    try await launch.crash(decoding: last.good, in: last.root)
    let launches = try launches()
    XCTAssertEqual(launches.crashCount, 3)
    XCTAssertEqual(launches.skipped.map(\.description), ["root/bad"])
  }
}
