// States of the form that the new core does not read; HostileOutlineTests has those of its own.
#if !RESTORATION_NEXT
import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import TestSupport
import XCTest

/// Stored states as a tool sees them that are damaged, or that no save would write.
@MainActor
final class HostileInspectionTests: XCTestCase {
  private let launch = Launch()

  private struct Record {
    var identifier: String? = "x"
    var children: [UInt64] = []
    var views: [UInt64] = []
    var presented: UInt64?
    var referrer: UInt64?
    var kind: String?
    var siblingIndex: Int?
    var isKeptBadly = false
    var padding = 0
  }

  /// Seals node records, from record 3 on, in place of the saved state.
  private func store(roots: [UInt64], _ records: [Record]) throws {
    let builder = RecordBuilder()
    try builder.append(record: 1) { _ in }
    try builder.append(record: 2) { $0.encodeReferences(to: roots, forKey: "roots") }
    for (place, record) in records.enumerated() {
      try append(record, UInt64(place) + 3, to: builder)
    }
    try seal(builder)
  }

  private func append(_ record: Record, _ number: UInt64, to builder: RecordBuilder) throws {
    try builder.append(record: number) { encoder in
      encoder.encodeContainer(forKey: "node") { node in
        node.encode(record.identifier, forKey: "identifier")
        node.encode(name: "TestNode", forKey: "class")
        if !record.children.isEmpty {
          node.encodeReferences(to: record.children, forKey: "children")
        }
        if !record.views.isEmpty { node.encodeReferences(to: record.views, forKey: "views") }
        if let presented = record.presented {
          node.encodeReference(to: presented, forKey: "presented")
        }
        if let referrer = record.referrer { node.encodeReference(to: referrer, forKey: "referrer") }
        node.encode(name: record.kind, forKey: "kind")
        node.encode(record.siblingIndex, forKey: "siblingIndex")
      }
      if record.padding > 0 {
        encoder.encodeContainer(forKey: "state") {
          $0.encode(String(repeating: "p", count: record.padding), forKey: "text")
        }
      }
      if record.isKeptBadly {
        encoder.encodeContainer(forKey: "kept") { $0.encode(1, forKey: "one") }
      }
    }
  }

  private func seal(_ builder: RecordBuilder) throws {
    let key = try XCTUnwrap(try launch.keys.key(creating: true))
    _ = try Archive.write(
      try builder.finish(), to: launch.store.memory(named: "main"), key: key,
      context: StoredState.context(of: "main", in: Launch.application))
  }

  private func open() throws -> StoredState {
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    return try XCTUnwrap(
      try StoredState.open(
        launch.store.memory(named: "main"), named: "main", of: Launch.application,
        with: .key(key)))
  }

  /// A line for each element: its role, its path, and its sibling index if that is not 0.
  private func lines(_ outline: StoredState.Outline) -> [String] {
    var lines: [String] = []
    outline.forEach {
      let index = $0.path.siblingIndex == 0 ? "" : " \($0.path.siblingIndex)"
      lines.append("\($0.role) \($0.path)\(index)")
      XCTAssertEqual(outline.element(ofRecord: $0.record), $0)
    }
    XCTAssertEqual(lines.count, outline.count)
    return lines
  }

  private func problems(_ outline: StoredState.Outline) -> [String] {
    outline.problems.map { "\($0.record) \($0.error.subject ?? "")" }
  }

  // MARK: Trees

  func testElementsOfEqualPathsAreBothThereWithAllThatIsBelowThem() async throws {
    try store(
      roots: [3, 4, 10],
      [
        Record(identifier: "a", children: [5, 6]), Record(identifier: "a", children: [7, 8, 9]),
        Record(identifier: "b"), Record(identifier: "b"), Record(identifier: "b"),
        Record(identifier: "b"), Record(identifier: "b", siblingIndex: 1),
        Record(identifier: "a", kind: "object"),
      ])
    let outline = try open().outline()
    XCTAssertEqual(
      lines(outline),
      [
        "root a", "child a/b", "child a/b", "root a", "child a/b", "child a/b", "child a/b 1",
        "root a",
      ])
    XCTAssertEqual(
      problems(outline).sorted(),
      ["4 two nodes of one path", "6 two nodes of one path", "8 two nodes of one path"])
  }

  func testUnplacedElementsAreOfNoPathThatAnotherOneCouldHave() async throws {
    try store(
      roots: [3],
      [
        Record(identifier: "a"), Record(identifier: "a", children: [6]), Record(identifier: "a"),
        Record(identifier: "a"),
      ])
    let outline = try open().outline()
    XCTAssertEqual(lines(outline), ["root a", "unplaced a", "child a/a", "unplaced a"])
    XCTAssertEqual(problems(outline), ["4 not in the tree", "5 not in the tree"])
  }

  func testElementsBelowUnplacedOnesCanHaveEqualPaths() async throws {
    try store(
      roots: [],
      [
        Record(identifier: "a", children: [4, 5]), Record(identifier: "b", children: [5]),
        Record(identifier: "b"),
      ])
    let outline = try open().outline()
    XCTAssertEqual(lines(outline), ["unplaced a", "child a/b", "child a/b/b"])
    XCTAssertEqual(problems(outline), ["3 not in the tree"])
    try store(
      roots: [],
      [
        Record(identifier: "a", children: [4, 5]), Record(identifier: "b"),
        Record(identifier: "b"),
      ])
    XCTAssertEqual(
      problems(try open().outline()), ["3 not in the tree", "5 two nodes of one path"])
  }

  func testCirclesAreGoneThroughOnceWithEveryKindOfReference() async throws {
    try store(
      roots: [1, 2, 0, 99, .max],
      [
        Record(identifier: "a", children: [4, 3, 1, 98]), Record(identifier: "b", views: [5]),
        Record(identifier: "c", presented: 6), Record(identifier: "d", presented: 3),
        Record(identifier: "e", referrer: 5), Record(identifier: "f", referrer: 8),
        Record(identifier: "g", referrer: 97),
      ])
    let outline = try open().outline()
    XCTAssertEqual(
      lines(outline),
      [
        "unplaced a", "child a/b", "view a/b/c", "presented a/b/c/d", "referred a/b/c/e",
        "unplaced f", "unplaced g",
      ])
    XCTAssertEqual(
      problems(outline), ["3 not in the tree", "8 not in the tree", "9 not in the tree"])
  }

  func testAChildOfTwoParentsIsThereOnce() async throws {
    try store(
      roots: [3, 4, 3],
      [
        Record(identifier: "a", children: [5, 5], presented: 5),
        Record(identifier: "b", children: [5], presented: 3), Record(identifier: "c"),
      ])
    let outline = try open().outline()
    XCTAssertEqual(lines(outline), ["root a", "child a/c", "root b"])
    XCTAssertEqual(problems(outline), [])
  }

  func testOfManyProblemsAHundredAreKeptAndAllAreCounted() async throws {
    let records = (0..<500).map { Record(identifier: $0.isMultiple(of: 2) ? nil : "x") }
    try store(roots: [], records)
    var outline = try open().outline()
    XCTAssertEqual(outline.problems.count, 100)
    XCTAssertEqual(outline.problemCount, 500)
    XCTAssertEqual(outline.count, 250)
    XCTAssertEqual(
      outline.problems.map(\.record), (0..<100).map { UInt64($0 * 2 + 3) })
    try store(roots: (3..<503).map { UInt64($0) }, records)
    outline = try open().outline()
    XCTAssertEqual([outline.problems.count, outline.problemCount], [100, 499])
  }

  func testAnElementWithUnreadableKeptStatesIsAProblemAndNoElement() async throws {
    try store(
      roots: [3],
      [
        Record(identifier: "a", children: [4]),
        Record(identifier: "b", children: [5], isKeptBadly: true), Record(identifier: "c"),
        Record(identifier: "d", referrer: 4),
      ])
    let outline = try open().outline()
    XCTAssertEqual(lines(outline), ["root a", "unplaced c", "unplaced d"])
    XCTAssertEqual(
      problems(outline), ["4 kept states", "5 not in the tree", "6 not in the tree"])
    XCTAssertNil(outline.element(ofRecord: 4))
  }

  func testALongChainAndAWideTreeNeedNoStackAndNoSquareOfTime() async throws {
    let count = 30_000
    try store(
      roots: [3],
      (0..<count).map {
        Record(identifier: "n", children: $0 + 1 < count ? [UInt64($0) + 4] : [])
      })
    var depths = 0
    var outline = try open().outline()
    outline.forEach { depths += $0.path.count }
    XCTAssertEqual(depths, count * (count + 1) / 2)
    XCTAssertEqual(outline.element(ofRecord: UInt64(count) + 2)?.path.count, count)
    try store(roots: [], Array(repeating: Record(), count: count))
    outline = try open().outline()
    XCTAssertEqual([outline.count, outline.problemCount], [count, count])
    try store(
      roots: (0..<count).map { UInt64($0) + 3 }, Array(repeating: Record(), count: count))
    outline = try open().outline()
    XCTAssertEqual([outline.count, outline.problemCount], [count, count - 1])
  }

  // MARK: Facts

  func testTheOutlineTellsWhatTheRecordsSayOfEachElement() async throws {
    let date = Date(timeIntervalSinceReferenceDate: 7)
    let builder = RecordBuilder()
    try builder.append(record: 1) { $0.encodeContainer(forKey: "state") { _ in } }
    try builder.append(record: 2) { $0.encodeReferences(to: [9, 3], forKey: "roots") }
    for record: UInt64 in [3, 9] {
      try builder.append(record: record) { encoder in
        encoder.encodeContainer(forKey: "node") { node in
          node.encode("a", forKey: "identifier")
          node.encode(name: record == 3 ? "Object" : "Node", forKey: "class")
          if record == 9 { return node.encode(true, forKey: "restoresItself") }
          node.encode(name: "object", forKey: "kind")
          node.encode(name: "Maker", forKey: "restorationClass")
          node.encode(4, forKey: "version")
          node.encode(5, forKey: "siblingIndex")
          node.encode(true, forKey: "hasLastState")
          node.encode(date, forKey: "keptSince")
        }
      }
    }
    try seal(builder)
    let state = try open()
    let outline = try state.outline()
    var elements: [StoredState.Element] = []
    outline.forEach { elements.append($0) }
    XCTAssertEqual(elements.map(\.record), [9, 3])
    XCTAssertEqual(elements.map(\.kind), [.node, .object])
    XCTAssertEqual(elements.map(\.className), ["Node", "Object"])
    XCTAssertEqual(elements.map(\.restorationClassName), ["Node", "Maker"])
    XCTAssertEqual(elements.map(\.version), [1, 4])
    XCTAssertEqual(elements.map(\.path.siblingIndex), [0, 5])
    XCTAssertEqual(elements.map(\.hasLastState), [false, true])
    XCTAssertEqual(elements.map(\.keptSince), [nil, date])
    let sizes = Dictionary(
      uniqueKeysWithValues: try state.archive.readAll().map { ($0.identifier, $0.byteCount) })
    XCTAssertEqual(elements.map(\.byteCount), [sizes[9], sizes[3]])
    XCTAssertEqual(outline.applicationByteCount, sizes[1])
  }

  func testReferredElementsThatHaveChangedAreInTheOrderOfARestore() async throws {
    let referred = ["a", "b", "c"].map { TestNode($0, value: "value") }
    let root = TestNode("root")
    root.onEncode = { $0.encode(referred, forKey: "references") }
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    referred[0].value = "changed"
    _ = try await keeper.save([root])
    let state = try open()
    XCTAssertEqual(state.archive.extent.changeCount, 1)
    var paths: [String] = []
    try state.outline().forEach { paths.append($0.path.description) }
    let report = try await launch.keeper().restore(into: [TestNode("root")])
    XCTAssertEqual(paths.count, 4)
    XCTAssertEqual(paths, report.entries.map(\.path.description))
  }

  // MARK: Reading

  func testDamageEndsNothing() async throws {
    let groups = (0..<40).map { group in
      Record(identifier: "g\(group)", children: [UInt64(44 + group)], padding: 9000)
    }
    let root = Record(identifier: "root", children: (4..<44).map { UInt64($0) })
    try store(
      roots: [3], [root] + groups + (0..<40).map { Record(identifier: "i\($0)", padding: 9000) })
    let whole = try open().outline()
    XCTAssertEqual([whole.count, whole.problemCount], [81, 0])
    var bytes = try XCTUnwrap(launch.storedBytes)
    bytes[bytes.count / 4] ^= 1
    launch.storedBytes = bytes
    let outline = try open().outline()
    XCTAssertEqual(outline.damage?.code, .damaged)
    XCTAssertGreaterThan(outline.problemCount, 0)
    XCTAssertEqual(outline.problemCount + outline.count, 81)
    XCTAssertEqual(Set(outline.problems.map(\.error.code)), [.damaged])
    let lines = lines(outline)
    XCTAssertEqual(lines.first, "root root")
    XCTAssertEqual(lines.filter { $0.hasPrefix("unplaced i") }.count, outline.problemCount)
    XCTAssertEqual(lines.last?.hasPrefix("unplaced i"), true)
    for problem in outline.problems { XCTAssertNil(outline.element(ofRecord: problem.record)) }
  }

  func testAnErrorOfTheProgressEndsTheReading() async throws {
    struct Stop: Error {}
    try store(roots: [3], Array(repeating: Record(), count: 9000))
    var counts: [Int] = []
    XCTAssertThrowsError(
      try open().outline { count in
        counts.append(count)
        if counts.count == 2 { throw Stop() }
      }
    ) { XCTAssertTrue($0 is Stop) }
    XCTAssertEqual(counts, [4096, 8192])
  }
}
#endif
