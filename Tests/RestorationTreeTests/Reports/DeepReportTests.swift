import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What is written of the reports of deep trees.
@MainActor
final class DeepReportTests: XCTestCase {
  private struct Reports {
    let saved: PreservationReport
    let restored: RestorationReport
    let keptAgain: PreservationReport

    var texts: [String: String] {
      ["saved": "\(saved)", "restored": "\(restored)", "kept": "\(keptAgain)"]
    }
  }

  private func chain(_ depth: Int, _ name: (Int) -> String? = { _ in "n" }) -> TestNode {
    var chain = TestNode(name(depth))
    for place in (1..<depth).reversed() { chain = TestNode(name(place), children: [chain]) }
    return chain
  }

  /// Of a chain of which no node comes back, beside one whose lower half has no place.
  private func reports(depth: Int) async throws -> Reports {
    let launch = Launch()
    let lost = chain(depth)
    lost.restorationIdentifier = "lost"
    lost.restorationClass = TestFactory.self
    let broken = chain(depth) { $0 == depth / 2 ? nil : "b" }
    let saved = try await launch.keeper().save([TestNode("root", children: [lost]), broken])
    TestFactory.make = { _, _ in throw Failure() }
    defer { TestFactory.make = { _, _ in nil } }
    let keeper = try launch.keeper()
    let root = TestNode("root")
    let restored = try await keeper.restore(into: [root])
    let keptAgain = try await keeper.save([root])
    XCTAssertFalse(keptAgain.kept.isEmpty)
    return Reports(saved: saved, restored: restored, keptAgain: keptAgain)
  }

  func testTheTextOfADeepTreeGrowsWithItsNodesAndNotWithTheirDepthsToo() async throws {
    let (small, large) = (
      try await reports(depth: 300).texts, try await reports(depth: 600).texts
    )
    for (name, text) in small {
      XCTAssertLessThan(
        large[name]?.utf8.count ?? .max, text.utf8.count * 21 / 10, "\(name): \(text.utf8.count)")
    }
  }

  func testALongPathIsCutToItsLastNamesAfterTheNumberOfThoseBefore() async throws {
    let names = (1...26).map { "n\($0)" }
    let report = try await Launch().keeper().save([chain(26) { names[$0 - 1] }])
    let lines = "\(report)".split(separator: "\n").map(String.init)
    XCTAssertEqual(lines[24], "  \(names[0...23].joined(separator: "/")) (TestNode): saved")
    XCTAssertEqual(lines[26], "  …(2)/\(names[2...25].joined(separator: "/")) (TestNode): saved")
    // An outcome that names a path, too.
    XCTAssertEqual(
      RestorationReport.NodeOutcome.parentMissing(RestorationPath(names)).description,
      "not back, …(2)/\(names[2...25].joined(separator: "/")) above it is not back")
    XCTAssertEqual(
      RestorationPath(names).description, names.joined(separator: "/"), "A path itself is whole.")
  }
}

private struct Failure: Error {}
