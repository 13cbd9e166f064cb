import RestorationKit
import TestSupport
import XCTest

/// Where the rows of a walk could say something else than the tree.
@MainActor
final class CoreWalkTests: XCTestCase {
  private let launch = Launch()

  override func tearDown() async throws {
    TestFactory.make = { _, _ in nil }
    TestObjectFactory.make = { _, _ in nil }
  }

  func testAPresentedNodeMayHaveTheNameOfAStackedOneThatIsInAnotherPlace() async throws {
    let shared = TestNode("page")
    let stack = TestStack("stack", children: [shared])
    stack.restorationPresented = TestNode("page", value: "presented")
    let report = try await launch.keeper().save([TestNode("first", children: [shared]), stack])
    XCTAssertEqual(report.savedPaths, ["first", "first/page", "stack", "stack/page"])
    XCTAssertEqual(try launch.storedRecords()?["stack/page"]?.value, "presented")
  }

  func testAPresentedNodeIsADuplicateOfAStackedOneOfItsName() async throws {
    let stack = TestStack("stack", children: [TestNode("page"), TestNode("page")])
    stack.restorationPresented = TestNode("page")
    let report = try await launch.keeper().save([stack])
    XCTAssertEqual(report.entries.map(\.outcome), [.saved, .saved, .saved, .duplicate])
    XCTAssertEqual(try launch.storedPaths(), ["stack", "stack/page", "stack/page[1]"])
  }

  func testANodeThatContainsItselfKeepsItsViews() async throws {
    func makeNode(_ value: String?) -> (TestNode, TestView) {
      let view = TestView("view", value: value)
      let node = TestNode("node")
      node.restorationChildren = [node]
      node.restorationViews = [view]
      return (node, view)
    }
    _ = try await launch.keeper().save([makeNode("typed").0])
    XCTAssertEqual(try launch.storedPaths(), ["node", "node/view"])
    let (node, view) = makeNode(nil)
    _ = try await launch.keeper().restore(into: [node])
    XCTAssertEqual(view.value, "typed")
    node.restorationChildren = []
  }

  /// A node that may also be shown as a view.
  @MainActor
  private final class Panel: @MainActor RestorableNode, @MainActor RestorableView {
    let restorationIdentifier: String?

    init(_ identifier: String) { restorationIdentifier = identifier }
  }

  func testAViewIsSavedAsAViewThoughAReferenceTookItForANode() async throws {
    let panel = Panel("panel")
    let first = TestNode("first")
    first.onEncode = { $0.encode(panel, forKey: "panel") }
    let owner = TestNode("owner")
    owner.restorationViews = [panel]
    let report = try await launch.keeper().save([first, owner])
    XCTAssertEqual(report.savedPaths, ["first", "owner", "owner/panel"])
    XCTAssertEqual(report.entries.last?.kind, .view)
    XCTAssertEqual(try launch.storedRecords()?["owner/panel"]?.kind, "view")
  }

  func testANodeThatIsMadeForAnObjectHasItsOwnNodesBelowIt() async throws {
    let object = TestObject()
    object.objectRestorationClass = TestObjectFactory.self
    object.onEncode = { $0.encode(TestNode("below", value: "saved"), forKey: "below") }
    let root = TestNode("root")
    root.onEncode = { $0.encode(object, forKey: "object") }
    let first = try launch.keeper()
    try first.register(restorationClass: TestObjectFactory.self)
    first.registerObject(object, restorationIdentifier: "object")
    _ = try await first.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "object", "object/below"])

    // A later version of the app made a node of what was an object.
    let below = TestNode("below")
    TestObjectFactory.make = { _, _ in TestNode("object", children: [below]) }
    let elsewhere = TestNode("below")
    let second = try launch.keeper()
    try second.register(restorationClass: TestObjectFactory.self)
    _ = try await second.restore(into: [TestNode("root"), elsewhere])
    XCTAssertEqual(below.value, "saved")
    XCTAssertNil(elsewhere.value)
  }

  private final class Token {}

  /// Saves with a closure that holds a token, and returns the report and the token.
  private func saveWithClosure() async throws -> (PreservationReport, () -> Token?) {
    let token = Token()
    let keeper = try launch.keeper()
    try keeper.register(TestNode.self) { path, _ in
      withExtendedLifetime(token) { TestNode(path.identifier) }
    }
    let report = try await keeper.save([TestNode("root")])
    return (report, { [weak token] in token })
  }

  func testAReportHoldsNothingOfTheAppThatSomebodyRegistered() async throws {
    let (report, token) = try await saveWithClosure()
    XCTAssertNil(token())
    XCTAssertEqual(report.savedPaths, ["root"])
  }

  func testAnObjectBelowWhatIsNotBackHasItsWholePath() async throws {
    let shared = TestNode("shared")
    let inner = TestNode("inner")
    inner.onEncode = { $0.encode(shared, forKey: "shared") }
    let middle = TestNode("middle", children: [inner])
    _ = try await launch.keeper().save([TestNode("root", children: [middle]), shared])

    let keeper = try launch.keeper()
    let root = TestNode("root")
    let back = TestNode("shared")
    _ = try await keeper.restore(into: [root, back])
    var seen: RestorationPath?
    back.onEncode = { seen = $0.path }
    let report = try await keeper.save([root])
    let path = RestorationPath(["root", "middle", "inner", "shared"])
    XCTAssertEqual(report.entries.last?.path, path)
    XCTAssertEqual(seen, path)
  }

  func testOfManySiblingsTheFirstOfEachNameIsSaved() async throws {
    // Two are one name in two spellings.
    let names = ["\u{e9}", "e\u{301}", "e"] + (0..<9).map { "\($0)" }
    var generator = SeededGenerator(seed: 7)
    let keeper = try launch.keeper()
    for count in 0..<70 {
      let children = (0..<count).map { _ in TestNode(names.randomElement(using: &generator)) }
      var seen: Set<String> = []
      let expected = children.compactMap(\.restorationIdentifier).filter {
        seen.insert($0).inserted
      }
      let report = try await keeper.save([TestNode("root", children: children)])
      XCTAssertEqual(report.savedPaths, ["root"] + expected.map { "root/\($0)" })
      XCTAssertEqual(report.entries.count { $0.outcome == .duplicate }, count - expected.count)
      XCTAssertEqual(try launch.storedPaths(), report.savedPaths)
    }
  }

  /// Uses the coder of its node while that encodes it.
  @MainActor
  private struct Meddler: @MainActor Encodable {
    let coder: StateEncoder

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      coder.encode("meddled", forKey: "other")
      coder.encodeContainer(forKey: "container") { $0.encode(1, forKey: "inner") }
      try container.encode("whole")
    }
  }

  func testAValueThatUsesItsCoderWhileItIsEncodedHarmsNoOtherNode() async throws {
    let meddling = TestNode("meddling")
    meddling.onEncode = { try $0.encode(Meddler(coder: $0), forKey: "meddler") }
    let after = TestNode("after", value: "after")
    _ = try await launch.keeper().save([
      TestNode("before", value: "before"), meddling, after,
    ])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["before", "meddling", "after"])
    XCTAssertEqual(try stored["before"]?.value, "before")
    XCTAssertEqual(try stored["after"]?.value, "after")
    let restored = TestNode("after")
    _ = try await launch.keeper().restore(into: [restored])
    XCTAssertEqual(restored.value, "after")
  }
}
