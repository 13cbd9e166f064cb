import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// What is as large as it may be is saved and comes back; one more is not.
@MainActor
final class LimitEdgeTests: XCTestCase {
  private let launch = Launch()

  func testIdentifiersHaveUpTo1024Bytes() async throws {
    for count in [1, 1023, 1024, 1025] {
      let name = String(repeating: "x", count: count)
      let fits = count <= 1024
      try launch.removeState()
      func tree(_ value: String?) -> (root: TestNode, node: TestNode, view: TestView) {
        let (root, node) = (TestNode("root"), TestNode(name, value: value))
        let view = TestView(name, value: value)
        root.restorationChildren = [node]
        root.restorationViews = [view]
        return (root, node, view)
      }
      let saving = try launch.keeper()
      let saved = tree("v")
      let object = TestObject("v")
      saving.registerObject(object, restorationIdentifier: name)
      saved.root.onEncode = { $0.encode(object, forKey: "object") }
      _ = try await saving.save([saved.root])
      await saving.close()
      let back = tree(nil)
      let backObject = TestObject()
      let restoring = try launch.keeper()
      restoring.registerObject(backObject, restorationIdentifier: name)
      _ = try await restoring.restore(into: [back.root])
      await restoring.close()
      XCTAssertEqual(
        [back.node.value, back.view.value, backObject.value],
        Array(repeating: fits ? "v" : nil, count: 3), "\(count)")
    }
  }

  func testANodeLimitIsHowManyNodesAndViewsThereMayBe() async throws {
    let root = TestNode("root", children: (0..<4).map { TestNode("n\($0)") })
    root.restorationViews = [TestView("v0"), TestView("v1")]
    for limit in 0...8 {
      let keeper = try launch.keeper()
      keeper.policy.nodeLimit = limit
      if limit < 7 {
        let error = await restorationError { _ = try await keeper.save([root]) }
        XCTAssertEqual(error?.code, .tooManyNodes, "\(limit)")
      } else {
        let report = try await keeper.save([root])
        XCTAssertEqual(report.entries.filter { $0.kind != .application }.count, 7, "\(limit)")
      }
      await keeper.close()
    }
  }
}
