import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What reports say of the sizes of what is stored.
@MainActor
final class StateSizesTests: ChangeTestCase {
  private func sizes(_ report: PreservationReport) -> [String: Int] {
    Dictionary(
      report.sizes.elements.map { ($0.path.description, $0.ownByteCount) },
      uniquingKeysWith: +)
  }

  private func tree() -> TrackedNode {
    let root = TrackedNode("root")
    let list = TrackedNode("list")
    list.views = [TestView("field", value: String(repeating: "v", count: 30))]
    list.below = [TrackedNode("a"), TrackedNode("b")]
    root.below = [list, TrackedNode("other")]
    return root
  }

  func testEveryElementHasItsOwnBytesAndThoseBelowIt() async throws {
    let root = tree()
    let keeper = try launch.keeper()
    let first = try await keeper.save([root]).sizes
    XCTAssertEqual(
      first.elements.map(\.kind),
      [.application, .node, .node, .view] + Array(repeating: .node, count: 3))
    XCTAssertEqual(
      first.elements.map(\.path.description),
      ["", "root", "root/list", "root/list/field", "root/list/a", "root/list/b", "root/other"])
    XCTAssertEqual(first.byteCount, first.elements.map(\.ownByteCount).reduce(0, +))
    XCTAssertEqual(
      first.elements[2].byteCount, first.elements[2...5].map(\.ownByteCount).reduce(0, +))
    let other = try XCTUnwrap(root.below[1] as? TrackedNode)
    other.value = String(repeating: "x", count: 1_000)
    _ = try await keeper.save([root])
    other.value = String(repeating: "x", count: 1_500)
    let second = try await keeper.save([root]).sizes
    // By now it is the largest of its siblings.
    XCTAssertEqual(second.elements[2].path.description, "root/other")
    XCTAssertEqual(second.elements.last?.path.description, "root/list/b")
    XCTAssertGreaterThan(second.elements[2].ownByteCount, 1_500)
    other.value = String(repeating: "x", count: 1_600)
    let third = try await keeper.save([root]).sizes
    XCTAssertEqual(
      zip(third.elements, second.elements).map { $0.0.byteCount - $0.1.byteCount },
      [100, 100, 100, 0, 0, 0, 0])
  }

  func testTheSizesAreThoseOfTheStoredRecords() async throws {
    let root = tree()
    let report = try await launch.keeper().save([root])
    let archive = try XCTUnwrap(try launch.archive())
    let records = try archive.verifiedRecords()
    let stored = (0..<records.count).filter { records.identifier(at: $0) > 2 }
      .map { records.byteCount(at: $0) }
    XCTAssertEqual(report.sizes.elements.dropFirst().map(\.ownByteCount).sorted(), stored.sorted())
  }

  func testASaveOfChangesTellsTheSizesOfAllThatIsStored() async throws {
    let root = tree()
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    (root.below[1] as? TrackedNode)?.value = "changed"
    let change = try await keeper.save([root])
    XCTAssertEqual(change.entries.count, 2, "The view is always asked.")
    let whole = try await keeper.saveEverything([root])
    XCTAssertEqual(change.sizes, whole.sizes)
    XCTAssertEqual(change.sizes.elements.count, 7)
  }

  func testAReportThatIsKeptTellsWhatItToldThen() async throws {
    let root = tree()
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    (root.below[1] as? TrackedNode)?.value = "changed"
    let change = try await keeper.save([root])
    let copy = change
    (root.below[1] as? TrackedNode)?.value = String(repeating: "x", count: 1_000)
    _ = try await keeper.save([root])
    root.below = []
    _ = try await keeper.save([root])
    XCTAssertEqual(copy.sizes.elements.count, 7)
    XCTAssertLessThan(copy.sizes.byteCount, 1_000)
  }

  func testTheSizesAfterARestoreAreThoseOfBefore() async throws {
    let root = tree()
    let first = try await launch.keeper().save([root])
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [root])
    let second = try await keeper.save([root])
    XCTAssertEqual(second.sizes, first.sizes)
  }

  func testWhatIsKeptIsBelowWhatItWasBelow() async throws {
    let root = tree()
    let first = try await launch.keeper().save([root])
    let keeper = try launch.keeper()
    root.below = [root.below[1]]
    _ = try await keeper.restore(into: [root])
    let report = try await keeper.save([root])
    XCTAssertEqual(
      report.sizes.elements.map(\.path.description).sorted(),
      first.sizes.elements.map(\.path.description).sorted())
    let list = try XCTUnwrap(report.sizes.elements.first { $0.path.description == "root/list" })
    XCTAssertGreaterThan(list.byteCount, list.ownByteCount + 60)
  }

  func testATableAndATreeForPeople() async throws {
    let root = TrackedNode("root")
    let (a, b) = (TrackedNode("a"), TrackedNode("b"))
    a.value = "1"
    b.value = String(repeating: "x", count: 1_000)
    b.below = [TrackedNode("c")]
    root.below = [a, b]
    let sizes = try await launch.keeper().save([root]).sizes
    let own = Dictionary(
      sizes.elements.map { ($0.path.description, $0.ownByteCount) }, uniquingKeysWith: +)
    func line(_ total: Int, _ own: Int, _ name: String) -> String {
      func column(_ text: String) -> String {
        String(repeating: " ", count: max(0, 5 - text.count)) + text
      }
      return "\(column("\(total)"))  \(column("\(own)"))  \(name)"
    }
    let (ofRoot, ofA) = (try XCTUnwrap(own["root"]), try XCTUnwrap(own["root/a"]))
    let (ofB, ofC) = (try XCTUnwrap(own["root/b"]), try XCTUnwrap(own["root/b/c"]))
    let whole = sizes.byteCount
    XCTAssertEqual(
      sizes.table,
      [
        "bytes    own",
        line(whole, whole - ofRoot - ofA - ofB - ofC, "(application)"),
        line(ofRoot + ofA + ofB + ofC, ofRoot, "root (TrackedNode)"),
        line(ofB + ofC, ofB, "root/b (TrackedNode)"),
        line(ofA, ofA, "root/a (TrackedNode)"),
        line(ofC, ofC, "root/b/c (TrackedNode)"),
      ].joined(separator: "\n"))
    XCTAssertEqual(
      sizes.tree,
      [
        "bytes    own",
        line(whole, whole - ofRoot - ofA - ofB - ofC, "(application)"),
        line(ofRoot + ofA + ofB + ofC, ofRoot, "root (TrackedNode)"),
        line(ofB + ofC, ofB, "  b (TrackedNode)"),
        line(ofC, ofC, "    c (TrackedNode)"),
        line(ofA, ofA, "  a (TrackedNode)"),
      ].joined(separator: "\n"))
    XCTAssertEqual("\(sizes)", sizes.tree)
  }

  func testSizesComeBackFromJSON() async throws {
    let report = try await launch.keeper().save([tree()])
    let decoded = try JSONDecoder().decode(
      PreservationReport.self, from: JSONEncoder().encode(report))
    XCTAssertEqual(decoded, report)
    XCTAssertEqual(decoded.sizes, report.sizes)
  }

  func testASaveThatStoredNothingHasNoSizes() async throws {
    let delegate = TestDelegate()
    delegate.saves = false
    let report = try await launch.keeper(delegate: delegate).save([tree()])
    XCTAssertEqual(report.sizes.elements, [])
    XCTAssertEqual(report.sizes.byteCount, 0)
  }

  func testADeepTreeHasASizeForEachNode() async throws {
    var top = TrackedNode("n0")
    for depth in 1..<20_000 {
      let node = TrackedNode("n\(depth)")
      node.below = [top]
      top = node
    }
    let sizes = try await launch.keeper().save([top]).sizes
    XCTAssertEqual(sizes.elements.count, 20_001)
    XCTAssertEqual(sizes.elements[1].byteCount + sizes.elements[0].ownByteCount, sizes.byteCount)
    while !top.below.isEmpty {
      guard let next = top.below.first as? TrackedNode else { break }
      top.below = []
      top = next
    }
  }
}
