import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// How long a node is kept that nobody provides.
@MainActor
final class KeptTimeTests: XCTestCase {
  private let launch = Launch()
  private let start = Date(timeIntervalSinceReferenceDate: 800_000_000)

  private func go(to days: Double, plus seconds: Double = 0) {
    launch.now = start + days * 24 * 60 * 60 + seconds
  }

  private func keeper() throws -> StateKeeper {
    let keeper = try launch.keeper()
    keeper.policy.keptAge = 30 * 24 * 60 * 60
    return keeper
  }

  /// An outcome without what it says of age and size.
  private func plain(
    _ outcome: PreservationReport.NodeOutcome
  ) -> PreservationReport.NodeOutcome {
    if case .expired = outcome { expired } else { outcome }
  }

  private let expired = PreservationReport.NodeOutcome.expired(since: .distantPast, byteCount: 0)

  private func saveAll() async throws {
    let node = TestNode("a", value: "typed", children: [TestNode("below", value: "too")])
    _ = try await keeper().save([TestNode("root", children: [node])])
  }

  /// A launch in which the node is not there.
  ///
  /// - Returns: What its saves say of the root, the node, and what is below it.
  private func launchWithoutIt(saves: Int = 1) async throws
    -> [[PreservationReport.NodeOutcome]]
  {
    let keeper = try self.keeper()
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    var outcomes: [[PreservationReport.NodeOutcome]] = []
    for _ in 0..<saves {
      outcomes.append(try await keeper.save([root]).entries.map { plain($0.outcome) })
    }
    return outcomes
  }

  /// A launch in which the node is there; does not save.
  private func stored() async throws -> [String?] {
    let below = TestNode("below")
    let node = TestNode("a", children: [below])
    _ = try await keeper().restore(into: [TestNode("root", children: [node])])
    return [node.value, below.value]
  }

  func testItIsKeptFor30DaysFromTheFirstSaveThatKeptIt() async throws {
    try await saveAll()
    for days in [100, 101, 129.9, 130] {
      go(to: days)
      let outcomes = try await launchWithoutIt(saves: 2)
      XCTAssertEqual(
        outcomes, Array(repeating: [.saved, .keptAsStored, .keptAsStored], count: 2), "\(days)")
    }
    go(to: 130, plus: 1)
    let values = try await stored()
    XCTAssertEqual(values, ["typed", "too"], "a restore finds it until a save leaves it out")
    let outcomes = try await launchWithoutIt(saves: 2)
    XCTAssertEqual(outcomes, [[.saved, expired], [.saved]])
    let gone = try await stored()
    XCTAssertEqual(gone, [nil, nil])
  }

  func testItIsDroppedInALaunchThatLastsLonger() async throws {
    try await saveAll()
    let keeper = try self.keeper()
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    for (days, kept) in [(0, 2), (30, 2), (31, 1), (32, 0)] as [(Double, Int)] {
      go(to: days)
      let report = try await keeper.save([root])
      XCTAssertEqual(report.entries.count, 1 + kept, "\(days)")
    }
  }

  func testANodeThatWasBackIsKeptFor30DaysAnew() async throws {
    try await saveAll()
    _ = try await launchWithoutIt()
    go(to: 20)
    let keeper = try self.keeper()
    let root = TestNode("root", children: [TestNode("a", children: [TestNode("below")])])
    _ = try await keeper.restore(into: [root])
    _ = try await keeper.save([root])
    for days in [40, 70] as [Double] {
      go(to: days)
      let outcomes = try await launchWithoutIt()
      XCTAssertEqual(outcomes, [[.saved, .keptAsStored, .keptAsStored]], "\(days)")
    }
  }

  func testWhatLiesBelowOneThatIsBackGoesOnCounting() async throws {
    try await saveAll()
    _ = try await launchWithoutIt()
    go(to: 20)
    let keeper = try self.keeper()
    let root = TestNode("root", children: [TestNode("a")])
    _ = try await keeper.restore(into: [root])
    _ = try await keeper.save([root])
    go(to: 31)
    let report = try await keeper.save([root])
    XCTAssertEqual(report.entries.last?.path.description, "root/a/below")
    XCTAssertEqual(report.entries.last.map { plain($0.outcome) }, expired)
  }

  func testAClockThatGoesBackwardsDropsNothing() async throws {
    try await saveAll()
    for days in [100, 40, -10_000, 130] as [Double] {
      go(to: days)
      let outcomes = try await launchWithoutIt()
      XCTAssertEqual(outcomes, [[.saved, .keptAsStored, .keptAsStored]], "\(days)")
    }
    let values = try await stored()
    XCTAssertEqual(values, ["typed", "too"])
  }

  func testAFirstSaveWithAClockThatWasSetBackDropsNothing() async throws {
    go(to: 100)
    try await saveAll()
    for days in [-10_000, 101, 130] as [Double] {
      go(to: days)
      let outcomes = try await launchWithoutIt()
      XCTAssertEqual(outcomes, [[.saved, .keptAsStored, .keptAsStored]], "\(days)")
    }
    go(to: 131)
    let outcomes = try await launchWithoutIt()
    // Elements that were kept by such a clock have the bound in bytes alone.
    XCTAssertEqual(outcomes, [[.saved, .keptAsStored, .keptAsStored]])
  }

  func testTheSaveThatDropsItSaysSo() async throws {
    try await saveAll()
    _ = try await launchWithoutIt()
    go(to: 31)
    let keeper = try self.keeper()
    let root = TestNode("root")
    let kept = try await keeper.restore(into: [root]).kept.first
    let report = try await keeper.save([root])
    let size = try XCTUnwrap(kept?.byteCount)
    XCTAssertEqual(report.entries.last?.outcome, .expired(since: start, byteCount: size))
    XCTAssertEqual(
      report.entries.last?.description,
      "root/a (TestNode): left out with its \(size) bytes, which were kept since 2026-05-09"
        + " 06:13:20 +0000: longer than policy.keptAge says, or more is kept than"
        + " policy.keptByteCount")
    XCTAssertEqual(report.kept, [])
  }

  func testASaveThatFailsDropsNothing() async throws {
    try await saveAll()
    _ = try await launchWithoutIt()
    go(to: 31)
    let fails = Atomic(true)
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if fails.load(ordering: .relaxed), name == "main", call.isWrite {
        throw ArchiveError(.inputOutput)
      }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys, now: { self.launch.now }
    )
    keeper.policy.keptAge = 30 * 24 * 60 * 60
    let root = TestNode("root")
    _ = try await keeper.restore(into: [root])
    await assertThrows(WholeError(ArchiveError(.inputOutput, location: "memory"))) {
      _ = try await keeper.save([root])
    }
    // The clock was wrong.
    fails.store(false, ordering: .relaxed)
    go(to: 5)
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/a"), .keptAsStored)
  }

  func testAFirstSaveByAClockThatWasNotSetYetDoesNotCount() async throws {
    let earliest = Date(timeIntervalSince1970: 1_767_225_600)
    for (seconds, isExpired) in [(-1, false), (0, false), (1, true)] as [(Double, Bool)] {
      launch.storedBytes = nil
      launch.now = earliest + seconds
      try await saveAll()
      _ = try await launchWithoutIt()
      launch.now += 31 * 24 * 60 * 60
      let outcomes = try await launchWithoutIt()
      XCTAssertEqual(
        outcomes, [isExpired ? [.saved, expired] : [.saved, .keptAsStored, .keptAsStored]],
        "\(seconds)")
    }
  }
}
