import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Nodes that have room again when others were left out.
@MainActor
final class BudgetRoomTests: XCTestCase {
  private let launch = Launch()

  private func node(
    _ name: String, _ byteCount: Int, _ priority: RestorationPriority? = nil,
    _ below: [any RestorableNode] = []
  ) -> TrackedNode {
    let node = TrackedNode(name)
    node.value = String(repeating: "x", count: byteCount)
    node.priority = priority
    node.below = below
    return node
  }

  /// Saves below a root, and says what is stored then.
  private func save(
    _ nodes: [TrackedNode], hard: Int
  ) async throws -> (paths: Set<String>, byteCount: Int) {
    try launch.removeState()
    let keeper = try launch.keeper()
    keeper.policy.sizeBudget = SizeBudget(hard: hard)
    let report = try await keeper.save([node("root", 0, nil, nodes)])
    let paths = Set(try launch.storedPaths())
    XCTAssertEqual(paths, Set(report.savedPaths))
    return (paths, report.sizes.byteCount)
  }

  func testANodeHasRoomWithoutTheOnesBelowItThatWentByThemselves() async throws {
    func paths(_ p: TrackedNode, hard: Int) async throws -> Set<String> {
      try await save([p, node("x", 9_500), node("y", 8_000)], hard: hard).paths
    }
    let one = try await paths(node("p", 1_000, .low, [node("c", 20_000)]), hard: 10_000)
    XCTAssertEqual(one, ["root", "root/p", "root/y"])
    // What is below it comes back after it, if it has room, too.
    let two = [node("c", 3_000), node("d", 4_000)]
    let some = try await paths(node("p", 1_000, .low, two), hard: 13_000)
    XCTAssertEqual(some, ["root", "root/p", "root/p/c", "root/y"])
    // Nothing comes back below one that is not there.
    let none = try await paths(node("p", 5_000, .low, [node("c", 10, .low)]), hard: 10_000)
    XCTAssertEqual(none, ["root", "root/y"])
  }

  func testInNoTreeIsALeafLeftOutThatHasRoom() async throws {
    var random = SeededGenerator()
    print("Seed: \(random.seed)")
    let priorities: [RestorationPriority?] = [.low, .normal, .high, nil]
    for _ in 0..<100 {
      var all: [(node: TrackedNode, path: String)] = []
      var roots: [TrackedNode] = []
      for number in 0..<8 {
        let priority = priorities.randomElement(using: &random) ?? nil
        let new = node("n\(number)", .random(in: 0...4_000, using: &random), priority)
        if let above = all.randomElement(using: &random), Bool.random(using: &random) {
          above.node.below.append(new)
          all.append((new, "\(above.path)/n\(number)"))
        } else {
          roots.append(new)
          all.append((new, "root/n\(number)"))
        }
      }
      let hard = Int.random(in: 1_000...12_000, using: &random)
      let (paths, byteCount) = try await save(roots, hard: hard)
      XCTAssertLessThanOrEqual(byteCount, hard, "seed \(random.seed)")
      for (node, path) in all where node.below.isEmpty && !paths.contains(path) {
        let parent = path.split(separator: "/").dropLast().joined(separator: "/")
        guard paths.contains(parent) else { continue }
        // It takes some bytes more than its text.
        XCTAssertGreaterThan(
          byteCount + node.value.utf8.count + 60, hard, "seed \(random.seed): \(path)")
      }
    }
  }
}
