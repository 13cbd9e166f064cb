import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class DryRunTests: XCTestCase {
  func testNothingStoredIsNotAnError() async throws {
    let report = try await Launch().keeper().checkStoredState()
    XCTAssertFalse(report.isStored)
    XCTAssertEqual(report.entries, [])
    XCTAssertEqual(report.description, "There is no saved state.")
  }

  func testALineSaysWhatWouldHappenToEachNode() async throws {
    let launch = Launch()
    let first = try launch.keeper()
    try first.register(SpecialTestNode.self, version: 3, migrations: [])
    try first.register(UnrelatedNode.self) { _, _ in nil }
    let made = TestNode("made")
    made.restorationClass = TestFactory.self
    _ = try await first.save([
      TestNode("old", children: [TestNode("broken", value: "x")]), SpecialTestNode("newer"),
      UnrelatedNode("unknown", children: [TestNode("below")]), made,
    ])
    let stored = launch.storedBytes

    struct Failure: Error {}
    let trace = Trace()
    let delegate = TestDelegate(trace)
    var names: [String] = []
    delegate.onClassName = { name in
      names.append(name)
      return name == "TestNode" ? "Screen" : nil
    }
    let keeper = try launch.keeper(delegate: delegate)
    var calls: [String] = []
    keeper.trace = { calls.append($0.description) }
    try keeper.register(
      TestNode.self, as: "Screen", version: 2,
      migrations: [StateMigration(from: 1) { if $0.contains("value") { throw Failure() } }])
    try keeper.register(SpecialTestNode.self, version: 2, migrations: [])
    TestFactory.make = { _, _ in
      XCTFail("asked")
      return nil
    }
    defer { TestFactory.make = { _, _ in nil } }
    let report = try await keeper.checkStoredState()
    XCTAssertEqual(
      report.description,
      """
      Checked 6 nodes.
        old (TestNode): can be restored; its class is called Screen now; migrated from version 1
        old/broken (TestNode): cannot be migrated from version 1: Failure; its state would be kept \
      as it is; its class is called Screen now
        newer (SpecialTestNode): has version 3, newer than 2; its state would be kept as it is
        unknown (UnrelatedNode): names the class UnrelatedNode, which is not registered; it would \
      be kept as it is
        unknown/below (TestNode): lies below unknown, which would not be back; it would be kept as \
      it is; its class is called Screen now
        made (TestNode): can be restored; its class is called Screen now; migrated from version 1
      """)
    XCTAssertEqual(
      report.problems.map(\.path.description), ["old/broken", "newer", "unknown", "unknown/below"])
    XCTAssertEqual(
      report.entries.map(\.notes),
      [
        [.renamed(to: "Screen"), .migrated(from: 1)], [.renamed(to: "Screen")], [], [],
        [.renamed(to: "Screen")], [.renamed(to: "Screen"), .migrated(from: 1)],
      ])
    XCTAssertEqual(trace.events, [], "no gate and no node")
    XCTAssertEqual(names, ["TestNode", "UnrelatedNode"])
    XCTAssertEqual(calls, ["currentClassName", "currentClassName"])
    XCTAssertEqual(launch.storedBytes, stored)
    XCTAssertEqual(
      try JSONDecoder().decode(StoredStateReport.self, from: JSONEncoder().encode(report)), report)
  }

  func testADryRunTellsSinceWhenANodeIsKept() async throws {
    let launch = Launch()
    _ = try await launch.keeper().save([TestNode("root", children: [TestNode("a")])])
    let keeper = try launch.keeper()
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    let first = launch.now + 60
    launch.now = first
    _ = try await keeper.save([root])
    launch.now += 60
    _ = try await keeper.save([root])
    let report = try await launch.keeper().checkStoredState()
    XCTAssertEqual(report.entries.map(\.notes), [[], [.keptSince(first)]])
  }

  func testADryRunTellsTheVersionOfWhatIsReadAsItIs() async throws {
    let launch = Launch()
    for (version, notes) in [(1, []), (2, [.version(2)])] as [(Int, [ReportNote])] {
      let keeper = try launch.keeper()
      try keeper.register(
        TestNode.self, version: version,
        migrations: (1..<version).map { StateMigration(from: $0) { _ in } })
      _ = try await keeper.save([TestNode("a")])
      let report = try await keeper.checkStoredState()
      XCTAssertEqual(report.entries.map(\.notes), [notes])
      XCTAssertEqual(report.problems, [])
    }
  }

  func testADryRunChangesNothingForTheRestore() async throws {
    let launch = Launch()
    _ = try await launch.keeper().save([TestNode("a", value: "stored")])
    let keeper = try launch.keeper()
    try keeper.register(
      TestNode.self, version: 2,
      migrations: [
        StateMigration(from: 1) { state in
          let value: String? = try state.decodeIfPresent(forKey: "value")
          try state.encode(value.map { $0 + "+" }, forKey: "value")
        }
      ])
    _ = try await keeper.checkStoredState()
    let report = try await keeper.checkStoredState()
    XCTAssertEqual(report.entries.map(\.outcome), [.restorable])
    XCTAssertEqual(report.entries.map(\.notes), [[.migrated(from: 1)]])
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "stored+")
  }

  func testAStateThatCannotBeOpenedThrows() async throws {
    let launch = Launch()
    _ = try await launch.keeper().save([TestNode("a")])
    launch.keys.lose()
    let keeper = try launch.keeper()
    await assertThrows(WholeError(ArchiveError(.keyMissing, location: "keyring"))) {
      _ = try await keeper.checkStoredState()
    }
  }
}
