import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// When a launch tries again what earlier ones left out, and what counts as a crash.
@MainActor
final class NodeGuardTrialTests: NodeGuardTestCase {
  func testOnRequestTheNextRestoreTriesAgain() async throws {
    try await save()
    for _ in 1...2 { try await crash(in: \.bad) }
    let keeper = try launch.keeper()
    for isRequested in [false, false, true] {
      if isRequested { try await keeper.retrySkippedNodes() }
      let screens = Screens()
      let report = try await keeper.restore(into: [screens.root])
      XCTAssertEqual(report.problems.isEmpty, isRequested)
      XCTAssertEqual(screens.bad.value, isRequested ? "saved" : nil)
    }
    launch.assertIsNotMarked()
    try await keeper.retrySkippedNodes()
  }

  func testWhatCrashesOnRequestIsLeftOutAtOnceAndForLonger() async throws {
    try await save()
    for _ in 1...2 { try await crash(in: \.bad) }
    var keeper = try launch.keeper()
    _ = try await keeper.restore(into: [Screens().root])
    try await keeper.retrySkippedNodes()
    await keeper.close()
    try await crash(in: \.bad)
    for isTried in [false, false, true] {
      let screens = Screens()
      keeper = try launch.keeper()
      _ = try await keeper.restore(into: [screens.root])
      XCTAssertEqual(screens.bad.value, isTried ? "saved" : nil)
    }
  }

  func testOneIsTriedAtATime() async throws {
    try await save()
    for node in [\Screens.bad, \.bad, \.good] { try await crash(in: node) }
    var found: [[String?]] = []
    for _ in 0..<4 {
      let screens = Screens()
      _ = try await launch.keeper().restore(into: [screens.root])
      found.append(screens.values)
    }
    // First `good` is tried, then the group, then `bad` in it.
    XCTAssertEqual(
      found,
      [
        ["saved", nil, nil, nil], ["saved", nil, nil, "saved"], ["saved", "saved", nil, "saved"],
        ["saved", "saved", "saved", "saved"],
      ])
  }

  func testACrashElsewhereWhileSomethingIsTriedCountsForThatAlone() async throws {
    try await save()
    for _ in 1...2 { try await crash(in: \.bad) }
    _ = try await launch.keeper().restore(into: [Screens().root])
    // It is tried, and the launch ends in another node.
    try await crash(in: \.good)
    let screens = Screens()
    let report = try await launch.keeper().restore(into: [screens.root])
    XCTAssertEqual(screens.values, ["saved", "saved", nil, "saved"])
    XCTAssertEqual(report.problems.map(\.path.description), ["root/group/bad"])
  }

  func testWithoutAMarkNothingIsTriedAgain() async throws {
    let isFull = Mutex(false)
    let directory = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if name.hasSuffix(".launch"), call == .replace, isFull.withLock({ $0 }) {
        throw ArchiveError(.storageFull)
      }
    }
    try await save()
    for _ in 1...2 { try await crash(in: \.bad) }
    _ = try await launch.keeper().restore(into: [Screens().root])
    for isMarked in [false, true] {
      isFull.withLock { $0 = !isMarked }
      let screens = Screens()
      launch.endProcess()
      let keeper = try StateKeeper(
        application: Launch.application, directory: directory, keys: launch.keys,
        environment: launch.environment, now: { [launch] in launch.now })
      _ = try await keeper.restore(into: [screens.root])
      XCTAssertEqual(screens.bad.value, isMarked ? "saved" : nil)
      await keeper.close()
    }
  }

  func testARestartOfTheMachineAndAnExitAreNoCrashes() async throws {
    try await save()
    for round in 1...5 {
      launch.environment.bootSession = "\(round)"
      let report = try await crash(in: \.bad)
      XCTAssertEqual(report.problems, [], "\(round)")
    }
    launch.environment.bootSession = "6"
    for round in 1...5 {
      let screens = Screens()
      var left: LaunchDisk?
      screens.bad.onDecode = { [launch] _ in
        Launch.noteExit()
        left = launch.disk
      }
      let report = try await launch.keeper().restore(into: [screens.root])
      XCTAssertEqual(report.problems, [], "\(round)")
      launch.disk = try XCTUnwrap(left)
    }
    try await crash(in: \.bad)
    try await crash(in: \.bad)
    let report = try await launch.keeper().restore(into: [Screens().root])
    XCTAssertEqual(report.problems.map(\.path.description), ["root/group/bad"])
  }

  func testAnEndThatIsNoCrashAfterANodeWasLeftOutLeavesOutNoMore() async throws {
    for isExit in [true, false] {
      let launch = Launch()
      launch.environment.bootSession = "1"
      let saved = Screens("saved").root
      _ = try await launch.keeper().save([saved])
      for _ in 1...2 {
        let screens = Screens()
        try await launch.crash(decoding: screens.bad, in: screens.root)
      }
      for round in 1...3 {
        let screens = Screens()
        var left: LaunchDisk?
        screens.good.onDecode = { _ in
          if isExit { Launch.noteExit() }
          left = launch.disk
        }
        let report = try await launch.keeper().restore(into: [screens.root])
        XCTAssertEqual(report.outcome, .restored, "\(round), exit \(isExit)")
        XCTAssertEqual(
          report.problems.map(\.path.description), ["root/group/bad"], "\(round), exit \(isExit)")
        launch.disk = try XCTUnwrap(left)
        if !isExit { launch.environment.bootSession = "\(round + 1)" }
      }
      // The next crash goes on where the last one had ended.
      let screens = Screens()
      try await launch.crash(decoding: screens.good, in: screens.root)
      let report = try await launch.keeper().restore(into: [Screens().root])
      XCTAssertEqual(report.outcome(of: "root/group"), .skipped)
      XCTAssertEqual(report.outcome(of: "root/good"), .skipped)
    }
  }

  func testCrashesOfAnotherVersionOfTheAppAreNotCounted() async throws {
    for crashCount in 1...4 {
      let launch = Launch()
      _ = try await launch.keeper().save([Screens("saved").root])
      for round in 1...crashCount {
        let screens = Screens()
        try await launch.crash(
          decoding: [screens.bad, screens.bad, screens.good, screens.root][round - 1],
          in: screens.root)
      }
      launch.environment = ApplicationEnvironment(applicationVersion: "12", systemVersion: "6.1")
      for round in 1...2 {
        let screens = Screens()
        let report = try await launch.crash(decoding: screens.bad, in: screens.root)
        XCTAssertEqual(report.outcome, .restored, "\(crashCount), \(round)")
        XCTAssertEqual(report.problems, [], "\(crashCount), \(round)")
      }
      let report = try await launch.keeper().restore(into: [Screens().root])
      XCTAssertEqual(
        report.problems.map(\.path.description), ["root/group/bad"], "\(crashCount)")
    }
  }

  func testWhatIsLeftOutBelowAVetoedNodeGoesWithIt() async throws {
    let root = TestNode("root", value: "saved", children: [TestNode("bad", value: "saved")])
    root.restorationClass = TestFactory.self
    var made: TestNode?
    TestFactory.make = { _, _ in made }
    defer { TestFactory.make = { _, _ in nil } }
    _ = try await launch.keeper().save([root])
    for _ in 1...2 {
      let bad = TestNode("bad")
      made = TestNode("root", children: [bad])
      let made = try XCTUnwrap(made)
      try await launch.crash(decoding: bad, in: made)
    }
    made = nil
    let keeper = try launch.keeper()
    let report = try await keeper.restore()
    XCTAssertEqual(report.outcome(of: "root"), .vetoed)
    XCTAssertEqual(report.kept.map(\.path.description), [])
    _ = try await keeper.save([])
    let stored = try StoredRecords(try XCTUnwrap(try launch.archive())).elements
    XCTAssertEqual(stored.map(\.path), [])
  }

  func testWhatIsLeftOutWithWhatIsAboveItIsKeptOnce() async throws {
    try await save()
    for node in [\Screens.bad, \.bad, \.good] { try await crash(in: node) }
    // The other node that is left out is tried before the group.
    for round in 1...3 {
      let keeper = try launch.keeper()
      let root = TestNode("root")
      let report = try await keeper.restore(into: [root])
      XCTAssertEqual(root.value, "saved")
      XCTAssertEqual(
        report.outcome(of: "root/group"), round < 3 ? .skipped : .notFound, "\(round)")
      _ = try await keeper.save([root])
      let stored = try StoredRecords(try XCTUnwrap(try launch.archive())).elements
      XCTAssertEqual(
        stored.map(\.path).sorted(), ["root", "root/good", "root/group", "root/group/bad"],
        "\(round)")
    }
  }

  func testARestoreWhoseMarkCannotBeTakenAwayHasEndedAllTheSame() async throws {
    let isFull = Mutex(false)
    let directory = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if name.hasSuffix(".launch"), call == .replace || call == .remove,
        isFull.withLock({ $0 })
      {
        throw ArchiveError(.storageFull)
      }
    }
    try await save()
    for round in 1...4 {
      isFull.withLock { $0 = false }
      let keeper = try StateKeeper(
        application: Launch.application, directory: directory, keys: launch.keys,
        environment: launch.environment, now: { [launch] in launch.now })
      let screens = Screens()
      screens.good.onDecode = { _ in isFull.withLock { $0 = true } }
      let report = try await keeper.restore(into: [screens.root])
      XCTAssertEqual(report.outcome, .restored, "\(round)")
      // The end is noted in the file that is there, which needs no room.
      XCTAssertNil(report.launchProblem)
      await keeper.close()
    }
  }

  private enum CrashPoint: CaseIterable {
    case make, load, view, finished, gate, didDecode

    /// Whether an element is left out for it, and not the whole state set aside.
    var isInElement: Bool { self != .gate && self != .didDecode }
  }

  func testWhateverCrashesEveryTimeALaunchGetsThrough() async throws {
    for threshold in [1, 2, 3] {
      for point in CrashPoint.allCases {
        let launch = Launch()
        let saved = TestNode("bad", value: "saved")
        saved.restorationViews = [TestView("view", value: "saved")]
        saved.restorationClass = TestFactory.self
        _ = try await launch.keeper().save([saved, TestNode("good", value: "saved")])
        var crashCount = 0
        while true {
          var crashed: LaunchDisk?
          let crash = { [launch] in crashed = crashed ?? launch.disk }
          let delegate = TestDelegate()
          if point == .gate { delegate.onShouldRestore = { _ in crash() } }
          if point == .didDecode { delegate.onDidDecode = { _ in crash() } }
          TestFactory.make = { _, _ in
            if point == .make { crash() }
            let bad = TestNode("bad")
            let view = TestView("view")
            bad.restorationViews = [view]
            if point == .load { bad.onLoad = crash }
            if point == .view { view.onDecode = { _ in crash() } }
            if point == .finished { bad.onFinished = crash }
            return bad
          }
          let keeper = try launch.keeper(delegate: delegate)
          keeper.policy.crashThreshold = threshold
          let good = TestNode("good")
          let report = try await keeper.restore(into: [good])
          guard let crashed else {
            XCTAssertEqual(crashCount, threshold, "\(point), \(threshold)")
            XCTAssertEqual(good.value, point.isInElement ? "saved" : nil, "\(point), \(threshold)")
            XCTAssertEqual(
              report.problems.map(\.path.description),
              point.isInElement ? [point == .view ? "bad/view" : "bad"] : [], "\(point)")
            break
          }
          launch.disk = crashed
          crashCount += 1
          guard crashCount < 10 else { return XCTFail("\(point), \(threshold): for ever") }
        }
      }
    }
    TestFactory.make = { _, _ in nil }
  }

  func testALeftOutNodeHasItsStateThoughNoCopyIsMadeOfTheWholeOne() async throws {
    try await save()
    for _ in 1...2 { try await crash(in: \.bad) }
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [Screens().root])
    _ = try await keeper.save([Screens("new").root])
    let history = try await keeper.history()
    XCTAssertEqual(history, [])
    let stored = try XCTUnwrap(try launch.storedRecords()?["root/group/bad"])
    XCTAssertEqual(try stored.value, "new")
    XCTAssertEqual(try stored.kept.map { try $0.state?.decode(forKey: "value") }, ["saved"])
  }
}
