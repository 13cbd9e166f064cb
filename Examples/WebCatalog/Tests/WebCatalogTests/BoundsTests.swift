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
}
