import Foundation
import TestSupport
import XCTest

/// Messages of pages that come late, again or both: what is newer stays.
final class LateMessagesTests: XCTestCase {
  private func search(in tab: String, _ visitor: Visitor) throws -> String {
    let page = try visitor.get(tab).text
    return String(try XCTUnwrap(page.firstMatch(of: /type="search" value="(.*?)"/), page).1)
  }

  private let refusal =
    "Another page of yours has changed this since. Reload the page to see it."

  func testAMessageThatComesAgainReplacesNothingHoweverManyPagesCameBetween() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    let old: [String: Any] = ["page": "old", "number": 1, "revision": 0, "search": "old"]
    XCTAssertEqual(try visitor.tell(old, in: tab, token: token).status, 200)
    for number in 1...20 {
      let new: [String: Any] = [
        "page": "page \(number)", "number": 1, "revision": number, "search": "new \(number)",
      ]
      XCTAssertEqual(
        try visitor.tell(new, in: tab, token: token).text, #"{"revision":"\#(number + 1)"}"#)
    }
    let answer = try visitor.tell(old, in: tab, token: token)
    XCTAssertEqual(answer.status, 412)
    XCTAssertEqual(
      answer.text, #"{"changed":["search"],"problem":"\#(refusal)","revision":"21"}"#)
    XCTAssertEqual(try search(in: tab, visitor), "new 20")
  }

  /// Its page has heard nothing, and its user goes on in another one.
  func testAMessageThatAStoppedServerHeldUpReplacesNothing() throws {
    let site = try Site(usesDatabase: true)
    let servers = [try site.serve(), try site.serve()]
    let visitor = Visitor(servers[0])
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    let stopped = Visitor(servers[0], cookies: visitor.cookies)
    kill(servers[0].identifier, SIGSTOP)
    defer { kill(servers[0].identifier, SIGCONT) }
    let old: [String: Any] = ["page": "old", "number": 1, "revision": 0, "search": "old"]
    let held = try stopped.request(old, in: tab, token: token)
    visitor.server = servers[1]
    let new: [String: Any] = ["page": "new", "number": 1, "revision": 0, "search": "new"]
    XCTAssertEqual(try visitor.tell(new, in: tab, token: token).status, 200)
    kill(servers[0].identifier, SIGCONT)
    XCTAssertEqual(try held.answer().status, 412)
    for server in servers {
      visitor.server = server
      XCTAssertEqual(try search(in: tab, visitor), "new")
    }
  }

  func testWhatNobodyElseHasChangedSinceIsTakenFromALateMessage() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    let new: [String: Any] = ["page": "new", "number": 1, "revision": 0, "search": "new"]
    try visitor.tell(new, in: tab, token: token)
    let late: [String: Any] = [
      "page": "late", "number": 1, "revision": 0, "search": "late", "listScroll": 12,
    ]
    XCTAssertEqual(try visitor.tell(late, in: tab, token: token).status, 412)
    XCTAssertTrue(try visitor.get(tab).text.contains(#"data-list-scroll="12.0""#))
    XCTAssertEqual(try search(in: tab, visitor), "new")
  }

  func testLateWordsReplaceNoneThatAreNewer() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let product = try visitor.firstProduct(in: tab)
    try visitor.edit(product, in: tab)
    let token = try visitor.token(of: tab)
    let page = try visitor.get(tab).text
    let revision = try XCTUnwrap(page.firstMatch(of: /data-revision="([0-9]+)"/).map { Int($0.1) })
    func tell(_ page: String, _ number: Int, _ field: String, _ words: String) throws -> Answer {
      let change: [String: Any] = [
        "page": page, "number": number, "revision": revision as Any, "product": product,
        field: words,
      ]
      return try visitor.tell(change, in: tab, token: token)
    }
    for field in ["title", "description"] {
      XCTAssertEqual(try tell("new", 2, field, "The newest \(field)").status, 200)
      let late = try tell("late", 1, field, "A late \(field)")
      XCTAssertEqual(late.status, 412)
      XCTAssertTrue(late.text.hasPrefix(#"{"changed":["\#(field)"],"#), late.text)
      // The page itself has told later ones.
      XCTAssertEqual(try tell("new", 1, field, "An earlier \(field)").status, 200)
    }
    let text = try visitor.get(tab).text
    XCTAssertTrue(text.contains(#"value="The newest title""#), text)
    XCTAssertTrue(text.contains("The newest description</textarea>"), text)
  }

  /// Words may be older than their page, which a browser puts back, or newer: their user has seen
  /// others and keeps them.
  func testWhatAUserHasSeenOfAValueCountsAndNotWhatThePageHas() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    func tell(_ page: String, _ revision: Int, seen: [String: Int] = [:]) throws -> Int {
      let change: [String: Any] = [
        "page": page, "number": 1, "revision": revision, "seen": seen, "search": page,
      ]
      return try visitor.tell(change, in: tab, token: token).status
    }
    XCTAssertEqual(try tell("a", 0), 200)
    XCTAssertEqual(try tell("b", 1, seen: ["search": 0]), 412)
    XCTAssertEqual(try tell("c", 0, seen: ["title": 1]), 412)
    XCTAssertEqual(try search(in: tab, visitor), "a")
    XCTAssertEqual(try tell("d", 0, seen: ["search": 1]), 200)
    XCTAssertEqual(try search(in: tab, visitor), "d")
  }

  /// The server has followed the link when the last words of the page come.
  func testWhatIsTypedWhileALinkIsFollowedIsTaken() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let products = try visitor.products(in: tab)
    try visitor.edit(products[0], in: tab)
    let page = try visitor.get(tab).text
    let revision = try XCTUnwrap(page.firstMatch(of: /data-revision="([0-9]+)"/).map { Int($0.1) })
    _ = try visitor.get("\(tab)?product=\(products[1])")
    let last: [String: Any] = [
      "page": "left", "number": 1, "revision": revision as Any, "product": products[0],
      "title": "The last words",
    ]
    XCTAssertEqual(try visitor.tell(last, in: tab).status, 200)
    XCTAssertTrue(try visitor.get(tab).text.contains(#"value="The last words""#))
  }

  /// The page knows what it has told, whether the answer has come or not.
  func testAPageNeedNotHearOfItsOwnChangesBeforeItTellsTheNextOne() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    for number in 1...3 {
      let change: [String: Any] = [
        "page": "a", "number": number, "revision": 0, "search": "word \(number)",
      ]
      XCTAssertEqual(try visitor.tell(change, in: tab, token: token).status, 200)
    }
    XCTAssertEqual(try search(in: tab, visitor), "word 3")
  }

  /// Of words that were typed and taken back, only those that were typed have changed anything.
  func testAMessageThatComesLateReplacesNothingThatIsAsItWasBefore() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    for (number, text) in [(2, ""), (1, "typed and taken back")] {
      let change: [String: Any] = ["page": "a", "number": number, "revision": 0, "search": text]
      XCTAssertEqual(try visitor.tell(change, in: tab, token: token).status, 200)
    }
    XCTAssertEqual(try search(in: tab, visitor), "")
  }
}
