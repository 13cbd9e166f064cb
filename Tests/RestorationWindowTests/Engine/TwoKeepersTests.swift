import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Two keepers of one name in one process, which is a mistake and no second instance.
@MainActor
final class TwoKeepersTests: XCTestCase {
  private let launch = Launch()
  private let problem =
    "Another keeper of this process has the state main. Make one keeper for it and pass that on, or"
    + " call close() of the other one first."

  private func second() throws -> StateKeeper { try launch.keeper(endsLast: false) }

  func testTheSecondKeeperIsAProblemOfItsReports() async throws {
    let first = try launch.keeper()
    _ = try await first.save([TestNode("a")])
    let keeper = try second()
    for _ in 1...2 {
      let restored = try await keeper.restore(into: [TestNode("a")])
      XCTAssertEqual(restored.notes, [.otherKeeper(stateName: "main")])
      XCTAssertEqual(restored.problems.map(\.kind), [.application])
      XCTAssertEqual(restored.problems.first?.reason, problem)
      let saved = try await keeper.save([TestNode("a")])
      XCTAssertEqual(saved.stateName, "main~2")
      XCTAssertEqual(saved.notes, [.otherKeeper(stateName: "main")])
      XCTAssertEqual(saved.problems.first?.reason, problem)
    }
    await first.close()
    await keeper.close()
    let next = try await second().restore(into: [TestNode("a")])
    XCTAssertEqual(next.problems, [])
  }

  func testAnotherProblemOfTheApplicationStaysBesideIt() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = { $0.encode(1, forKey: "tab") }
    let first = try launch.keeper()
    _ = try await first.save([])
    let keeper = try launch.keeper(delegate: delegate, endsLast: false)
    _ = try await keeper.save([])
    let report = try await keeper.restore()
    XCTAssertEqual(
      report.entries.map(\.notes), [[.unreadKeys(["tab"]), .otherKeeper(stateName: "main")]])
  }

  func testWithASingleInstanceTheSecondKeeperIsAProblemToo() async throws {
    let first = try launch.keeper()
    _ = try await first.save([TestNode("a")])
    let keeper = try second()
    keeper.policy.isSingleInstance = true
    let restored = try await keeper.restore(into: [TestNode("a")])
    XCTAssertEqual(restored.outcome, .inUse(by: "this process"))
    XCTAssertEqual(restored.notes, [.otherKeeper(stateName: "main")])
    let saved = try await keeper.save([TestNode("a")])
    XCTAssertEqual(saved.outcome, .inUse(by: "this process"))
    XCTAssertEqual(saved.notes, [.otherKeeper(stateName: "main")])
  }

  func testAnInstanceInAnotherProcessIsNoProblem() async throws {
    let disk = FaultyDisk(seed: 1)
    func keeper(_ process: DiskProcess) throws -> StateKeeper {
      try StateKeeper(
        application: Launch.application, directory: process, keys: launch.keys)
    }
    let first = try keeper(disk.process())
    _ = try await first.restore()
    _ = try await first.save([TestNode("a")])
    let second = try keeper(disk.process())
    let restored = try await second.restore()
    XCTAssertEqual(restored.others.map(\.process), ["process 1"])
    XCTAssertEqual(restored.problems, [])
    let saved = try await second.save([TestNode("a")])
    XCTAssertEqual(saved.problems, [])
    withExtendedLifetime(first) {}
  }
}
