import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What a survey does at its edges: hooks that throw in the midst, documents that are packed, changes that are
/// said in other ways.
@MainActor
final class SurveyEdgeTests: ChangeTestCase {
  /// The one that only the nameless node refers to has a referrer that has no place.
  func testANodeThatIsReferredToAndHasNoNameAnyMoreIsLeftOut() async throws {
    let (root, referrer, parent) = (TellingPage("root"), TellingPage("a"), TellingPage("p"))
    let (nameless, below) = (TellingPage("x", "x"), TellingPage("y", "y"))
    (nameless.below, nameless.friends) = ([below], [below])
    (referrer.friends, parent.below, root.below) = ([nameless], [nameless], [referrer, parent])
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    (nameless.name, parent.below) = ("", [])
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/a", "root/p"])
  }

  /// The save before has asked all nodes, so nobody has to read to whom their bodies refer.
  func testTheFirstChangeOfALaunchReadsNoStoredBodies() async throws {
    let names = (0..<300).map { "node \($0)" }
    let first = try launch.keeper()
    // The bodies lie in many chunks, each of which is one read.
    let stored = names.map { TellingPage($0, String(repeating: "text", count: 4000)) }
    _ = try await first.save([TellingPage("root", below: stored)])
    await first.close()
    let reads = Mutex(0)
    let directory = HookedStore(launch.store) { _, call in
      if call == .read { reads.withLock { $0 += 1 } }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: directory, keys: launch.keys)
    let nodes = names.map { TellingPage($0) }
    let root = TellingPage("root", below: nodes)
    _ = try await keeper.restore(into: [root])
    _ = try await keeper.save([root])
    XCTAssertEqual(nodes.last?.text, stored.last?.text)
    reads.withLock { $0 = 0 }
    nodes[7].text = "other"
    _ = try await keeper.save([root])
    XCTAssertLessThan(reads.withLock(\.self), 20)
  }

  /// A factory below a node that comes late gives what is back elsewhere.
  func testALateRestoreGivesNoObjectTwoElements() async throws {
    let (root, late) = (Page("root", below: [Page("shared", "first")]), Page("late", "late"))
    late.below = [Page("other", "second")]
    root.below.append(late)
    let first = try launch.keeper()
    _ = try await first.save([root])
    await first.close()
    let (delegate, back, shared) = (TestDelegate(), Page("root"), Page("shared"))
    back.below = [shared]
    delegate.onNode = { path, _ in path.identifier == "other" ? shared : nil }
    let keeper = try launch.keeper(delegate: delegate)
    _ = try await keeper.restore(into: [back])
    let node = Page("late")
    back.below.append(node)
    let report = try await keeper.restore(late: node, below: back)
    XCTAssertEqual(
      report.entries.map(\.outcome),
      [.restored(by: .existing), .providedTwice(RestorationPath(["root", "shared"]))])
    XCTAssertEqual([node.text, shared.text], ["late", "first"])
  }

  /// The child was stored before the node that contains it now, so it is looked at first.
  func testWhatANodeSaysIsStoredThoughANodeBelowItHasGotAnotherNameToo() async throws {
    let (root, child, later) = (TrackedNode("root"), TrackedNode("a"), TrackedNode("b"))
    root.below = [child]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    (later.value, later.below, root.below) = ("old", [child], [later])
    _ = try await keeper.save([root])
    (later.name, later.value, child.name) = ("d", "new", "c")
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/d", "root/d/c"])
    let other = TrackedNode("d")
    let next = TrackedNode("root")
    (next.below, other.below) = ([other], [TrackedNode("c")])
    await keeper.close()
    _ = try await launch.keeper().restore(into: [next])
    XCTAssertEqual(other.value, "new")
  }

  // MARK: Packed documents

  func testWhatIsKeptKnownAndReferredToStaysSoWhenMostElementsAreGone() async throws {
    func nodes() -> (root: TrackedNode, all: [TrackedNode]) {
      let all = (0..<3_000).map { TrackedNode("n\($0)") }
      let root = TrackedNode("root")
      root.below = all
      return (root, all)
    }
    let (old, before) = nodes()
    let (late, unread) = (PlainNode("late"), TellingPage("unread", "old"))
    late.value = "late"
    before[2_999].references = [before[2_998]]
    old.below += [late, unread]
    let first = try launch.keeper()
    _ = try await first.save([old])
    await first.close()

    let (root, all) = nodes()
    let throwing = TellingPage("unread")
    throwing.onDecode = { throw Page.Failure() }
    root.below.append(throwing)
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [root])
    all[2_999].references = [all[2_998]]
    _ = try await keeper.save([root])
    // Two thirds of the elements go, so that the document is packed.
    root.below = Array(all[2_000...]) + [throwing]
    _ = try await keeper.save([root])
    for number in 1...2 {
      (all[2_500].value, throwing.text) = ("changed \(number)", "new \(number)")
      _ = try await keeper.save([root])
      XCTAssertEqual(try value(of: "root/n2500"), "changed \(number)")
    }
    let stored = try XCTUnwrap(launch.storedRecords())
    XCTAssertEqual(stored.strays, [])
    XCTAssertEqual(
      try stored.paths(referredToFrom: "root/n2999", forKey: "references"), ["root/n2998"])
    let kept = try stored["root/unread"]?.kept.map { body -> String? in
      try body.state?.decodeIfPresent(forKey: "value")
    }
    XCTAssertEqual(kept, ["old"])
    let back = PlainNode("late")
    root.below.append(back)
    _ = try await keeper.restore(late: back, below: root)
    XCTAssertEqual(back.value, "late")
    let count = all[2_600].encodeCount
    _ = try await keeper.save([root])
    XCTAssertEqual(all[2_600].encodeCount, count, "who has not changed is not asked")
  }

  // MARK: Hooks that throw

  func testWhatAHookRefersToThatThrowsIsStoredWhenAnotherOneRefersToIt() async throws {
    let (a, b, friend) = (TrackedNode("a"), TrackedNode("b"), TrackedNode("friend"))
    friend.value = "friend"
    (a.references, b.references) = ([friend], [friend])
    a.throwsInEncode = true
    let keeper = try launch.keeper()
    _ = try await keeper.save([a, b])
    XCTAssertEqual(try launch.storedPaths(), ["a", "b", "b/friend"])
    XCTAssertEqual(try value(of: "b/friend"), "friend")
    a.throwsInEncode = false
    _ = try await keeper.save([a, b])
    let stored = try XCTUnwrap(launch.storedRecords())
    XCTAssertEqual(stored.strays, [])
    for path in ["a", "b"] {
      XCTAssertEqual(try stored.paths(referredToFrom: path, forKey: "references"), ["b/friend"])
    }
  }

  func testWhatAHookRefersToThatThrowsIsNotStored() async throws {
    let (root, friend) = (TrackedNode("root"), TrackedNode("friend"))
    root.references = [friend]
    root.throwsInEncode = true
    let keeper = try launch.keeper()
    for _ in 1...2 {
      _ = try await keeper.save([root])
      XCTAssertEqual(try launch.storedPaths(), ["root"])
    }
    root.throwsInEncode = false
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/friend"])
  }

  // MARK: Who says it

  func testAnObservedNodeIsHeardWhenNothingButItsNameChanges() async throws {
    let (root, node) = (TrackedNode("root"), ObservedNode("before"))
    root.below = [node]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    node.name = "after"
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/after"])
  }

  func testANodeThatOnlyAReferenceReachesKeepsItsNameUntilItHasAnotherThatCanBeStored() async throws
  {
    let (root, friend) = (TrackedNode("root"), TrackedNode("friend"))
    root.references = [friend]
    let keeper = try launch.keeper()
    _ = try await keeper.save([root])
    for (name, stored) in [
      (String(repeating: "x", count: 2_000), "friend"), ("", "friend"), (nil, "friend"),
      ("renamed", "renamed"),
    ] {
      friend.name = name
      _ = try await keeper.save([root])
      XCTAssertEqual(try launch.storedPaths(), ["root", "root/\(stored)"])
    }
  }

  func testANodeDidNotForgetToSayWhatEachSaveLooksFor() async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    keeper.hearProblems { _ in }
    let root = TrackedNode("root")
    root.below = [PlainNode("a")]
    _ = try await keeper.save([root])
    root.isQuiet = true
    root.below.append(PlainNode("b"))
    let report = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/a", "root/b"])
    XCTAssertEqual(report.notes, [])
  }
}
