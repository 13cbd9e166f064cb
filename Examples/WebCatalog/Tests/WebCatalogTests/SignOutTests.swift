import Foundation
import TestSupport
import XCTest

/// After a sign-out nobody has any use for a cookie that somebody has copied.
final class SignOutTests: XCTestCase {
  func testACopyOfACookieIsOfNoUseAtAnyServerAfterASignOut() throws {
    let site = try Site(usesDatabase: true)
    let servers = [try site.serve(), try site.serve()]
    let visitor = Visitor(servers[0])
    let tab = try visitor.signIn("Ann")
    let (copied, token) = (visitor.cookies, try visitor.token(of: tab))
    let elsewhere = Visitor(servers[1])
    _ = try elsewhere.signIn("Ann")
    for server in servers {
      XCTAssertTrue(try Visitor(server, cookies: copied).get(tab).text.contains("Sign out Ann"))
    }
    let before = try elsewhere.get(tab).text

    try visitor.post("/sign-out")
    for server in servers {
      for path in ["/", tab, tab + "?search=x", "/continue/\(String(repeating: "0", count: 32))"] {
        let page = try Visitor(server, cookies: copied).get(path).text
        XCTAssertTrue(page.contains("Passphrase"), path)
        XCTAssertFalse(page.contains("Ann"), path)
      }
      // It would not end if it were answered.
      let events = try Visitor(server, cookies: copied).events(of: tab).connection
      let head = String(decoding: try events.read(within: 10) ?? Data(), as: UTF8.self)
      XCTAssertTrue(head.hasPrefix("HTTP/1.1 401 "), head)
      let change: [String: Any] = ["page": "a", "number": 1, "search": "x"]
      let told = try Visitor(server, cookies: copied).tell(change, in: tab, token: token)
      XCTAssertEqual(told.status, 401)
      for path in ["/tabs", "\(tab)/edit", "\(tab)/link", "\(tab)/close", "/account/remove"] {
        let answer = try Visitor(server, cookies: copied).post(path, ["do": "x"], token: token)
        XCTAssertTrue([401, 403].contains(answer.status), "\(path): \(answer.status)")
      }
    }
    // Another device of the same user has a session of its own.
    XCTAssertEqual(try elsewhere.get(tab).text, before)
  }

  func testSigningInAgainEndsTheSessionFromBefore() throws {
    let visitor = Visitor(try Site().serve())
    _ = try visitor.signIn("Ann")
    let copied = visitor.cookies
    let token = try visitor.token()
    XCTAssertEqual(
      try visitor.post("/sign-in", ["name": "Eve", "passphrase": ""], token: token).status, 303)
    XCTAssertTrue(
      try Visitor(visitor.server, cookies: copied).get("/").text.contains("Passphrase"))
  }

  func testAPageThatListensHearsNothingMoreAfterASignOut() throws {
    let site = try Site(usesDatabase: true)
    let servers = [try site.serve("--heartbeat-seconds", "0.2"), try site.serve()]
    let visitor = Visitor(servers[0])
    let tab = try visitor.signIn("Ann")
    let events = try visitor.events(of: tab)
    XCTAssertTrue(try events.next().contains("event: changed"))
    try Visitor(servers[1], cookies: visitor.cookies).post("/sign-out")
    let end = try (0..<100).first { _ in
      let more = try events.connection.read(within: 10) ?? Data()
      return more.isEmpty || more.suffix(5) == Data("0\r\n\r\n".utf8)
    }
    XCTAssertNotNil(end, "The server goes on telling.")
  }

  func testManySignOutsTakeLittleRoomAndTheFirstOfThemStillCounts() throws {
    let site = try Site()
    let server = try site.serve()
    var copies: [[String: String]] = []
    for _ in 0..<60 {
      let visitor = Visitor(server)
      try visitor.post("/sign-in", ["name": "Ann", "passphrase": ""])
      copies.append(visitor.cookies)
      try visitor.post("/sign-out")
    }
    for cookies in copies {
      XCTAssertTrue(try Visitor(server, cookies: cookies).get("/").text.contains("Passphrase"))
    }
    let entry = try XCTUnwrap(site.files().first { $0.key.hasPrefix("web.account") }).value
    XCTAssertLessThan(try Data(contentsOf: entry).count, 5000)
    // Those that begin in the same second as one that has made room end with it.
    let visitor = Visitor(server)
    try TestSupport.wait(for: "a session that begins later") {
      try visitor.post("/sign-in", ["name": "Ann", "passphrase": ""])
      return try visitor.get("/").text.contains("Sign out Ann")
    }
  }
}
