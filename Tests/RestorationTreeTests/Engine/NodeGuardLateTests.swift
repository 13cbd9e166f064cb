import RestorationKit
import TestSupport
import XCTest

/// What a launch leaves out after launches that crashed in a node that came late.
@MainActor
final class NodeGuardLateTests: NodeGuardTestCase {
  /// A launch that builds the group with the node that crashes after its restore.
  private struct Late {
    let screens: Screens
    let keeper: StateKeeper
    let restored: RestorationReport
    let late: RestorationReport
  }

  /// A launch that saves something and then restores the late group.
  private func restoreLate(
    _ value: String, _ body: (Screens) -> Void = { _ in }
  ) async throws -> Late {
    let screens = Screens()
    screens.root.restorationChildren = [screens.good]
    let keeper = try launch.keeper()
    let restored = try await keeper.restore(into: [screens.root])
    screens.good.value = value
    _ = try await keeper.save([screens.root])
    body(screens)
    screens.root.restorationChildren.append(screens.group)
    let late = try await keeper.restore(late: screens.group, below: screens.root)
    return Late(screens: screens, keeper: keeper, restored: restored, late: late)
  }

  /// A launch that crashes while a late node is decoded.
  private func crashLate(
    _ value: String, in node: KeyPath<Screens, TestNode>
  ) async throws {
    var crashed: LaunchDisk?
    let late = try await restoreLate(value) { screens in
      screens[keyPath: node].onDecode = { [launch] _ in crashed = launch.disk }
    }
    XCTAssertEqual(late.restored.outcome(of: "root/group"), .notFound, value)
    launch.disk = try XCTUnwrap(crashed, value)
  }

  private func stored(_ path: String) throws -> String? {
    try launch.storedRecords()?[path]?.value
  }

  func testALateNodeInWhichTwoLaunchesCrashedIsLeftOutInTheThird() async throws {
    try await save()
    for round in 1...2 { try await crashLate("\(round)", in: \.group) }
    let third = try await restoreLate("3") { screens in
      screens.group.onDecode = { _ in XCTFail("decoded") }
      screens.bad.onDecode = { _ in XCTFail("decoded") }
    }
    XCTAssertEqual(third.restored.outcome, .restored)
    XCTAssertEqual(third.restored.outcome(of: "root/group"), .skipped)
    XCTAssertEqual(third.late.outcome(of: "root/group"), .skipped)
    XCTAssertEqual(third.screens.values, ["saved", nil, nil, "3"])
    _ = try await third.keeper.save([third.screens.root])
    for path in ["root/group", "root/group/bad"] { XCTAssertEqual(try stored(path), "saved", path) }

    // The launch after it tries the node again.
    let fourth = try await restoreLate("4")
    XCTAssertEqual(fourth.late.problems, [])
    XCTAssertEqual(fourth.screens.values, ["saved", "saved", "saved", "4"])
  }

  func testOfALateNodeOnlyTheElementIsLeftOutThatCrashed() async throws {
    try await save()
    for round in 1...2 { try await crashLate("\(round)", in: \.bad) }
    let third = try await restoreLate("3")
    XCTAssertEqual(third.late.outcome(of: "root/group"), .restored(by: .existing))
    XCTAssertEqual(third.late.outcome(of: "root/group/bad"), .skipped)
    XCTAssertEqual(third.screens.values, ["saved", "saved", nil, "3"])
    _ = try await third.keeper.save([third.screens.root])
    XCTAssertEqual(try stored("root/group/bad"), "saved")
  }

  func testACrashBehindALateRestoreOrInOnlyOneLaunchLeavesNothingOut() async throws {
    try await save()
    for round in 1...3 {
      try await crashLate("\(round)", in: \.group)
      let late = try await restoreLate("behind \(round)")
      XCTAssertEqual(late.late.problems, [])
      XCTAssertEqual(late.screens.bad.value, "saved")
    }
  }

  func testAStateThatANodeHasKeptIsLeftOutAfterItCrashedLateInTwoLaunches() async throws {
    try await save()
    /// A launch in which the node keeps its state, and then takes it late.
    func run(_ onLate: @escaping (StateDecoder) -> Void) async throws -> (
      restored: RestorationReport, late: RestorationReport, value: String?
    ) {
      let screens = Screens()
      let keeper = try launch.keeper()
      screens.bad.onDecode = { try KeptByNodeTests.keep($0, because: "later") }
      let restored = try await keeper.restore(into: [screens.root])
      screens.bad.onDecode = onLate
      let late = try await keeper.restore(late: screens.bad, below: screens.group)
      _ = try await keeper.save([screens.root])
      return (restored, late, screens.bad.value)
    }
    for _ in 1...2 {
      var crashed: LaunchDisk?
      _ = try await run { [launch] _ in crashed = launch.disk }
      launch.disk = try XCTUnwrap(crashed)
    }
    let third = try await run { _ in XCTFail("decoded") }
    XCTAssertEqual(third.restored.outcome(of: "root/group/bad"), .skipped)
    XCTAssertEqual(third.late.outcome(of: "root/group/bad"), .skipped)
    XCTAssertEqual(try stored("root/group/bad"), "saved")
    let fourth = try await run { _ in }
    XCTAssertEqual(fourth.late.problems, [])
    XCTAssertEqual(fourth.value, "saved")
  }
}
