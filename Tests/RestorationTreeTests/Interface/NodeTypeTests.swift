import RestorationKit
import TestSupport
import XCTest

/// An object that is no node by itself.
@MainActor
private class PlainObject: @MainActor StateRestoring {
  var value: String?

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(value, forKey: "value")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decodeIfPresent(forKey: "value")
  }
}

/// A node whose class inherits the conformance that does not know that it is one.
private final class LateNode: PlainObject, @MainActor RestorableNode {
  let restorationIdentifier: String? = "late"
}

/// A node whose class says that it is another one.
@MainActor
private final class LyingNode: @MainActor RestorableNode {
  static var restorableNodeType: (any RestorableNode.Type)? { TestNode.self }

  let restorationIdentifier: String? = "lying"
  var value: String?

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(value, forKey: "value")
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decodeIfPresent(forKey: "value")
  }
}

/// Whether a class is one of nodes is known without asking the Swift runtime, where it can be.
@MainActor
final class NodeTypeTests: XCTestCase {
  func testAClassThatInheritsAConformanceWhichKnowsNoNodeIsOneOfNodes() {
    XCTAssertNil((LateNode.self as any StateRestoring.Type).restorableNodeType)
    XCTAssertTrue((TestNode.self as any StateRestoring.Type).restorableNodeType == TestNode.self)
  }

  func testNodesOfAClassThatDoesNotSayThatItIsOneOfNodesComeBack() async throws {
    let launch = Launch()
    let (late, lying) = (LateNode(), LyingNode())
    (late.value, lying.value) = ("late text", "lying text")
    func keeper() throws -> StateKeeper {
      let keeper = try launch.keeper()
      try keeper.register(LateNode.self) { _, _ in LateNode() }
      try keeper.register(LyingNode.self) { _, _ in LyingNode() }
      return keeper
    }
    let saved = try await keeper().save([TestNode("root", children: [late, lying])])
    XCTAssertEqual(saved.problems, [])
    let root = TestNode("root")
    root.onDecode = { root.restorationChildren = $0.restoredChildren }
    let report = try await keeper().restore(into: [root])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(report.outcome(of: "root/late"), .restored(by: .restorationClass))
    XCTAssertEqual(report.outcome(of: "root/lying"), .restored(by: .restorationClass))
    XCTAssertEqual(
      root.restorationChildren.map { ($0 as? LateNode)?.value ?? ($0 as? LyingNode)?.value },
      ["late text", "lying text"])
  }
}
