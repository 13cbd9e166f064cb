import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What lies above a stored body, below it, and refers to it.
extension StoredBodyTests {
  // MARK: What is above

  /// Stores `root/above/kept`, and restores all but the last, which is kept.
  private func keeping() async throws -> (keeper: StateKeeper, root: Page, above: Page) {
    try await save([Page("root", "r", below: [Page("above", "a", below: [Page("kept", "old")])])])
    let above = Page("above")
    let root = Page("root", below: [above])
    let keeper = try keeper()
    _ = try await keeper.restore(into: [root])
    _ = try await keeper.save([root])
    XCTAssertEqual(try texts("root/above/kept"), ["old"])
    return (keeper, root, above)
  }

  func testWhatIsKeptGoesWithTheObjectAbove() async throws {
    let (keeper, root, _) = try await keeping()
    root.below = []
    _ = try await keeper.save([root])
    XCTAssertEqual(try allTexts(), ["r"])
  }

  func testWhatIsKeptMovesWithTheObjectAbove() async throws {
    let (keeper, root, above) = try await keeping()
    root.below = [Page("other", "o", below: [above])]
    _ = try await keeper.save([root])
    XCTAssertEqual(try texts("root/other/above/kept"), ["old"])
    above.name = "renamed"
    root.below = []
    _ = try await keeper.save([above, root])
    XCTAssertEqual(try texts("renamed/kept"), ["old"])
  }

  func testWhatIsKeptStaysBelowItsObjectThoughANewOneBeforeItHasTheName() async throws {
    for isFirst in [true, false] {
      launch = Launch()
      let (keeper, root, above) = try await keeping()
      above.name = "renamed"
      root.below = isFirst ? [Page("above", "new"), above] : [above, Page("above", "new")]
      _ = try await keeper.save([root])
      XCTAssertEqual(try texts("root/renamed/kept"), ["old"])
      XCTAssertEqual(try texts("root/above"), ["new"])
    }
  }

  func testWhatLiesBelowAVetoedElementGoesWithIt() async throws {
    try await save([Page("root", "r", below: [Page("above", "a", below: [Page("kept", "old")])])])
    let root = Page("root")
    let keeper = try keeper { path, _ in
      path.description == "root/above" ? nil : Page(path.identifier ?? "")
    }
    _ = try await keeper.restore(into: [root])
    _ = try await keeper.save([root])
    XCTAssertEqual(try allTexts(), ["r"])
  }

  // MARK: References

  /// Stores a page that refers to one that nobody contains, and one that goes.
  private func saveFriends(version: Int = 1) async throws {
    let page = Page("a", "old")
    page.friends = [TellingPage("friend", "friend")]
    try await save([page, TellingPage("goes", "goes")], version: version)
    XCTAssertEqual(try texts("a/friend"), ["friend"])
  }

  func testWhatAKeptBodyRefersToStays() async throws {
    try await saveFriends()
    let goes = TellingPage("goes")
    let keeper = try keeper(delegate: friendly(TellingPage("friend")))
    _ = try await keeper.restore(into: [goes])
    _ = try await keeper.save([goes])
    _ = try await keeper.save([])
    XCTAssertEqual(try allTexts(), ["friend", "old"])
  }

  func testWhatABodyOfANewerVersionRefersToStays() async throws {
    try await saveFriends(version: 2)
    let (page, friend) = (Page("a"), TellingPage("friend"))
    let keeper = try keeper(version: 1, delegate: friendly(friend))
    _ = try await keeper.restore(into: [page, TellingPage("goes")])
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a/friend"), ["friend"])
    XCTAssertEqual(try allTexts(), ["friend", "old"])
    page.text = "typed"
    _ = try await keeper.save([page])
    _ = try await keeper.save([page, TellingPage("next", "next")])
    _ = try await keeper.save([page])
    XCTAssertEqual(try allTexts(), ["friend", "old", "typed"])
  }

  func testWhatABodyRefersToThatCannotBeEncodedNowStaysThoughItsOwnerGoes() async throws {
    let (friend, owner, other) = (Page("friend", "friend"), Page("a", "a"), Page("b", "old"))
    (owner.friends, other.friends) = ([friend], [friend])
    let keeper = try keeper()
    _ = try await keeper.save([owner, other])
    XCTAssertEqual(try texts("a/friend"), ["friend"])
    other.throwsInEncode = true
    _ = try await keeper.save([other])
    XCTAssertEqual(try texts("b/friend"), ["friend"])
    XCTAssertEqual(try texts("b"), ["old"])
  }

  func testWhatABodyRefersToThatIsUnreadFromNowOnStays() async throws {
    try await saveFriends()
    let friend = TellingPage("friend")
    let keeper = try keeper(delegate: friendly(friend))
    let page = throwing("a")
    _ = try await keeper.restore(into: [page, TellingPage("goes")])
    page.text = "new"
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a"), ["new", "old"])
    XCTAssertEqual(try texts("a/friend"), ["friend"])
  }

  func testWhatABodyRefersToThatCannotBeEncodedNowStays() async throws {
    try await saveFriends()
    let (page, friend) = (Page("a"), TellingPage("friend"))
    let keeper = try keeper(delegate: friendly(friend))
    _ = try await keeper.restore(into: [page, TellingPage("goes")])
    page.throwsInEncode = true
    _ = try await keeper.save([page])
    XCTAssertEqual(try texts("a/friend"), ["friend"])
    XCTAssertEqual(try allTexts(), ["friend", "old"])
    page.throwsInEncode = false
    page.friends = [friend]
    _ = try await keeper.save([page])
    XCTAssertEqual(
      try launch.storedRecords()?.paths(referredToFrom: "a", forKey: "friends"), ["a/friend"])
    page.friends = []
    _ = try await keeper.save([page])
    _ = try await keeper.save([page])
    XCTAssertEqual(try allTexts(), ["old"])
  }

  // MARK: Long chains

  /// Saves a chain of pages, each of which contains the next one.
  private func saveChain(_ count: Int) async throws {
    let pages = (0..<count).map { Page("n", "page \($0)") }
    for (page, next) in zip(pages, pages.dropFirst()) { page.below = [next] }
    try await save(Array(pages.prefix(1)))
    // One release after the other.
    for page in pages { page.below = [] }
  }

  func testALongChainBelowANodeThatIsNotBackIsKeptWithIt() async throws {
    try await saveChain(20_000)
    let report = try await keeper().restore(into: [Page("other")])
    XCTAssertEqual(report.entries.count { $0.notes.contains(.kept) }, 20_000)
    XCTAssertEqual(report.kept.count, 1)
  }

  func testOfALongChainThatNobodyHasTakenEachIsKeptWithAllBelowIt() async throws {
    try await saveChain(20_000)
    let keeper = try keeper { [self] _, _ in throwing("n") }
    let report = try await keeper.restore(into: [])
    XCTAssertEqual(report.kept.count, 19_999)
    let byteCounts = report.kept.sorted { $0.path.count < $1.path.count }
      .compactMap(\.byteCount)
    XCTAssert(zip(byteCounts, byteCounts.dropFirst()).allSatisfy { $0 > $1 })
    XCTAssertGreaterThan(byteCounts.last ?? 0, 0)
  }
}
