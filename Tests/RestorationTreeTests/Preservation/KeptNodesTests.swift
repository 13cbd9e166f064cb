import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What is not back after a restore is stored again, unless its factory said no.
@MainActor
final class KeptNodesTests: XCTestCase {
  private struct Failure: Error {}

  private let launch = Launch()

  override func tearDown() async throws {
    TestFactory.make = { _, _ in nil }
  }

  /// A root with a node below it, and below that another with a view.
  private func tree(_ identifier: String = "a") -> TestNode {
    let below = TestNode("below", value: "typed")
    below.restorationViews = [TestView("field", value: "seen")]
    let node = SpecialTestNode(identifier, value: "saved", children: [below])
    return TestNode("root", children: [node])
  }

  private func below(_ root: TestNode) throws -> (node: TestNode, below: TestNode, view: TestView) {
    let node = try XCTUnwrap(root.restorationChildren.first as? TestNode)
    let below = try XCTUnwrap(node.restorationChildren.first as? TestNode)
    return (node, below, try XCTUnwrap(below.restorationViews.first as? TestView))
  }

  /// Restores everything, as a version does that has it all.
  private func restoreAll(_ keeper: StateKeeper? = nil) async throws -> [String?] {
    let root = tree()
    let (node, below, view) = try below(root)
    (node.value, below.value, view.value) = (nil, nil, nil)
    TestFactory.make = { path, _ in path.identifier == "a" ? node : nil }
    let keeper = try keeper ?? launch.keeper()
    _ = try await keeper.restore(into: [root])
    return [node.value, below.value, view.value]
  }

  /// Saves a node that refers to an object and to one in its scope, and goes on with the first
  /// object alone, to which nothing else refers.
  private func keepReferences(_ byteCount: Int? = nil) async throws -> PreservationReport {
    let objects = [TestObject("outer"), TestObject("inner")]
    objects[1].restorationParent = objects[0]
    let node = TestNode("a", value: String(repeating: "k", count: 200))
    node.onEncode = { coder in coder.encode(objects, forKey: "references") }
    let first = try launch.keeper()
    for (object, name) in zip(objects, ["outer", "inner"]) {
      first.registerObject(object, restorationIdentifier: name)
    }
    _ = try await first.save([TestNode("root", children: [node])])
    XCTAssertEqual(try launch.storedPaths().sorted(), ["outer", "outer/inner", "root", "root/a"])
    let keeper = try launch.keeper()
    keeper.policy.keptByteCount = byteCount
    let outer = TestObject("outer")
    keeper.registerObject(outer, restorationIdentifier: "outer")
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    let report = try await keeper.save([root])
    withExtendedLifetime(outer) {}
    return report
  }

  func testAKeptElementGoesOnToReferToOneThatOnlyItLeadsTo() async throws {
    let report = try await keepReferences()
    XCTAssertEqual(Set(report.kept.map(\.path.description)), ["root/a", "outer/inner"])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(
      try stored.paths(referredToFrom: "root/a", forKey: "references"), ["outer", "outer/inner"])
  }

  func testANodeThatOnlyAKeptOneRefersToStaysBelowIt() async throws {
    let referred = TestNode("referred", value: "typed", children: [TestNode("inner")])
    let node = TestNode("a", children: [TestNode("child")])
    node.onEncode = { $0.encode(referred, forKey: "node") }
    let paths = ["root", "root/a", "root/a/child", "root/a/referred", "root/a/referred/inner"]
    let first = try launch.keeper()
    _ = try await first.save([TestNode("root", children: [node])])
    XCTAssertEqual(try launch.storedPaths(), paths)
    await first.close()
    for _ in 0..<2 {
      let keeper = try launch.keeper()
      let root = TestNode("root")
      _ = try await keeper.restore(into: [root])
      _ = try await keeper.save([root])
      XCTAssertEqual(try launch.storedPaths(), paths)
      XCTAssertEqual(
        try launch.storedRecords()?.paths(referredToFrom: "root/a", forKey: "node"),
        ["root/a/referred"])
      await keeper.close()
    }
  }

  func testAnElementToWhichOnlyAKeptOneLeadsIsInTheBoundToo() async throws {
    let whole = try await keepReferences()
    let most = whole.kept.compactMap(\.byteCount).reduce(0, +)
    XCTAssertEqual(whole.kept.count, 2)
    let report = try await keepReferences(most - 1)
    XCTAssertEqual(report.kept.map(\.path.description), ["root/a"])
    XCTAssertEqual(try launch.storedPaths().sorted(), ["outer", "root", "root/a"])
  }

  func testOfTwoKeptElementsThatComeToHaveOneNameTheOwnOfTheObjectStays() async throws {
    let first = TestNode("first", children: [TestNode("c", value: "own")])
    let second = TestNode("second", children: [TestNode("c", value: "other")])
    _ = try await launch.keeper().save([TestNode("root", children: [first, second])])
    let node = TestNode("first")
    let root = TestNode("root", children: [node])
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [root])
    // The object claims what is kept of the other one, and has the same below itself.
    node.restorationIdentifier = "second"
    let report = try await keeper.save([root])
    // The other one stays under a number of its own.
    XCTAssertEqual(
      try launch.storedPaths(),
      ["root", "root/second", "root/second/c", "root/second[1]", "root/second[1]/c"])
    XCTAssertEqual(report.outcome(of: "root/second/c"), .keptAsStored)
    let late = TestNode("c")
    let lateReport = try await keeper.restore(late: late, below: node)
    XCTAssertEqual(lateReport.outcome, .restored)
    XCTAssertEqual(late.value, "own")
    let child = TestNode("c")
    let whole = TestNode("root", children: [TestNode("second", children: [child])])
    _ = try await launch.keeper().restore(into: [whole])
    XCTAssertEqual(child.value, "own")
  }

  func testWhateverIsNotBackIsKeptWithAllBelowIt() async throws {
    typealias Prepared = (StateKeeper) throws -> Void
    let throwing = TestDelegate()
    throwing.onNode = { path, _ in
      if path.identifier == "a" { throw Failure() }
      return nil
    }
    // How the node is saved, and what is wrong when it is to come back.
    let cases: [(name: String, node: (TestNode, StateKeeper) throws -> TestNode, wrong: Prepared)] =
      [
        ("not found", { node, _ in node }, { _ in }),
        (
          "a factory throws",
          { node, _ in
            node.restorationClass = TestFactory.self
            return node
          },
          { _ in TestFactory.make = { _, _ in throw Failure() } }
        ),
        ("the delegate throws", { node, _ in node }, { $0.delegate = throwing }),
        (
          "no storyboard",
          { node, keeper in
            let storyboard = Storyboard("Main")
            storyboard.register("a") { node }
            try keeper.register(storyboard)
            return try XCTUnwrap(storyboard.instantiate("a") as? TestNode)
          },
          { try $0.register(Storyboard("Main")) }
        ),
        (
          "an unknown class",
          { node, keeper in
            try keeper.register(SpecialTestNode.self, as: "New") { _, _ in nil }
            return node
          }, { _ in }
        ),
        (
          "a class that makes nothing",
          { node, keeper in
            try keeper.register(SpecialTestNode.self, as: "New") { _, _ in nil }
            return node
          }, { try $0.register(UnrelatedNode.self, as: "New") }
        ),
      ]
    for (name, prepare, wrong) in cases {
      let launch = Launch()
      let keeper = try launch.keeper()
      let root = tree()
      root.restorationChildren = [try prepare(try below(root).node, keeper)]
      _ = try await keeper.save([root])
      for _ in 0..<2 {
        let next = try launch.keeper()
        try wrong(next)
        let back = TestNode("root")
        let restored = try await next.restore(into: [back])
        XCTAssertEqual(
          restored.entries.map(\.notes), [[], [.kept], [.kept], [.kept]], "\(name): \(restored)")
        for roots in [[TestNode("other"), back], [back]] {
          let saved = try await next.save(roots)
          for path in ["root/a", "root/a/below", "root/a/below/field"] {
            XCTAssertEqual(saved.outcome(of: path), .keptAsStored, "\(name): \(path)")
          }
          XCTAssertEqual(saved.problems, [], name)
        }
      }
      let last = try launch.keeper()
      let expected = tree()
      let (node, below, view) = try below(expected)
      (node.value, below.value, view.value) = (nil, nil, nil)
      TestFactory.make = { _, _ in node }
      if name.contains("class") {
        try last.register(SpecialTestNode.self, as: "New") { _, _ in node }
      }
      _ = try await last.restore(into: [expected])
      XCTAssertEqual([node.value, below.value, view.value], ["saved", "typed", "seen"], name)
    }
  }

  func testOnlyNilDropsANodeAndAllBelowIt() async throws {
    let root = tree()
    try below(root).node.restorationClass = TestFactory.self
    _ = try await launch.keeper().save([root])
    let older = try launch.keeper()
    let back = TestNode("root")
    let restored = try await older.restore(into: [back])
    XCTAssertEqual(restored.entries.map(\.notes), [[], [], [], []])
    let saved = try await older.save([back])
    XCTAssertEqual(saved.entries.map(\.path.description), ["root"])
  }

  func testWhatLayOnAMissingNodeIsKeptWithItAndGoesWithAVeto() async throws {
    for vetoes in [false, true] {
      let launch = Launch()
      let page = TestNode("b", value: "b")
      page.restorationClass = TestFactory.self
      let top = TestNode("c", value: "c", children: [TestNode("d", value: "d")])
      _ = try await launch.keeper().save([
        TestStack("nav", children: [TestNode("a"), page, top])
      ])
      let next = try launch.keeper()
      TestFactory.make = { _, _ in
        if vetoes { return nil }
        throw Failure()
      }
      let stack = TestStack("nav", children: [TestNode("a")])
      let restored = try await next.restore(into: [stack])
      XCTAssertEqual(restored.outcome(of: "nav/c"), .stackCut)
      XCTAssertEqual(
        restored.entries.map { $0.notes.contains(.kept) },
        [false, false, !vetoes, !vetoes, !vetoes])
      _ = try await next.save([stack])

      TestFactory.make = { path, _ in TestNode(path.identifier) }
      let (c, d) = (TestNode("c"), TestNode("d"))
      c.restorationChildren = [d]
      let back = TestStack("nav", children: [TestNode("a"), c])
      _ = try await launch.keeper().restore(into: [back])
      XCTAssertEqual(
        back.restorationChildren.map(\.restorationName),
        vetoes ? ["a"] : ["a", "b", "c"])
      XCTAssertEqual([c.value, d.value], vetoes ? [nil, nil] : ["c", "d"])
    }
  }

  func testATabThatIsBuiltLaterIsKeptAndFoundInTheNextLaunch() async throws {
    let tabs = TestTabs(
      "tabs", children: [TestNode("x"), TestNode("y", value: "y", children: [TestNode("z")])])
    (tabs.restorationChildren[1].restorationChildren[0] as? TestNode)?.value = "z"
    _ = try await launch.keeper().save([tabs])

    let keeper = try launch.keeper()
    let later = TestTabs("tabs", children: [TestNode("x")])
    let restored = try await keeper.restore(into: [later])
    XCTAssertEqual(restored.outcome(of: "tabs/y"), .tabNotFound)
    _ = try await keeper.save([later])

    let (y, z) = (TestNode("y"), TestNode("z"))
    y.restorationChildren = [z]
    _ = try await launch.keeper().restore(into: [TestTabs("tabs", children: [TestNode("x"), y])])
    XCTAssertEqual([y.value, z.value], ["y", "z"])
  }

  func testANodeThatTakesThePathTakesThePlaceAndWhatIsBelowStaysKept() async throws {
    _ = try await launch.keeper().save([tree()])
    let keeper = try launch.keeper()
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    root.restorationChildren = [SpecialTestNode("a", value: "newer")]
    for isFirst in [true, false] {
      let saved = try await keeper.save([root])
      XCTAssertEqual(
        saved.entries.filter { $0.path.description == "root/a" }.map(\.outcome),
        isFirst ? [.saved, .replaced] : [.saved])
      XCTAssertEqual(saved.outcome(of: "root/a/below"), .keptAsStored)
      XCTAssertEqual(saved.entries.count, isFirst ? 5 : 4, "\(saved)")
      XCTAssertEqual(saved.problems, [])
    }
    await keeper.close()
    let values = try await restoreAll(try launch.keeper(endsLast: false))
    XCTAssertEqual(values, ["newer", "typed", "seen"])

    // It was replaced, so it does not come again when the other goes.
    root.restorationChildren = []
    let saved = try await keeper.save([root])
    XCTAssertEqual(saved.entries.map(\.path.description), ["root"])
  }

  func testANodeThatCannotBeEncodedDoesNotReplaceWhatIsKept() async throws {
    _ = try await launch.keeper().save([tree()])
    let keeper = try launch.keeper()
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    // Of another class, so its last state would not be looked for there.
    let node = MoreSpecialTestNode("a", value: "newer")
    node.onEncode = { _ in throw Failure() }
    root.restorationChildren = [node]
    for _ in 0..<2 {
      let saved = try await keeper.save([root])
      XCTAssertEqual(saved.outcome(of: "root/a"), .savedWithLastState)
    }
    await keeper.close()
    let values = try await restoreAll(try launch.keeper(endsLast: false))
    XCTAssertEqual(values, ["saved", "typed", "seen"])
    root.restorationChildren = []
    let saved = try await keeper.save([root])
    XCTAssertEqual(saved.outcome(of: "root/a"), .keptAsStored, "nothing has replaced it")
  }

  func testReferencesIntoWhatIsKeptStayValidWhenItComesLate() async throws {
    let root = TestNode("root")
    let (a, b) = (TestNode("a", value: "a"), TestNode("b", value: "b"))
    root.restorationChildren = [a, b]
    a.onEncode = { $0.encode(b, forKey: "friend") }
    b.onEncode = { $0.encode(root, forKey: "friend") }
    _ = try await launch.keeper().save([root])

    let keeper = try launch.keeper()
    let later = TestNode("root")
    _ = try await keeper.restore(into: [later])
    _ = try await keeper.save([later])
    later.restorationChildren = [TestNode("b", value: "newer")]
    _ = try await keeper.save([later])
    _ = try await keeper.save([TestNode("other"), later])

    var friends: [TestNode?] = []
    let (backA, backB) = (TestNode("a"), TestNode("b"))
    backA.onDecode = { friends.append(try $0.decodeObject(forKey: "friend")) }
    _ = try await launch.keeper().restore(
      into: [TestNode("root", children: [backA, backB])])
    XCTAssertEqual(friends.count, 1)
    XCTAssertTrue(friends.first.flatMap(\.self) === backB)
    XCTAssertEqual([backA.value, backB.value], ["a", "newer"])
  }

  func testAnObjectThatIsNotRegisteredIsKeptUntilOneIs() async throws {
    func node(_ object: TestObject?) -> TestNode {
      let node = TestNode("a")
      node.onEncode = { $0.encode(object, forKey: "object") }
      return node
    }
    let filter = TestObject("stored")
    let first = try launch.keeper()
    first.registerObject(filter, restorationIdentifier: "filter")
    _ = try await first.save([node(filter)])

    let keeper = try launch.keeper()
    let without = node(nil)
    let restored = try await keeper.restore(into: [without])
    XCTAssertEqual(restored.outcome(of: "filter"), .notRegistered)
    let saved = try await keeper.save([without])
    XCTAssertEqual(saved.outcome(of: "filter"), .keptAsStored)
    await keeper.close()

    let next = try launch.keeper(endsLast: false)
    let back = TestObject()
    next.registerObject(back, restorationIdentifier: "filter")
    _ = try await next.restore(into: [node(back)])
    XCTAssertEqual(back.value, "stored")
    await next.close()

    // One that is registered late takes the place, whatever is written first.
    let late = TestObject("newer")
    keeper.registerObject(late, restorationIdentifier: "filter")
    let replaced = try await keeper.save([node(late)])
    XCTAssertEqual(replaced.outcome(of: "filter"), .saved)
    XCTAssertEqual(replaced.problems, [])
    XCTAssertEqual(replaced.entries.map(\.outcome), [.saved, .saved, .replaced])
  }

  func testAViewThatIsLoadedLateIsKept() async throws {
    let node = TestNode("a")
    node.restorationViews = [TestView("v", value: "stored")]
    _ = try await launch.keeper().save([node])
    let keeper = try launch.keeper()
    let without = TestNode("a")
    _ = try await keeper.restore(into: [without])
    let saved = try await keeper.save([without])
    XCTAssertEqual(saved.outcome(of: "a/v"), .keptAsStored)
    let view = TestView("v")
    without.restorationViews = [view]
    _ = try await launch.keeper().restore(into: [without])
    XCTAssertEqual(view.value, "stored")
  }

  func testAViewThatTakesThePathOfAKeptOneReplacesItForGood() async throws {
    for isSavedBefore in [false, true] {
      try launch.removeState()
      let stored = TestNode("a")
      stored.restorationViews = [TestView("v", value: "stored")]
      let first = try launch.keeper()
      _ = try await first.save([stored])
      await first.close()
      let keeper = try launch.keeper()
      let node = TestNode("a")
      _ = try await keeper.restore(into: [node])
      if isSavedBefore { _ = try await keeper.save([node]) }
      node.restorationViews = [TestView("v", value: "newer")]
      for isFirst in [true, false] {
        let saved = try await keeper.save([node])
        XCTAssertEqual(
          saved.entries.filter { $0.path.description == "a/v" }.map(\.outcome),
          isFirst ? [.saved, .replaced] : [.saved])
        let records = try XCTUnwrap(try launch.storedRecords())
        XCTAssertEqual(records.elements.map(\.path), ["a", "a/v"])
        XCTAssertEqual(try records["a/v"]?.value, "newer")
      }
      node.restorationViews = []
      let saved = try await keeper.save([node])
      XCTAssertEqual(saved.entries.map(\.path.description), ["a"])
      await keeper.close()
    }
  }

  func testBothReportsSayOfAKeptNodeThatItIsKeptAndWhy() async throws {
    let root = tree()
    try below(root).node.restorationClass = TestFactory.self
    _ = try await launch.keeper().save([root])
    TestFactory.make = { _, _ in throw Failure() }
    let keeper = try launch.keeper()
    let back = TestNode("root")
    let restored = try await keeper.restore(into: [back])
    let kept = "; saves keep it as it is stored, until a node is saved in its place"
    XCTAssertEqual(
      restored.entries.map(\.description),
      [
        "root (TestNode): restored, already there",
        "root/a (SpecialTestNode): not back, made by what is registered for it threw: Failure\(kept)",
        "root/a/below (TestNode): not back, root/a above it is not back\(kept)",
        "root/a/below/field (TestView): not back, root/a/below above it is not back\(kept)",
      ])
    let saved = try await keeper.save([back])
    XCTAssertEqual(saved.outcome(of: "root/a"), .keptAsStored)
    XCTAssertEqual(saved.kept.map(\.path.description), ["root/a"])
    XCTAssertEqual(saved.kept.map(\.outcome), [.factoryFailed(.restorationClass, "Failure")])
  }

  func testInADeepTreeThatIsBuiltLaterEveryNodeTakesThePlaceOfAKeptOne() async throws {
    // Every node takes the place of a kept one, and hands on what is below.
    func chain(_ value: String) -> TestNode {
      var chain = TestNode("n", value: value)
      for _ in 0..<5_000 { chain = TestNode("n", value: value, children: [chain]) }
      return TestNode("root", children: [chain])
    }
    func takeApart(_ root: TestNode) {
      var next: TestNode? = root
      while let node = next {
        (next, node.restorationChildren) = (node.restorationChildren.first as? TestNode, [])
      }
    }
    let first = chain("stored")
    _ = try await launch.keeper().save([first])
    takeApart(first)
    let keeper = try launch.keeper()
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    let kept = try await keeper.save([root])
    XCTAssertEqual(kept.entries.count { $0.outcome == .keptAsStored }, 5_001)
    let second = chain("newer")
    root.restorationChildren = second.restorationChildren
    let saved = try await keeper.save([root])
    XCTAssertEqual(saved.entries.count { $0.outcome == .saved }, 5_002)
    XCTAssertEqual(saved.entries.count { $0.outcome == .keptAsStored }, 0)
    takeApart(root)
  }
}
