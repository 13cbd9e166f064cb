import RestorationKit
import TestSupport
import XCTest

/// Which of the nodes that are there before a restore are used.
@MainActor
final class ExistingNodeTests: XCTestCase {
  private let launch = Launch()

  func testOfExistingNodesWithOneIdentifierTheFirstIsUsed() async throws {
    _ = try await launch.keeper().save([
      TestNode("root", value: "r", children: [TestNode("x", value: "saved")])
    ])
    let (first, second) = (TestNode("x"), TestNode("x"))
    let (root, twin) = (TestNode("root", children: [first, second]), TestNode("root"))
    let report = try await launch.keeper().restore(into: [root, twin])
    XCTAssertEqual([first.value, second.value], ["saved", nil])
    XCTAssertEqual([root.value, twin.value], ["r", nil])
    XCTAssertEqual(report.problems, [])
  }

  func testAnExistingChildIsUsedBeforeAPresentedNodeOfItsIdentifier() async throws {
    _ = try await launch.keeper().save([
      TestNode("root", children: [TestNode("x", value: "saved")])
    ])
    let (child, presented) = (TestNode("x"), TestNode("x"))
    let root = TestNode("root", children: [child])
    root.restorationPresented = presented
    _ = try await launch.keeper().restore(into: [root])
    XCTAssertEqual([child.value, presented.value], ["saved", nil])
  }

  func testANodeThatIsInAStackTwiceOrElsewhereCountsAmongThoseOfItsIdentifier() async throws {
    for isElsewhere in [false, true] {
      let launch = Launch()
      func root(_ values: [String?]) -> (root: TestNode, nodes: [TestNode]) {
        let nodes = values.map { TestNode("page", value: $0) }
        let elsewhere = TestNode("elsewhere", children: isElsewhere ? [nodes[0]] : [])
        let stack = TestStack("stack", children: [nodes[0], nodes[0], nodes[1]])
        return (TestNode("root", children: [elsewhere, stack]), nodes)
      }
      let keeper = try launch.keeper()
      let saved = root(["one", "two"])
      for _ in 0..<2 {
        let report = try await keeper.save([saved.root])
        XCTAssertEqual(
          report.problems.count { $0.outcome == .containedTwice }, isElsewhere ? 2 : 1)
      }
      await keeper.close()
      let back = root([nil, nil])
      let report = try await launch.keeper().restore(into: [back.root])
      XCTAssertEqual(report.problems, [])
      XCTAssertEqual(back.nodes.map(\.value), ["one", "two"])
    }
  }

  func testTheLastFactoryOfAnIdentifierInAStoryboardMakesItsNodes() async throws {
    let storyboard = Storyboard("Main")
    storyboard.register("a") { TestNode("a", value: "first") }
    storyboard.register("a") { TestNode("a", value: "last") }
    storyboard.register("b") { TestNode("b", value: "other") }
    XCTAssertEqual((try storyboard.instantiate("a") as? TestNode)?.value, "last")
    XCTAssertEqual((try storyboard.instantiate("b") as? TestNode)?.value, "other")
    XCTAssertNil(try storyboard.instantiate("c"))
  }
}
