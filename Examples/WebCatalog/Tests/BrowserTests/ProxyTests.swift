import Foundation
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

  // MARK: Connections

  private let directory = FileManager.default.temporaryDirectory
    .appending(path: "web-catalog-\(UUID().uuidString)")

  override func tearDown() {
    try? FileManager.default.removeItem(at: directory)
  }

  /// Requests of a client that are all under way at once.
  private func ask(_ count: Int, from host: UInt8, _ proxy: Proxy) throws -> [HTTP.Asked] {
    try (0..<count).map { _ in
      let asked = try HTTP.begin("GET", "/", port: proxy.port, from: host)
      asked.connection.resetAtEnd()
      return asked
    }
  }

  func testAnAddressHas200RequestsAtOnceAndNineHaveAsManyEach() throws {
    try allowFiles(8192)
    let server = try SilentServer()
    let proxy = try Proxy(toPorts: [server.port], in: directory)
    var held: [HTTP.Asked] = []
    for host in 1...9 as ClosedRange<UInt8> {
      held += try ask(200, from: host, proxy)
      try TestSupport.wait(for: "requests of 127.0.0.\(host)") { server.heldCount == held.count }
      for refused in try ask(10, from: host, proxy) { XCTAssertEqual(try refused.status(), 429) }
    }
    XCTAssertEqual(server.heldCount, 1800)
    withExtendedLifetime(held) {}
  }

  func testItsProcessMayHaveMoreFilesThanUsual() throws {
    let server = try SilentServer()
    let proxy = try Proxy(toPorts: [server.port], in: directory, descriptors: 256)
    let held = try ask(150, from: 2, proxy) + ask(150, from: 3, proxy)
    try TestSupport.wait(for: "all requests") { server.heldCount == held.count }
  }

  func testConnectionsWithoutAWholeHeaderKeepNobodyOut() throws {
    try allowFiles(8192)
    let server = try SilentServer()
    let proxy = try Proxy(toPorts: [server.port], in: directory)
    let idle = try (0..<4600).map { number in
      let connection = try Connection(port: proxy.port)
      connection.resetAtEnd()
      if number % 2 == 1 { connection.write(Data("GET / HTTP/1.1\r\nHo".utf8)) }
      return connection
    }
    for _ in 0..<20 {
      XCTAssertEqual(try HTTP.send("GET", "/health", port: proxy.port).status, 200)
    }
    withExtendedLifetime(idle) {}
  }

  func testAConnectionThatSaysNothingMoreIsClosedSoon() throws {
    let server = try SilentServer()
    let proxy = try Proxy(toPorts: [server.port], in: directory)
    let words = [
      "", "GET / HTTP/1.1\r\nHo",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\na",
      "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ]
    let connections = try words.map { _ in try Connection(port: proxy.port) }
    let deadline = Date(timeIntervalSinceNow: 30)
    for (connection, words) in zip(connections, words) { connection.write(Data(words.utf8)) }
    for (connection, words) in zip(connections, words) {
      XCTAssertTrue(connection.isClosed(within: deadline.timeIntervalSinceNow), words)
    }
  }
}
