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
    XCTAssertEqual(elements.map(\.kind), [.node, .node, .view, .node, .node, .node, .node])
    XCTAssertEqual(elements.last?.className, "SpecialTestNode")
    XCTAssertEqual(elements.map(\.version), Array(repeating: 1, count: 7))
    let records = try XCTUnwrap(try launch.archive()).verifiedRecords()
    #if RESTORATION_NEXT
    // The bodies of elements have even numbers, and the last one is what is kept.
    let isOfElement = { $0.isMultiple(of: 2) && $0 < UInt64.max - 1 }
    #else
    let isOfElement = { $0 > UInt64(2) }
    #endif
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
    #if RESTORATION_NEXT
    XCTAssertEqual(values.keys, ["plain"])
    #else
    XCTAssertEqual(values.state?.keys, ["plain"])
    #endif
    var records: [UInt64] = []
    XCTAssertNil(
      try state.forEachValues { record, values in
        records.append(record)
        _ = try values.get()
      })
    #if RESTORATION_NEXT
    // The application has written nothing.
    XCTAssertEqual(records, [element.record])
    #else
    XCTAssertEqual(Set(records), [StoredState.applicationRecord, element.record])
    #endif
  }

  #if !RESTORATION_NEXT
  func testWhatARestoreWouldNotPlaceIsAProblem() async throws {
    let builder = RecordBuilder()
    func append(_ record: UInt64, _ identifier: String?, children: [UInt64]) throws {
      try builder.append(record: record) { encoder in
        encoder.encodeContainer(forKey: "node") { node in
          node.encode(identifier, forKey: "identifier")
          node.encode(name: "TestNode", forKey: "class")
          node.encodeReferences(to: children, forKey: "children")
        }
      }
    }
    try builder.append(record: 2) { $0.encodeReferences(to: [3, 99], forKey: "roots") }
    try append(3, "root", children: [4, 3, 7, 8, 9])
    try append(4, nil, children: [5])
    try append(5, "lost", children: [6])
    try append(6, "below", children: [5])
    for (record, identifier) in [(7, "one"), (8, "two"), (9, "one")] {
      try append(UInt64(record), identifier, children: [])
    }
    let key = try XCTUnwrap(try launch.keys.key(creating: true))
    _ = try Archive.write(
      try builder.finish(), to: launch.store.memory(named: "main"), key: key,
      context: StoredState.context(of: "main", in: Launch.application))
    let outline = try open().outline()
    XCTAssertEqual(
      elements(outline).map(\.path.description),
      ["root", "root/one", "root/two", "root/one", "lost", "lost/below"])
    XCTAssertEqual(
      elements(outline).map(\.role), [.root, .child, .child, .child, .unplaced, .child])
    XCTAssertEqual(outline.problems.map(\.record).prefix(2), [4, 5])
    XCTAssertEqual(
      outline.problems.map(\.error.subject).dropFirst(),
      ["not in the tree", "two nodes of one path"])
    XCTAssertEqual(outline.problemCount, 3)
  }

  /// Stores an archive that no save would write, with one node in record 3.
  private func store(_ build: (RecordBuilder) throws -> Void) throws {
    let builder = RecordBuilder()
    try build(builder)
    try builder.append(record: 3) { encoder in
      encoder.encodeContainer(forKey: "node") { node in
        node.encode("root", forKey: "identifier")
        node.encode(name: "TestNode", forKey: "class")
      }
    }
    let key = try XCTUnwrap(try launch.keys.key(creating: true))
    _ = try Archive.write(
      try builder.finish(), to: launch.store.memory(named: "main"), key: key,
      context: StoredState.context(of: "main", in: Launch.application))
  }

  #endif

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
    #if RESTORATION_NEXT
    XCTAssertEqual(
      elements.map { "\($0.role) \($0.path)" },
      [
        "root root", "view root/field", "child root/list", "child root/other",
        "presented root/sheet", "referred root/r2", "child root/r2/below",
        "referred root/other/r1", "child root/other/r1/below", "referred root/r2/r0",
        "child root/r2/r0/below",
      ])
    #else
    XCTAssertEqual(
      elements.map { "\($0.role) \($0.path)" },
      [
        "root root", "view root/field", "child root/list", "child root/other",
        "referred root/other/r1", "child root/other/r1/below", "presented root/sheet",
        "referred root/r2", "child root/r2/below", "referred root/r2/r0",
        "child root/r2/r0/below",
      ])
    #endif
  }

  #if !RESTORATION_NEXT
  func testRootsThatCannotBeReadAreAProblemOfTheTreeAndOfNothingElse() throws {
    try store { try $0.append(record: 2) { $0.encode("root", forKey: "roots") } }
    let outline = try open().outline()
    XCTAssertNil(outline.damage)
    XCTAssertEqual(outline.problems.map(\.record), [StoredState.treeRecord])
    XCTAssertEqual(outline.problems.map(\.error.code), [.typeMismatch])
    XCTAssertEqual(outline.problems.map(\.error.path), [["roots"]])
    XCTAssertEqual(outline.problemCount, 1)
    XCTAssertEqual(elements(outline).map(\.path.description), ["root"])
    XCTAssertEqual(elements(outline).map(\.role), [.unplaced])
  }

  func testElementsHaveTheirPlacesIfOnlyTheRootsOfTheTreeCanBeRead() throws {
    try store { builder in
      try builder.append(record: 2) { encoder in
        encoder.encodeReferences(to: [3], forKey: "roots")
        encoder.encode(7, forKey: "formerNames")
      }
    }
    let outline = try open().outline()
    XCTAssertEqual(outline.problems.map(\.record), [StoredState.treeRecord])
    XCTAssertEqual(outline.problems.map(\.error.path), [["formerNames"]])
    XCTAssertEqual(elements(outline).map(\.role), [.root])
  }

  func testWhatIsSavedOfTheApplicationIsAProblemIfItCannotBeRead() throws {
    for key in ["state", "host", "facts"] {
      try store { builder in
        try builder.append(record: StoredState.applicationRecord) { $0.encode("text", forKey: key) }
        try builder.append(record: 2) { $0.encodeReferences(to: [3], forKey: "roots") }
      }
      let outline = try open().outline()
      XCTAssertEqual(outline.problems.map(\.record), [StoredState.applicationRecord], key)
      XCTAssertEqual(outline.problems.map(\.error.path), [[key]])
      XCTAssertEqual(elements(outline).map(\.role), [.root])
    }
  }

  func testRecordNumbersOfAnySizeAreFound() async throws {
    let numbers: [UInt64] = [9, .max, 3, UInt64(UInt32.max) + 7]
    let builder = RecordBuilder()
    try builder.append(record: 2) { $0.encodeReferences(to: numbers, forKey: "roots") }
    for number in numbers {
      try builder.append(record: number) { encoder in
        encoder.encodeContainer(forKey: "node") { node in
          node.encode("\(number)", forKey: "identifier")
          node.encode(name: "TestNode", forKey: "class")
        }
      }
    }
    let key = try XCTUnwrap(try launch.keys.key(creating: true))
    _ = try Archive.write(
      try builder.finish(), to: launch.store.memory(named: "main"), key: key,
      context: StoredState.context(of: "main", in: Launch.application))
    let outline = try open().outline()
    XCTAssertEqual(elements(outline).map(\.path.description), numbers.map { "\($0)" })
    XCTAssertEqual(elements(outline).map(\.record), numbers)
    XCTAssertEqual(
      numbers.map { outline.element(ofRecord: $0)?.path.description },
      numbers.map { "\($0)" })
  }

  #endif

  private func launches() throws -> StoredLaunches {
    let (state, key) = (try open(), try XCTUnwrap(try launch.keys.key(creating: false)))
    #if RESTORATION_NEXT
    return try StoredLaunches(
      in: launch.store, named: "main", of: Launch.application, before: state, state.outline(),
      with: key)
    #else
    return try StoredLaunches(
      in: launch.store, named: "main", of: Launch.application, before: state, with: key)
    #endif
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
