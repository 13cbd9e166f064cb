import Foundation
import TestSupport
import XCTest

/// What pages of other sites can have a browser do here.
final class OtherSitesTests: XCTestCase {
  func testALinkOnAPageOfAnotherSiteChangesNothing() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let browser = try Chromium(in: site.directory)
    try browser.signIn("Ann", at: server.port)
    let tab = try browser.text("location.pathname")
    let visitor = Visitor(server, cookies: ["session": try browser.cookie("session")])
    let before = try visitor.get(tab).text
    let page = site.directory.appending(path: "page.html")
    let address = "http://localhost:\(server.port)\(tab)"
    try """
    <a href="\(address)?search=link">x</a>
    <form action="\(address)"><input name="search" value="form"><button>x</button></form>
    """.write(to: page, atomically: true, encoding: .utf8)
    for element in ["a", "button"] {
      try browser.open(page.absoluteString)
      try browser.click(element)
      try browser.wait(until: "document.body.innerText.includes('Another site has led you here')")
      XCTAssertEqual(try visitor.get(tab).text, before, element)
    }
    // A way back that works.
    try browser.click(".card a")
    try browser.wait(until: "document.querySelector('li a')")
    try browser.click("li a")
    try browser.wait(until: "document.getElementById('tab')")
  }
}
