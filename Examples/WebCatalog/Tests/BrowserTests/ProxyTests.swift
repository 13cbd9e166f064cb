import TestSupport
import XCTest

/// What the proxy does for the servers.
final class ProxyTests: XCTestCase {
  func testWhoeverTriesManyPassphrasesHasToWait() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let proxy = try Proxy(to: [server], in: site.directory)
    let statuses = try (0..<30).map { _ in
      try HTTP.send("POST", "/sign-in", port: proxy.port).status
    }
    // The server refuses a form without its token; the proxy asks it no more after some tries.
    XCTAssertEqual(statuses.first, 403)
    XCTAssertEqual(statuses.last, 429)
    XCTAssertLessThan(statuses.count { $0 == 403 }, 20)
    XCTAssertEqual(try HTTP.send("POST", "/sign-in/", port: proxy.port).status, 429)
    XCTAssertEqual(try HTTP.send("POST", "//sign-in//", port: proxy.port).status, 429)
    XCTAssertEqual(try HTTP.send("GET", "/", port: proxy.port).status, 200)
    XCTAssertEqual(try HTTP.send("POST", "/tabs", port: proxy.port).status, 403)
  }
}
