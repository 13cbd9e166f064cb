import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class ReportTests: XCTestCase {
  private func savedAndRestored() async throws -> (PreservationReport, RestorationReport) {
    let launch = Launch()
    let detail = TestNode("detail", value: "lamp")
    let list = TestNode("list", children: [detail, TestNode(nil)])
    let saved = try await launch.keeper().save([TestNode("window", children: [list])])
    let restored = try await launch.keeper().restore(
      into: [TestNode("window", children: [TestNode("list")])])
    return (saved, restored)
  }

  func testBothReportsComeBackFromJSONAsTheyWere() async throws {
    let (saved, restored) = try await savedAndRestored()
    let encoder = JSONEncoder()
    let decoder = JSONDecoder()
    XCTAssertEqual(
      try decoder.decode(PreservationReport.self, from: encoder.encode(saved)), saved)
    XCTAssertEqual(
      try decoder.decode(RestorationReport.self, from: encoder.encode(restored)), restored)
  }

  func testEveryEntryInJSONHasItsReasonInASentence() async throws {
    let (_, restored) = try await savedAndRestored()
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(restored))
    let entries = (json as? [String: Any])?["entries"] as? [[String: Any]]
    XCTAssertEqual(
      entries?.map { $0["reason"] as? String },
      [
        "restored, already there", "restored, already there",
        "not found; register its class with a closure that makes it, answer in the delegate, or"
          + " let the node above it contain it before you restore; if it is built later, call"
          + " restore(late:below:); saves keep it as it is stored",
      ])
  }

  func testTheTreeIndentsWhatIsBelow() async throws {
    let (saved, restored) = try await savedAndRestored()
    XCTAssertEqual(
      saved.tree,
      """
      Saved \(saved.byteCount) bytes.
      window (TestNode): saved
        list (TestNode): saved
          detail (TestNode): saved
          ∅ (TestNode): left out, it has no restoration identifier
      """)
    XCTAssertEqual(
      restored.tree.split(separator: "\n").prefix(3),
      [
        "Restored 2 of 3 nodes, 1 with problems.", "window (TestNode): restored, already there",
        "  list (TestNode): restored, already there",
      ])
  }

  func testTheTreeNamesWholePathsWhereTheParentIsNotAbove() async throws {
    let lost = TestNode("lost")
    let window = TestNode("window", children: [TestNode("list"), TestNode("pane")])
    (window.restorationChildren.first as? TestNode)?.onEncode = { $0.encode(lost, forKey: "lost") }
    let launch = Launch()
    let report = try await launch.keeper().save([window])
    XCTAssertEqual(
      report.tree,
      """
      Saved \(report.byteCount) bytes.
      window (TestNode): saved
        list (TestNode): saved
        pane (TestNode): saved
      window/list/lost (TestNode): saved
      """)
  }

  func testTheTreeOfALongChainTakesLinearSpace() async throws {
    var chain = TestNode("n")
    for _ in 0..<5_000 { chain = TestNode("n", children: [chain]) }
    let launch = Launch()
    let report = try await launch.keeper().save([chain])
    XCTAssertLessThan(report.tree.utf8.count, 5_001 * 100)
    XCTAssertTrue(report.tree.hasSuffix("[5000] n (TestNode): saved"))
  }

  func testThePathOfEqualSiblingsComesBackFromJSON() throws {
    let path = RestorationPath(["nav"]).appending("page", siblingIndex: 2)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(path)
    XCTAssertEqual(
      String(decoding: data, as: UTF8.self),
      #"{"identifiers":["nav","page"],"siblingIndices":[0,2]}"#)
    XCTAssertEqual(try JSONDecoder().decode(RestorationPath.self, from: data), path)
    XCTAssertNotEqual(path, RestorationPath(["nav", "page"]))
  }

  func testAPathWithTooFewSiblingIndicesIsRefused() {
    let json = Data(#"{"siblingIndices":[0],"identifiers":["nav","page"]}"#.utf8)
    XCTAssertThrowsError(try JSONDecoder().decode(RestorationPath.self, from: json)) { error in
      guard case DecodingError.dataCorrupted(let context) = error else {
        return XCTFail("\(error)")
      }
      XCTAssertEqual(context.codingPath.map(\.stringValue), ["siblingIndices"])
      XCTAssertEqual(
        context.debugDescription, "There are not as many sibling indices as identifiers.")
    }
  }
}
