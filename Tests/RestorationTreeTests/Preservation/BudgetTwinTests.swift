import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// A save that has no room for everything stores what a save of the rest stores.
@MainActor
final class BudgetTwinTests: ChangeTestCase {
  /// A random tree without the nodes and views at some paths.
  private func tree(
    _ seed: UInt64, without leftOut: Set<String> = []
  ) -> (root: TrackedNode, nodes: [TrackedNode]) {
    var random = SeededGenerator(seed: seed)
    let root = TrackedNode("root")
    var nodes = [(node: root, path: "root", isThere: true)]
    for number in 0..<10 {
      let parent = nodes[Int.random(in: 0..<nodes.count, using: &random)]
      let node = TrackedNode("n\(number)")
      let path = "\(parent.path)/n\(number)"
      let isThere = parent.isThere && !leftOut.contains(path)
      nodes.append((node, path, isThere))
      node.value = String(repeating: "x", count: .random(in: 0...600, using: &random))
      if Bool.random(using: &random) { node.priority = .low }
      for view in 0..<Int.random(in: 0...2, using: &random) {
        let view = TestView(
          "v\(view)", value: String(repeating: "y", count: .random(in: 0...300, using: &random)))
        if !leftOut.contains("\(path)/\(view.restorationIdentifier ?? "")") {
          node.views.append(view)
        }
      }
      if isThere { parent.node.below.append(node) }
      // Elements that are left out for another reason stay so.
      switch Int.random(in: 0..<12, using: &random) {
      case 0: parent.node.below.append(TrackedNode(String(repeating: "z", count: 1025)))
      case 1: node.below.append(PlainNode(nil))
      case 2: node.views.append(TestView("v0", value: "second"))
      case 3: node.throwsInEncode = true
      default: break
      }
    }
    return (root, nodes.filter(\.isThere).map(\.node))
  }

  func testWhatHasRoomIsStoredAsIfTheRestWereNotThere() async throws {
    var random = SeededGenerator()
    var leftOutCount = 0
    for _ in 0..<80 {
      let (seed, message) = (random.next(), "TEST_SEED=\(random.seed)")
      try launch.removeState()
      let (root, nodes) = tree(seed)
      let keeper = try launch.keeper()
      keeper.policy.sizeBudget = SizeBudget(hard: .random(in: 600...3_000, using: &random))
      let report = try await keeper.save([root])
      let leftOut = report.entries.filter {
        if case .overBudget = $0.outcome { true } else { false }
      }
      leftOutCount += leftOut.count

      let (fresh, twin) = (Launch(), tree(seed, without: Set(leftOut.map(\.path.description))).root)
      let whole = try await fresh.keeper().save([twin])
      // A snapshot of the app shows what is left out, and the application has the note of the budget.
      XCTAssertEqual(
        try launch.storedRecords()?.words.filter { !$0.hasPrefix("tree: ") },
        try fresh.storedRecords()?.words.filter { !$0.hasPrefix("tree: ") }, message)
      XCTAssertEqual(
        report.entries.filter { !leftOut.contains($0) && $0.kind != .application }
          .map(\.description).sorted(),
        whole.entries.map(\.description).sorted(), message)

      // Once there is room, the next changes bring the rest.
      keeper.policy.sizeBudget = nil
      for node in nodes { node.throwsInEncode = false }
      nodes.randomElement(using: &random)?.value = "changed"
      _ = try await keeper.save([root])
      try await assertStoredAsAWhole([root])
      nodes.randomElement(using: &random)?.value = "changed again"
      _ = try await keeper.save([root])
      try await assertStoredAsAWhole([root])
      await keeper.close()
    }
    XCTAssertGreaterThan(leftOutCount, 80)
  }
}
