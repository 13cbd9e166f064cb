import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What is stored of a node whose state cannot be encoded any more.
@MainActor
final class LastStateTests: XCTestCase {
  private struct Broken: Error {}

  private let launch = Launch()

  private func restored() async throws -> (node: TestNode, report: RestorationReport) {
    let node = TestNode("a")
    return (node, try await launch.keeper().restore(into: [node]))
  }

  func testANodeWhoseEncodingThrowsKeepsItsLastStateAndBothReportsSaySo() async throws {
    let keeper = try launch.keeper()
    let node = TestNode("a", value: "good", children: [TestNode("b", value: "one")])
    _ = try await keeper.save([node])
    node.value = "never stored"
    (node.restorationChildren[0] as? TestNode)?.value = "two"
    node.onEncode = { _ in throw Broken() }
    for _ in 0..<2 {
      let report = try await keeper.save([node])
      XCTAssertEqual(report.outcome(of: "a"), .savedWithLastState)
      XCTAssertEqual(report.outcome(of: "a/b"), .saved)
      XCTAssertEqual(report.problems.count, 1)
      await keeper.close()
      let child = TestNode("b")
      let back = TestNode("a", children: [child])
      let next = try launch.keeper(endsLast: false)
      let restored = try await next.restore(into: [back])
      await next.close()
      XCTAssertEqual([back.value, child.value], ["good", "two"])
      // To keep a body is to do nothing, so nothing says since when.
      XCTAssertEqual(restored.problems, [])
    }
    node.onEncode = nil
    node.value = "good again"
    _ = try await keeper.save([node])
    await keeper.close()
    let (back, report) = try await restored()
    XCTAssertEqual(back.value, "good again")
    XCTAssertEqual(report.entries.first?.notes, [])
  }

  func testAValueThatIsTooLargeKeepsTheLastState() async throws {
    let keeper = try launch.keeper()
    let node = TestNode("a", value: "good")
    _ = try await keeper.save([node])
    node.value = String(repeating: "x", count: 1 << 24)
    let report = try await keeper.save([node])
    XCTAssertEqual(report.outcome(of: "a"), .savedWithLastState)
    let (back, restored) = try await restored()
    XCTAssertEqual(back.value, "good")
    XCTAssertEqual(restored.problems, [])
  }

  func testReferencesInAStateThatIsKeptNameWhatTheyNamed() async throws {
    let keeper = try launch.keeper()
    let friend = TestNode("friend", value: "f")
    let gone = TestNode("gone")
    let node = TestNode("a", value: "good")
    node.onEncode = { coder in
      coder.encode(friend, forKey: "friend")
      coder.encode(gone, forKey: "gone")
    }
    _ = try await keeper.save([gone, TestNode("x"), friend, node])
    node.onEncode = { _ in throw Broken() }
    // Other records now: one less before it.
    _ = try await keeper.save([node, friend])
    let backFriend = TestNode("friend")
    let back = TestNode("a")
    var found: [TestNode?] = []
    back.onDecode = { coder in
      found = [
        try coder.decodeObject(TestNode.self, forKey: "friend"),
        try coder.decodeObject(TestNode.self, forKey: "gone"),
      ]
    }
    _ = try await launch.keeper().restore(into: [back, backFriend])
    XCTAssertEqual(back.value, "good")
    XCTAssertEqual(found.map { $0 === backFriend }, [true, false])
    XCTAssertEqual(found.map { $0 == nil }, [false, true])
  }

  func testWithoutALastStateTheNodeIsSavedWithoutState() async throws {
    let keeper = try launch.keeper()
    let node = TestNode("a", value: "x")
    node.onEncode = { _ in throw Broken() }
    // The second time there is a record of it, which has no state.
    for _ in 0..<2 {
      let report = try await keeper.save([node])
      XCTAssertEqual(report.outcome(of: "a"), .savedWithoutState)
    }
    let (back, restored) = try await restored()
    XCTAssertNil(back.value)
    XCTAssertEqual(restored.entries[0].outcome, .restoredWithoutState(by: .existing))
  }

  // An element is that of its name, and its body stays with the class that says how it is read.
  func testTheLastStateOfAnotherClassIsGivenToNobodyAndStaysBesideTheNextOne() async throws {
    let first = try launch.keeper()
    _ = try await first.save([TestNode("a", value: "of a TestNode")])
    let other = PlainNode("a")
    other.throwsInEncode = true
    let report = try await first.save([other])
    XCTAssertEqual(report.outcome(of: "a"), .savedWithLastState)
    await first.close()
    var stored = try XCTUnwrap(try launch.storedRecords()?["a"])
    XCTAssertEqual(stored.form, "TestNode  1")
    XCTAssertEqual(try stored.value, "of a TestNode")

    let keeper = try launch.keeper()
    let back = PlainNode("a")
    let restored = try await keeper.restore(into: [back])
    XCTAssertEqual(
      restored.outcome(of: "a"), .classMismatch(by: .existing, found: "PlainNode"))
    XCTAssertEqual(back.value, "")
    back.value = "of a PlainNode"
    _ = try await keeper.save([back])
    stored = try XCTUnwrap(try launch.storedRecords()?["a"])
    XCTAssertEqual(stored.form, "PlainNode  1")
    XCTAssertEqual(try stored.value, "of a PlainNode")
    XCTAssertEqual(
      try stored.kept.map { try $0.state?.decode(String.self, forKey: "value") },
      ["of a TestNode"])
  }

  func testTheLastStateOfASuperclassIsThatOfTheNodeInItsPlace() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.save([TestNode("a", value: "of a TestNode")])
    let other = SpecialTestNode("a")
    other.onEncode = { _ in throw Broken() }
    let report = try await keeper.save([other])
    XCTAssertEqual(report.outcome(of: "a"), .savedWithLastState)
    await keeper.close()
    let back = SpecialTestNode("a")
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(back.value, "of a TestNode")
  }

  func testALastStateKeepsItsVersionAndItsRestorationClass() async throws {
    let first = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys)
    try first.register(restorationClass: TestFactory.self, as: "Old")
    let node = TestNode("a", value: "of version 1")
    node.restorationClass = TestFactory.self
    _ = try await first.save([node])
    await first.close()

    let second = try StateKeeper(
      application: Launch.application, directory: launch.store, keys: launch.keys)
    try second.register(
      restorationClass: TestFactory.self, as: "New", aliases: ["Old"], version: 2,
      migrations: [1: { _ in }])
    _ = try await second.restore(into: [node])
    node.onEncode = { _ in throw Broken() }
    let report = try await second.save([node])
    XCTAssertEqual(report.outcome(of: "a"), .savedWithLastState)
    XCTAssertEqual(try launch.storedRecords()?["a"]?.form, "TestNode Old 1")
    defer { TestFactory.make = { _, _ in nil } }
    TestFactory.make = { path, _ in TestNode(path.identifier) }
    let again = try await second.restore()
    XCTAssertEqual(again.outcome(of: "a"), .restored(by: .restorationClass))
    XCTAssertEqual(again.entries.map(\.notes), [[.migrated(from: 1)]])
  }

  func testANodeThatCannotBeEncodedIsMadeByItsRestorationClass() async throws {
    defer { TestFactory.make = { _, _ in nil } }
    for hasLastState in [false, true] {
      for isWhole in [false, true] {
        let launch = Launch()
        let keeper = try launch.keeper()
        let node = TestNode("a", value: "good")
        node.restorationClass = TestFactory.self
        let root = TrackedNode("root")
        let other = TrackedNode("other")
        root.below = hasLastState ? [node, other] : [other]
        _ = try await keeper.save([root])
        root.below = [node, other]
        node.value = "never stored"
        node.onEncode = { _ in throw Broken() }
        let saved =
          isWhole ? try await keeper.saveEverything([root]) : try await keeper.save([root])
        XCTAssertEqual(saved.unaskedCount, 1)
        XCTAssertEqual(
          saved.outcome(of: "root/a"), hasLastState ? .savedWithLastState : .savedWithoutState)

        let made = TestNode("a")
        TestFactory.make = { _, _ in made }
        let back = TrackedNode("root")
        back.below = [TrackedNode("other")]
        let restored = try await launch.keeper().restore(into: [back])
        XCTAssertEqual(
          restored.outcome(of: "root/a"),
          hasLastState
            ? .restored(by: .restorationClass) : .restoredWithoutState(by: .restorationClass))
        XCTAssertEqual(made.value, hasLastState ? "good" : nil)
      }
    }
  }

  func testTheRowsOfAListAreKeptWithItsLastState() async throws {
    let keeper = try launch.keeper()
    let list = TestList("a", rows: ["x", "y", "z"])
    list.selectedRows = ["y"]
    _ = try await keeper.save([list])
    list.selectedRows = ["z"]
    list.onEncode = { _ in throw Broken() }
    _ = try await keeper.save([list])
    let back = TestList("a", rows: ["x", "y", "z"])
    _ = try await launch.keeper().restore(into: [back])
    XCTAssertEqual(back.selectedRows, ["y"])
  }

  func testAStateThatCannotBeReadNowIsNotReplacedByOneThatLacksANode() async throws {
    let node = TestNode("a", value: "good")
    _ = try await launch.keeper().save([node])
    let before = launch.storedBytes
    let failureCount = Mutex(0)
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      guard name == "main", call == .open else { return }
      let isFailing = failureCount.withLock { left in
        defer { left = max(0, left - 1) }
        return left > 0
      }
      if isFailing { throw ArchiveError(.inputOutput) }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    _ = try await keeper.restore(into: [node])
    // The save first opens what it would change, and then what is lost. The write,
    // which comes next, would succeed.
    failureCount.withLock { $0 = 2 }
    node.onEncode = { _ in throw Broken() }
    await assertThrows(WholeError(ArchiveError(.inputOutput, location: "memory"))) {
      _ = try await keeper.save([node])
    }
    XCTAssertEqual(launch.storedBytes, before)
  }

  private func value(of path: String) throws -> String? {
    try launch.storedRecords()?[path]?.value
  }

  // MARK: Names of classes

  func testANodeOfAClassThatGotAnotherNameKeepsItsLastState() async throws {
    let first = try launch.keeper()
    try first.register(TestNode.self, as: "Old")
    _ = try await first.save([TestNode("a", value: "good")])
    await first.close()
    let keeper = try launch.keeper()
    try keeper.register(TestNode.self, as: "New", aliases: ["Old"])
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    node.onEncode = { _ in throw Broken() }
    let report = try await keeper.save([node])
    XCTAssertEqual(report.outcome(of: "a"), .savedWithLastState)
    XCTAssertEqual(try value(of: "a"), "good")
  }

  // MARK: Saves of changes

  func testAfterANodeThrewSavesAskThatNodeAndTheNodesThatHaveChanged() async throws {
    let keeper = try launch.keeper()
    let root = TrackedNode("root")
    let friend = TrackedNode("friend")
    let nodes = (0..<4).map { TrackedNode("n\($0)") }
    nodes[1].value = "good"
    nodes[1].references = [friend]
    root.below = nodes + [friend]
    _ = try await keeper.save([root])
    for node in nodes + [friend, root] { node.encodeCount = 0 }
    nodes[1].throwsInEncode = true
    var report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/n1"), .savedWithLastState)
    nodes[1].isQuiet = true
    nodes[1].value = "said later"
    nodes[3].value = "new"
    friend.value = "new"
    report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/n1"), .savedWithLastState)
    report = try await keeper.save([root])
    XCTAssertEqual(report.problems.map(\.outcome), [.savedWithLastState])
    XCTAssertEqual(report.writtenByteCount, 0)
    XCTAssertEqual((nodes + [friend, root]).map(\.encodeCount), [0, 3, 0, 1, 1, 0])
    try await assertStored(["n1": "good", "n3": "new"], ["friend"])

    nodes[1].throwsInEncode = false
    report = try await keeper.save([root])
    XCTAssertEqual(report.problems, [])
    XCTAssertEqual(report.outcome(of: "root/n1"), .saved)
    XCTAssertEqual((nodes + [friend, root]).map(\.encodeCount), [0, 4, 0, 1, 1, 0])
    _ = try await keeper.save([root])
    XCTAssertEqual(nodes[1].encodeCount, 4)
    try await assertStored(["n1": "said later", "n3": "new"], ["friend"])
  }

  func testALateNodeThatThrowsInItsFirstSaveKeepsWhatWasKeptOfIt() async throws {
    let first = try launch.keeper()
    let (root, late) = (TrackedNode("root"), TrackedNode("late"))
    late.value = "good"
    root.below = [late]
    _ = try await first.save([root])
    await first.close()
    let keeper = try launch.keeper()
    let (back, other) = (TrackedNode("root"), TrackedNode("late"))
    _ = try await keeper.restore(into: [back])
    _ = try await keeper.save([back])
    other.throwsInEncode = true
    back.below = [other]
    for _ in 0..<2 {
      let report = try await keeper.save([back])
      XCTAssertEqual(report.outcome(of: "root/late"), .savedWithLastState)
      let late = try XCTUnwrap(try launch.storedRecords()?["root/late"])
      XCTAssertEqual(try late.value, "good")
    }
  }

  /// Checks the stored values, and the names of the nodes to which `n1` refers.
  private func assertStored(_ values: [String: String], _ friends: [String]) async throws {
    let records = try XCTUnwrap(try launch.storedRecords()).elements
    for (name, value) in values {
      XCTAssertEqual(try records.first { $0.path == "root/\(name)" }?.value, value)
    }
    let kept = try XCTUnwrap(records.first { $0.path == "root/n1" })
    let references = try kept.state?.references(forKey: "references") ?? []
    XCTAssertEqual(
      references.map { record in records.first { $0.record == record }?.path },
      friends.map { "root/\($0)" })
  }

  // MARK: Deep trees

  func testANodeThatThrowsKeepsItsLastStateThoughTheOneAboveHasMovedInTheSameSave() async throws {
    let (box, leaf, shelf) = (TrackedNode("box"), TrackedNode("leaf"), TrackedNode("shelf"))
    let root = TrackedNode("root")
    (root.below, box.below, leaf.value) = ([box, shelf], [leaf], "good")
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    (root.below, shelf.below) = ([shelf], [box])
    (leaf.value, leaf.throwsInEncode) = ("never stored", true)
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/shelf/box/leaf"), .savedWithLastState)
    XCTAssertEqual(try launch.storedRecords()?["root/shelf/box/leaf"]?.value, "good")
  }

  func testALastStateInADeepTreeIsKept() async throws {
    let nodes = (0..<8_000).map { _ in TrackedNode("n") }
    for (above, below) in zip(nodes, nodes.dropFirst()) { above.below = [below] }
    // Released one by one: a chain would overflow the stack.
    defer { for node in nodes { node.below = [] } }
    let (root, last) = (nodes[0], nodes[nodes.count - 1])
    last.value = "good"
    let first = try launch.keeper()
    _ = try await first.save([root])
    await first.close()
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [root])
    last.throwsInEncode = true
    let report = try await keeper.save([root])
    XCTAssertEqual(report.problems.last?.outcome, .savedWithLastState)
  }
}
