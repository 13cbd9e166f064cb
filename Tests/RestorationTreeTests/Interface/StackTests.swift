import RestorationKit
import TestSupport
import XCTest

@MainActor
final class StackTests: XCTestCase {
  private let launch = Launch()

  private func makeEverything() {
    TestFactory.make = { path, _ in TestNode(path.identifier) }
  }

  private func made(_ identifier: String?, _ value: String? = nil) -> TestNode {
    let node = TestNode(identifier, value: value)
    node.restorationClass = TestFactory.self
    return node
  }

  func testEqualIdentifiersInAStackAreToldApartAndComeBackInOrder() async throws {
    makeEverything()
    let pages = ["1", "2", "3"].map { made("x", $0) }
    let saved = try await launch.keeper().save([TestStack("nav", children: pages)])
    XCTAssertEqual(saved.savedPaths, ["nav", "nav/x", "nav/x", "nav/x"])
    let stored = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(stored.paths, ["nav", "nav/x", "nav/x[1]", "nav/x[2]"])
    XCTAssertEqual(try stored.elements.map { try $0.value }, [nil, "1", "2", "3"])
    XCTAssertEqual(saved.entries.map(\.path.siblingIndex), [0, 0, 1, 2])
    XCTAssertEqual(saved.problems, [])

    let stack = TestStack("nav")
    let report = try await launch.keeper().restore(into: [stack])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(stack.restorationChildren.map { ($0 as? TestNode)?.value }, ["1", "2", "3"])
  }

  func testAFactoryGetsIdentifiersAloneAndThePlaceAmongEqualOnesApart() async throws {
    let inner = TestStack("inner", children: [made("x"), made("x")])
    inner.restorationClass = TestFactory.self
    _ = try await launch.keeper().save([TestStack("nav", children: [made("inner"), inner])])
    var asked: [[String]] = []
    TestFactory.make = { path, _ in
      asked.append(path.components + ["place \(path.siblingIndex)"])
      return path.identifier == "inner" ? TestStack("inner") : TestNode(path.identifier)
    }
    _ = try await launch.keeper().restore(into: [TestStack("nav")])
    XCTAssertEqual(
      asked,
      [
        ["nav", "inner", "place 0"], ["nav", "inner", "place 1"],
        ["nav", "inner", "x", "place 0"], ["nav", "inner", "x", "place 1"],
      ])
  }

  func testExistingNodesOfAStackAreFoundByTheirOrder() async throws {
    let pages = ["1", "2"].map { TestNode("x", value: $0) }
    _ = try await launch.keeper().save([TestStack("nav", children: pages)])
    let (first, second) = (TestNode("x"), TestNode("x"))
    let stack = TestStack("nav", children: [first, second])
    _ = try await launch.keeper().restore(into: [stack])
    XCTAssertEqual([first.value, second.value], ["1", "2"])
  }

  func testAStackIsCutAtTheFirstMissingNode() async throws {
    let pages = ["a", "b", "c"].map { made($0) }
    _ = try await launch.keeper().save([TestStack("nav", children: pages)])
    var asked: [String] = []
    TestFactory.make = { path, _ in
      asked.append(path.description)
      return path.identifier == "b" ? nil : TestNode(path.identifier)
    }
    let stack = TestStack("nav")
    let report = try await launch.keeper().restore(into: [stack])
    XCTAssertEqual(stack.restorationChildren.map(\.restorationName), ["a"])
    XCTAssertEqual(report.outcome(of: "nav/b"), .vetoed)
    XCTAssertEqual(report.outcome(of: "nav/c"), .stackCut)
    XCTAssertEqual(asked, ["nav/a", "nav/b"], "What lay on a missing node was asked for.")
  }

  func testAStackOfWhichNothingIsBackStaysAsItIs() async throws {
    _ = try await launch.keeper().save([TestStack("nav", children: [made("a")])])
    TestFactory.make = { _, _ in nil }
    let trace = Trace()
    let stack = TestStack("nav", trace: trace, children: [TestNode("start")])
    _ = try await launch.keeper().restore(into: [stack])
    XCTAssertEqual(stack.restorationChildren.map(\.restorationName), ["start"])
    XCTAssertFalse(trace.events.contains { $0.hasPrefix("stack") })
  }

  func testANodeWithoutIdentifierIsLeftOutOfTheStackAndThoseOnItAreNot() async throws {
    makeEverything()
    let pages = [made("a"), made(nil), made("c")]
    _ = try await launch.keeper().save([TestStack("nav", children: pages)])
    let stack = TestStack("nav")
    _ = try await launch.keeper().restore(into: [stack])
    XCTAssertEqual(stack.restorationChildren.map(\.restorationName), ["a", "c"])
  }

  func testTheStackIsThereBeforeItsOwnDecoding() async throws {
    makeEverything()
    let trace = Trace()
    _ = try await launch.keeper().save([TestStack("nav", children: [made("a"), made("b")])])
    let stack = TestStack("nav", trace: trace)
    _ = try await launch.keeper().restore(into: [stack])
    XCTAssertEqual(trace.events, ["load nav", "stack a,b", "decode nav", "finished nav"])
  }

  func testAHundredThousandNodesInAStackComeBack() async throws {
    makeEverything()
    let pages = (0..<100_000).map { _ in made("x") }
    _ = try await launch.keeper().save([TestStack("nav", children: pages)])
    let stack = TestStack("nav")
    let report = try await launch.keeper().restore(into: [stack])
    XCTAssertEqual(report.problems.count, 0)
    XCTAssertEqual(stack.restorationChildren.count, 100_000)
  }

  func testADeepChainOfStacksComesBack() async throws {
    TestFactory.make = { path, _ in TestStack(path.identifier) }
    var chain = TestStack("n")
    for _ in 0..<50_000 {
      let below = chain
      chain = TestStack("n", children: [below])
      below.restorationClass = TestFactory.self
    }
    _ = try await launch.keeper().save([chain])
    var next: TestStack? = chain
    while let node = next {
      (next, node.restorationChildren) = (node.restorationChildren.first as? TestStack, [])
    }
    let base = TestStack("n")
    let report = try await launch.keeper().restore(into: [base])
    XCTAssertEqual(report.entries.count, 50_001)
    XCTAssertEqual(report.problems.count, 0)
    next = base
    while let node = next {
      (next, node.restorationChildren) = (node.restorationChildren.first as? TestStack, [])
    }
  }

  func testAnEntryAboveOneWithoutIdentifierIsSavedAndReported() async throws {
    makeEverything()
    let pages = [made("a"), made(nil), made("c", "text"), made("d")]
    let keeper = try launch.keeper()
    let saved = try await keeper.save([TestStack("nav", children: pages)])
    XCTAssertEqual(
      saved.entries.map(\.path.description), ["nav", "nav/a", "nav/∅", "nav/c", "nav/d"])
    XCTAssertEqual(saved.outcome(of: "nav/∅"), .noIdentifier)
    // What the user had in hand comes back, though lower.
    let stack = TestStack("nav")
    _ = try await launch.keeper().restore(into: [stack])
    XCTAssertEqual(
      stack.restorationChildren.map { ($0 as? TestNode)?.restorationIdentifier }, ["a", "c", "d"])
    XCTAssertEqual((stack.restorationChildren[1] as? TestNode)?.value, "text")

    // A container that is no stack shows its children beside one another.
    let later = try launch.keeper()
    _ = try await later.restore()
    let beside = try await later.save([TestNode("x", children: pages)])
    XCTAssertEqual(beside.problems, [])
  }
}
