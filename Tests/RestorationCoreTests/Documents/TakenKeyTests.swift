import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// The key under which the library stores what it writes of lists, tabs and texts.
@MainActor
final class TakenKeyTests: XCTestCase {
  private let launch = Launch()
  private static let key = "RestorationKit.builtIn"
  private static let refusal = "“\(key)” is a key of the library. Use another one."

  private struct Point: Codable {
    var x = 1
  }

  private func tabs() -> TestTabs {
    let tabs = TestTabs("tabs", value: "typed", children: [TestNode("a"), TestNode("b")])
    tabs.selectedTab = tabs.restorationChildren[1]
    return tabs
  }

  func testNoValueOfAnAppTakesTheKeyOfTheLibraryAndTheReportSaysSo() async throws {
    let other = TestNode("other")
    let ways: [(StateEncoder) throws -> Void] = [
      { $0.encode("own", forKey: Self.key) },
      { try $0.encode(Point(), forKey: Self.key) },
      { $0.encode(other, forKey: Self.key) },
      { $0.encode([other], forKey: Self.key) },
      { $0.encode(["other": other], forKey: Self.key) },
      { $0.encodeContainer(forKey: Self.key) { $0.encode(1, forKey: "selectedTab") } },
    ]
    for (number, way) in ways.enumerated() {
      for isInContainer in [false, true] {
        try launch.removeState()
        let keeper = try launch.keeper()
        let tabs = tabs()
        _ = try await keeper.save([tabs, other])
        tabs.value = "newer"
        tabs.onEncode = { coder in
          guard isInContainer else { return try way(coder) }
          try coder.encodeContainer(forKey: "inner") { try way($0) }
        }
        let report = try await keeper.save([tabs, other])
        XCTAssertEqual(report.outcome(of: "tabs"), .savedWithLastState, "\(number)")
        XCTAssertEqual(report.notes.count, 1, "\(number)")
        XCTAssertEqual(
          report.problems.map { $0.description.hasSuffix(Self.refusal) }, [true],
          "\(report.problems)")
        await keeper.close()
        let back = TestTabs("tabs", children: [TestNode("a"), TestNode("b")])
        _ = try await launch.keeper().restore(into: [back, TestNode("other")])
        XCTAssertEqual(back.selectedTab?.restorationName, "b", "\(number)")
        XCTAssertEqual(back.value, "typed", "\(number)")
      }
    }
  }

  func testNeitherDoesOneOfTheApplication() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = { coder in
      coder.encode("kept by nobody", forKey: "value")
      coder.encode("own", forKey: Self.key)
    }
    let report = try await launch.keeper(delegate: delegate).save([TestNode("a", value: "typed")])
    XCTAssertEqual(report.notes.count, 1)
    XCTAssertEqual(report.problems.map { $0.description.hasSuffix(Self.refusal) }, [true])
    XCTAssertEqual(try launch.storedRecords()?["a"]?.value, "typed")
    XCTAssertNil(try launch.storedRecords()?.application)
  }

  private func migrated(
    _ migrate: @escaping (MigratingState) throws -> Void
  ) async throws -> (report: RestorationReport, tabs: TestTabs) {
    try launch.removeState()
    _ = try await launch.keeper().save([tabs()])
    let keeper = try launch.keeper()
    try keeper.register(TestTabs.self, version: 2, migrations: [1: migrate])
    let back = TestTabs("tabs", children: [TestNode("a"), TestNode("b")])
    return (try await keeper.restore(into: [back]), back)
  }

  func testAMigrationCannotWriteUnderTheKeyAndRemovesNothing() async throws {
    let refused: [(MigratingState) throws -> Void] = [
      { try $0.encode("own", forKey: Self.key) }, { try $0.encode([[1]], forKey: Self.key) },
      { try $0.rename("value", to: Self.key) },
      { try $0.changeContainer(forKey: Self.key) { _ in } },
    ]
    for (number, migrate) in refused.enumerated() {
      let (report, _) = try await migrated(migrate)
      XCTAssertEqual(
        report.outcome(of: "tabs"), .migrationFailed(by: .existing, from: 1, Self.refusal),
        "\(number)")
    }
    let (report, tabs) = try await migrated { state in
      XCTAssertEqual(state.keys, ["value"])
      state.remove(Self.key)
      try state.rename(Self.key, to: "other")
      XCTAssertEqual(state.keys, ["value"])
    }
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(tabs.selectedTab?.restorationName, "b")
  }
}
