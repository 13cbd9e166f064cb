import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// For how long, and up to what size, saves keep what is not back.
@MainActor
final class KeptBoundTests: XCTestCase {
  private let launch = Launch()
  private let start = Date(timeIntervalSinceReferenceDate: 800_000_000)
  private let day: TimeInterval = 24 * 60 * 60

  private func go(to days: Double) { launch.now = start + days * day }

  private func keeper(_ byteCount: Int? = 8 << 20, version: Int = 1) throws -> StateKeeper {
    let keeper = try launch.keeper()
    keeper.policy.keptByteCount = byteCount
    try keeper.register(
      SpecialTestNode.self, version: version,
      migrations: migrations(to: version))
    return keeper
  }

  private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  /// Saves a root with nodes of some sizes.
  private func save(_ names: [String: Int]) async throws {
    let nodes = names.sorted { $0.key < $1.key }.map { TestNode($0.key, value: text($0.value)) }
    _ = try await keeper().save([TestNode("root", children: nodes)])
  }

  /// A launch with these nodes alone.
  private func launchWith(
    _ names: [String], _ byteCount: Int? = 8 << 20, isForEver: Bool = false
  ) async throws -> (restored: RestorationReport, saved: PreservationReport) {
    let keeper = try keeper(byteCount)
    if isForEver { keeper.policy.keptAge = nil }
    let root = TestNode("root", children: names.map { TestNode($0) })
    let restored = try await keeper.restore(into: [root])
    return (restored, try await keeper.save([root]))
  }

  func testByDefaultItIsAYearAnd8MiB() throws {
    let keeper = try launch.keeper()
    XCTAssertEqual(keeper.policy.keptAge, 365 * day)
    XCTAssertEqual(keeper.policy.keptByteCount, 8 * 1024 * 1024)
  }

  func testReportsListWhatIsKeptWithItsAgeAndSize() async throws {
    let below = TestNode("below", value: "deep")
    _ = try await keeper().save([
      TestNode("root", children: [TestNode("a", value: "typed", children: [below])])
    ])
    let records = try XCTUnwrap(try launch.archive()).verifiedRecords()
    let ofRoot = try XCTUnwrap(try launch.storedRecords()?["root"]?.record)
    let size = (0..<records.count).filter { place in
      // An element has two records, and the state has some above all elements.
      let record = records.identifier(at: place)
      return record / 2 > ofRoot && record < 1 << 62
    }.reduce(0) { $0 + records.byteCount(at: $1) }
    go(to: 3)
    let first = try await launchWith([])
    for (kept, since) in [(first.restored.kept, nil), (first.saved.kept, start + 3 * day)]
      as [([ReportEntry], Date?)]
    {
      let element = try XCTUnwrap(kept.first)
      XCTAssertEqual(kept.count, 1)
      XCTAssertEqual(element.kind, .node)
      XCTAssertEqual(element.path, RestorationPath(["root", "a"]))
      XCTAssertEqual(element.className, "TestNode")
      XCTAssertEqual(element.outcome, .notFound)
      XCTAssertEqual(element.since, since)
      XCTAssertEqual(element.byteCount, size)
    }
    go(to: 5)
    let second = try await launchWith([])
    XCTAssertEqual(second.restored.kept.map(\.since), [start + 3 * day])
    XCTAssertEqual(second.saved.kept.map(\.since), [start + 3 * day])
    let back = try await launchWith(["a"])
    XCTAssertEqual(back.restored.kept.map(\.path.description), ["root/a/below"])
  }

  func testTheOldestGoesFirstWhereMoreIsKeptThanMayBe() async throws {
    try await save(["a": 2_000, "b": 2_000, "c": 500])
    _ = try await launchWith(["b", "c"])
    go(to: 10)
    _ = try await launchWith(["c"])
    go(to: 20)
    let (restored, saved) = try await launchWith([], 3_000)
    let size = try XCTUnwrap(restored.kept.first { $0.path.identifier == "a" }?.byteCount)
    XCTAssertGreaterThan(size, 2_000)
    XCTAssertEqual(saved.outcome(of: "root/a"), .crowdedOut(since: start, byteCount: size))
    XCTAssertEqual(saved.outcome(of: "root/b"), .keptAsStored)
    XCTAssertEqual(saved.outcome(of: "root/c"), .keptAsStored)
    // Kept elements stay in their places.
    let order = ["root/b", "root/c"]
    XCTAssertEqual(saved.kept.map(\.path.description), order)
    XCTAssertEqual(
      saved.kept.map(\.since), order.map { start + ($0 == "root/b" ? 10 : 20) * day })
    XCTAssertEqual(try launch.storedPaths(), ["root"] + order)
    XCTAssertEqual(
      saved.entries.first { $0.path.identifier == "a" }?.reason,
      "left out with its \(size) bytes, which were kept since 2026-05-09 06:13:20 +0000: "
        + "longer than policy.keptAge says, or more is kept than policy.keptByteCount")
    let again = try await launchWith([], 3_000)
    XCTAssertEqual(again.saved.entries.map(\.outcome), [.saved, .keptAsStored, .keptAsStored])
  }

  func testASaveThatDropsSomethingAsksEachNodeOnce() async throws {
    try await save(["a": 2_000, "b": 2_000])
    let trace = Trace()
    let keeper = try keeper(3_000)
    let root = TestNode("root", trace: trace, children: [TestNode("other", trace: trace)])
    _ = try await keeper.restore(into: [root])
    trace.clear()
    let report = try await keeper.save([root])
    XCTAssertEqual(report.kept.map(\.path.description), ["root/b"])
    XCTAssertEqual(trace.events, ["encode root", "encode other"])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/b", "root/other"])
  }

  func testOfOneAgeTheLargestGoesFirst() async throws {
    try await save(["a": 500, "b": 2_000, "c": 600])
    let (_, saved) = try await launchWith([], 1_500)
    XCTAssertEqual(saved.kept.map(\.path.description), ["root/a", "root/c"])
  }

  func testWhatIsReplacedTakesNoRoom() async throws {
    try await save(["a": 2_000, "b": 2_000])
    _ = try await launchWith([])
    go(to: 10)
    let keeper = try keeper(3_000)
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    root.restorationChildren = [TestNode("b", value: "new")]
    let report = try await keeper.save([root])
    // Nobody has read what is replaced, so it lies beside the new state, and takes its room.
    XCTAssertEqual(report.kept.map(\.path.description), ["root/b"])
    XCTAssertEqual(report.kept.map { $0.outcome.step != nil }, [true])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/b"])
    XCTAssertEqual(
      try launch.storedRecords()?["root/b"]?.kept.map {
        try $0.state?.decode(String.self, forKey: "value")
      }, [text(2_000)])
  }

  func testWithoutABoundEverythingIsKept() async throws {
    try await save(["a": 9 << 20])
    for days in [0, 10_000, 20_000] as [Double] {
      go(to: days)
      let report = try await launchWith([], nil, isForEver: true)
      XCTAssertEqual(report.saved.kept.count, 1)
    }
    let report = try await launchWith([], isForEver: true)
    XCTAssertEqual(report.saved.kept.count, 0, "it has more than 8 MiB")
  }

  func testADropThatIsNotStoredDropsNothing() async throws {
    try await save(["a": 2_000])
    let fails = Flag()
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if name == "main", call.isWrite, fails.isSet { throw ArchiveError(.inputOutput) }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    keeper.policy.keptByteCount = 1_000
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    fails.isSet = true
    await assertThrows(WholeError(ArchiveError(.inputOutput, location: "memory"))) {
      _ = try await keeper.save([root])
    }
    fails.isSet = false
    keeper.policy.keptByteCount = nil
    let report = try await keeper.save([root])
    XCTAssertEqual(report.kept.map(\.path.description), ["root/a"])
  }

  // MARK: States that nobody could read

  private func saveNewer() async throws {
    let node = SpecialTestNode("a", value: "newer")
    _ = try await keeper(version: 2).save([node])
  }

  private func older(
    _ byteCount: Int? = 8 << 20, saves: Int = 1, typing text: String? = nil
  ) async throws -> [PreservationReport] {
    let keeper = try keeper(byteCount)
    let node = SpecialTestNode("a", value: "older")
    _ = try await keeper.restore(into: [node])
    if let text { node.value = text }
    var reports: [PreservationReport] = []
    for _ in 0..<saves { reports.append(try await keeper.save([node])) }
    return reports
  }

  // As long as the object says nothing else, nothing of it is stored, and the state lies in its own place.
  func testAStateThatNobodyCouldReadHasAnAgeFromWhenItLiesBesideAnother() async throws {
    try await saveNewer()
    for days in [1, 400] as [Double] {
      go(to: days)
      for report in try await older(saves: 2) {
        XCTAssertEqual(report.outcome(of: "a"), .keptAsStored)
        XCTAssertEqual(report.kept.map(\.since), [nil])
        XCTAssertEqual(report.kept.map { $0.outcome.step != nil }, [true])
        XCTAssertGreaterThan(report.kept.first?.byteCount ?? 0, 10)
      }
      XCTAssertEqual(try launch.storedRecords()?["a"]?.value, "newer")
    }
    for days in [500, 700, 865] as [Double] {
      go(to: days)
      for report in try await older(saves: 2, typing: "typed") {
        XCTAssertEqual(report.outcome(of: "a"), .saved)
        XCTAssertEqual(report.kept.map(\.since), [start + 500 * day])
        XCTAssertEqual(report.kept.map { $0.outcome.step != nil }, [true])
      }
    }
    go(to: 866)
    let reports = try await older(saves: 2)
    guard case .keptStateDropped(let since, let byteCount)? = reports[0].notes.first else {
      return XCTFail("\(reports)")
    }
    XCTAssertEqual(since, start + 500 * day)
    XCTAssertGreaterThan(byteCount, 10)
    XCTAssertEqual(reports[1].notes, [])
    XCTAssertEqual(reports.flatMap(\.kept), [])
    XCTAssertEqual(try launch.storedRecords()?["a"]?.value, "typed")
    XCTAssertEqual(try launch.storedRecords()?["a"]?.kept.count, 0)
  }

  func testAStateThatNobodyCouldReadGoesWhereMoreIsKeptThanMayBe() async throws {
    try await saveNewer()
    let reports = try await older(10, saves: 2, typing: "typed")
    XCTAssertEqual(reports.map { $0.outcome(of: "a") }, [.saved, .saved])
    XCTAssertEqual(reports.map(\.notes.count), [1, 0])
    XCTAssertEqual(try launch.storedRecords()?["a"]?.kept.count, 0)
  }

  func testAnObjectThatThrowsKeepsItsLastStateThoughAStateBesideThatIsDropped() async throws {
    try await saveNewer()
    let keeper = try keeper()
    let node = SpecialTestNode("a", value: "older")
    _ = try await keeper.restore(into: [node])
    node.value = "short"
    let first = try await keeper.save([node])
    XCTAssertEqual(first.kept.count, 1)
    XCTAssertEqual(try launch.storedRecords()?["a"]?.value, "short")
    node.onEncode = { _ in throw CocoaError(.featureUnsupported) }
    keeper.policy.keptByteCount = 1
    let report = try await keeper.save([node])
    XCTAssertEqual(report.kept, [])
    XCTAssertEqual(report.outcome(of: "a"), .savedWithLastState)
    XCTAssertEqual(try launch.storedRecords()?["a"]?.value, "short")
  }

  func testANewerVersionThatTakesItRestoresIt() async throws {
    try await saveNewer()
    for days in [1, 200, 365] as [Double] {
      go(to: days)
      _ = try await older()
    }
    let keeper = try keeper(version: 2)
    let node = SpecialTestNode("a")
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(report.kept, [])
    XCTAssertEqual(node.value, "newer")
    // After a save of its own its age is forgotten.
    _ = try await keeper.save([node])
    go(to: 700)
    let later = try await older()
    XCTAssertEqual(later.flatMap(\.kept).map(\.since), [nil])
  }

  func testAClockThatGoesBackwardsOrWasNotSetDropsNoState() async throws {
    try await saveNewer()
    for days in [400, 10, -20_000, 764] as [Double] {
      go(to: days)
      let reports = try await older(typing: "typed")
      XCTAssertEqual(reports.map(\.kept.count), [1], "\(days)")
    }
    go(to: 766)
    let reports = try await older(typing: "typed")
    XCTAssertEqual(reports.map(\.kept.count), [0])
  }

  func testAStateThatIsKeptIsWrittenOnceAndAsItWas() async throws {
    try await saveNewer()
    let reports = try await older(saves: 3)
    XCTAssertEqual(reports.map(\.writtenByteCount).map { $0 > 0 }, [true, false, false])
    XCTAssertEqual(try launch.storedRecords()?["a"]?.value, "newer")
  }
}
