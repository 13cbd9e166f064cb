import Foundation
import RestorationSharingTesting
import Synchronization
import TestSupport
import XCTest

/// Somebody saves words of a product while somebody else edits them.
final class MeanwhileTests: XCTestCase {
  private static let mine = Words(title: "Mine", description: "My text")
  private static let theirs = Words(title: "Theirs", description: "Their text")

  private static let choices = ["mine", "theirs", "both"]

  // MARK: Servers that are killed

  func testTheQuestionComesBackAfterAKillAndEachChoiceIsDone() throws {
    let site = try Site(usesDatabase: true)
    let (ann, eve) = (Visitor(try site.serve()), Visitor(try site.serve()))
    let (tab, other) = (try ann.signIn("Ann"), try eve.signIn("Eve"))
    let products = try ann.products(in: tab)
    for (choice, product) in zip(Self.choices, products) {
      try ann.edit(product, in: tab)
      try ann.tell(
        ["page": choice, "number": 1, "title": "Mine \(choice)", "description": "My\ntext"], in: tab
      )
      XCTAssertFalse(try ann.get(tab).text.contains("Changed meanwhile"))
      try eve.edit(product, in: other)
      try eve.post(
        "\(other)/edit", ["do": "save", "title": "Theirs \(choice)", "description": "Their\ntext"],
        tokenOf: other)
      for _ in 1...2 {
        let page = try ann.get(tab).text
        for part in [
          "Changed meanwhile</h3>", "<b>Theirs \(choice)</b>\nTheir\ntext</p>",
          #"name="title" value="Mine \#(choice)""#, "My\ntext</textarea>",
        ] {
          XCTAssertTrue(page.contains(part), "\(part) is not in \(page)")
        }
        try ann.server.kill()
        ann.server = try site.serve()
      }
      XCTAssertEqual(try ann.choose(choice, in: tab).status, 303)
      try ann.server.kill()
      ann.server = try site.serve()
      let page = try ann.get(tab).text
      XCTAssertFalse(page.contains("Changed meanwhile"), page)
      let (title, description, isEdited) =
        switch choice {
        case "mine": ("Mine", "My", false)
        case "theirs": ("Theirs", "Their", false)
        default: ("Theirs", "Their", true)
        }
      XCTAssertTrue(page.contains("<h1>\(title) \(choice)</h1>"), page)
      XCTAssertTrue(page.contains(#"<p class="text">\#(description)"#), page)
      XCTAssertEqual(Visitor.editedProduct(in: page) == product, isEdited, page)
    }
    let page = try ann.get(tab).text
    XCTAssertTrue(page.contains(#"name="title" value="Mine both / Theirs both""#), page)
    XCTAssertTrue(page.contains("\nMy\ntext\n\nTheir\ntext</textarea>"), page)
  }

  // MARK: Choices

  /// A user who has typed words, and others who have saved theirs meanwhile.
  private static func asked(
    mine: Words, theirs: Words, _ site: LocalSite, _ start: LocalStart
  ) async throws -> (ann: LocalBrowser, eve: LocalBrowser) {
    let server = try await site.serve()
    var (ann, eve) = (start.ann, start.eve)
    (ann.server, eve.server) = (server, server)
    try await ann.load()
    try await ann.press("begin")
    try await eve.load()
    try await eve.press("begin")
    try await eve.press("save", theirs)
    try await ann.press("save", mine)
    return (ann, eve)
  }

  func testAnAnswerToWordsThatAreNotTheNewestIsAskedForOnceMore() throws {
    let (mine, theirs, newest) = (
      Self.mine, Self.theirs, Words(title: "Newest", description: "New text")
    )
    try result {
      let start = try await LocalStart()
      for choice in Self.choices {
        let site = try await start.site.copy()
        var (ann, eve) = try await Self.asked(mine: mine, theirs: theirs, site, start)
        XCTAssertEqual(ann.asked, theirs)
        try await eve.press("begin")
        try await eve.press("save", newest)
        // What was typed while the page asked is kept, too.
        let more = mine.adding("more")
        try await ann.press(choice, more)
        XCTAssertEqual(ann.asked, newest, choice)
        XCTAssertEqual(ann.edited, more, choice)
        let saved = try await site.saved()
        XCTAssertEqual(saved, newest, choice)
        try await ann.press(choice, more)
        XCTAssertNil(ann.asked, choice)
      }
    }
  }

  func testWordsThatWereSeenAreReplacedOnceAndNoOthers() throws {
    let (mine, theirs) = (Self.mine, Self.theirs)
    try result {
      let start = try await LocalStart()
      let site = try await start.site.copy()
      var (ann, eve) = try await Self.asked(mine: mine, theirs: theirs, site, start)
      // No title, no save; that the user has seen the others stays.
      try await ann.press("mine", Words(title: "", description: "My text"))
      XCTAssertEqual(ann.status, 422)
      try await ann.load()
      XCTAssertNil(ann.asked)
      try await eve.press("begin")
      try await eve.press("save", theirs.adding("again"))
      try await ann.press("save", mine)
      XCTAssertEqual(ann.asked, theirs.adding("again"))
      let saved = try await site.saved()
      XCTAssertEqual(saved, theirs.adding("again"))
    }
  }

  func testWordsThatOthersHaveSavedAsTheyAreAskNothing() throws {
    let mine = Self.mine
    try result {
      let start = try await LocalStart()
      let site = try await start.site.copy()
      let server = try await site.serve()
      var (ann, eve) = (start.ann, start.eve)
      (ann.server, eve.server) = (server, server)
      try await ann.load()
      try await ann.press("begin")
      try await ann.tell(mine)
      try await eve.load()
      try await eve.press("begin")
      try await eve.press("save", mine)
      try await ann.load()
      XCTAssertNil(ann.asked)
      XCTAssertEqual(ann.edited, mine)
      try await ann.press("save", mine)
      XCTAssertNil(ann.asked)
      XCTAssertNil(ann.edited)
      let saved = try await site.saved()
      XCTAssertEqual(saved, mine)
    }
  }

  func testBothTakesAFieldAsItIsWhereOnlyOneHasChangedIt() throws {
    try result {
      let start = try await LocalStart()
      let own = Words(title: "Title", description: "Text")
      for (mine, theirs, both) in [
        (Words(title: "A", description: "Text"), Words(title: "Title", description: "B"), "A B"),
        (Words(title: "A", description: "B"), Words(title: "C", description: "B"), "A / C B"),
        (Words(title: "A", description: ""), Words(title: "Title", description: "B"), "A B"),
        (own, Words(title: "C", description: "B"), "C B"),
      ] {
        let site = try await start.site.copy()
        var (ann, _) = try await Self.asked(mine: mine, theirs: theirs, site, start)
        try await ann.press("both", mine)
        let edited = try XCTUnwrap(ann.edited)
        XCTAssertEqual("\(edited.title) \(edited.description)", both)
      }
    }
  }

  func testFieldsThatHaveNoRoomForBothKeepTheirWords() throws {
    let mine = Words(title: String(repeating: "m", count: 120), description: "My text")
    let theirs = Words(title: String(repeating: "t", count: 120), description: "Their text")
    try result {
      let start = try await LocalStart()
      let site = try await start.site.copy()
      var (ann, _) = try await Self.asked(mine: mine, theirs: theirs, site, start)
      XCTAssertTrue(ann.page.contains(#"value="both" disabled"#), ann.page)
      XCTAssertTrue(ann.page.contains("The fields have no room for both."), ann.page)
      try await ann.press("both", mine)
      XCTAssertEqual(ann.asked, theirs)
      XCTAssertEqual(ann.edited, mine)
    }
  }

  // MARK: A kill in the midst of a save

  /// The server is killed before each of the calls that it makes of its store, one after another.
  func testASaveThatAKillInterruptsLosesNothingAndAsksNothing() throws {
    let (mine, theirs) = (Self.mine, Self.theirs)
    try result {
      let start = try await LocalStart()
      for button in ["save"] + Self.choices {
        var callCount = 0
        while true {
          let site = try await start.site.copy()
          let limit = Limit()
          let server = try await site.serve { limit.fault(of: $0) }
          var ann = start.ann
          ann.server = server
          try await ann.load()
          try await ann.press("begin")
          if button != "save" {
            var eve = start.eve
            eve.server = try await site.serve()
            try await eve.press("begin")
            try await eve.press("save", theirs)
          }
          try await ann.tell(mine)
          try await ann.load()
          let last = server.store.calls.count + callCount
          limit.count.withLock { $0 = last }
          try? await ann.press(button, mine)
          let isWhole = server.store.calls.count <= last
          server.kill()
          ann.server = try await site.serve()
          try await ann.load()

          let what = "\(button), killed after \(callCount) calls"
          let saved = try await site.saved()
          switch button {
          case "save": XCTAssertNil(ann.asked, what)
          case "mine": XCTAssertTrue(saved == mine || ann.edited == mine, what)
          case "theirs": XCTAssertTrue(ann.edited == mine || ann.edited == nil, what)
          default: XCTAssertTrue(ann.edited?.title.contains("Mine") == true, what)
          }
          if ["theirs", "both"].contains(button) { XCTAssertEqual(saved, theirs, what) }
          if button == "save" {
            if ann.edited == nil { try await ann.press("begin") }
            XCTAssertEqual(ann.edited, mine, what)
            try await ann.tell(mine.adding("more"))
            try await ann.load()
            XCTAssertNil(ann.asked, what)
            try await ann.press("save", mine.adding("more"))
            let saved = try await site.saved()
            XCTAssertEqual(saved, mine.adding("more"), what)
          }
          if isWhole { break }
          callCount += 1
        }
        XCTAssertGreaterThan(callCount, 2, button)
      }
    }
  }
}

/// After how many calls a store is not there any more.
private final class Limit: Sendable {
  let count = Mutex(Int.max)

  func fault(of call: RemoteCall) -> RemoteFault? {
    count.withLock { call.number >= $0 } ? .unreachable : nil
  }
}
