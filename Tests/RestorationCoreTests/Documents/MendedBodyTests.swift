import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Stored bodies and references that come between two states of their objects.
@MainActor
final class MendedBodyTests: BodyTestCase {
  // MARK: References

  func testAReferenceToANodeThatIsFoundByItsNameFollowsItToAnotherNameAndPlace() async throws {
    let (friend, other) = (Page("friend"), Page("other"))
    let teller = TellingPage("teller")
    teller.friends = [friend]
    let second = TellingPage("second")
    second.friends = [friend]
    let keeper = try keeper()
    let (left, right) = (Page("left", below: [friend]), Page("right"))
    _ = try await keeper.save([teller, second, left, right, other])
    let steps: [(path: String, change: () -> Void)] = [
      ("left/renamed", { friend.name = "renamed" }),
      ("right/renamed", { (left.below, right.below) = ([], [friend]) }),
    ]
    for (path, change) in steps {
      change()
      _ = try await keeper.save([teller, second, left, right, other])
      let stored = try XCTUnwrap(launch.storedRecords())
      for referrer in ["teller", "second"] {
        XCTAssertEqual(try stored.paths(referredToFrom: referrer, forKey: "friends"), [path])
      }
    }
  }

  func testAKeptNodeStaysThoughItsOwnerGoesAsLongAsAnotherBodyRefersToIt() async throws {
    let friend = TellingPage("friend", "friend")
    let (owner, other) = (TellingPage("a", "a"), TellingPage("b", "b"))
    (owner.friends, other.friends) = ([friend], [friend])
    try await save([owner, other])
    XCTAssertEqual(try texts("a/friend"), ["friend"])
    // Nobody makes the friend, and the other one cannot say anything, so that its stored body refers on.
    let (ownerBack, otherBack) = (TellingPage("a"), TellingPage("b"))
    let keeper = try keeper()
    _ = try await keeper.restore(into: [ownerBack, otherBack])
    otherBack.throwsInEncode = true
    _ = try await keeper.save([ownerBack, otherBack])
    _ = try await keeper.save([otherBack])
    XCTAssertEqual(try texts("b/friend"), ["friend"])
    // It goes with the last one who refers to it.
    _ = try await keeper.save([])
    XCTAssertEqual(try allTexts(), [])
  }

  // MARK: Bodies

  /// Launches that crash while they decode a page, until that is left out; returns the keeper of that launch.
  private func leavingOut(_ page: Page) async throws -> StateKeeper {
    for _ in 0..<2 {
      let crashing = Page("a")
      crashing.onDecode = { [launch] in launch.endProcess() }
      let keeper = try keeper()
      do { _ = try await keeper.restore(into: [crashing]) } catch {}
      launch.endProcess()
      _ = keeper
    }
    let keeper = try keeper()
    let report = try await keeper.restore(into: [page])
    XCTAssertEqual(report.outcome(of: "a"), .skipped)
    return keeper
  }

  func testWhatWasDecodedAndEditedBetweenTwoLaunchesThatLeaveAnElementOutStays() async throws {
    try await save([Page("a", "old")])
    let first = Page("a", "made")
    let keeper = try await leavingOut(first)
    first.text = "typed"
    _ = try await keeper.save([first])
    await keeper.close()
    // It is tried again, and goes on.
    while true {
      let page = Page("a", "typed")
      let keeper = try self.keeper()
      _ = try await keeper.restore(into: [page])
      if page.wasDecoded { page.text = "edited" }
      _ = try await keeper.save([page])
      await keeper.close()
      if page.wasDecoded { break }
    }
    XCTAssertEqual(try texts("a"), ["edited", "old"])
    let second = Page("a", "made")
    let last = try await leavingOut(second)
    second.text = "typed again"
    _ = try await last.save([second])
    XCTAssertEqual(try texts("a"), ["typed again", "edited", "old"])
  }

  func testTheOwnBodyOfAnObjectThatIsBackIsNamedWhenNobodyCouldMigrateIt() async throws {
    try await save([Page("a", "old")])
    let keeper = try launch.keeper()
    try keeper.register(
      Page.self, as: "Page", version: 2,
      migrations: [1: { _ in throw Page.Failure() }])
    let report = try await keeper.restore(into: [Page("a")])
    XCTAssertEqual(report.kept.map(\.path.description), ["a"])
    XCTAssertEqual(report.kept.count, 1)
    guard case .migrationFailed(by: .existing?, from: 1, _)? = report.kept.first?.outcome else {
      return XCTFail("\(report.kept)")
    }
  }

  func testAnUnreadBodyOfTheVersionThatTheAppHasIsNotSaidToBeOfANewerOne() async throws {
    try await save([Page("a", "old")])
    let page = Page("a")
    page.typed = "new"
    page.onDecode = { throw Page.Failure() }
    try await relaunch([page])
    let keeper = try keeper()
    let report = try await keeper.restore()
    XCTAssertEqual(report.kept.compactMap(\.outcome.step), [.existing])
  }

  func testADiscardedBodyOfAnElementThatIsLeftOutGoes() async throws {
    let below = Page("b", "below", below: [Page("c", "further below")])
    try await save([Page("a", "old", below: [below])])
    let page = Page("a", "made")
    let keeper = try await leavingOut(page)
    await keeper.discardKeptState(of: page)
    for _ in 1...2 {
      let report = try await keeper.save([page])
      XCTAssertEqual(try allTexts(), ["below", "further below", "made"])
      XCTAssertEqual(report.kept.map(\.path.description), ["a/b"])
    }
    await keeper.close()
    // What lies below comes back.
    let back = Page("b")
    _ = try await self.keeper().restore(into: [Page("a", below: [back])])
    XCTAssertEqual(back.text, "below")
  }

  func testWhatANodeSaidBeforeALateRestoreGoesWhenItsKeptStateIsDiscarded() async throws {
    try await save([Page("a", "old")])
    let page = Page("a")
    page.onDecode = { throw Page.Failure() }
    let keeper = try keeper()
    _ = try await keeper.restore(into: [page])
    page.text = "typed"
    page.onDecode = nil
    _ = try await keeper.restore(late: page)
    await keeper.discardKeptState(of: page)
    _ = try await keeper.save([page])
    XCTAssertEqual(try allTexts(), ["old"])
  }

  func testAnObjectThatIsEmptiedReplacesWhatItHasNotRead() async throws {
    let first = try launch.keeper()
    _ = try await first.save([Silent("a", "old")])
    await first.close()
    let node = Silent("a", "default")
    node.throwsInDecode = true
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [node])
    node.text = nil
    _ = try await keeper.save([node])
    XCTAssertEqual(try texts("a"), ["old"])
    XCTAssertNil(try launch.storedRecords()?["a"]?.state)
  }

  func testWhatANodeSaidBeforeALateRestoreIsStoredInTheVersionOfItsClass() async throws {
    try await save([Page("a", "old")], version: 1)
    let page = Page("a")
    page.onDecode = { throw Page.Failure() }
    let keeper = try keeper(version: 2)
    _ = try await keeper.restore(into: [page])
    page.text = "typed"
    page.onDecode = nil
    _ = try await keeper.restore(late: page)
    XCTAssertEqual(page.text, "old")
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a"), ["old", "typed"])
    await keeper.close()
    let records = try XCTUnwrap(launch.archive())
    let kept = try XCTUnwrap(records.record(.max - 1))
    let forms = try XCTUnwrap(records.record(.max - 2))
    let numbers: [Int] = try kept.decode(forKey: "forms")
    let versions: [Int] = try forms.decode(forKey: "versions")
    XCTAssertEqual(numbers.map { versions[$0] }, [2])
  }

  func testAChangeThatWasNotAppendedAfterACompactionThatMayNotLastIsSavedAgain() async throws {
    try await save([Page("a", "old")])
    let fails = Atomic(false)
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      guard name == "main", fails.load(ordering: .relaxed) else { return }
      if call == .synchronize { throw ArchiveError(.inputOutput) }
      if call == .publish { throw ArchiveError(.notDurable) }
    }
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    let page = TellingPage("a")
    try keeper.register(TellingPage.self, as: "Page")
    _ = try await keeper.restore(into: [page])
    fails.store(true, ordering: .relaxed)
    page.text = "new"
    for _ in 1...2 { do { _ = try await keeper.save([page]) } catch {} }
    fails.store(false, ordering: .relaxed)
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a"), ["new"])
  }

  func testThePositionOfAListThatHasNotReadItsBodyIsStored() async throws {
    let first = try launch.keeper()
    let list = Scrolled("a")
    list.contentOffset = (0, 10)
    _ = try await first.save([list])
    await first.close()
    let back = Scrolled("a")
    back.throwsInDecode = true
    let keeper = try launch.keeper()
    _ = try await keeper.restore(into: [back])
    back.contentOffset = (0, 300)
    _ = try await keeper.save([back])
    await keeper.close()
    let last = Scrolled("a")
    _ = try await launch.keeper().restore(into: [last])
    XCTAssertEqual(last.contentOffset.y, 10, "what was not read comes first")
    let unread = try XCTUnwrap(launch.storedRecords()?["a"])
    XCTAssertEqual(unread.kept.count, 1)
  }

  // MARK: Sizes, names and lines

  func testBodiesOfAKeptSubtreeAreCountedEachWithItsOwnSize() async throws {
    let text = String(repeating: "x", count: 1_000)
    let saved = Page("root", text, below: (0..<20).map { Page("n\($0)", text) })
    try await save([saved])
    let first = try keeper()
    _ = try await first.restore()
    _ = try await first.save([])
    let root = Page("root", "new", below: (0..<20).map { Page("n\($0)", "new") })
    // All that was kept fits into it, and twenty times as much does not.
    first.policy.keptByteCount = 60_000
    let report = try await first.save([root])
    XCTAssertEqual(try allTexts().count { $0 == text }, 21)
    XCTAssertEqual(report.problems, [])
  }

  func testOneOfTwoSiblingsOfANameIsLeftOutThoughTheOldOneComesBehindTheNewOne() async throws {
    let old = TellingPage("detail", "old")
    let root = Page("root", below: [old])
    let keeper = try keeper()
    _ = try await keeper.save([root])
    root.below = [TellingPage("detail", "new"), old]
    for _ in 1...2 {
      let report = try await keeper.save([root])
      XCTAssertEqual(report.entries.count { $0.outcome == .duplicate }, 1)
      XCTAssertEqual(try launch.storedPaths(), ["root", "root/detail"])
    }
  }

  func testWhatAnUnreadBodyOfTheAppRefersToStaysThoughTheAppSaysNothing() async throws {
    let friend = TellingPage("friend", "friend")
    let delegate = TestDelegate()
    delegate.onWillEncode = { $0.encode([friend] as [any StateRestoring], forKey: "nodes") }
    let first = try keeper(delegate: delegate)
    _ = try await first.save([Page("a", "a"), Page("b", "b")])
    await first.close()

    let throwing = friendly(TellingPage("friend"))
    throwing.onDidDecode = { _ in throw Page.Failure() }
    let pages = [Page("a"), Page("b")]
    let keeper = try keeper(delegate: throwing)
    _ = try await keeper.restore(into: pages)
    for roots in [pages, [pages[0]]] { _ = try await keeper.save(roots) }
    XCTAssertEqual(try texts("friend"), ["friend"])
  }

  func testAnObjectThatIsRegisteredUnderAnotherNameIsStoredUnderThat() async throws {
    for object in [TestObject("value") as any RestorableObject, TrackedObject("value")] {
      launch = Launch()
      let page = TellingPage("a")
      page.friends = [object]
      let keeper = try keeper()
      for name in ["first", "second"] {
        keeper.registerObject(object, restorationIdentifier: name)
        _ = try await keeper.save([page])
        XCTAssertEqual(
          try launch.storedRecords()?.paths(referredToFrom: "a", forKey: "friends"), [name])
      }
    }
  }

  func testNoLineIsSaidOfAnElementThatTheSameSaveRemoves() async throws {
    let friend = Page("friend", "friend")
    let page = TellingPage("a")
    page.friends = [friend]
    let keeper = try keeper()
    _ = try await keeper.save([page])
    page.friends = []
    let report = try await keeper.save([page])
    XCTAssertEqual(report.entries.map(\.path.description), ["a"])
  }

  func testANodeWhosePlaceHasChangedAndThatNobodyContainsAnyMoreGoes() async throws {
    let child = TellingPage("caf\u{e9}", "child")
    let keeper = try keeper()
    let root = TellingPage("root", below: [child])
    _ = try await keeper.save([root])
    // The child has the lower number, so that it is met before the one that contains it.
    let parent = TellingPage("parent", below: [child])
    root.below = [parent]
    _ = try await keeper.save([root])
    // An equal name in other characters.
    child.name = "cafe\u{301}"
    child.text = "changed"
    parent.below = []
    _ = try await keeper.save([root])
    XCTAssertEqual(try launch.storedPaths(), ["root", "root/parent"])
    XCTAssertEqual(try allTexts(), ["default", "default"])
  }

  func testARestoreEndsThoughAViewMakesAnotherOneWheneverItIsAsked() async throws {
    let node = TestNode("a", value: "a")
    node.restorationViews = [TestView("view", value: "stored")]
    let first = try keeper()
    _ = try await first.save([node])
    await first.close()
    let back = TestNode("a")
    back.restorationViews = [EndlessView()]
    let keeper = try keeper()
    keeper.policy.nodeLimit = 100
    let report = try await keeper.restore(into: [back])
    XCTAssertEqual(report.outcome(of: "a/view"), .viewNotFound)
    XCTAssertEqual(back.value, "a")
  }
}

/// A view that makes another one whenever it is asked.
@MainActor
private final class EndlessView: @MainActor RestorableView {
  let restorationIdentifier: String? = nil
  var restorationSubviews: [any RestorableView] { [EndlessView()] }
}

/// A node that says nothing as long as it has no text.
@MainActor
private final class Silent: @MainActor RestorableNode {
  let restorationIdentifier: String?
  var text: String?
  var throwsInDecode = false

  init(_ name: String, _ text: String?) { (restorationIdentifier, self.text) = (name, text) }

  func encodeRestorableState(with coder: StateEncoder) { coder.encode(text, forKey: "value") }

  func decodeRestorableState(with coder: StateDecoder) throws {
    if throwsInDecode { throw Page.Failure() }
    text = try coder.decodeIfPresent(forKey: "value")
  }
}

/// A node whose position the library stores.
@MainActor
private final class Scrolled: @MainActor RestorableNode, @MainActor RestorableScrolling {
  let restorationIdentifier: String?
  var contentOffset = (x: 0.0, y: 0.0)
  let maximumContentOffset = (x: 0.0, y: 1000.0)
  var throwsInDecode = false

  init(_ name: String) { restorationIdentifier = name }

  func decodeRestorableState(with coder: StateDecoder) throws {
    if throwsInDecode { throw Page.Failure() }
  }
}
