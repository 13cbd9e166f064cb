import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Saves of what has changed while something is kept that is not back.
@MainActor
final class KeptChangesTests: XCTestCase {
  private let launch = Launch()

  /// A tree of tracked nodes, with one below `n1` that later launches do not make.
  private func tree(_ value: String = "", isWhole: Bool) -> (TrackedNode, [TrackedNode]) {
    let root = TrackedNode("root")
    let nodes = (0..<5).map { TrackedNode("n\($0)") }
    for node in nodes { node.value = value }
    root.below = nodes
    if isWhole {
      let unknown = TrackedNode("unknown")
      unknown.value = "kept"
      nodes[1].below = [unknown]
    }
    return (root, nodes)
  }

  /// Saves what a whole tree has, and restores it without the unknown node; all is saved once.
  private func keeping() async throws -> (StateKeeper, TrackedNode, [TrackedNode]) {
    _ = try await launch.keeper().save([tree("saved", isWhole: true).0])
    let keeper = try launch.keeper()
    let (root, nodes) = tree(isWhole: false)
    _ = try await keeper.restore(into: [root])
    let report = try await keeper.save([root])
    XCTAssertEqual(report.kept.map(\.path.description), ["root/n1/unknown"])
    XCTAssertEqual(report.unaskedCount, 0)
    for node in nodes + [root] { node.encodeCount = 0 }
    return (keeper, root, nodes)
  }

  private var stored: [String: String] {
    get throws {
      try XCTUnwrap(try launch.storedRecords()).elements.reduce(into: [:]) {
        $0[$1.path] = try $1.value
      }
    }
  }

  func testOnlyWhatHasChangedIsAskedAndWhatIsKeptStays() async throws {
    let (keeper, root, nodes) = try await keeping()
    nodes[3].value = "new"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.entries.map(\.path.description), ["root/n3"])
    XCTAssertEqual(nodes.map(\.encodeCount), [0, 0, 0, 1, 0])
    XCTAssertEqual(report.kept.map(\.path.description), ["root/n1/unknown"])
    XCTAssertEqual(try stored["root/n3"], "new")
    try await assertAllIsBack(values: ["saved", "saved", "saved", "new", "saved"])
  }

  /// A launch that has the unknown node finds all of it.
  private func assertAllIsBack(values: [String], _ kept: String? = "kept") async throws {
    let (root, nodes) = tree(isWhole: true)
    let unknown = try XCTUnwrap(nodes[1].below.first as? TrackedNode)
    unknown.value = "none"
    let report = try await launch.keeper().restore(into: [root])
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertEqual(nodes.map(\.value), values)
    XCTAssertEqual(unknown.value, kept ?? "none")
  }

  func testAParentGoesOnToNameWhatIsKeptBelowIt() async throws {
    let (keeper, root, nodes) = try await keeping()
    nodes[1].value = "new"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.entries.map(\.path.description), ["root/n1", "root/n1/unknown"])
    try await assertAllIsBack(values: ["saved", "new", "saved", "saved", "saved"])
  }

  func testANodeWithTheNameOfWhatIsKeptTakesItsPlace() async throws {
    let (keeper, root, nodes) = try await keeping()
    let own = TrackedNode("unknown")
    own.value = "own"
    nodes[1].below = [own]
    let report = try await keeper.save([root])
    XCTAssertEqual(report.unaskedCount, 5)
    XCTAssertEqual(report.kept.filter { $0.outcome.step == nil }, [])
    XCTAssertEqual(report.entries.last?.outcome, .replaced)
    try await assertAllIsBack(
      values: ["saved", "saved", "saved", "saved", "saved"], "own")
  }

  func testWhatIsKeptGoesWithTheOneAboveIt() async throws {
    let (keeper, root, nodes) = try await keeping()
    root.below.remove(at: 1)
    let report = try await keeper.save([root])
    XCTAssertEqual(report.kept, [])
    XCTAssertEqual(try stored.keys.sorted(), ["root", "root/n0", "root/n2", "root/n3", "root/n4"])
    _ = nodes
  }

  func testWhatIsKeptGoesWhenItsTimeIsOver() async throws {
    let (keeper, root, nodes) = try await keeping()
    launch.now += 366 * 24 * 60 * 60
    nodes[3].value = "new"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.kept, [])
    XCTAssertNil(try stored["root/n1/unknown"])
    XCTAssertEqual(report.unaskedCount, 5)
    nodes[3].value = "newer"
    // What comes next is regular again after one more.
    _ = try await keeper.save([root])
    nodes[3].value = "newest"
    let next = try await keeper.save([root])
    XCTAssertEqual(next.entries.map(\.path.description), ["root/n3"])
  }

  func testABoundThatIsSetMeanwhileCounts() async throws {
    let (keeper, root, nodes) = try await keeping()
    keeper.policy.keptByteCount = 10
    nodes[3].value = "new"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.kept, [])
    XCTAssertNil(try stored["root/n1/unknown"])
  }
}
