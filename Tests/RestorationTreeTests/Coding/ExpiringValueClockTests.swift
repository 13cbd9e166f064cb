import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What a clock that goes back, and what is not back, do to the time of a value.
@MainActor
final class ExpiringValueClockTests: ExpiringValueTestCase {
  // MARK: The clock

  func testAClockThatWasSetBackLetsAValueLiveNoLongerFromTheNewestTimeSeen() async throws {
    let node = SensitiveNode("node", value: "v", duration: 1000)
    try await save(node)
    go(to: 400)
    try await save(node)
    // 600 seconds are left.
    go(to: -86_400)
    try await assertSave(node, writes: true)
    try await assertSave(node, writes: false)
    go(to: -86_400 + 599)
    try await save(node)
    XCTAssertTrue(try isStored())
    go(to: -86_400 + 600)
    try await save(node)
    XCTAssertFalse(try isStored())
  }

  func testALaunchWithAClockThatWasSetBackGoesOnFromTheLastSave() async throws {
    let node = SensitiveNode("node", value: "v", duration: 1000)
    try await save(node)
    go(to: 400)
    node.encode = { $0.encode(1, forKey: "other") }
    try await save(node)
    go(to: -86_400)
    let again = SensitiveNode("node", duration: 1000)
    _ = try await relaunch(again)
    XCTAssertEqual(again.value, "v")
    try await save(again)
    XCTAssertTrue(try isStored())
    go(to: -86_400 + 600)
    try await assertFound(gone, [.expiredValues(["value"])])
  }

  func testAClockThatGoesBackALittleWritesNothingAndMakesNoValueOlder() async throws {
    let node = SensitiveNode("node", value: "v")
    go(to: 50)
    try await save(node)
    go(to: 0)
    try await assertSave(node, writes: false)
    go(to: 109)
    try await assertSave(node, writes: false)
    go(to: 110)
    try await save(node)
    XCTAssertFalse(try isStored())
  }

  func testAValueFromTheFutureEndsAfterItsDuration() async throws {
    launch.now = Date(timeIntervalSince1970: 4_102_444_800)
    try await save(SensitiveNode("node", value: "v"))
    go(to: 0)
    let node = SensitiveNode("node")
    _ = try await relaunch(node)
    XCTAssertEqual(node.value, "v")
    try await save(node)
    go(to: 59)
    try await save(node)
    XCTAssertTrue(try isStored())
    go(to: 60)
    try await assertFound(gone, [.expiredValues(["value"])])
  }

  func testTheLastStateOfANodeLivesNoLongerWhenTheClockIsSetBack() async throws {
    struct Failure: Error {}
    for isLeft in [false, true] {
      try launch.removeState()
      go(to: 0)
      let node = SensitiveNode("node", value: "v", duration: 1000)
      let root = SensitiveNode("root")
      root.restorationChildren = [node]
      let keeper = try launch.keeper()
      _ = try await keeper.save([root])
      go(to: 400)
      _ = try await keeper.save([root])
      go(to: -86_400)
      node.encode = { _ in throw Failure() }
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome(of: "root/node"), .savedWithLastState)
      await keeper.close()
      go(to: -86_400 + (isLeft ? 599 : 600))
      let (top, again) = (SensitiveNode("root"), SensitiveNode("node"))
      top.restorationChildren = [again]
      _ = try await launch.keeper().restore(into: [top])
      XCTAssertNotNil(again.found)
      XCTAssertEqual(again.value, isLeft ? "v" : nil)
    }
  }

  func testAGenerationGivesBackNoValueThatHadEndedWhenAnotherTookItsPlace() async throws {
    enum Way: CaseIterable { case standsIn, isPutBack }
    func version(_ version: String) throws -> StateKeeper {
      launch.environment = ApplicationEnvironment(
        applicationVersion: version, userInterfaceIdiom: "test", systemVersion: "6.1")
      return try launch.keeper()
    }
    for (way, isOver) in Way.allCases.flatMap({ [($0, true), ($0, false)] }) {
      try launch.removeState()
      go(to: 0)
      let first = try version("1")
      _ = try await first.save([SensitiveNode("node", value: "v", duration: 1000)])
      await first.close()
      go(to: isOver ? 1000 : 999)
      let next = try version("2")
      _ = try await next.restore(into: [SensitiveNode("node")])
      _ = try await next.save([SensitiveNode("node")])
      await next.close()
      go(to: 10)
      let last = try version("2")
      switch way {
      case .standsIn:
        launch.storedBytes = nil
      case .isPutBack:
        let generation = try await last.generations().first
        try await last.putBack(try XCTUnwrap(generation))
      }
      let node = SensitiveNode("node")
      _ = try await last.restore(into: [node])
      XCTAssertEqual(node.found, isOver ? gone : there("v"), "\(way)")
      await last.close()
    }
  }

  // MARK: What is not back

  func testWhatIsKeptLivesNoLongerWhenTheClockIsSetBack() async throws {
    enum Way: CaseIterable { case nextLaunch, late, ofOlderVersion }
    for (way, isLeft) in Way.allCases.flatMap({ [($0, true), ($0, false)] }) {
      try launch.removeState()
      go(to: 0)
      let root = SensitiveNode("root")
      let stored = SensitiveNode("node", value: "v", duration: 1000)
      root.restorationChildren = [stored]
      let migrations = [StateMigration(from: 1) { _ in }]
      func relaunched(_ root: SensitiveNode, version: Int) async throws -> StateKeeper {
        let keeper = try launch.keeper()
        try keeper.register(
          SensitiveNode.self, version: version, migrations: version == 2 ? migrations : [])
        _ = try await keeper.restore(into: [root])
        return keeper
      }
      let first = try await relaunched(SensitiveNode("none"), version: 2)
      _ = try await first.save([root])
      await first.close()
      go(to: 400)
      let next = SensitiveNode("root")
      if way == .ofOlderVersion { next.restorationChildren = [SensitiveNode("node")] }
      let keeper = try await relaunched(next, version: way == .ofOlderVersion ? 1 : 2)
      _ = try await keeper.save([next])
      // 600 seconds are left.
      go(to: -86_400)
      for number in 0..<2 {
        next.encode = { $0.encode(number, forKey: "number") }
        _ = try await keeper.save([next])
      }
      go(to: -86_400 + (isLeft ? 599 : 600))
      let again = SensitiveNode("node")
      if way == .late {
        next.restorationChildren = [again]
        _ = try await keeper.restore(late: again, below: next)
      } else {
        await keeper.close()
        let last = SensitiveNode("root")
        last.restorationChildren = [again]
        _ = try await relaunched(last, version: 2)
      }
      XCTAssertEqual(again.found, isLeft ? there("v") : gone, "\(way)")
    }
  }

  func testWhatIsKeptStaysAndEndsForTheNodeThatComesLate() async throws {
    func launchLate(_ seconds: TimeInterval) async throws -> SensitiveNode.Found? {
      let root = SensitiveNode("root")
      _ = try await relaunch(root)
      try await save(root)
      go(to: seconds)
      let late = SensitiveNode("node")
      root.restorationChildren = [late]
      _ = try await keeper?.restore(late: late, below: root)
      return late.found
    }
    let root = SensitiveNode("root")
    root.restorationChildren = [SensitiveNode("node", value: "v")]
    try await save(root)
    let before = try await launchLate(59)
    XCTAssertEqual(before, there("v"))
    let after = try await launchLate(60)
    XCTAssertEqual(after, gone)
  }

  func testALateNodeGoesOnCounting() async throws {
    let root = SensitiveNode("root")
    root.restorationChildren = [SensitiveNode("node", value: "v")]
    try await save(root)
    let next = SensitiveNode("root")
    _ = try await relaunch(next)
    go(to: 30)
    let late = SensitiveNode("node")
    next.restorationChildren = [late]
    _ = try await keeper?.restore(late: late, below: next)
    try await save(next)
    XCTAssertTrue(try isStored())
    go(to: 60)
    try await save(next)
    XCTAssertFalse(try isStored())
  }
}
