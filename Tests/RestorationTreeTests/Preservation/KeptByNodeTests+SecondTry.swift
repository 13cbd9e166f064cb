import RestorationKit
import TestSupport
import XCTest

/// Nodes that are asked a second time, and what their users have done meanwhile.
extension KeptByNodeTests {
  func testWhatWasTypedBeforeASecondTryIsSaved() async throws {
    _ = try await launch.keeper().save([TestNode("editor", value: "draft")])
    let keeper = try launch.keeper()
    let node = keepingNode()
    _ = try await keeper.restore(into: [node])
    node.value = "typed meanwhile"
    node.onDecode = { [weak node, away] in
      node?.value = "typed meanwhile"  // TestNode itself decodes before
      try Self.keep($0, because: away)
    }
    _ = try await keeper.restore(late: node)
    XCTAssertEqual(node.value, "typed meanwhile")
    _ = try await keeper.save([node])
    XCTAssertEqual(try values(), ["typed meanwhile", "draft"])
  }

  func testWhatWasTypedBeforeASecondTryIsSavedTracked() async throws {
    _ = try await launch.keeper().save([TrackedNode("editor", value: "draft")])
    let keeper = try launch.keeper()
    let node = TrackedNode("editor")
    node.keeps = true
    _ = try await keeper.restore(into: [node])
    node.value = "typed meanwhile"
    node.invalidateRestorableState()
    _ = try await keeper.restore(late: node)
    _ = try await keeper.save([node])
    _ = try await keeper.save([node])
    XCTAssertEqual(try values(), ["typed meanwhile", "draft"])
  }

  func testTheChildrenOfANodeThatKeepsStayStored() async throws {
    let child = TestNode("child", value: "below")
    child.restorationClass = TestFactory.self
    _ = try await launch.keeper().save([TestNode("editor", value: "draft", children: [child])])
    for _ in 0..<2 {
      let keeper = try launch.keeper()
      TestFactory.make = { path, _ in TestNode(path.identifier) }
      let node = keepingNode()
      _ = try await keeper.restore(into: [node])
      _ = try await keeper.save([node])
    }
    let keeper = try launch.keeper()
    let node = TestNode("editor")
    node.onDecode = { [weak node] in node?.restorationChildren = $0.restoredChildren }
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual((node.restorationChildren.first as? TestNode)?.value, "below")
  }

  func testTheChildrenOfANodeAreLeftAsTheyAreByALateRestore() async throws {
    let child = TestNode("child", value: "below")
    child.restorationClass = TestFactory.self
    _ = try await launch.keeper().save([TestNode("editor", value: "draft", children: [child])])
    let keeper = try launch.keeper()
    TestFactory.make = { path, _ in TestNode(path.identifier) }
    let node = TestNode("editor")
    var isMounted = false
    node.onDecode = { [weak node, away] in
      node?.restorationChildren = $0.restoredChildren
      if !isMounted {
        node?.value = nil
        try Self.keep($0, because: away)
      }
    }
    _ = try await keeper.restore(into: [node])
    _ = try await keeper.save([node])
    isMounted = true
    _ = try await keeper.restore(late: node)
    XCTAssertEqual(node.restorationChildren.count, 1)
    _ = try await keeper.save([node])
    let last = TestNode("editor")
    last.onDecode = { [weak last] in last?.restorationChildren = $0.restoredChildren }
    _ = try await launch.keeper().restore(into: [last])
    XCTAssertEqual((last.restorationChildren.first as? TestNode)?.value, "below")
  }

  func testALongReasonDoesNotLoseTheState() async throws {
    _ = try await launch.keeper().save([TestNode("editor", value: "draft")])
    let keeper = try launch.keeper()
    let node = TestNode("editor")
    node.onDecode = { [weak node] in
      node?.value = nil
      try Self.keep($0, because: String(repeating: "reason ", count: 3_000_000))
    }
    _ = try await keeper.restore(into: [node])
    node.value = "typed"
    _ = try await keeper.save([node])
    let next = try launch.keeper()
    let later = TestNode("editor")
    _ = try await next.restore(into: [later])
    _ = try await next.restore(late: later)
    XCTAssertEqual(later.value, "draft")
  }

  func testTheDraftIsNotCrowdedOutByLaterOnes() async throws {
    _ = try await launch.keeper().save([TestNode("editor", value: "draft")])
    for number in 0..<6 {
      let keeper = try launch.keeper()
      keeper.policy.keptByteCount = 10_000
      let node = keepingNode()
      _ = try await keeper.restore(into: [node])
      node.value = "seen \(number)" + String(repeating: " ", count: 3000)
      _ = try await keeper.save([node])
      launch.now += 86_400
    }
    let keeper = try launch.keeper()
    let node = TestNode("editor")
    var found: [String?] = [node.value]
    _ = try await keeper.restore(into: [node])
    for _ in 0..<10 {
      let late = try await keeper.restore(late: node)
      if late.outcome == .nothingKept { break }
      found.append(node.value)
    }
    XCTAssertTrue(found.contains("draft"), "\(found.map { $0?.prefix(7) ?? "" })")
  }

  /// A node with a selection and an offset, which the library stores.
  private final class TextNode: @MainActor RestorableNode, @MainActor RestorableTextSelection,
    @MainActor RestorableScrolling
  {
    let restorationIdentifier: String? = "text"
    var selectedTextRange: Range<Int>?
    let textLength = 100
    var contentOffset = (x: 0.0, y: 0.0)
    let maximumContentOffset = (x: 100.0, y: 100.0)
    var keeps = false
    var layoutCount = 0
    func encodeRestorableState(with coder: StateEncoder) { coder.encode(1, forKey: "version") }
    func decodeRestorableState(with coder: StateDecoder) throws {
      if keeps { try KeptByNodeTests.keep(coder, because: "later") }
    }
    func restoreStateAfterLayout(with coder: StateDecoder) { layoutCount += 1 }
  }

  func testASecondTryThatKeepsAgainLeavesTheSelectionAndTheOffset() async throws {
    let saved = TextNode()
    (saved.selectedTextRange, saved.contentOffset.y) = (1..<2, 10)
    _ = try await launch.keeper().save([saved])
    let keeper = try launch.keeper()
    let node = TextNode()
    node.keeps = true
    _ = try await keeper.restore(into: [node])
    (node.selectedTextRange, node.contentOffset.y, node.layoutCount) = (5..<6, 50, 0)
    _ = try await keeper.restore(late: node)
    XCTAssertEqual(node.selectedTextRange, 5..<6)
    XCTAssertEqual(node.contentOffset.y, 50)
    XCTAssertEqual(node.layoutCount, 0)
    node.keeps = false
    _ = try await keeper.restore(late: node)
    XCTAssertEqual(node.selectedTextRange, 1..<2)
    XCTAssertEqual(node.contentOffset.y, 10)
    XCTAssertEqual(node.layoutCount, 1)
  }
}
