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

  func testWhoeverTriesManyTokensOfTheOperatorsHasToWait() throws {
    let site = try Site(usesDatabase: true)
    let server = try site.serve()
    let proxy = try Proxy(to: [server], in: site.directory)
    func status(_ path: String = "/operators") throws -> Int {
      try HTTP.send("GET", path, port: proxy.port, headers: ["Authorization": "Bearer guess"])
        .status
    }
    let statuses = try (0..<60).map { _ in try status() }
    XCTAssertEqual(statuses.first, 401)
    XCTAssertEqual(statuses.last, 429)
    XCTAssertLessThan(statuses.count { $0 == 401 }, 40)
    XCTAssertEqual(try status("/operators/"), 429)
    XCTAssertEqual(try status("//operators//?after=0"), 429)
    XCTAssertEqual(try HTTP.send("GET", "/", port: proxy.port).status, 200)
  }

  func testPagesOfOneUserDoNotKeepOthersOut() throws {
    let site = try Site(usesDatabase: true)
    let servers = [try site.serve(), try site.serve()]
    let proxy = try Proxy(to: servers, in: site.directory)
    let visitor = Visitor(servers[0])
    let tab = try visitor.signIn("Ann")
    let cookies = ["Cookie": "session=\(visitor.cookies["session"] ?? "")"]
    let streams = try (0..<256).map { _ in
      try HTTP.begin("GET", "\(tab)/events", port: proxy.port, headers: cookies)
    }
    // Each was answered, or waits for events.
    let refused = try streams.map { try $0.status() }
    XCTAssertEqual(Set(refused), [200, 429])
    XCTAssertLessThanOrEqual(refused.count { $0 == 200 }, 50)
    for _ in 0..<20 {
      XCTAssertEqual(try HTTP.send("GET", "/", port: proxy.port).status, 200)
      let answer = try HTTP.send("GET", tab, port: proxy.port, headers: cookies)
      XCTAssertEqual(answer.status, 200)
    }
    withExtendedLifetime(streams) {}
  }
}
