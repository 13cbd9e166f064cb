import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What becomes of a stored body that nobody has read.
@MainActor
final class StoredBodyTests: BodyTestCase {
  func throwing(_ name: String, typing text: String? = nil) -> Page {
    let page = Page(name)
    page.typed = text
    page.onDecode = { throw Page.Failure() }
    return page
  }

  // MARK: Hooks that throw

  func testABodyOfWhichTheDecodingThrewStaysBesideTheNextOne() async throws {
    try await save([Page("a", "old")])
    try await relaunch([throwing("a", typing: "new")])
    XCTAssertEqual(try texts("a"), ["new", "old"])
  }

  func testNothingIsStoredOfAnObjectWhoseDecodingThrewUntilItSaysSomethingElse() async throws {
    try await save([Page("a", "old")])
    for _ in 1...2 {
      let before = launch.storedBytes
      try await relaunch([throwing("a")])
      XCTAssertEqual(launch.storedBytes, before)
    }
    XCTAssertEqual(try texts("a"), ["old"])
  }

  func testTheFirstBodyStaysThoughTheDecodingThrowsAtEachLaunch() async throws {
    try await save([Page("a", "old")])
    for number in 1...6 {
      try await relaunch([throwing("a", typing: "new \(number)")])
      XCTAssertEqual(try texts("a").first, "new \(number)")
      XCTAssertEqual(try texts("a").last, "old")
      XCTAssertLessThanOrEqual(try texts("a").count, 3)
    }
  }

  func testALaunchInWhichTheSameBodyFailsAgainAddsNone() async throws {
    try await save([Page("a", "old")])
    try await relaunch([throwing("a", typing: "new")])
    for number in 1...4 {
      let page = throwingOnce("a")
      let keeper = try keeper()
      _ = try await keeper.restore(into: [page])
      XCTAssertEqual(page.text, number == 1 ? "new" : "edited \(number - 1)")
      page.text = "edited \(number)"
      _ = try await keeper.save([page])
      await keeper.close()
      XCTAssertEqual(try texts("a"), ["edited \(number)", "old"])
    }
  }

  func testABodyThatDecodesAgainTakesThePlaceAndTheOtherStays() async throws {
    try await save([Page("a", "old")])
    try await relaunch([throwing("a", typing: "new")])
    let page = Page("a")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [page])
    XCTAssertEqual(page.text, "old")
    page.text = "edited"
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a"), ["edited", "new"])
  }

  func testABodyStaysWhileTheEncodingThrows() async throws {
    try await save([Page("a", "old")])
    let page = Page("a")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [page])
    page.text = "new"
    page.throwsInEncode = true
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a"), ["old"])
    page.throwsInEncode = false
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a"), ["new"])
  }

  func testTheNodesBelowOneThatThrewBeforeItTookThemStay() async throws {
    try await save([Page("a", "old", below: [Page("b", "child")])])
    let made = Page("b")
    let delegate = TestDelegate()
    delegate.onNode = { path, _ in path.description == "a/b" ? made : nil }
    let page = throwing("a")
    let keeper = try keeper(delegate: delegate)
    _ = try await keeper.restore(into: [page])
    page.text = "new"
    _ = try await keeper.save([page])
    XCTAssertEqual(try allTexts(), ["child", "new", "old"])
  }

  func testTheStateOfTheAppStaysBesideTheNextOneIfItCouldNotBeDecoded() async throws {
    for roots in [[], [Page("a")]] {
      launch = Launch()
      let delegate = TestDelegate()
      delegate.onWillEncode = { $0.encode("old", forKey: "value") }
      let first = try keeper(delegate: delegate)
      _ = try await first.save(roots)
      await first.close()

      delegate.onWillEncode = { $0.encode("new", forKey: "value") }
      delegate.onDidDecode = { _ in throw Page.Failure() }
      let second = try keeper(delegate: delegate)
      _ = try await second.restore(into: roots)
      _ = try await second.save(roots)
      await second.close()
      XCTAssertEqual(try allTexts().filter { $0 != "default" }, ["new", "old"])

      var read: String?
      delegate.onDidDecode = { read = try $0.decodeIfPresent(forKey: "value") }
      let third = try keeper(delegate: delegate)
      let report = try await third.restore(into: roots)
      XCTAssertEqual(report.outcome, .restored)
      XCTAssertEqual(read, "new")
    }
  }

  // MARK: Another class

  func testABodyOfAnotherClassStaysBesideTheNextOne() async throws {
    try await save([Page("a", "old")])
    try await relaunch([Board("a", "board")])
    XCTAssertEqual(try texts("a"), ["board", "old"])
    try await relaunch([Page("a", "page")])
    XCTAssertEqual(try texts("a"), ["page", "board", "old"])
  }

  func testABodyOfAnotherClassGoesWithItsObjectToAnotherPlace() async throws {
    try await save([Page("a", "old")])
    let board = Board("a", "board")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [board])
    _ = try await keeper.save([Page("root", "r", below: [board])])
    XCTAssertEqual(try texts("root/a"), ["board", "old"])
  }

  // MARK: The crash guard

  /// A launch that crashes while it decodes a page.
  private func crash() async throws {
    let page = Page("a")
    page.onDecode = { [launch] in launch.endProcess() }
    let keeper = try keeper()
    do { _ = try await keeper.restore(into: [page]) } catch {}
    launch.endProcess()
    _ = keeper
  }

  func testABodyThatIsLeftOutStaysUntilItIsTriedAgain() async throws {
    try await save([Page("a", "old")])
    for _ in 0..<2 { try await crash() }
    var number = 0
    while true {
      number += 1
      let page = Page("a", "made \(number)")
      let keeper = try keeper()
      let report = try await keeper.restore(into: [page])
      if page.wasDecoded { break }
      XCTAssertEqual(report.outcome(of: "a"), .skipped)
      _ = try await keeper.save([page])
      XCTAssertEqual(try texts("a"), ["old"], "the mere start writes nothing")
      await keeper.close()
      guard number < 9 else { return XCTFail("is not tried again") }
    }
    XCTAssertGreaterThan(number, 1)
  }

  func testABodyThatIsLeftOutStaysBesideWhatIsTypedMeanwhile() async throws {
    try await save([Page("a", "old")])
    for _ in 0..<2 { try await crash() }
    let page = Page("a", "made")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [page])
    page.text = "typed"
    _ = try await keeper.save([page])
    await keeper.close()
    XCTAssertEqual(try texts("a"), ["typed", "old"])
    for number in 0..<4 {
      let page = Page("a", "made")
      let keeper = try self.keeper()
      _ = try await keeper.restore(into: [page])
      page.text = "typed \(number)"
      _ = try await keeper.save([page])
      await keeper.close()
      XCTAssertTrue(try texts("a").contains("old"))
    }
  }

  func testANodeThatWasLeftOutAndHasSaidSomethingIsOverNoBound() async throws {
    func tree(_ text: String) -> (root: TellingPage, page: TellingPage) {
      let page = TellingPage("a", text)
      return (TellingPage("root", "r", below: [page]), page)
    }
    try await save([tree("old").root])
    for _ in 0..<2 {
      let (root, page) = tree("default")
      page.onDecode = { [launch] in launch.endProcess() }
      let keeper = try keeper()
      do { _ = try await keeper.restore(into: [root]) } catch {}
      launch.endProcess()
    }
    let (root, page) = tree("made")
    let keeper = try keeper()
    let report = try await keeper.restore(into: [root])
    XCTAssertEqual(report.outcome(of: "root/a"), .skipped)
    _ = try await keeper.save([root])
    page.text = "typed"
    _ = try await keeper.save([root])
    XCTAssertEqual(try texts("root/a"), ["typed", "old"])
    keeper.policy.keptByteCount = 0
    _ = try await keeper.save([root])
    XCTAssertEqual(try texts("root/a").first, "typed")
  }

  // MARK: Versions

  func testABodyOfANewerVersionStaysAndThatOfItsChildGoesOn() async throws {
    try await save([Page("a", "newer", below: [TellingPage("b", "child")])], version: 2)
    let (parent, child) = (Page("a"), TellingPage("b"))
    parent.below = [child]
    let keeper = try keeper(version: 1)
    _ = try await keeper.restore(into: [parent])
    XCTAssertEqual(child.text, "child")
    child.text = "edited"
    _ = try await keeper.save([parent])
    XCTAssertEqual(try texts("a"), ["newer"])
    XCTAssertEqual(try texts("a/b"), ["edited"])
  }

  func testABodyOfANewerVersionStaysBesideWhatAnOlderOneTypes() async throws {
    try await save([Page("a", "newer")], version: 2)
    let page = Page("a")
    let older = try keeper(version: 1)
    _ = try await older.restore(into: [page])
    for number in 1...3 {
      page.text = "typed \(number)"
      _ = try await older.save([page])
      XCTAssertEqual(try texts("a"), ["typed \(number)", "newer"])
    }
    await older.close()

    let back = Page("a")
    let newer = try keeper(version: 2)
    _ = try await newer.restore(into: [back])
    XCTAssertEqual(back.text, "typed 3")
    back.text = "edited"
    _ = try await newer.save([back])
    XCTAssertEqual(try texts("a"), ["edited", "newer"])
  }

  func testWhatAnOlderVersionTypesIsStoredThoughTheNewerBodyWasAskedForAgain() async throws {
    try await save([Page("a", "newer")], version: 2)
    let page = Page("a")
    let older = try keeper(version: 1)
    _ = try await older.restore(into: [page])
    page.text = "typed"
    _ = try await older.restore(late: page)
    _ = try await older.save([page])
    XCTAssertEqual(try texts("a"), ["typed", "newer"])
  }

  // MARK: Late nodes

  func testAFieldThatDoesNotFitInABodyThatIsReadLateStaysStored() async throws {
    let first = try launch.keeper()
    try first.register(Noted<TitleAndCount>.self, as: "Note")
    _ = try await first.save([Noted(TitleAndCount(title: "stored", count: 7))])
    await first.close()
    let keeper = try launch.keeper()
    try keeper.register(RefusingNote.self, as: "Note")
    let note = RefusingNote()
    _ = try await keeper.restore(into: [note])
    note.refuses = false
    _ = try await keeper.restore(late: note)
    XCTAssertEqual(note.restorableState, TitleAndWord(title: "stored", count: "own"))
    note.restorableState.title = "edited"
    _ = try await keeper.save([note])
    let counts = try launch.storedRecords()?["note"]?.kept.map { kept -> Int? in
      try? kept.state?.container(forKey: StateEncoder.stateKey)?.decode(forKey: "count")
    }
    XCTAssertTrue(counts?.contains(7) == true, "\(String(describing: counts))")
  }

  func testABodyStaysIfASaveComesBeforeItsLateNodeIsRestored() async throws {
    try await save([Page("root", "r", below: [Page("late", "old")])])
    let root = Page("root")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [root])
    let late = Page("late", "new")
    root.below = [late]
    _ = try await keeper.save([root])
    XCTAssertEqual(try texts("root/late"), ["new", "old"])
    _ = try await keeper.restore(late: late, below: root)
    XCTAssertEqual(late.text, "old")
    _ = try await keeper.save([root])
    XCTAssertEqual(try texts("root/late"), ["old", "new"])
  }

  func testWhatWasTypedBeforeAndBetweenTwoLateRestoresStays() async throws {
    try await save([Page("a", "first")])
    try await relaunch([throwing("a", typing: "second")])
    let page = throwing("a")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [page])
    page.onDecode = nil
    for (typed, given) in [("typed", "second"), ("typed again", "first")] {
      page.text = typed
      _ = try await keeper.restore(late: page)
      XCTAssertEqual(page.text, given)
    }
    let last = try await keeper.restore(late: page)
    XCTAssertEqual(last.outcome, .nothingKept)
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a"), ["first", "typed again", "typed"])
  }

  func testABodyThatWasGivenLateStaysUntilItsNodeHasSaidIt() async throws {
    try await save([Page("a", "old")])
    try await relaunch([throwing("a", typing: "new")])
    let page = throwingOnce("a")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [page])
    XCTAssertEqual(page.text, "new")
    _ = try await keeper.restore(late: page)
    XCTAssertEqual(page.text, "old")
    // Its encoding throws, so nothing has taken the place of what it was given.
    page.throwsInEncode = true
    _ = try await keeper.save([page])
    XCTAssertTrue(try texts("a").contains("old"))
    page.throwsInEncode = false
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a"), ["old", "new"])
  }

  func testTheBodiesBelowAKeptElementStayIfASaveComesBeforeTheyAreRestored() async throws {
    try await save([Page("root", "r", below: [Page("late", "old", below: [Page("deep", "deep")])])])
    let root = Page("root")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [root])
    root.below = [Page("late", "new", below: [Page("deep", "new deep")])]
    _ = try await keeper.save([root])
    XCTAssertEqual(try texts("root/late"), ["new", "old"])
    XCTAssertEqual(try texts("root/late/deep"), ["new deep", "deep"])
  }

  func testManySmallElementsBelowAKeptOneAreNotCountedAsManyLargeOnes() async throws {
    let children = (0..<40).map { Page("child \($0)", String(repeating: "x", count: 10_000)) }
    try await save([Page("root", "r", below: [Page("late", "old", below: children)])])
    let root = Page("root")
    let keeper = try keeper()
    keeper.policy.keptByteCount = 1 << 20
    _ = try await keeper.restore(into: [root])
    root.below = [Page("late", "new")]
    for _ in 0..<3 { _ = try await keeper.save([root]) }
    XCTAssertEqual(try allTexts().count, 43)
  }

  func testTwoBodiesOfOneElementInOneSaveLeaveThreeAtMost() async throws {
    try await save([Page("a", "old")], version: 2)
    let older = try keeper(version: 1)
    let typed = Page("a")
    _ = try await older.restore(into: [typed])
    typed.text = "second"
    _ = try await older.save([typed])
    await older.close()
    try await relaunch([throwing("a", typing: "third")])
    XCTAssertEqual(try texts("a"), ["third", "second", "old"])
    let page = throwing("a")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [page])
    page.onDecode = nil
    page.text = "fifth"
    _ = try await keeper.restore(late: page)
    page.text = "sixth"
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a").first, "sixth")
    XCTAssertLessThanOrEqual(try texts("a").count, 3)
    await keeper.close()
    let last = try self.keeper()
    let report = try await last.restore(into: [Page("a")])
    XCTAssertEqual(report.outcome, .restored)
  }

  func testABodyWithWhichItsObjectGoesOnIsNotTooOld() async throws {
    try await save([Page("a", "old")])
    try await relaunch([throwing("a", typing: "new")])
    let page = Page("a")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [page])
    XCTAssertEqual(page.text, "old")
    launch.now += 400 * 24 * 3600
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a"), ["new", "old"])
  }

  func testABodyWithWhichItsObjectGoesOnIsNotTooOldThoughItThrowsWhenItIsAskedForAgain()
    async throws
  {
    try await save([Page("a", "old")])
    try await relaunch([throwing("a", typing: "new")])
    let page = Page("a")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [page])
    XCTAssertEqual(page.text, "old")
    page.onDecode = { throw Page.Failure() }
    _ = try await keeper.restore(late: page)
    launch.now += 400 * 24 * 3600
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a"), ["new", "old"])
  }

  func testABodyBesideAnObjectThatWasNotThereAtTheRestoreMovesWithIt() async throws {
    try await save([Page("root", "r", below: [Page("late", "old")])])
    let root = Page("root")
    let keeper = try keeper()
    _ = try await keeper.restore(into: [root])
    let late = Page("late", "new")
    root.below = [late]
    _ = try await keeper.save([root])
    late.name = "renamed"
    _ = try await keeper.save([root])
    XCTAssertEqual(try texts("root/renamed"), ["new", "old"])
  }

  /// A page whose first decoding throws.
  func throwingOnce(_ name: String) -> Page {
    let page = Page(name)
    var isFirst = true
    page.onDecode = {
      defer { isFirst = false }
      if isFirst { throw Page.Failure() }
    }
    return page
  }
}

/// A note with a later form of its state, which it cannot read as long as it refuses.
@MainActor
private final class RefusingNote: @MainActor StatefulNode {
  let restorationIdentifier: String? = "note"
  var restorableState = TitleAndWord(title: "own", count: "own")
  var refuses = true

  func decodeRestorableState(with coder: StateDecoder) throws {
    if refuses { throw Page.Failure() }
  }
}
