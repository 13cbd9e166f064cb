import ArchiveCodec
import Dispatch
import RestorationKit
import TestSupport
import XCTest

/// What saves find after saves that failed, and last states in saves of changes.
@MainActor
final class FailedSaveTests: ChangeTestCase {
  private struct Failure: Error {}

  func testANodeThatCannotBeEncodedDoesNotReplaceWhatIsKept() async throws {
    for isSavedBefore in [false, true] {
      try launch.removeState()
      let first = try launch.keeper()
      _ = try await first.save([
        TestNode(
          "root",
          children: [TestNode("a", value: "saved", children: [TestNode("below", value: "typed")])])
      ])
      await first.close()
      let keeper = try launch.keeper()
      let root = TestNode("root")
      _ = try await keeper.restore(into: [root])
      if isSavedBefore { _ = try await keeper.save([root]) }
      let node = TestNode("a", value: "newer")
      node.onEncode = { _ in throw Failure() }
      root.restorationChildren = [node]
      let saved = try await keeper.save([root])
      XCTAssertEqual(
        saved.outcome(of: "root/a"), .savedWithLastState, "saved before: \(isSavedBefore)")
      XCTAssertEqual(try value(of: "root/a"), "saved", "saved before: \(isSavedBefore)")
      await keeper.close()
    }
  }

  func testAPlainNodeThatThrowsLetsNoSaveAskTheNodesThatTrackChanges() async throws {
    for isRootPlain in [true, false] {
      try launch.removeState()
      let keeper = try launch.keeper()
      let root = isRootPlain ? PlainNode("root") : TrackedNode("root")
      let parent = PlainNode("parent")
      let plain = PlainNode("plain")
      let tracked = TrackedNode("tracked")
      parent.below = [plain]
      root.below = [parent, tracked]
      _ = try await keeper.save([root])
      _ = try await keeper.save([root])
      plain.throwsInEncode = true
      _ = try await keeper.save([root])
      tracked.encodeCount = 0
      for _ in 0..<3 { _ = try await keeper.save([root]) }
      XCTAssertEqual(tracked.encodeCount, 0, "plain root: \(isRootPlain)")
      await keeper.close()
    }
  }

  func testANodeAtTheAddressOfOneThatWentInASaveThatFailedDoesNotGetItsState() async throws {
    for kind in 0..<2 {
      try launch.removeState()
      let keeper = try failingKeeper()
      let make: () -> PlainNode = { kind == 0 ? PlainNode("a") : TrackedNode("a") }
      let root = PlainNode("root")
      let (p, q) = (PlainNode("p"), PlainNode("q"))
      root.below = [p, q]
      p.below = [make()]
      (p.below[0] as? PlainNode)?.value = "of the old one"
      let address = ObjectIdentifier(p.below[0])
      _ = try await keeper.save([root])
      p.below = []
      await assertFails(keeper, root)
      let new = try node(at: address, make)
      new.throwsInEncode = true
      q.below = [new]
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome(of: "root/q/a"), .savedWithoutState, "kind \(kind)")
      XCTAssertNil(try value(of: "root/q/a"), "kind \(kind)")
      await keeper.close()
    }
  }

  func testANodeThatHadAnotherNameInASaveThatFailedKeepsItsLastState() async throws {
    let keeper = try failingKeeper()
    let root = PlainNode("root")
    let node = PlainNode("x")
    node.value = "good"
    root.below = [node]
    _ = try await keeper.save([root])
    node.name = "y"
    await assertFails(keeper, root)
    node.name = "x"
    node.throwsInEncode = true
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/x"), .savedWithLastState)
    XCTAssertEqual(try value(of: "root/x"), "good")
    await keeper.close()
  }

  func testAfterASaveThatFailedTheNextOneAppendsWhatIsNotStored() async throws {
    let keeper = try failingKeeper()
    let (root, nodes) = try await savedTree(50, with: keeper)
    let before = try XCTUnwrap(launch.storedBytes)
    nodes[3].value = "changed"
    nodes[4].value = "changed for the failing save alone"
    root.below = Array(nodes.dropLast())
    await assertFails(keeper, root)
    nodes[4].value = "4"
    let new = TrackedNode("new")
    root.below = nodes.dropLast(2) + [new]
    let report = try await keeper.save([root])
    // The objects that the save that failed has asked are asked again.
    XCTAssertEqual(report.entries.count, 4)
    XCTAssertTrue(try XCTUnwrap(launch.storedBytes).starts(with: before))
    XCTAssertLessThan(report.writtenByteCount, 1500)
    try await assertStoredAsAWhole([root])
    new.value = "only this"
    let next = try await keeper.save([root])
    XCTAssertEqual(next.entries.map(\.path.description), ["root/new"])
    try await assertStoredAsAWhole([root])
  }

  func testNodesOfSavesThatFailedTakeNoNumbersFromThoseThatAreStored() async throws {
    let keeper = try failingKeeper()
    let (root, _) = try await savedTree(10, with: keeper)
    // All stay alive, so that none is at the address of another.
    var all: [[TrackedNode]] = []
    for round in 0..<20 {
      all.append((0..<10).map { TrackedNode("\(round).\($0)") })
      root.below = all[round]
      await assertFails(keeper, root)
    }
    _ = try await keeper.save([root])
    let records = try XCTUnwrap(try launch.storedRecords()).elements.map(\.record)
    XCTAssertEqual(records.count, 11)
    XCTAssertLessThan(try XCTUnwrap(records.max()), 40)
    try await assertStoredAsAWhole([root])
  }

  func testAReferenceInALastStateNamesAKeptNodeThatIsClaimedLater() async throws {
    for isSavedBefore in [false, true] {
      try launch.removeState()
      let first = try launch.keeper()
      let other = TestNode("other", value: "o")
      let a = TestNode("a", value: "a")
      a.onEncode = { $0.encode(other, forKey: "other") }
      _ = try await first.save([TestNode("root", children: [a, other])])
      await first.close()
      let keeper = try launch.keeper()
      let back = TestNode("a")
      let root = TestNode("root", children: [back])
      _ = try await keeper.restore(into: [root])
      back.onEncode = { _ in throw Failure() }
      if isSavedBefore { _ = try await keeper.save([root]) }
      root.restorationChildren = [back, TestNode("other", value: "newer")]
      _ = try await keeper.save([root])
      XCTAssertEqual(
        try launch.storedRecords()?.paths(referredToFrom: "root/a", forKey: "other"),
        ["root/other"], "saved before \(isSavedBefore)")
      await keeper.close()
    }
  }

  func testANodeThatWasLeftOutAndIsBackDidNotForgetToSayThatItChanged() async throws {
    for failsBetween in [false, true] {
      try launch.removeState()
      let keeper = try failingKeeper()
      // Each save asks all objects while a test hears problems.
      keeper.hearProblems { _ in }
      let root = TrackedNode("root")
      let (a, b) = (TrackedNode("a"), TrackedNode("b"))
      let child = TrackedNode("child")
      a.below = [child]
      root.below = [a, b]
      _ = try await keeper.save([root])
      // Contained in two, in the first one by name.
      let twin = TrackedNode("a")
      root.below = [twin, a, b]
      if failsBetween { await assertFails(keeper, root) }
      var report = try await keeper.save([root])
      root.below = [a, b]
      if failsBetween { await assertFails(keeper, root) }
      report = try await keeper.saveEverything([root])
      XCTAssertFalse(
        report.entries.flatMap(\.notes).contains(.notInvalidated), "\(failsBetween) \(report)")
      try await assertStoredAsAWhole([root])
      await keeper.close()
    }
  }

  func testWhatChangesAfterAWalkThatBreaksOffIsSaved() async throws {
    for everything in [false, true] {
      try launch.removeState()
      let keeper = try launch.keeper()
      let (root, nodes) = try await savedTree(10, with: keeper)
      for node in nodes { node.encodeCount = 0 }
      keeper.policy.nodeLimit = 11
      nodes[8].value = "before"
      let extra = (0..<10).map { TrackedNode("extra\($0)") }
      nodes[2].below = extra
      do {
        _ = try await everything ? keeper.saveEverything([root]) : keeper.save([root])
        XCTFail("stored")
      } catch {}
      nodes[2].below = []
      nodes[9].isQuiet = false
      nodes[9].value = "after"
      nodes[8].isQuiet = true
      keeper.policy.nodeLimit = 100
      let report = try await keeper.save([root])
      XCTAssertEqual(report.entries.flatMap(\.notes), [])
      try await assertStoredAsAWhole([root])
      nodes[5].value = "again"
      let next = try await keeper.save([root])
      XCTAssertEqual(next.entries.map(\.path.description), ["root/n5"])
      try await assertStoredAsAWhole([root])
      await keeper.close()
    }
  }

  func testANodeThatThrewAndMovesIsReportedAsSaved() async throws {
    let keeper = try launch.keeper()
    let root = TrackedNode("root")
    let (p, q, a) = (TrackedNode("p"), TrackedNode("q"), TrackedNode("a"))
    root.below = [p, q]
    p.below = [a]
    _ = try await keeper.save([root])
    a.throwsInEncode = true
    _ = try await keeper.save([root])
    a.throwsInEncode = false
    p.below = []
    q.below = [a]
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/q/a"), .saved)
    XCTAssertEqual(report.problems, [])
    // And a note that stays is there once.
    let view = TestView("stray")
    a.views = []
    a.references = [view]
    _ = try await keeper.save([root])
    q.below = []
    p.below = [a]
    let second = try await keeper.save([root])
    XCTAssertEqual(second.notes.count, 1)
  }

  func testASaveAfterAnEndThatHangsDoesNotBlockTheActor() async throws {
    let (gate, isOver, isBlocked) = (Gate(), Flag(), Flag())
    let store = HookedStore(launch.store) { name, made throws(ArchiveError) in
      if name == "main", made.isWrite { gate.pass() }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    _ = try await keeper.restore()
    let (root, nodes) = try await savedTree(with: keeper)
    gate.holdUp()
    nodes[0].value = "1"
    XCTAssertFalse(keeper.endNow(saving: [root], within: .milliseconds(50)))
    // Were the actor blocked, nothing below could let the disk go on.
    DispatchQueue.global().asyncAfter(deadline: .now() + 30) {
      guard !isOver.isSet else { return }
      isBlocked.isSet = true
      gate.goOn()
    }
    let save = Task { @MainActor in try await keeper.save([root]) }
    for _ in 0..<20 { await Task.yield() }
    isOver.isSet = true
    gate.goOn()
    _ = try await save.value
    XCTAssertFalse(isBlocked.isSet)
    XCTAssertEqual(try value(of: "root/n0"), "1")
    await keeper.close()
  }
}
