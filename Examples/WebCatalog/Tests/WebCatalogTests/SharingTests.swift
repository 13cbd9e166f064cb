import Foundation
import TestSupport
import XCTest

/// What users and devices share.
final class SharingTests: XCTestCase {
  func testALinkHandsOverWhatTheUserIsDoing() throws {
    let site = try Site()
    let (first, second) = (Visitor(try site.serve()), Visitor(try site.serve()))
    let tab = try first.signIn("Ann")
    let product = try first.firstProduct(in: tab)
    _ = try first.get("\(tab)?product=\(product)&detail=related")
    try first.post("\(tab)/edit", ["do": "begin"], tokenOf: tab)
    try first.tell(
      [
        "page": "a", "number": 1, "search": "0", "title": "Half a", "description": "word",
        "focus": ["field": "title", "start": 4, "end": 6],
      ], in: tab)
    let link = try first.link(of: tab)
    _ = try second.signIn("Ann")
    let other = try second.path(of: second.post("/continue", ["link": link]))
    XCTAssertNotEqual(other, tab)
    let page = try second.get(other).text
    for part in [
      #"type="search" value="0""#, #"value="Half a""#, "word</textarea>",
      "?detail=related\" aria-current",
      #"data-focus="title" data-start="4" data-end="6""#, "?product=\(product)\" aria-current",
    ] {
      XCTAssertTrue(page.contains(part), "\(part) is not in \(page)")
    }
    XCTAssertTrue(try first.get(tab).text.contains("Half a"))
  }

  func testALinkWorksOnceAlsoAtTwoServersAtOnce() throws {
    let site = try Site()
    let visitors = [Visitor(try site.serve()), Visitor(try site.serve())]
    let tabs = try visitors.map { try $0.signIn("Ann") }
    let tokens = try zip(visitors, tabs).map { try $0.token(of: $1) }
    for _ in 0..<5 {
      let link = try visitors[0].link(of: tabs[0])
      let statuses = Statuses()
      let ports = visitors.map(\.server.port)
      let cookies = visitors.map { "session=\($0.cookies["session"] ?? "")" }
      DispatchQueue.concurrentPerform(iterations: 8) { number in
        let answer = try? HTTP.send(
          "POST", "/continue", port: ports[number % 2],
          headers: [
            "Content-Type": "application/x-www-form-urlencoded", "Cookie": cookies[number % 2],
          ], body: Data("link=\(link)&token=\(tokens[number % 2])".utf8))
        statuses.add(answer?.status ?? 0)
      }
      XCTAssertEqual(statuses.sorted, [303] + Array(repeating: 410, count: 7))
      XCTAssertEqual(try visitors[1].post("/continue", ["link": link]).status, 410)
      XCTAssertEqual(try visitors[1].get("/continue/\(link)").status, 410)
    }
    // The tabs of those who came late are gone again.
    XCTAssertEqual(try site.stored("tab-").count, 2 + 5)
    XCTAssertEqual(try site.stored("web.handover").count, 0)
  }

  func testALinkIsForItsUserAlone() throws {
    let site = try Site()
    let (owner, other) = (Visitor(try site.serve()), Visitor(try site.serve()))
    let tab = try owner.signIn("Ann")
    _ = try other.signIn("Eve")
    let link = try owner.link(of: tab)
    XCTAssertEqual(try other.get("/continue/\(link)").status, 410)
    XCTAssertEqual(try other.post("/continue", ["link": link]).status, 410)
    // Whoever has not signed in is asked to, and led on.
    let stranger = Visitor(other.server)
    XCTAssertTrue(
      try stranger.get("/continue/\(link)").text.contains(#"name="next" value="\#(link)""#))
    let answer = try stranger.post("/sign-in", ["name": "Ann", "passphrase": "", "next": link])
    XCTAssertEqual(answer["Location"], "/continue/\(link)")
    XCTAssertEqual(try stranger.post("/continue", ["link": link]).status, 303)
  }

  func testALinkEndsAndIsRemoved() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve("--link-seconds", "0.3", "--close-after", "0.4"))
    let tab = try visitor.signIn("Ann")
    let link = try visitor.link(of: tab)
    try TestSupport.wait(for: "the end of the link") {
      try visitor.get("/continue/\(link)").status == 410
    }
    XCTAssertEqual(try visitor.post("/continue", ["link": link]).status, 410)
    _ = try visitor.link(of: tab)
    // Nobody opens this one.
    try TestSupport.wait(for: "its removal") { try site.stored("web.handover").isEmpty }
  }

  func testLookingAtALinkTakesNothing() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let link = try visitor.link(of: tab)
    for _ in 0..<3 { XCTAssertEqual(try visitor.get("/continue/\(link)").status, 200) }
    XCTAssertEqual(try visitor.post("/continue", ["link": link]).status, 303)
  }

  func testWordsThatOneUserSavesAreShownToAllAtAllServers() throws {
    let site = try Site()
    let (first, second) = (Visitor(try site.serve()), Visitor(try site.serve()))
    let (tab, other) = (try first.signIn("Ann"), try second.signIn("Eve"))
    try first.save("A new title", in: tab)
    XCTAssertTrue(try second.get(other).text.contains("A new title"))
    XCTAssertFalse(try first.get(tab).text.contains(#"id="editor""#))
  }

  func testWordsThatSomebodyHasSavedMeanwhileAreShownBeforeTheyAreReplaced() throws {
    let site = try Site()
    let (first, second) = (Visitor(try site.serve()), Visitor(try site.serve()))
    let (tab, other) = (try first.signIn("Ann"), try second.signIn("Eve"))
    let product = try first.firstProduct(in: tab)
    _ = try first.get("\(tab)?product=\(product)")
    try first.post("\(tab)/edit", ["do": "begin"], tokenOf: tab)
    try second.save("Theirs", in: other)
    let words = ["do": "save", "title": "Mine", "description": "x"]
    try first.post("\(tab)/edit", words, tokenOf: tab)
    let page = try first.get(tab).text
    XCTAssertTrue(page.contains("<h1>Theirs</h1>"), page)
    XCTAssertTrue(page.contains(#"value="Mine""#), page)
    // Saving once more asks once more.
    try first.post("\(tab)/edit", words, tokenOf: tab)
    XCTAssertTrue(try second.get(other).text.contains("<h1>Theirs</h1>"))
    try first.choose("mine", in: tab)
    XCTAssertTrue(try second.get(other).text.contains("<h1>Mine</h1>"))
  }

  func testASavedTitleMustNotBeEmpty() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    _ = try visitor.get("\(tab)?product=\(try visitor.firstProduct(in: tab))")
    try visitor.post("\(tab)/edit", ["do": "begin"], tokenOf: tab)
    let answer = try visitor.post(
      "\(tab)/edit", ["do": "save", "title": " ", "description": "x"], tokenOf: tab)
    XCTAssertEqual(answer.status, 422)
    XCTAssertTrue(answer.text.contains("A product needs a title."))
  }

  func testAPageHearsOfSavedWordsAlsoIfARequestOfAnotherUserIsTheFirstToReadThem() throws {
    let site = try Site()
    let (first, second) = (try site.serve(), try site.serve())
    let (ann, bob, eve) = (Visitor(second), Visitor(second), Visitor(first))
    let (tab, other) = (try ann.signIn("Ann"), try bob.signIn("Bob"))
    let events = try ann.events(of: tab)
    XCTAssertTrue(try events.next().contains("event: changed"))
    let product = try eve.save("New", in: eve.signIn("Eve"))
    // A folder tells nobody, so this one finds it.
    XCTAssertTrue(try bob.get(other).text.contains("New"))
    XCTAssertTrue(
      try events.next().contains("event: edited\ndata: {\"product\":\"\(product)\"}"))
  }

  /// A page that hears what happens in its tab, and another device with that tab.
  private func deskThatListens() throws -> (
    desk: Visitor, phone: Visitor, tab: String, events: Events
  ) {
    let desk = Visitor(try Site().serve())
    let tab = try desk.signIn("Ann")
    let events = try desk.events(of: tab)
    XCTAssertTrue(try events.next().contains(#"data: {"page":"","revision":"0"}"#))
    return (desk, Visitor(desk.server, cookies: desk.cookies), tab, events)
  }

  func testAPageHearsNothingOfWhatIsRefusedOnAnother() throws {
    let (_, phone, tab, events) = try deskThatListens()
    XCTAssertEqual(try phone.get("\(tab)?search=%00").status, 422)
    try phone.tell(["page": "phone", "number": 1, "search": "tea"], in: tab)
    XCTAssertTrue(try events.next().contains(#"data: {"page":"phone","revision":"1"}"#))
  }

  func testAPageHearsOfChangesByOtherDevicesAndOfSavedWords() throws {
    let (desk, phone, tab, events) = try deskThatListens()
    try phone.tell(["page": "phone", "number": 1, "search": "tea"], in: tab)
    XCTAssertTrue(try events.next().contains(#"data: {"page":"phone","revision":"1"}"#))
    let eve = Visitor(desk.server)
    let product = try eve.save("New", in: eve.signIn("Eve"))
    XCTAssertTrue(
      try events.next().contains("event: edited\ndata: {\"product\":\"\(product)\"}"))
  }
}

private final class Statuses: @unchecked Sendable {
  private let lock = NSLock()
  private var statuses: [Int] = []

  func add(_ status: Int) { lock.withLock { statuses.append(status) } }

  var sorted: [Int] { lock.withLock { statuses.sorted() } }
}
