import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// States that are larger than they may be.
@MainActor
final class SizeBudgetTests: ChangeTestCase {
  private func keeper(
    soft: Int? = nil, hard: Int? = nil, over launch: Launch? = nil
  ) throws -> StateKeeper {
    let keeper = try (launch ?? self.launch).keeper()
    keeper.policy.sizeBudget = SizeBudget(soft: soft, hard: hard)
    return keeper
  }

  private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  private func node(
    _ name: String, _ byteCount: Int, _ priority: RestorationPriority? = nil,
    _ below: [any RestorableNode] = []
  ) -> TrackedNode {
    let node = TrackedNode(name)
    node.value = text(byteCount)
    node.priority = priority
    node.below = below
    return node
  }

  private func leftOut(_ report: PreservationReport) -> [String] {
    report.entries.filter { if case .overBudget = $0.outcome { true } else { false } }
      .map(\.path.description)
  }

  private func restored(_ roots: [any RestorableNode]) async throws -> RestorationReport {
    try await launch.keeper().restore(into: roots)
  }

  // MARK: The hard size

  func testWithoutABudgetNothingIsLeftOut() async throws {
    let keeper = try launch.keeper()
    XCTAssertNil(keeper.policy.sizeBudget)
    let report = try await keeper.save([node("root", 10, nil, [node("a", 100_000)])])
    XCTAssertEqual(report.savedPaths, ["root", "root/a"])
    XCTAssertEqual(report.notes, [])
  }

  func testTheLowestPriorityGoesFirstAndAmongEqualOnesTheLargest() async throws {
    let nodes = [
      node("high", 4_000, .high), node("normal", 3_000), node("small", 1_000, .low),
      node("large", 2_000, .low),
    ]
    let root = node("root", 10, nil, nodes)
    let whole = try await launch.keeper().save([root]).sizes.byteCount
    let expected: [(Int, [String])] = [
      (whole, []), (whole - 1, ["large"]), (whole - 2_000, ["large"]),
      (whole - 2_100, ["small", "large"]), (whole - 3_100, ["large", "normal"]),
      (whole - 7_000, ["small", "large", "high"]), (whole - 9_000, ["large", "normal", "high"]),
      (200, ["small", "large", "normal", "high"]),
    ]
    for (hard, names) in expected {
      launch.storedBytes = nil
      let report = try await keeper(hard: hard).save([root])
      XCTAssertEqual(Set(leftOut(report)), Set(names.map { "root/\($0)" }), "\(hard)")
      XCTAssertLessThanOrEqual(report.sizes.byteCount, hard)
      XCTAssertEqual(
        try launch.storedPaths(),
        ["root"] + nodes.compactMap(\.name).filter { !names.contains($0) }.map { "root/\($0)" })
    }
  }

  func testTheReportNamesWhatIsLeftOutWithItsBytesAndAllBelowIt() async throws {
    let large = node("large", 2_000, .low, [node("below", 300)])
    let root = node("root", 10, nil, [large, node("b", 100)])
    let whole = try await launch.keeper().save([root])
    let size = try XCTUnwrap(whole.sizes.largest.first { $0.path.identifier == "large" })
    XCTAssertGreaterThan(size.byteCount, size.ownByteCount + 300)
    launch.storedBytes = nil
    let report = try await keeper(hard: 1_000).save([root])
    XCTAssertEqual(report.outcome(of: "root/large"), .overBudget(byteCount: size.byteCount))
    XCTAssertNil(report.outcome(of: "root/large/below"))
    XCTAssertEqual(
      report.problems.map(\.description),
      [
        "root/large (TrackedNode): left out, with its \(size.byteCount) bytes the state would be"
          + " larger than its budget"
      ])
    let back = node("root", 0, nil, [node("large", 1), node("b", 1)])
    let restored = try await restored([back])
    XCTAssertEqual(restored.entries.map(\.path.description), ["root", "root/b"])
    XCTAssertEqual(back.below.compactMap { ($0 as? TrackedNode)?.value.count }, [1, 100])
  }

  func testWhatIsBelowHasThePriorityOfTheNodeAboveUnlessItHasOneOfItsOwn() async throws {
    let inner = node("inner", 3_000)
    let own = node("own", 3_000, .high)
    let low = node("low", 10, .low, [inner, own])
    let root = node("root", 10, nil, [low, node("other", 5_000)])
    var report = try await keeper(hard: 9_000).save([root])
    XCTAssertEqual(leftOut(report), ["root/low/inner"])
    // What is above one that matters stays as long as that.
    launch.storedBytes = nil
    report = try await keeper(hard: 4_000).save([root])
    XCTAssertEqual(Set(leftOut(report)), ["root/other", "root/low/inner"])
  }

  func testWhatHasRoomAfterAllStays() async throws {
    let root = node("root", 10, nil, [node("low", 1_000, .low), node("large", 9_000)])
    let report = try await keeper(hard: 8_000).save([root])
    XCTAssertEqual(leftOut(report), ["root/large"])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/low"])
  }

  func testRequiredNodesAreStoredAllTheSameAndTheReportSaysSo() async throws {
    let root = node("root", 10, nil, [node("a", 5_000, .required), node("b", 500)])
    let report = try await keeper(hard: 1_000).save([root])
    XCTAssertEqual(report.outcome, .saved)
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/a"])
    let byteCount = report.sizes.byteCount
    XCTAssertGreaterThan(byteCount, 5_000)
    XCTAssertEqual(
      report.entries.first?.notes, [.overHardBudget(byteCount: byteCount, hard: 1_000)])
    XCTAssertEqual(leftOut(report), ["root/b"])
    XCTAssertEqual(
      report.problems.first?.reason,
      "The state takes \(byteCount) bytes, more than the 1000 of its budget, and nothing more may be"
        + " left out. Store less, give nodes a lower restorationPriority, or let saves keep less of"
        + " what is not back: see policy.keptBound.")
  }

  func testWhatTheApplicationWritesCountsAndIsNeverLeftOut() async throws {
    let delegate = TestDelegate()
    delegate.onWillEncode = { $0.encode(String(repeating: "x", count: 3_000), forKey: "text") }
    let keeper = try keeper(hard: 2_000)
    keeper.delegate = delegate
    let report = try await keeper.save([node("root", 100)])
    XCTAssertEqual(try launch.storedPaths(), [])
    XCTAssertEqual(leftOut(report), ["root"])
    XCTAssertEqual(
      report.entries.first?.notes,
      [.overHardBudget(byteCount: report.sizes.byteCount, hard: 2_000)])
  }

  func testANodeThatHasRoomAgainComesBackIntoTheState() async throws {
    let keeper = try keeper(hard: 3_000)
    let (large, other) = (node("large", 2_500), node("other", 600))
    let root = node("root", 10, nil, [large, other])
    for _ in 0..<2 {
      let report = try await keeper.save([root])
      XCTAssertEqual(leftOut(report), ["root/large"])
      XCTAssertEqual(try launch.storedPaths(), ["root", "root/other"])
    }
    other.value = ""
    let report = try await keeper.save([root])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(try value(of: "root/large")?.count, 2_500)
    // From then on saves ask what has changed again.
    other.value = "x"
    let last = try await keeper.save([root])
    XCTAssertEqual(last.entries.map(\.path.description), ["root/other"])
  }

  func testNodesAreAskedTwiceOnlyWhereTheStateIsTooLarge() async throws {
    let root = node("root", 10, nil, [node("a", 100), node("b", 900)])
    _ = try await keeper(soft: 10, hard: 100_000).save([root])
    XCTAssertEqual(root.encodeCount, 1)
    launch.storedBytes = nil
    _ = try await keeper(hard: 900).save([root])
    XCTAssertEqual(root.encodeCount, 3)
    XCTAssertEqual((root.below[1] as? TrackedNode)?.encodeCount, 2)
  }

  // MARK: What was stored before

  func testANodeThatHasGrownKeepsTheStateThatIsStoredOfIt() async throws {
    for restoresFirst in [false, true] {
      launch.storedBytes = nil
      let grown = node("grown", 500, nil, [node("below", 100)])
      let root = node("root", 10, nil, [grown, node("other", 200)])
      var keeper = try keeper(hard: 2_000)
      _ = try await keeper.save([root])
      if restoresFirst {
        keeper = try self.keeper(hard: 2_000)
        _ = try await keeper.restore(into: [root])
      }
      grown.value = text(5_000)
      grown.below += [node("new", 50)]
      grown.views = [TestView("new view", value: "v")]
      (root.below[1] as? TrackedNode)?.value = "changed"
      for _ in 0..<3 {
        let report = try await keeper.save([root])
        XCTAssertEqual(report.outcome, .saved)
        XCTAssertEqual(report.outcome(of: "root/grown"), .savedWithLastState)
        XCTAssertEqual(report.outcome(of: "root/grown/below"), .savedWithLastState)
        XCTAssertEqual(report.outcome(of: "root/other"), .saved)
        XCTAssertEqual(report.problems.map(\.path.description), ["root/grown"], "\(report)")
        guard case .lastStateForBudget(let byteCount)? = report.problems.first?.notes.first else {
          return XCTFail("\(report)")
        }
        XCTAssertGreaterThan(byteCount, 5_150)
        XCTAssertLessThanOrEqual(report.sizes.byteCount, 2_000)
        XCTAssertEqual(try value(of: "root/grown")?.count, 500)
        XCTAssertEqual(try value(of: "root/grown/below")?.count, 100)
        XCTAssertEqual(try value(of: "root/other"), "changed")
        XCTAssertNil(try launch.storedRecords()?["root/grown/new"])
        XCTAssertNil(try launch.storedRecords()?["root/grown/new view"])
        XCTAssertEqual(try launch.storedRecords()?.strays, [])
      }
      grown.value = text(700)
      let report = try await keeper.save([root])
      XCTAssertEqual(report.problems, [])
      XCTAssertEqual(try value(of: "root/grown")?.count, 700)
      XCTAssertEqual(try value(of: "root/grown/new")?.count, 50)
      XCTAssertEqual(try value(of: "root/grown/new view"), "v")
    }
  }

  func testANodeThatHasGrownAndGotAnotherNameKeepsItsStateUnderThat() async throws {
    let keeper = try keeper(hard: 2_000)
    let grown = node("grown", 500)
    let root = node("root", 10, nil, [grown])
    _ = try await keeper.save([root])
    grown.value = text(5_000)
    grown.name = "renamed"
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/renamed"), .savedWithLastState)
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/renamed"])
    XCTAssertEqual(try value(of: "root/renamed")?.count, 500)
  }

  func testALastStateWithoutRoomIsLeftOutWholly() async throws {
    let grown = node("grown", 1_500)
    let other = node("other", 10)
    let root = node("root", 10, nil, [grown, other])
    let keeper = try keeper(hard: 2_000)
    _ = try await keeper.save([root])
    grown.value = text(1_900)
    other.value = text(1_000)
    let report = try await keeper.save([root])
    XCTAssertEqual(leftOut(report), ["root/grown"])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/other"])
    XCTAssertEqual(try launch.storedRecords()?.strays, [])
  }

  func testASaveAfterOneThatFailedKeepsWhatIsStoredToo() async throws {
    let fails = Flag()
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if name == "main", call.isWrite, fails.isSet { throw ArchiveError(.storageFull) }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    keeper.policy.sizeBudget = SizeBudget(hard: 2_000)
    let grown = node("grown", 500)
    let root = node("root", 10, nil, [grown, node("other", 10)])
    _ = try await keeper.save([root])
    grown.value = text(5_000)
    fails.isSet = true
    await assertThrows(WholeError(ArchiveError(.storageFull, location: "memory"))) {
      _ = try await keeper.save([root])
    }
    fails.isSet = false
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/grown"), .savedWithLastState)
    XCTAssertEqual(try value(of: "root/grown")?.count, 500)
    XCTAssertNil(report.setAside)
  }

  // MARK: Saves of changes

  func testAChangeThatMakesTheStateTooLargeStoresWhatASaveOfEverythingStores() async throws {
    let keeper = try keeper(hard: 4_000)
    let (root, nodes) = try await savedTree(10, with: keeper)
    let new = node("new", 3_000, .low)
    root.below += [new]
    _ = try await keeper.save([root])
    nodes[3].value = text(3_500)
    nodes[3].priority = .high
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/n3"), .saved)
    XCTAssertEqual(leftOut(report), ["root/new"])
    try await assertStoredAsAWhole([root]) { $0.policy.sizeBudget = SizeBudget(hard: 4_000) }
    nodes[3].value = ""
    _ = try await keeper.save([root])
    XCTAssertNotNil(try launch.storedRecords()?["root/new"])
    try await assertStoredAsAWhole([root]) { $0.policy.sizeBudget = SizeBudget(hard: 4_000) }
  }

  func testWhoForgotToSayThatItHasChangedIsNamedWhereTheStateIsTooLargeToo() async throws {
    let keeper = try keeper(hard: 4_000)
    let (root, nodes) = try await savedTree(3, with: keeper)
    nodes[1].isQuiet = true
    nodes[1].value = "quiet"
    root.below += [node("large", 5_000)]
    let report = try await keeper.saveEverything([root])
    XCTAssertEqual(leftOut(report), ["root/large"])
    XCTAssertEqual(
      report.entries.filter { $0.notes == [.notInvalidated] }.map(\.path.description), ["root/n1"])
    XCTAssertEqual(try value(of: "root/n1"), "quiet")
  }

  func testRandomHistoriesStoreWhatASaveOfEverythingStores() async throws {
    var random = SeededGenerator()
    for _ in 0..<12 {
      let history = SeededGenerator(seed: random.next())
      try await assertHistory(history)
    }
  }

  private func assertHistory(_ seeded: SeededGenerator) async throws {
    var random = seeded
    let launch = Launch()
    let hard = Int.random(in: 500..<6_000, using: &random)
    let keeper = try keeper(hard: hard, over: launch)
    let root = TrackedNode("root")
    var nodes = [root]
    for step in 0..<25 {
      let node = nodes[Int.random(in: 0..<nodes.count, using: &random)]
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        let new = self.node("n\(step)", Int.random(in: 0..<500, using: &random))
        nodes.append(new)
        node.below += [new]
      case 2:
        if !node.below.isEmpty { node.below.removeLast() }
      case 3:
        node.priority = [nil, .low, .high, .required][Int.random(in: 0..<4, using: &random)]
      default: node.value = text(Int.random(in: 0..<1_500, using: &random))
      }
      let other = Launch()
      other.storedBytes = launch.storedBytes
      let report = try await keeper.save([root])
      let whole = try StateKeeper(
        application: Launch.application, directory: other.store, keys: launch.keys)
      whole.policy.sizeBudget = SizeBudget(hard: hard)
      let wholeReport = try await whole.save([root])
      let message = "TEST_SEED=\(seeded.seed), step \(step)"
      let isOver = report.notes.contains { if case .overHardBudget = $0 { true } else { false } }
      XCTAssertTrue(isOver || report.sizes.byteCount <= hard, message)
      let stored = try XCTUnwrap(
        try other.store.memory(named: "main").bytes.flatMap { _ in
          try Archive.open(
            other.store.memory(named: "main"), key: try XCTUnwrap(launch.keys.key(creating: false)),
            context: ArchiveContext([Launch.application, "main"]))
        })
      XCTAssertEqual(
        try launch.storedRecords()?.words, try StoredRecords(stored).words, message)
      XCTAssertEqual(Set(leftOut(report)), Set(leftOut(wholeReport)), message)
    }
  }

  func testWhatIsKeptIsNeverLeftOutAndNeitherIsWhatIsAboveIt() async throws {
    for isState in [false, true] {
      let launch = Launch()
      let old = TestNode("old", value: text(3_000))
      let above = TestNode("above", children: [old])
      let newer = try launch.keeper()
      try newer.register(
        TestNode.self, version: 2, migrations: [StateMigration(from: 1) { _ in }])
      _ = try await newer.save([above])
      let keeper = try keeper(hard: 1_000, over: launch)
      try keeper.register(TestNode.self)
      let back = TestNode("above", children: isState ? [TestNode("old")] : [])
      _ = try await keeper.restore(into: [back])
      let report = try await keeper.save([back, node("other", 500)])
      XCTAssertEqual(leftOut(report), ["other"])
      XCTAssertEqual(report.outcome(of: "above/old"), .keptAsStored)
      XCTAssertEqual(
        report.entries.first?.notes,
        [.overHardBudget(byteCount: report.sizes.byteCount, hard: 1_000)])
      XCTAssertEqual(try launch.storedPaths(), ["above", "above/old"])
    }
  }

  // MARK: What belongs together

  func testViewsAndObjectsGoWithTheirNode() async throws {
    let keeper = try keeper(hard: 1_500)
    let heavy = node("heavy", 10, .low)
    heavy.views = [TestView("view", value: text(1_000))]
    let object = TestObject(text(1_000), parent: heavy)
    let root = node("root", 10, nil, [heavy, node("other", 900)])
    root.references = [object]
    keeper.registerObject(object, restorationIdentifier: "object")
    let report = try await keeper.save([root])
    XCTAssertEqual(leftOut(report), ["root/heavy"])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/other"])
    XCTAssertEqual(
      try launch.storedRecords()?.paths(referredToFrom: "root", forKey: "references"), [])
  }

  func testAnObjectThatNothingRefersToAnyMoreIsNamedToo() async throws {
    let keeper = try keeper(hard: 1_500)
    let heavy = node("heavy", 2_000)
    let object = TestObject("shared")
    heavy.references = [object]
    keeper.registerObject(object, restorationIdentifier: "object")
    let report = try await keeper.save([node("root", 10, nil, [heavy])])
    XCTAssertEqual(leftOut(report), ["root/heavy", "object"])
    XCTAssertEqual(try launch.storedPaths(), ["root"])
  }

  func testAnObjectInNoScopeIsLeftOutAsANode() async throws {
    let keeper = try keeper(hard: 1_500)
    let root = node("root", 10)
    let object = TestObject(text(3_000))
    root.references = [object]
    keeper.registerObject(object, restorationIdentifier: "object")
    let report = try await keeper.save([root])
    XCTAssertEqual(leftOut(report), ["object"])
    XCTAssertEqual(try launch.storedPaths(), ["root"])
  }

  func testAReferenceToWhatIsLeftOutIsAbsent() async throws {
    let keeper = try keeper(hard: 1_500)
    let heavy = node("heavy", 2_000, nil, [node("below", 10)])
    let other = node("other", 10)
    other.references = [heavy, heavy.below[0]]
    let root = node("root", 10, nil, [other, heavy])
    for _ in 0..<2 {
      _ = try await keeper.save([root])
      XCTAssertEqual(try launch.storedPaths(), ["root", "root/other"])
      XCTAssertEqual(
        try launch.storedRecords()?.paths(referredToFrom: "root/other", forKey: "references"), [])
      XCTAssertEqual(try launch.storedRecords()?.strays, [])
    }
  }

  func testWhoRefersToWhatIsLeftOutIsNotSaidToHaveForgottenAChange() async throws {
    let keeper = try keeper(hard: 1_000)
    let referrer = node("referrer", 10)
    let root = node("root", 10, nil, [referrer])
    _ = try await keeper.save([root])
    let heavy = node("heavy", 5_000)
    referrer.references = [heavy]
    root.below.append(heavy)
    var report = try await keeper.save([root])
    XCTAssertEqual(leftOut(report), ["root/heavy"])
    heavy.value = "small"
    report = try await keeper.save([root])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(report.entries.filter { !$0.notes.isEmpty }, [])
    XCTAssertEqual(
      try launch.storedRecords()?.paths(referredToFrom: "root/referrer", forKey: "references"),
      ["root/heavy"])
  }

  func testTheNameOfWhatIsLeftOutIsNotTakenByAnother() async throws {
    let root = node("root", 10, nil, [node("a", 3_000), node("a", 10)])
    let report = try await keeper(hard: 1_000).save([root])
    XCTAssertEqual(report.entries.map(\.path.description), ["root", "root/a", "root/a"])
    XCTAssertEqual(try launch.storedPaths(), ["root"])
  }

  func testAStackWithoutOneOfItsScreensComesBackUpToTheOthers() async throws {
    let stack = TrackedStack("stack")
    stack.below = [node("page", 10), node("page", 3_000), node("page", 20)]
    let report = try await keeper(hard: 1_000).save([stack])
    XCTAssertEqual(leftOut(report), ["stack/page"])
    XCTAssertEqual(report.problems.count, 1)
    XCTAssertEqual(try launch.storedPaths(), ["stack", "stack/page", "stack/page[2]"])
  }

  func testASelectedTabThatIsLeftOutIsNotStored() async throws {
    let tabs = TrackedTabs("tabs")
    tabs.below = [node("a", 10), node("b", 3_000)]
    tabs.selectedTab = tabs.below[1]
    let report = try await keeper(hard: 1_000).save([tabs])
    XCTAssertEqual(report.outcome, .saved)
    let isUsable = try await launch.keeper().isSnapshotUsable()
    XCTAssertFalse(isUsable, "what the user saw is not there")
  }

  func testTheProblemSaysWhatTheBudgetHasNoRoomFor() async throws {
    for (priority, part) in [(nil, "left out"), (.required, "more than")]
      as [(RestorationPriority?, String)]
    {
      let root = node("root", 10, nil, [node("large", 3_000, priority)])
      let report = try await keeper(hard: 1_000).save([root])
      let problem = try XCTUnwrap(report.problems.first?.description)
      XCTAssertTrue(problem.contains(part), problem)
    }
  }

  func testTheStateOfEachSceneHasTheBudgetByItself() async throws {
    let app = SceneLaunch()
    let keeper = try app.launch.keeper()
    keeper.policy.sizeBudget = SizeBudget(hard: 1_500)
    let host = SceneHost(keeper)
    host.register(SceneConfiguration { app.makeDelegate() })
    try await host.launch()
    for size in [1_000, 3_000] {
      let scene = try await host.open()
      app.delegates[app.delegates.count - 1].roots = [
        node("root", 10, nil, [node("a", size)])
      ]
      let report = try await host.save(scene)
      XCTAssertEqual(leftOut(report), size == 1_000 ? [] : ["root/a"])
      XCTAssertGreaterThan(report.sizes.byteCount, 0)
    }
  }

  func testANodeWhoseStoredStateIsThatOfAnotherClassIsLeftOutAndNotSaidToKeepIt() async throws {
    for isSameClass in [true, false] {
      try launch.removeState()
      let first = try launch.keeper()
      _ = try await first.save([TestNode("root", children: [TestNode("a", value: "old")])])
      await first.close()
      // The first save of a launch writes all.
      let keeper = try launch.keeper()
      keeper.policy.sizeBudget = SizeBudget(hard: 1_000)
      let large = String(repeating: "x", count: 3_000)
      let node =
        isSameClass ? TestNode("a", value: large) : SpecialTestNode("a", value: large)
      let report = try await keeper.save([TestNode("root", children: [node])])
      let entry = try XCTUnwrap(report.entries.first { $0.path.description == "root/a" })
      if isSameClass {
        XCTAssertEqual(entry.outcome, .savedWithLastState)
        XCTAssertEqual(entry.notes.count, 1)
      } else {
        guard case .overBudget = entry.outcome else { return XCTFail("\(report)") }
        XCTAssertEqual(entry.notes, [])
        XCTAssertEqual(try launch.storedPaths(), ["root"])
      }
      await keeper.close()
    }
  }

  // MARK: The soft size

  func testOverTheSoftSizeTheSmallestLargePartsAreNamed() async throws {
    let rows = (0..<50).map { node("row\($0)", 60) }
    let root = node(
      "root", 10, nil, [node("list", 10, nil, rows), node("text", 2_000), node("a", 100)])
    let keeper = try keeper(soft: 1_000)
    for _ in 0..<2 {
      let report = try await keeper.save([root])
      let sizes = report.sizes
      let named = ["root/list", "root/text"].compactMap { name in
        sizes.elements.first { $0.path.description == name }
      }
      XCTAssertEqual(
        report.entries.first?.notes,
        [.overSoftBudget(byteCount: sizes.byteCount, soft: 1_000, largest: named)])
      XCTAssertEqual(report.problems, [])
      XCTAssertEqual(
        report.entries.first?.notes.first?.description,
        "the state takes \(sizes.byteCount) bytes, more than 1000; of these root/list"
          + " \(named[0].byteCount), root/text \(named[1].byteCount)")
      XCTAssertEqual(report.unaskedCount == 0, root.encodeCount == 1 && report.entries.count > 50)
    }
    keeper.policy.sizeBudget = SizeBudget(soft: 1 << 20)
    let report = try await keeper.save([root])
    XCTAssertEqual(report.notes, [])
  }
}
