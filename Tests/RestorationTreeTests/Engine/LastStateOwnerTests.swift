import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Whose last state it is that a save keeps.
///
/// Objects that say when they change are known by themselves, and others by their names.
@MainActor
final class LastStateOwnerTests: ChangeTestCase {
  private struct Broken: Error {}

  func testANodeThatMovesUpInItsStackKeepsItsOwnLastState() async throws {
    let keeper = try launch.keeper()
    let (one, two) = (TrackedNode("page"), TrackedNode("page"))
    (one.value, two.value) = ("text of one", "text of two")
    let stack = TestStack("stack", children: [one, two])
    _ = try await keeper.save([stack])
    stack.restorationChildren = [two]
    two.throwsInEncode = true
    let report = try await keeper.save([stack])
    XCTAssertEqual(report.outcome(of: "stack/page"), .savedWithLastState)
    XCTAssertEqual(try launch.storedPaths(), ["stack", "stack/page"])
    XCTAssertEqual(try value(of: "stack/page"), "text of two")
  }

  func testANodeThatMovesKeepsItsLastState() async throws {
    let keeper = try launch.keeper()
    let node = TrackedNode("a")
    node.value = "good"
    let first = TestNode("first", children: [node])
    let second = TestNode("second")
    let root = TestNode("root", children: [first, second])
    _ = try await keeper.save([root])
    first.restorationChildren = []
    second.restorationChildren = [node]
    node.throwsInEncode = true
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/second/a"), .savedWithLastState)
    XCTAssertEqual(try value(of: "root/second/a"), "good")
  }

  func testAReferenceInALastStateNamesANodeThatMoved() async throws {
    let keeper = try launch.keeper()
    let node = TrackedNode("a")
    let first = TestNode("first", children: [node])
    let second = TestNode("second")
    let referrer = TestNode("referrer")
    referrer.onEncode = { $0.encode(node, forKey: "node") }
    let root = TestNode("root", children: [first, second, referrer])
    _ = try await keeper.save([root])
    first.restorationChildren = []
    second.restorationChildren = [node]
    referrer.onEncode = { _ in throw Broken() }
    _ = try await keeper.save([root])
    XCTAssertEqual(
      try launch.storedRecords()?.paths(referredToFrom: "root/referrer", forKey: "node"),
      ["root/second/a"])
  }

  func testAReferenceInALastStateNamesWhatIsKept() async throws {
    // After a save that failed all is written anew.
    for isWrittenAnew in [false, true] {
      try launch.removeState()
      let other = TestNode("other")
      let node = TestNode("a")
      node.onEncode = { $0.encode(other, forKey: "other") }
      let first = try launch.keeper()
      _ = try await first.save([TestNode("root", children: [node, other])])
      await first.close()
      let fails = Flag()
      let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
        if name == "main", call.isWrite, fails.isSet { throw ArchiveError(.storageFull) }
      }
      let keeper = try StateKeeper(
        application: Launch.application, directory: store, keys: launch.keys)
      let back = TestNode("a")
      let root = TestNode("root", children: [back])
      _ = try await keeper.restore(into: [root])
      back.onEncode = { _ in throw Broken() }
      if isWrittenAnew {
        fails.isSet = true
        await assertThrows(WholeError(ArchiveError(.storageFull, location: "memory"))) {
          _ = try await keeper.save([root])
        }
        fails.isSet = false
      }
      _ = try await keeper.save([root])
      XCTAssertEqual(
        try launch.storedRecords()?.paths(referredToFrom: "root/a", forKey: "other"),
        ["root/other"])
      await keeper.close()
    }
  }

  func testANodeThatGetsTheNameOfOneThatWentDoesNotGetItsState() async throws {
    let keeper = try launch.keeper()
    let nodes = ["x", "y"].map { TrackedNode($0) }
    for node in nodes { node.value = "text of \(node.name ?? "")" }
    let root = TrackedNode("root")
    root.below = nodes
    _ = try await keeper.save([root])
    root.below = [nodes[1]]
    nodes[1].name = "x"
    nodes[1].throwsInEncode = true
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/x"), .savedWithLastState)
    XCTAssertEqual(try value(of: "root/x"), "text of y")
  }

  func testANewNodeDoesNotGetTheStateOfOneThatWentAndHadItsName() async throws {
    let keeper = try launch.keeper()
    let old = TrackedNode("a")
    old.value = "text of the old one"
    let root = TrackedNode("root")
    root.below = [old]
    _ = try await keeper.save([root])
    let new = TrackedNode("a")
    new.throwsInEncode = true
    root.below = [new]
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/a"), .savedWithoutState)
    XCTAssertNil(try value(of: "root/a"))
    XCTAssertEqual(old.value, "text of the old one")
  }

  func testANodeAtTheAddressOfOneThatWasRestoredDoesNotGetItsStateUnderAnotherName() async throws {
    let first = try launch.keeper()
    let saved = PlainNode("root")
    saved.below = [PlainNode("a")]
    _ = try await first.save([saved])
    await first.close()
    let keeper = try launch.keeper()
    let root = PlainNode("root")
    root.below = [PlainNode("a")]
    let address = ObjectIdentifier(root.below[0])
    _ = try await keeper.restore(into: [root])
    root.below = []
    let new = try node(at: address) { PlainNode("b") }
    new.throwsInEncode = true
    root.below = [new]
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome(of: "root/b"), .savedWithoutState)
    XCTAssertNil(try value(of: "root/b"))
  }
}
