import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Values that are given back for some time only.
@MainActor
final class ExpiringValueTests: XCTestCase {
  private let launch = Launch()
  private let start = Date(timeIntervalSinceReferenceDate: 800_000_000)
  private var keeper: StateKeeper?

  override func setUp() async throws { keeper = try launch.keeper() }

  private func go(to seconds: TimeInterval) { launch.now = start + seconds }

  @discardableResult
  private func save(
    _ nodes: any RestorableNode..., everything: Bool = false
  ) async throws -> PreservationReport {
    let keeper = try XCTUnwrap(keeper)
    return everything ? try await keeper.saveEverything(nodes) : try await keeper.save(nodes)
  }

  private func assertSave(
    _ node: SensitiveNode, everything: Bool = false, writes: Bool, line: UInt = #line
  ) async throws {
    let report = try await save(node, everything: everything)
    XCTAssertEqual(report.writtenByteCount > 0, writes, line: line)
  }

  /// A launch that only restores, with what is found in it.
  private func restored(
    _ identifier: String = "node"
  ) async throws -> (found: SensitiveNode.Found?, notes: [ReportNote]) {
    let node = SensitiveNode(identifier)
    let report = try await launch.keeper(endsLast: false).restore(into: [node])
    return (node.found, report.notes)
  }

  /// Another launch of the same app, of which the saves go on.
  private func relaunch(_ node: SensitiveNode) async throws -> RestorationReport {
    let next = try launch.keeper()
    keeper = next
    return try await next.restore(into: [node])
  }

  private func isStored() throws -> Bool {
    let words = try XCTUnwrap(try launch.storedRecords()).words
    return words.contains { $0.contains("sensitive") }
  }

  private let gone = SensitiveNode.Found(nil, isThere: false, keys: [])

  private func there(_ value: String) -> SensitiveNode.Found {
    SensitiveNode.Found(value, isThere: true, keys: ["value"])
  }

  /// What a launch finds at a time, by its own keeper, that the test's has let go.
  private func assertFound(
    _ found: SensitiveNode.Found, _ notes: [ReportNote] = [], line: UInt = #line
  ) async throws {
    await keeper?.close()
    let restored = try await restored()
    XCTAssertEqual(restored.found, found, line: line)
    XCTAssertEqual(restored.notes, notes, line: line)
  }

  // MARK: Time

  func testAValueIsGivenBackUntilItsTimeIsOver() async throws {
    try await save(SensitiveNode("node", value: "v"))
    go(to: 59.9)
    try await assertFound(there("v"))
    go(to: 60)
    try await assertFound(gone, [.expiredValues(["value"])])
  }

  func testTheTimeIsCountedFromTheFirstSaveOfAnEqualValue() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    for seconds in [10, 30, 59] {
      go(to: TimeInterval(seconds))
      try await save(node)
    }
    go(to: 60)
    try await assertFound(gone, [.expiredValues(["value"])])
  }

  func testAnotherValueBeginsAnew() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    go(to: 30)
    node.value = "w"
    try await save(node)
    go(to: 60)
    try await assertFound(there("w"))
  }

  func testADurationOfNothingStoresNothing() async throws {
    for duration in [0, -1, .min] {
      try await save(SensitiveNode("node", value: "v", duration: duration))
      XCTAssertFalse(try isStored())
    }
  }

  func testTheLongestDurationNeverEnds() async throws {
    try await save(SensitiveNode("node", value: "v", duration: .max))
    launch.now = .distantFuture
    try await assertFound(there("v"))
  }

  func testAnotherDurationCountsFromTheSameSave() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    go(to: 30)
    node.duration = 100
    try await save(node)
    go(to: 99)
    try await assertFound(there("v"))
    go(to: 100)
    try await assertFound(gone, [.expiredValues(["value"])])
  }

  // MARK: Saves

  func testASaveInWhichNothingElseChangedWritesNothing() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = {
      $0.encode(1, forKey: "a", sensitivity: .expiring(after: .seconds(1000)))
    }
    let keeper = try launch.keeper(delegate: delegate)
    self.keeper = keeper
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    for seconds in [1, 20, 59.5] {
      go(to: seconds)
      let report = try await save(node)
      XCTAssertEqual(report.writtenByteCount, 0)
      try await assertSave(node, everything: true, writes: false)
    }
    withExtendedLifetime(delegate) {}
  }

  func testTheNextSaveRemovesWhatHasEnded() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    XCTAssertTrue(try isStored())
    go(to: 60)
    let report = try await save(node)
    XCTAssertGreaterThan(report.writtenByteCount, 0)
    XCTAssertFalse(try isStored())
    try await assertSave(node, writes: false)
    try await assertSave(node, everything: true, writes: false)
    XCTAssertFalse(try isStored(), "an equal value does not begin anew")
    node.value = "w"
    try await save(node)
    XCTAssertTrue(try isStored())
  }

  func testTheNextSaveRemovesItAlsoOfANodeThatHasNotSaidThatItChanged() async throws {
    let node = TrackedSensitiveNode("node", value: "v")
    let other = TrackedSensitiveNode("other", value: "v", duration: 1000)
    let root = TrackedSensitiveNode("root")
    root.restorationChildren = [node, other]
    try await save(root)
    go(to: 59)
    let unasked = try await save(root)
    XCTAssertEqual(unasked.entries.count, 0)
    go(to: 60)
    let report = try await save(root)
    XCTAssertEqual(report.entries.map(\.path.description), ["root/node"])
    XCTAssertEqual(report.notes, [])
    XCTAssertGreaterThan(report.writtenByteCount, 0)
    XCTAssertEqual([node, other, root].map(\.encodeCount), [2, 1, 1])
    let none = try await save(root)
    XCTAssertEqual(none.entries.count, 0)
    go(to: 1000)
    let last = try await save(root, everything: true)
    XCTAssertEqual(last.notes, [], "time is no change that it has to say")
    XCTAssertFalse(try isStored())
  }

  func testWhatTheApplicationEncodedEndsToo() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = {
      $0.encode("v", forKey: "a", sensitivity: .expiring(after: .seconds(60)))
    }
    var found: [String?] = []
    delegate.onDidDecode = { found.append(try $0.decodeIfPresent(forKey: "a")) }
    delegate.onShouldRestore = { XCTAssertEqual($0.contains("a"), found.isEmpty) }
    _ = try await launch.keeper(delegate: delegate).save([])
    go(to: 59)
    _ = try await launch.keeper(delegate: delegate).restore()
    go(to: 60)
    let next = try launch.keeper(delegate: delegate)
    let report = try await next.restore()
    XCTAssertEqual(found, ["v", nil])
    XCTAssertEqual(report.notes, [.expiredValues(["a"])])
    delegate.onWillEncode = { _ in }
    _ = try await next.save([])
    XCTAssertFalse(try isStored())
  }

  // MARK: Where it lies

  private struct Pair: Codable {
    let name: String
    let numbers: [Int]
  }

  func testAValueInAContainerComesBackThere() async throws {
    let node = SensitiveNode("node") { coder in
      try coder.encodeContainer(forKey: "a") { coder in
        coder.encode(1, forKey: "plain")
        try coder.encodeContainer(forKey: "b") {
          try $0.encode(
            Pair(name: "k", numbers: [1, 2]), forKey: "c",
            sensitivity: .expiring(after: .seconds(60)))
        }
      }
      coder.encode(2, forKey: "plain")
    }
    try await save(node)
    await keeper?.close()
    func numbers() async throws -> ([Int?], RestorationReport) {
      var numbers: [Int?] = []
      let again = SensitiveNode("node")
      again.decode = { coder in
        let a = try coder.container(forKey: "a")
        let b = try a?.container(forKey: "b")
        numbers = [
          try coder.decodeIfPresent(forKey: "plain"), try a?.decodeIfPresent(forKey: "plain"),
          try b?.decodeIfPresent(Pair.self, forKey: "c")?.numbers.last,
        ]
      }
      let report = try await self.launch.keeper().restore(into: [again])
      return (numbers, report)
    }
    let before = try await numbers()
    XCTAssertEqual(before.0, [2, 1, 2])
    XCTAssertEqual(before.1.notes, [])
    go(to: 60)
    let after = try await numbers()
    XCTAssertEqual(after.0, [2, 1, nil])
    XCTAssertEqual(after.1.notes, [.expiredValues(["a.b.c"])])
  }

  func testAValueThatIsTooLargeLosesTheStateOfItsNodeAsAnyOther() async throws {
    let node = SensitiveNode("node") { $0.encode(1, forKey: "plain") }
    node.value = String(repeating: "v", count: 1 << 24)
    let report = try await save(node)
    XCTAssertEqual(report.outcome(of: "node"), .savedWithoutState)
    XCTAssertEqual(
      report.notes.map(\.isProblem), [true])
    XCTAssertTrue("\(report.notes)".contains("value"), "\(report.notes)")
  }

  func testAValueThatThrowsLeavesTheEarlierOne() async throws {
    struct Failing: Encodable {
      func encode(to encoder: any Encoder) throws { throw Failure() }
      struct Failure: Error {}
    }
    let node = SensitiveNode("node", value: "v") { coder in
      do {
        try coder.encode(
          Failing(), forKey: "value", sensitivity: .expiring(after: .seconds(60)))
        XCTFail("it threw")
      } catch is Failing.Failure {}
    }
    try await save(node)
    try await assertFound(there("v"))
  }

  func testWhatThrowsInTheDelegateTakesItsValuesAlong() async throws {
    struct Failure: Error {}
    let delegate = TestDelegate()
    delegate.onShouldSave = {
      $0.encode("gate", forKey: "a", sensitivity: .expiring(after: .seconds(60)))
    }
    delegate.onWillEncode = {
      $0.encode("will", forKey: "a", sensitivity: .expiring(after: .seconds(60)))
      throw Failure()
    }
    var found: String?
    delegate.onDidDecode = { found = try $0.decodeIfPresent(forKey: "a") }
    _ = try await launch.keeper(delegate: delegate).save([])
    _ = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(found, "gate")
  }

  // MARK: The same value

  func testAnotherLaunchGoesOnCounting() async throws {
    try await save(SensitiveNode("node", value: "v"))
    go(to: 30)
    let node = SensitiveNode("node")
    _ = try await relaunch(node)
    try await save(node)
    try await assertSave(node, writes: false)
    go(to: 60)
    try await assertSave(node, writes: true)
    XCTAssertFalse(try isStored())
  }

  func testASaveThatWritesAllAnewMakesNoValueYounger() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    go(to: 30)
    // After a save that failed nobody knows what is stored.
    keeper?.nodeLimit = 0
    do {
      try await save(node)
      XCTFail("there are too many nodes")
    } catch let error as RestorationError {
      XCTAssertEqual(error.code, .tooManyNodes)
    }
    keeper?.nodeLimit = 100
    let report = try await save(node)
    XCTAssertEqual(report.writtenByteCount, report.byteCount)
    go(to: 60)
    try await assertFound(gone, [.expiredValues(["value"])])
  }

  func testAMovedNodeMakesNoValueYounger() async throws {
    let node = SensitiveNode("node", value: "v")
    let (root, other) = (SensitiveNode("root"), SensitiveNode("other"))
    root.restorationChildren = [other, node]
    try await save(root)
    go(to: 30)
    root.restorationChildren = [other]
    other.restorationChildren = [node]
    try await save(root)
    go(to: 60)
    try await save(root)
    XCTAssertFalse(try isStored())
  }

  func testAnotherObjectAtThePathMakesNoValueYounger() async throws {
    for othersLive in [false, true] {
      go(to: 0)
      keeper = try launch.keeper()
      try await keeper?.discardState()
      // One that is gone may have had the address of the next one.
      var others: [SensitiveNode] = []
      func node() -> SensitiveNode {
        let node = SensitiveNode("node", value: "v")
        if othersLive { others.append(node) }
        return node
      }
      try await save(node())
      go(to: 30)
      try await save(node())
      go(to: 60)
      try await save(node())
      XCTAssertFalse(try isStored(), "\(others.count)")
      await keeper?.close()
    }
  }

  func testAValueThatWasGoneBeginsAnew() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    go(to: 30)
    node.value = nil
    try await save(node)
    XCTAssertFalse(try isStored())
    node.value = "v"
    try await save(node)
    go(to: 89)
    try await assertFound(there("v"))
  }

  func testAValueThatHadEndedAndWasGoneBeginsAnew() async throws {
    let node = TrackedSensitiveNode("node", value: "v")
    try await save(node)
    go(to: 60)
    try await save(node)
    node.value = nil
    node.invalidateRestorableState()
    try await save(node)
    node.value = "v"
    node.invalidateRestorableState()
    try await save(node)
    go(to: 119)
    try await save(node)
    XCTAssertTrue(try isStored())
  }

  func testAValueOfANodeThatWasGoneBeginsAnew() async throws {
    let root = TrackedSensitiveNode("root")
    let node = TrackedSensitiveNode("node", value: "v")
    root.restorationChildren = [node]
    try await save(root)
    for children in [[], [node]] {
      go(to: 30)
      root.restorationChildren = children
      root.invalidateRestorableState()
      try await save(root)
    }
    go(to: 89)
    try await save(root)
    XCTAssertTrue(try isStored())
  }

  func testAValueBeginsAnewWhenTheStateWasDiscarded() async throws {
    let node = SensitiveNode("node", value: "v")
    try await save(node)
    go(to: 60)
    try await keeper?.discardState()
    try await save(node)
    try await assertFound(there("v"))
  }

  func testANodeThatCannotBeEncodedKeepsWhatHasNotEnded() async throws {
    struct Failure: Error {}
    var fails = false
    let node = SensitiveNode("node", value: "v") { coder in
      coder.encode("w", forKey: "long", sensitivity: .expiring(after: .seconds(100)))
      if fails { throw Failure() }
    }
    try await save(node)
    fails = true
    go(to: 30)
    try await save(node)
    go(to: 59)
    await keeper?.close()
    let before = try await restored()
    XCTAssertEqual(before.found?.keys.sorted(), ["long", "value"])
    go(to: 60)
    let report = try await save(node)
    XCTAssertEqual(report.outcome(of: "node"), .savedWithLastState)
    await keeper?.close()
    let after = try await restored()
    XCTAssertEqual(after.found?.keys, ["long"])
    XCTAssertEqual(after.notes, [.lastState, .unreadKeys(["long"])])
    fails = false
    try await save(node)
    go(to: 100)
    try await save(node)
    XCTAssertFalse(try isStored())
  }

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
    let text = String(repeating: "x", count: 5_000)
    let reasons: [(StateEncoder) throws -> Void] = [
      { _ in throw Failure() }, { $0.encode(text, forKey: "text") },
    ]
    for (reason, isLeft) in zip(reasons + reasons, [false, false, true, true]) {
      try launch.removeState()
      go(to: 0)
      let node = SensitiveNode("node", value: "v", duration: 1000)
      let root = SensitiveNode("root")
      root.restorationChildren = [node]
      let keeper = try launch.keeper()
      keeper.sizeBudget = SizeBudget(hard: 2_000)
      _ = try await keeper.save([root])
      go(to: 400)
      _ = try await keeper.save([root])
      go(to: -86_400)
      node.encode = reason
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
        let notes = try await last.checkStoredState().entries.flatMap(\.notes)
        XCTAssertEqual(notes, isOver ? [.expiredValues(["value"])] : [])
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

  // MARK: Versions

  private func keeper(
    version: Int, _ migrations: [StateMigration] = []
  ) throws -> StateKeeper {
    let next = try launch.keeper()
    try next.register(SensitiveNode.self, version: version, migrations: migrations)
    keeper = next
    return next
  }

  func testAMigrationThatRenamesAValueMakesItNoYounger() async throws {
    try await save(SensitiveNode("node", value: "v"))
    go(to: 30)
    let rename = StateMigration(from: 1) { state in
      XCTAssertEqual(state.keys, ["value"])
      try state.rename("value", to: "name")
    }
    let node = SensitiveNode("node")
    var name: String?
    node.decode = { name = try $0.decodeIfPresent(forKey: "name") }
    node.encode = { $0.encode(name, forKey: "name", sensitivity: .expiring(after: .seconds(60))) }
    let report = try await keeper(version: 2, [rename]).restore(into: [node])
    XCTAssertEqual(report.notes, [.migrated(from: 1)])
    XCTAssertEqual(name, "v")
    try await save(node)
    XCTAssertTrue(try isStored())
    go(to: 60)
    try await save(node)
    XCTAssertFalse(try isStored())
  }

  func testAMigrationThatEncodesAValueAnewUnderItsKeyMakesItNoYounger() async throws {
    let old = SensitiveNode("node", value: "v") { coder in
      coder.encodeContainer(forKey: "in") {
        $0.encode(1, forKey: "n", sensitivity: .expiring(after: .seconds(60)))
      }
    }
    try await save(old)
    go(to: 30)
    let change = StateMigration(from: 1) { state in
      try state.encode("w", forKey: "value")
      try state.changeContainer(forKey: "in") { try $0.encode(2, forKey: "n") }
    }
    let node = SensitiveNode("node") { coder in
      coder.encodeContainer(forKey: "in") {
        $0.encode(2, forKey: "n", sensitivity: .expiring(after: .seconds(60)))
      }
    }
    _ = try await keeper(version: 2, [change]).restore(into: [node])
    XCTAssertEqual(node.value, "w")
    go(to: 60)
    try await save(node)
    XCTAssertFalse(try isStored())
  }

  func testAMigrationSeesNoValueWhoseTimeIsOver() async throws {
    try await save(SensitiveNode("node", value: "v"))
    go(to: 60)
    var keys: [String]?
    let look = StateMigration(from: 1) { keys = $0.keys }
    let next = try keeper(version: 2, [look])
    let dry = try await next.checkStoredState()
    XCTAssertEqual(keys, [])
    XCTAssertEqual(
      dry.entries.map(\.notes), [[.migrated(from: 1), .expiredValues(["value"])]])
    let report = try await next.restore(into: [SensitiveNode("node")])
    XCTAssertEqual(report.notes, [.migrated(from: 1), .expiredValues(["value"])])
  }

  func testAStateThatCannotBeReadKeepsItsValues() async throws {
    let first = try keeper(version: 2, [StateMigration(from: 1) { _ in }])
    _ = try await first.save([SensitiveNode("node", value: "v")])
    let older = try keeper(version: 1)
    let node = SensitiveNode("node")
    _ = try await older.restore(into: [node])
    XCTAssertNil(node.found)
    _ = try await older.save([node])
    go(to: 59)
    let newer = SensitiveNode("node")
    _ = try await keeper(version: 2, [StateMigration(from: 1) { _ in }]).restore(into: [newer])
    XCTAssertEqual(newer.found, there("v"))
  }

  func testADryRunSaysWhatHasEndedAndChangesNothing() async throws {
    try await save(SensitiveNode("node", value: "v"))
    let bytes = launch.storedBytes
    let before = try await launch.keeper().checkStoredState()
    XCTAssertEqual(before.entries.map(\.notes), [[]])
    go(to: 60)
    let after = try await launch.keeper().checkStoredState()
    XCTAssertEqual(after.entries.map(\.notes), [[.expiredValues(["value"])]])
    XCTAssertEqual(launch.storedBytes, bytes)
  }
}
