import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Last states after saves that failed, and of objects that claim what is kept.
@MainActor
final class FailedSaveTests: ChangeTestCase {
  private struct Failure: Error {}

  private let fails = Flag()

  private func failingKeeper() throws -> StateKeeper {
    let fails = fails
    let store = HookedStore(launch.store) { name, made throws(ArchiveError) in
      if fails.isSet, name == "main", made.isWrite { throw ArchiveError(.storageFull) }
    }
    return try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
  }

  private func assertFails(_ keeper: StateKeeper, _ root: any RestorableNode) async {
    fails.isSet = true
    await assertThrows(WholeError(ArchiveError(.storageFull, location: "memory"))) {
      _ = try await keeper.save([root])
    }
    fails.isSet = false
  }

  func testALastStateCountsInItsBudgetAfterASaveThatFailed() async throws {
    let keeper = try failingKeeper()
    keeper.sizeBudget = SizeBudget(hard: 2_000)
    func node(_ name: String, _ count: Int) -> TrackedNode {
      let node = TrackedNode(name)
      node.value = String(repeating: "x", count: count)
      return node
    }
    let lost = node("lost", 1_500)
    let other = node("other", 10)
    let root = node("root", 10)
    root.below = [lost, other]
    _ = try await keeper.save([root])
    lost.value = "short"
    await assertFails(keeper, root)
    lost.throwsInEncode = true
    other.value = String(repeating: "y", count: 1_000)
    let report = try await keeper.save([root])
    XCTAssertLessThanOrEqual(report.sizes.byteCount, 2_000)
  }

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

  private func node(at address: ObjectIdentifier, _ make: () -> PlainNode) throws -> PlainNode {
    var others: [PlainNode] = []
    while others.count < 10_000 {
      let node = make()
      if ObjectIdentifier(node) == address { return node }
      others.append(node)
    }
    throw XCTSkip("No object came to the address.")
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
}
