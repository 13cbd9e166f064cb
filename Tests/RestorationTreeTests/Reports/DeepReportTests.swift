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
      [
        "saved": "\(saved)", "saved tree": saved.tree, "restored": "\(restored)",
        "restored tree": restored.tree,
        "kept": "\(keptAgain)", "kept tree": keptAgain.tree,
      ]
    }

    func encoded() throws -> [String: Data] {
      let encoder = JSONEncoder()
      return [
        "saved": try encoder.encode(saved), "restored": try encoder.encode(restored),
        "kept": try encoder.encode(keptAgain),
      ]
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

  func testTheJSONOfADeepTreeGrowsWithItsNodesAndNotWithTheirDepthsToo() async throws {
    let (small, large) = (
      try await reports(depth: 300).encoded(), try await reports(depth: 600).encoded()
    )
    for (name, data) in small {
      XCTAssertLessThan(
        large[name]?.count ?? .max, data.count * 21 / 10, "\(name): \(data.count)")
    }
  }

  func testTheReportsOfADeepTreeComeBackFromJSONAsTheyWere() async throws {
    let reports = try await reports(depth: 60)
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    for saved in [reports.saved, reports.keptAgain] {
      let back = try decoder.decode(PreservationReport.self, from: encoder.encode(saved))
      XCTAssertEqual(back, saved)
    }
    XCTAssertFalse(reports.keptAgain.kept.isEmpty)
    XCTAssertEqual(
      try decoder.decode(RestorationReport.self, from: encoder.encode(reports.restored)),
      reports.restored)
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

  func testInJSONEachNameIsWrittenOnceAndAPathIsTheNumberOfItsName() async throws {
    let launch = Launch()
    let stack = TestStack("nav", children: [TestNode("page"), TestNode("page")])
    let report = try await launch.keeper().save([stack, chain(3) { $0 == 2 ? nil : "x" }])
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = try XCTUnwrap(
      try JSONSerialization.jsonObject(with: encoder.encode(report)) as? [String: Any])
    func text(_ value: Any?) throws -> String {
      String(
        decoding: try JSONSerialization.data(
          withJSONObject: try XCTUnwrap(value), options: [.sortedKeys, .withoutEscapingSlashes]),
        as: UTF8.self)
    }
    XCTAssertEqual(
      try text(json["paths"]),
      #"[{"name":"nav"},{"above":1,"name":"page"},{"above":1,"name":"page","siblingIndex":1},"#
        + #"{"name":"x"},{"above":4,"name":""},{"above":5,"name":"x"}]"#)
    let entries = try XCTUnwrap(json["entries"] as? [[String: Any]])
    XCTAssertEqual(entries.map { $0["path"] as? Int }, [1, 2, 3, 4, 5, 6])
    XCTAssertEqual(try text(entries[5]["outcome"]), #"{"excluded":{"by":5}}"#)
    // By itself an entry has its whole path.
    XCTAssertEqual(
      try text(try JSONSerialization.jsonObject(with: encoder.encode(report.entries[2]))),
      #"{"className":"TestNode","kind":"node","notes":[],"outcome":{"saved":{}},"#
        + #""path":{"identifiers":["nav","page"],"siblingIndices":[0,1]},"reason":"saved"}"#)
  }

  func testAReportWithWholePathsAsItWasWrittenBeforeIsRead() throws {
    let entries = """
      [{"className":"A","kind":"node","notes":[],"outcome":OUTCOME,
      "path":{"identifiers":["a","b"],"siblingIndices":[0,1]},"reason":"of no use"}]
      """
    func decode<Report: Decodable>(
      _ type: Report.Type, _ outcome: String, _ fields: String
    ) throws -> Report {
      let entries = entries.replacingOccurrences(of: "OUTCOME", with: outcome)
      return try JSONDecoder().decode(
        type, from: Data(#"{"entries":\#(entries),\#(fields)}"#.utf8))
    }
    let path = RestorationPath(["a"]).appending("b", siblingIndex: 1)
    let saved = try decode(
      PreservationReport.self, #"{"excluded":{"by":{"identifiers":["a"]}}}"#,
      #"""
      "outcome":{"saved":{}},"kept":[],"unaskedCount":0,"byteCount":9,"writtenByteCount":9,
      "walkDuration":[0,5],"otherInstances":[]
      """#)
    XCTAssertEqual(saved.entries.map(\.path), [path])
    XCTAssertEqual(saved.entries.map(\.outcome), [.excluded(by: RestorationPath(["a"]))])
    let restored = try decode(
      RestorationReport.self, #"{"parentMissing":{"_0":{"identifiers":["a"]}}}"#,
      #"""
      "outcome":{"restored":{}},"otherInstances":[],"walkDuration":[0,5],
      "kept":[{"kind":"node","path":{"identifiers":["k"]},"className":"K",
      "reason":{"notFound":{}},"isStateAlone":false,"byteCount":7}]
      """#)
    XCTAssertEqual(restored.entries.map(\.path), [path])
    XCTAssertEqual(restored.kept.map(\.path), [RestorationPath(["k"])])
  }
}

private struct Failure: Error {}
