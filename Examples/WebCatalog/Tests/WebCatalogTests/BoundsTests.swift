import Foundation
import TestSupport
import XCTest

/// How much one user, one page or one connection can have of a server.
final class BoundsTests: XCTestCase {
  private let tooManyTabs = "You have 200 tabs, and there can be no more. Close one first."
  private let tooManyLinks =
    "You have 20 links that nobody has used. Use one of them, or wait ten minutes."

  func testAUserHas200TabsAtMost() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let link = try visitor.link(of: tab)
    let token = try visitor.token()
    for _ in 0..<190 {
      XCTAssertEqual(try visitor.post("/tabs", [:], token: token).status, 303)
    }
    // Also if many are made at once.
    let (port, cookies) = (visitor.server.port, visitor.cookies)
    DispatchQueue.concurrentPerform(iterations: 40) { _ in
      _ = try? HTTP.send(
        "POST", "/tabs", port: port,
        headers: [
          "Content-Type": "application/x-www-form-urlencoded",
          "Cookie": "session=\(cookies["session"] ?? "")",
        ], body: Data("token=\(token)".utf8))
    }
    while try site.stored("tab-").count < 200 { try visitor.post("/tabs", [:], token: token) }
    let refused = [
      try visitor.post("/tabs", [:], token: token),
      try visitor.post("/continue", ["link": link], token: token),
    ]
    for answer in refused {
      XCTAssertEqual(answer.status, 409)
      XCTAssertTrue(answer.text.contains(tooManyTabs), answer.text)
    }
    XCTAssertEqual(try site.stored("tab-").count, 200)
    // Others have their own, and who closes one has room for it; the link was not used.
    _ = try Visitor(visitor.server).signIn("Eve")
    try visitor.post("\(tab)/close", [:], token: token)
    XCTAssertEqual(try visitor.post("/continue", ["link": link], token: token).status, 303)
  }

  func testAUserHas20LinksAtMostThatNobodyHasUsed() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let links = try (0..<20).map { _ in try visitor.link(of: tab) }
    let answer = try visitor.post("\(tab)/link", tokenOf: tab)
    XCTAssertEqual(answer.status, 409)
    XCTAssertTrue(answer.text.contains(tooManyLinks), answer.text)
    XCTAssertEqual(try site.stored("web.handover").count, 20)
    let eve = Visitor(visitor.server)
    _ = try eve.link(of: eve.signIn("Eve"))
    XCTAssertEqual(try visitor.post("/continue", ["link": links[7]]).status, 303)
    _ = try visitor.link(of: tab)
    XCTAssertEqual(try visitor.post("\(tab)/link", tokenOf: tab).status, 409)
  }

  func testLinksThatAreOverMakeRoom() throws {
    let visitor = Visitor(try Site().serve("--link-seconds", "1", "--close-after", "86400"))
    let tab = try visitor.signIn("Ann")
    for _ in 0..<20 { _ = try visitor.link(of: tab) }
    try TestSupport.wait(for: "room") {
      try visitor.post("\(tab)/link", tokenOf: tab).status == 200
    }
  }

  func testAListShowsTheBeginningOfLongWords() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    let products = Array(try visitor.products(in: tab).prefix(3))
    let before = try visitor.get(tab).text.utf8.count
    let texts = [
      String(repeating: "x", count: 20_000), String(repeating: "x y", count: 6_000),
      "e" + String(repeating: "\u{301}", count: 19_999),
    ]
    for (product, text) in zip(products, texts) {
      try visitor.edit(product, in: tab)
      let words = ["do": "save", "title": "Long", "description": text]
      XCTAssertEqual(try visitor.post("\(tab)/edit", words, tokenOf: tab).status, 303)
    }
    _ = try visitor.get("\(tab)?product=\(try visitor.products(in: tab)[3])")
    let page = try visitor.get(tab).text
    XCTAssertTrue(page.contains(String(repeating: "x", count: 200) + "…</span>"), page)
    XCTAssertLessThan(page.utf8.count - before, 3000)
    // A product itself is shown whole.
    for (product, text) in zip(products, texts) {
      _ = try visitor.get("\(tab)?product=\(product)")
      XCTAssertTrue(try visitor.get(tab).text.contains(text + "</p>"))
    }
  }

  func testAUserHas32StreamsOfEventsAtMostAtOneServer() throws {
    let visitor = Visitor(try Site().serve())
    let tab = try visitor.signIn("Ann")
    var streams = try (0..<32).map { _ in try visitor.events(of: tab) }
    for stream in streams { XCTAssertTrue(try stream.next().contains("event: changed")) }
    let answer = try visitor.get("\(tab)/events")
    XCTAssertEqual(answer.status, 429)
    XCTAssertTrue(
      answer.text.contains("You have 32 pages open at this server. Close one first."), answer.text)
    let eve = Visitor(visitor.server)
    XCTAssertTrue(try eve.events(of: eve.signIn("Eve")).next().contains("event: changed"))
    // The server notices at once that a page has gone.
    streams.removeLast()
    try TestSupport.wait(for: "room", seconds: 5) {
      let stream = try visitor.events(of: tab)
      return (try? stream.next())?.contains("event: changed") == true
    }
  }

  func testConnectionsThatSayNothingDoNotKeepOthersOut() throws {
    let server = try Site().serve(descriptors: 128)
    let idle = try (0..<300).map { _ in try Connection(port: server.port) }
    func expectAnswers() throws {
      for _ in 0..<5 {
        let answer = try HTTP.send("GET", "/health", port: server.port)
        XCTAssertEqual(answer.status, 200)
      }
    }
    try expectAnswers()
    // Nor do those that say a little.
    let slow = try (0..<300).map { _ in
      let connection = try Connection(port: server.port)
      connection.write(
        Data("POST /tabs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\na".utf8))
      return connection
    }
    try expectAnswers()
    XCTAssertEqual(server.words.split(separator: "\n").count, 1, server.words)
    withExtendedLifetime((idle, slow)) {}
  }

  func testPagesThatListenDoNotKeepOthersOutOfDescriptors() throws {
    let site = try Site()
    let server = try site.serve(descriptors: 128)
    var streams: [Events] = []
    // As many as the server takes.
    users: for name in ["Ann", "Eve", "Bob", "Zoe"] {
      let visitor = Visitor(server)
      let tab = try visitor.signIn(name)
      for _ in 0..<30 {
        let stream = try visitor.events(of: tab)
        guard (try? stream.next(within: 2)) != nil else { break users }
        streams.append(stream)
      }
    }
    XCTAssertTrue(server.isRunning, server.words)
    XCTAssertGreaterThan(streams.count, 30)
    streams = []
    try TestSupport.wait(for: "room") {
      (try? HTTP.send("GET", "/health", port: server.port))?.status == 200
    }
    XCTAssertEqual(server.words.split(separator: "\n").count, 1, server.words)
  }

  func testARequestThatIsNotWholeInTimeIsClosedAlsoIfItsBytesComeNowAndThen() throws {
    let visitor = Visitor(try Site().serve("--request-seconds", "1"))
    let tab = try visitor.signIn("Ann")
    let events = try visitor.events(of: tab)
    XCTAssertTrue(try events.next().contains("event: changed"))
    let head = "POST /tabs HTTP/1.1\r\nHost: localhost\r\n"
    for beginning in ["GET /", head, head + "Content-Length: 100000\r\n\r\n"] {
      let connection = try Connection(port: visitor.server.port)
      let start = Date()
      var isOpen = true
      for byte in beginning.utf8 { connection.write(Data([byte])) }
      while isOpen, Date().timeIntervalSince(start) < 10 {
        connection.write(Data("a".utf8))
        isOpen = !connection.isClosed(within: 0.1)
      }
      XCTAssertFalse(isOpen, beginning)
    }
    // An answer may take as long as it likes, and a connection may ask once more.
    try visitor.tell(["page": "a", "number": 1, "search": "tea"], in: tab)
    XCTAssertTrue(try events.next().contains(#""revision":"1""#))
    XCTAssertFalse(events.connection.isClosed(within: 2))
  }
}
