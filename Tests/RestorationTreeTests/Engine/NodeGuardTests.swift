import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What a launch leaves out after launches that crashed in a node.
@MainActor
final class NodeGuardTests: NodeGuardTestCase {
  func testAfterTwoCrashesInANodeItIsLeftOutThenTheOneAboveItThenEverything() async throws {
    try await save()
    let saved = try XCTUnwrap(launch.storedBytes)
    for _ in 1...2 {
      let report = try await crash(in: \.bad)
      XCTAssertEqual(report.problems, [])
    }

    // The third launch crashes in another one.
    var screens = Screens()
    var report = try await launch.crash(decoding: screens.good, in: screens.root)
    XCTAssertEqual(screens.values, ["saved", "saved", nil, "saved"])
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertEqual(report.outcome(of: "root/group/bad"), .skipped)
    XCTAssertEqual(report.problems.map(\.path.description), ["root/group/bad"])

    // The fourth does so, too.
    screens = Screens()
    report = try await launch.crash(decoding: screens.root, in: screens.root)
    XCTAssertEqual(screens.values, ["saved", nil, nil, nil])
    XCTAssertEqual(report.outcome(of: "root/group"), .skipped)
    XCTAssertEqual(report.outcome(of: "root/good"), .skipped)

    screens = Screens()
    report = try await launch.keeper().restore(into: [screens.root])
    XCTAssertEqual(screens.values, [nil, nil, nil, nil])
    XCTAssertEqual(report.outcome, .crashed(setAsideAt: launch.crashedLocation))
    XCTAssertEqual(launch.setAside, [saved])
    XCTAssertEqual(try launch.storedPaths(), [])
  }

  func testACrashOutsideOfAllNodesSetsTheStateAside() async throws {
    try await save()
    try await crash(in: \.bad)
    try await launch.crash()
    let report = try await launch.keeper().restore(into: [Screens().root])
    XCTAssertEqual(report.outcome, .crashed(setAsideAt: launch.crashedLocation))
  }

  func testWhatWasLeftOutIsKeptAndTriedAgainByTheLaunchAfterThat() async throws {
    try await save()
    for _ in 1...2 { try await crash(in: \.bad) }
    for round in 0..<3 {
      // The app makes no such node by itself.
      let root = TestNode("root", children: [TestNode("group"), TestNode("good")])
      let keeper = try launch.keeper()
      let report = try await keeper.restore(into: [root])
      XCTAssertEqual(
        report.outcome(of: "root/group/bad"), round == 0 ? .skipped : .notFound, "\(round)")
      root.value = "\(round)"
      _ = try await keeper.save([root])
      let stored = try StoredRecords(try XCTUnwrap(try launch.archive())).elements
      XCTAssertEqual(try stored.first { $0.path == "root/group/bad" }?.value, "saved")
      XCTAssertEqual(try stored.first { $0.path == "root" }?.value, "\(round)")
      XCTAssertEqual(launch.setAside, [], "The element alone is kept.")
    }
    // Another version of the app has mended it.
    launch.environment = ApplicationEnvironment(applicationVersion: "12", systemVersion: "6.1")
    let screens = Screens()
    let report = try await launch.keeper().restore(into: [screens.root])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(screens.bad.value, "saved")
  }

  /// Launches of an app that makes all nodes itself, of which one crashes when it is decoded.
  ///
  /// - Returns: The numbers of the launches that crashed.
  private func launches(
    _ numbers: ClosedRange<Int>, _ change: (Int, Screens) -> Void
  ) async throws -> [Int] {
    var crashes: [Int] = []
    for number in numbers {
      let screens = Screens()
      var crashed: LaunchDisk?
      screens.bad.onDecode = { [launch] _ in crashed = launch.disk }
      let keeper = try launch.keeper()
      _ = try await keeper.restore(into: [screens.root])
      if let crashed {
        launch.disk = crashed
        crashes.append(number)
        continue
      }
      change(number, screens)
      _ = try await keeper.save([screens.root])
    }
    return crashes
  }

  /// What is stored of the node that crashes: its own state, then those that are kept beside it.
  private func values() throws -> [String?] {
    let bad = try XCTUnwrap(try launch.storedRecords()?["root/group/bad"])
    return try [bad.value] + bad.kept.map { try $0.state?.decode(forKey: "value") }
  }

  func testANodeThatTheAppMakesItselfIsTriedAgainAfterOneTwoFourAndMoreLaunches() async throws {
    try await save()
    let crashes = try await launches(1...36) { _, screens in screens.good.value = "new" }
    XCTAssertEqual(crashes, [1, 2, 4, 7, 12, 21])
    XCTAssertEqual(try values(), ["saved"])
    // What made it crash is over.
    for number in 37...38 {
      let screens = Screens()
      let report = try await launch.keeper().restore(into: [screens.root])
      XCTAssertEqual(screens.bad.value, number == 38 ? "saved" : nil)
      XCTAssertEqual(report.problems.isEmpty, number == 38)
    }
  }

  func testWhatTheAppSavesOfANodeThatIsLeftOutIsKeptBesideTheStateThatCrashed() async throws {
    try await save()
    let crashes = try await launches(1...4) { _, screens in screens.bad.value = "new" }
    XCTAssertEqual(crashes, [1, 2, 4])
    XCTAssertEqual(try values(), ["new", "saved"])
    XCTAssertEqual(launch.setAside, [])
    // Another version of the app has mended it.
    launch.environment = ApplicationEnvironment(applicationVersion: "12", systemVersion: "6.1")
    let screens = Screens()
    let keeper = try launch.keeper()
    let report = try await keeper.restore(into: [screens.root])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(screens.bad.value, "new")
    XCTAssertEqual(report.kept.map(\.path.description), ["root/group/bad"])
    XCTAssertFalse(launch.isInRestore)
    _ = try await keeper.save([screens.root])
    XCTAssertEqual(try values(), ["new", "saved"])
  }

  func testBesideStatesThatCrashedThereIsOneOtherWhichIsTheOneSavedLast() async throws {
    try await save()
    let crashes = try await launches(1...14) { number, screens in screens.bad.value = "\(number)" }
    XCTAssertEqual(crashes, [1, 2, 4, 7, 12])
    XCTAssertEqual(try values(), ["14", "saved"])
  }

  func testOfStatesThatCrashedTheFirstIsGivenUpLast() async throws {
    try await save()
    _ = try await launches(1...4) { _, screens in
      launch.now += 60
      screens.bad.value = "typed"
    }
    launch.now += 60
    let screens = Screens()
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [screens.root])
    let byteCounts = try await keeper.save([screens.root]).kept.compactMap(\.byteCount)
    XCTAssertEqual(byteCounts.count, 2)
    (keeper.policy.keptAge, keeper.policy.keptByteCount) = (nil, byteCounts.max() ?? 0)
    screens.bad.value = "last"
    _ = try await keeper.save([screens.root])
    XCTAssertEqual(try values(), ["last", "saved"])
    await keeper.close()

    // The one that nobody has changed since goes before it, too.
    launch.now += 60
    let next = try launch.keeper()
    let again = Screens()
    _ = try await next.restore(into: [again.root])
    (next.policy.keptAge, next.policy.keptByteCount) = (nil, byteCounts.max() ?? 0)
    _ = try await next.save([again.root])
    XCTAssertEqual(try values().last, "saved")
  }

  func testWhatIsLeftOutIsNotDecodedIfItsNodeComesLate() async throws {
    try await save()
    for _ in 1...2 { try await crash(in: \.bad) }
    let keeper = try launch.keeper()
    let root = TestNode("root", children: [TestNode("group"), TestNode("good")])
    let group = try XCTUnwrap(root.restorationChildren.first as? TestNode)
    _ = try await keeper.restore(into: [root])
    let bad = TestNode("bad")
    bad.onDecode = { _ in XCTFail("decoded") }
    group.restorationChildren = [bad]
    let report = try await keeper.restore(late: bad, below: group)
    XCTAssertEqual(report.outcome(of: "root/group/bad"), .skipped)
    _ = try await keeper.save([root])
    XCTAssertEqual(try values(), ["saved"])
    bad.value = "new"
    _ = try await keeper.save([root])
    XCTAssertEqual(try values(), ["new", "saved"])
  }

  func testAllThatTheAppMakesBelowWhatIsLeftOutIsSavedBesideWhatIsKept() async throws {
    try await save()
    for node in [\Screens.bad, \.bad, \.good] { try await crash(in: node) }
    let screens = Screens()
    let keeper = try launch.keeper()
    let report = try await keeper.restore(into: [screens.root])
    XCTAssertEqual(report.outcome(of: "root/group"), .skipped)
    screens.bad.value = "new"
    _ = try await keeper.save([screens.root])
    XCTAssertEqual(try values(), ["new", "saved"])
    let records = try XCTUnwrap(try launch.storedRecords())
    XCTAssertEqual(try records["root/group"]?.value, "saved")
    XCTAssertEqual(try records["root/good"]?.value, "saved")
    XCTAssertEqual(records.paths.count, 4)
    await keeper.close()

    // The launch after it replaces what that one has saved.
    let again = Screens()
    let next = try launch.keeper()
    _ = try await next.restore(into: [again.root])
    again.bad.value = "newer"
    _ = try await next.save([again.root])
    XCTAssertEqual(try values(), ["newer", "saved"])
  }

  func testANodeThatIsMadeIsNotedAndNobodyIsAskedForItAgain() async throws {
    let made = TestNode("made", value: "saved")
    made.restorationClass = TestFactory.self
    let keeper = try launch.keeper()
    _ = try await keeper.save([made, TestNode("other", value: "saved")])
    await keeper.close()
    var crashed: LaunchDisk?
    var askedCount = 0
    TestFactory.make = { [launch] _, _ in
      askedCount += 1
      crashed = launch.disk
      return nil
    }
    defer { TestFactory.make = { _, _ in nil } }
    for _ in 1...2 {
      _ = try await launch.keeper().restore(into: [TestNode("other")])
      launch.disk = try XCTUnwrap(crashed)
    }
    let other = TestNode("other")
    let report = try await launch.keeper().restore(into: [other])
    XCTAssertEqual(askedCount, 2)
    XCTAssertEqual(report.outcome(of: "made"), .skipped)
    XCTAssertEqual(other.value, "saved")
  }

  func testNothingIsNotedAboutNodesUntilALaunchHasCrashed() async throws {
    try await save()
    func notes() async throws -> Set<[UInt8]> {
      var notes: Set<[UInt8]> = []
      let screens = Screens()
      for node in [screens.root, screens.bad, screens.good] {
        node.onDecode = { [launch] _ in notes.insert(launch.markerBytes?.suffix(8) ?? []) }
      }
      _ = try await launch.keeper().restore(into: [screens.root])
      return notes
    }
    let first = try await notes()
    XCTAssertEqual(first.count, 1)
    try await crash(in: \.bad)
    let second = try await notes()
    XCTAssertEqual(second.count, 3)
  }

  func testANoteThatSomebodyWritesWithoutTheKeyCountsAsNone() async throws {
    try await save()
    for _ in 1...2 { try await crash(in: \.bad) }
    let marker = try XCTUnwrap(launch.markerBytes)
    let saved = launch.storedBytes
    func skipped(_ bytes: [UInt8]) async throws -> [String] {
      launch.disk = LaunchDisk(state: saved, marker: bytes)
      let report = try await launch.keeper().restore(into: [Screens().root])
      XCTAssertEqual(report.outcome, .restored, "\(bytes.suffix(8))")
      return report.problems.map(\.path.description)
    }
    let whole = try await skipped(marker)
    XCTAssertEqual(whole, ["root/group/bad"])
    for bit in 0..<Launch.noteByteCount * 8 {
      var bytes = marker
      bytes[bytes.count - Launch.noteByteCount + bit / 8] ^= 1 << (bit % 8)
      let paths = try await skipped(bytes)
      XCTAssertEqual(paths, [], "\(bit)")
    }
    for count in 1...Launch.noteByteCount {
      let paths = try await skipped(marker.dropLast(count))
      XCTAssertEqual(paths, [], "\(count)")
    }
  }

  /// No key is needed to put back what was in the file before, so that counts as what it says.
  func testANoteThatSomebodyCopiedInALaunchAndPutsBackAfterItsCrashCounts() async throws {
    try await save()
    try await crash(in: \.bad)
    let screens = Screens()
    let delegate = TestDelegate()
    var (outside, inRoot, crashed): ([UInt8]?, [UInt8]?, LaunchDisk?)
    delegate.onShouldRestore = { [launch] _ in
      outside = launch.markerBytes?.suffix(Launch.noteByteCount)
    }
    screens.root.onDecode = { [launch] _ in
      inRoot = launch.markerBytes?.suffix(Launch.noteByteCount)
    }
    screens.bad.onDecode = { [launch] _ in crashed = launch.disk }
    _ = try await launch.keeper(delegate: delegate).restore(into: [screens.root])
    let found = try XCTUnwrap(crashed)
    func restore(_ note: [UInt8]?) async throws -> RestorationReport {
      let marker = try XCTUnwrap(found.marker).dropLast(Launch.noteByteCount)
      launch.disk = LaunchDisk(state: found.state, marker: marker + (try XCTUnwrap(note)))
      return try await launch.keeper().restore(into: [Screens().root])
    }
    // Without that, the node is left out that has crashed.
    var report = try await restore(found.marker?.suffix(Launch.noteByteCount))
    XCTAssertEqual(report.problems.map(\.path.description), ["root/group/bad"])
    report = try await restore(inRoot)
    XCTAssertEqual(report.problems.map(\.path.description), ["root"])
    report = try await restore(outside)
    XCTAssertEqual(report.outcome, .crashed(setAsideAt: launch.crashedLocation))
    XCTAssertEqual(launch.setAside, [found.state])
  }
}
