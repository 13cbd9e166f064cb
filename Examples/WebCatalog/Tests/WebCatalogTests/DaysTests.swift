import Foundation
import TestSupport
import XCTest

/// Users who come back after days, at servers whose clocks are ahead.
final class DaysTests: XCTestCase {
  func testATabComesBackAfter29DaysAndAfter31ItsUserSignsInAgain() throws {
    let site = try Site(usesDatabase: true)
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    try visitor.tell(["page": "a", "number": 1, "search": "teapots"], in: tab)
    let cookies = visitor.cookies
    try visitor.server.kill()
    let later = Visitor(try site.serve(days: 29), cookies: cookies)
    let page = try later.get(tab).text
    XCTAssertTrue(page.contains(#"type="search" value="teapots""#), page)

    let tooLate = Visitor(try site.serve(days: 31), cookies: cookies)
    XCTAssertTrue(try tooLate.get(tab).text.contains("Passphrase"))
    _ = try tooLate.signIn("Ann")
    XCTAssertTrue(try tooLate.get(tab).text.contains(#"type="search" value="teapots""#))
  }

  func testACookieIsRenewedWhenHalfOfItsTimeIsOverSoThatWhoComesOftenStaysSignedIn() throws {
    let site = try Site(usesDatabase: true)
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    let first = try XCTUnwrap(visitor.cookies["session"])
    visitor.server = try site.serve(days: 14)
    XCTAssertNil(try visitor.get(tab)["Set-Cookie"])
    visitor.server = try site.serve(days: 16)
    let renewed = try XCTUnwrap(visitor.get(tab)["Set-Cookie"])
    // What is said of a cookie comes in any order.
    XCTAssertTrue(renewed.components(separatedBy: "; ").contains("Max-Age=2592000"), renewed)
    XCTAssertNil(try visitor.get(tab)["Set-Cookie"])
    // A page that was loaded before can still send its form.
    XCTAssertEqual(try visitor.post("/tabs", [:], token: token).status, 303)
    for days in [45, 74, 103] {
      visitor.server = try site.serve(days: days)
      XCTAssertTrue(try visitor.get(tab).text.contains("Sign out Ann"), "\(days)")
    }
    visitor.cookies["session"] = first
    XCTAssertTrue(try visitor.get(tab).text.contains("Passphrase"))
  }

  func testASignOutEndsACopyThatWasRenewedLaterThanTheCookieThatSignsOut() throws {
    let site = try Site(usesDatabase: true)
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    let copy = Visitor(try site.serve(days: 16), cookies: visitor.cookies)
    XCTAssertNotNil(try copy.get(tab)["Set-Cookie"])
    visitor.server = try site.serve(days: 20)
    XCTAssertEqual(try visitor.post("/sign-out", [:], token: token).status, 303)
    // By now the first cookie is too old, and somebody signs out: sign-outs that no cookie needs
    // any more are forgotten.
    let another = Visitor(try site.serve(days: 40))
    _ = try another.signIn("Ann")
    try another.post("/sign-out")
    copy.server = another.server
    XCTAssertTrue(try copy.get(tab).text.contains("Passphrase"))
  }
}

extension Site {
  fileprivate func serve(days: Int) throws -> Server {
    try serve("--days-ahead", "\(days)")
  }
}
