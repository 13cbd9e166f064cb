import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Two keepers of one name in one process, which is a mistake and no second instance.
@MainActor
final class TwoKeepersTests: XCTestCase {
  #if RESTORATION_NEXT
  private let launch = Launch()
  #else
  private let app = SceneLaunch()
  private var launch: Launch { app.launch }
  #endif
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
    keeper.policy.instances = .single
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
    XCTAssertEqual(restored.otherInstances.map(\.process), ["process 1"])
    XCTAssertEqual(restored.problems, [])
    let saved = try await second.save([TestNode("a")])
    XCTAssertEqual(saved.problems, [])
    withExtendedLifetime(first) {}
  }

  #if !RESTORATION_NEXT
  func testTheScenesOfASecondHostSayItToo() async throws {
    let first = try await app.host()
    _ = try await app.store(1, in: first)
    let second = try await app.host(endsLast: false)
    let scene = try await second.open()
    let restored = try XCTUnwrap(scene.restoration?.get())
    XCTAssertEqual(restored.notes, [.otherKeeper(stateName: "main")])
    XCTAssertEqual(restored.problems.map(\.kind), [.scene])
    let saved = try await second.save(scene)
    XCTAssertEqual(saved.notes, [.otherKeeper(stateName: "main")])
    withExtendedLifetime(first) {}
  }

  func testTheStartOfASecondHostSaysItWhetherItOpensASceneOrBringsItBack() async throws {
    let first = try await app.host()
    _ = try await app.store(1, in: first)
    app.prepare = { $0.roots = [TestNode("root")] }
    for isOpened in [true, false] {
      let second = try await app.host(launching: false, endsLast: false)
      let start = try await second.start()
      let scene = try XCTUnwrap(isOpened ? start.openedScene : start.restoredScenes.first)
      XCTAssertEqual(start.problems.count, 1)
      XCTAssertTrue(start.problems.first?.session === scene.session)
      let reason = try XCTUnwrap(start.problems.first?.reason)
      XCTAssertTrue(
        reason.hasPrefix(
          isOpened ? "Nothing restored: there is no saved state." : "Restored 1 of 1 nodes."),
        reason)
      XCTAssertTrue(reason.hasSuffix(" " + problem), reason)
      XCTAssertTrue(start.description.contains(problem), start.description)
      try await second.save(scene)
      await second.close()
    }
    withExtendedLifetime(first) {}
  }
  #endif
}
