import ArchiveCodec
import Crypto
import Foundation
import RestorationKit
import RestorationPostgreSQL
import RestorationSharing
import TestSupport
import WebCatalogKit
import XCTest

/// After an account is removed, nobody can read what was stored for it, and nothing is left over.
final class RemovalTests: XCTestCase {
  func testARemovedAccountLeavesNothing() throws {
    let site = try Site(usesDatabase: true)
    let visitor = Visitor(try site.serve())
    let keys = try site.names(in: "keys")
    let tab = try visitor.signIn("Ann")
    _ = try visitor.path(of: visitor.post("/tabs"))
    _ = try visitor.link(of: tab)
    let cookies = visitor.cookies
    let before = try site.names(in: "states")
    XCTAssertEqual(before.count { $0.hasPrefix("tab-") }, 2)
    XCTAssertEqual(before.count { $0.hasPrefix("web.session") }, 2)
    try visitor.post("/account/remove", tokenOf: "/")
    let after = try (site.names(in: "states"), site.names(in: "keys"))
    XCTAssertEqual(after.0, ["web.signatures"])
    XCTAssertEqual(after.1, keys)
    // Who has the old cookie, and who takes the name after that, are other users.
    visitor.cookies = cookies
    XCTAssertTrue(try visitor.get(tab).text.contains("Passphrase"))
    let later = Visitor(visitor.server)
    _ = try later.signIn("Ann")
    XCTAssertEqual(try later.get(tab).status, 404)
  }

  func testARequestUnderWayWhileItsAccountIsRemovedLeavesNothing() throws {
    let site = try Site()
    let server = try site.serve()
    let keys = try site.names(in: "keys")
    for round in 0..<10 {
      let visitor = Visitor(server)
      let tab = try visitor.signIn("Ann")
      let token = try visitor.token(of: tab)
      // Each of them has a thread of its own.
      nonisolated(unsafe) let visitors = (0..<6).map { _ in
        Visitor(server, cookies: visitor.cookies)
      }
      DispatchQueue.concurrentPerform(iterations: visitors.count) { number in
        let path = number == 0 ? "/account/remove" : "/tabs"
        if number == 0 { Thread.sleep(forTimeInterval: 0.001 * Double(round)) }
        _ = try? visitors[number].post(path, [:], token: token)
      }
      // Whoever was last takes away what it has made.
      let after = try (site.names(in: "states"), site.names(in: "keys"))
      XCTAssertEqual(after.0, ["web.signatures"], "round \(round)")
      XCTAssertEqual(after.1, keys, "round \(round)")
    }
  }

  /// A backup of the states has it also when the account is gone.
  func testALinkOpensNothingWithoutTheKeyOfItsUser() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    try visitor.tell(["page": "a", "number": 1, "search": "blue teapots"], in: tab)
    let link = try visitor.link(of: tab)
    let name = try XCTUnwrap(try site.stored("web.handover").first)
    let stored = try Data(contentsOf: try XCTUnwrap(try site.files()[name]))
    let lines = stored.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
    struct Entry: Decodable { let sealed: Data }
    let sealed = try JSONDecoder().decode(Entry.self, from: lines[2]).sealed
    var bytes = Array(SHA256.hash(data: Data("key\n\(link)".utf8)))
    let key = try bytes.withUnsafeMutableBytes { try ArchiveKey(moving: $0) }
    let inner = try ArchiveDecoder().decode(
      Data.self, from: Array(sealed), key: key,
      context: ArchiveContext(["org.restorationkit.web-catalog", "handover"]))
    XCTAssertGreaterThan(inner.count, 100)
    XCTAssertNil(inner.range(of: Data("blue teapots".utf8)))
  }

  func testARemovalThatCannotDestroyTheKeyRemovesNothingAndIsTriedAgain() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let keys = try site.names(in: "keys")
    let tab = try visitor.signIn("Ann")
    let before = try (site.names(in: "states"), site.names(in: "keys"))
    let lock = site.file("data/keys/lock")
    try FileManager.default.removeItem(atPath: lock)
    // Nobody can open this as a file, root neither.
    try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
    let answer = try visitor.post("/account/remove")
    XCTAssertEqual(answer.status, 503)
    XCTAssertTrue(answer.text.contains("Your account could not be removed. Try again"), answer.text)
    try FileManager.default.removeItem(atPath: lock)
    let after = try (site.names(in: "states"), site.names(in: "keys"))
    XCTAssertEqual(after.0, before.0)
    XCTAssertEqual(after.1, before.1)
    XCTAssertEqual(try visitor.get(tab).status, 200)
    XCTAssertEqual(try visitor.post("/account/remove").status, 303)
    let end = try (site.names(in: "states"), site.names(in: "keys"))
    XCTAssertEqual(end.0, ["web.signatures"])
    XCTAssertEqual(end.1, keys)
  }

  func testAnOldCookieMakesNoKeyAtAnyServerAndATabThatIsOpenThereLeavesNothing() throws {
    let site = try Site(usesDatabase: true)
    let options = ["--close-after", "0.4", "--heartbeat-seconds", "0.2"]
    let servers = [try site.serve(), try site.serve(options)]
    let visitor = Visitor(servers[0])
    let keys = try site.names(in: "keys")
    let tab = try visitor.signIn("Ann")
    let token = try visitor.token(of: tab)
    let copied = visitor.cookies
    let elsewhere = Visitor(servers[1], cookies: copied)
    let events = try elsewhere.events(of: tab)
    XCTAssertTrue(try events.next().contains("event: changed"))
    try visitor.post("/account/remove")
    for server in servers {
      let visitor = Visitor(server, cookies: copied)
      func copyOfTheCookie() -> Visitor { Visitor(server, cookies: copied) }
      for path in ["/", tab, "\(tab)?search=x", "\(tab)/events"] {
        let text = try copyOfTheCookie().get(path).text
        XCTAssertTrue(text.contains("Passphrase") || text.contains("Sign in first."), path)
      }
      let change: [String: Any] = ["page": "a", "number": 1, "search": "x"]
      XCTAssertEqual(try visitor.tell(change, in: tab, token: token).status, 401)
      for path in ["/tabs", "\(tab)/edit", "\(tab)/link", "\(tab)/close", "/account/remove"] {
        let answer = try copyOfTheCookie().post(path, ["do": "begin"], token: token)
        XCTAssertTrue([401, 403].contains(answer.status), "\(path): \(answer.status)")
      }
    }
    // The page at the other server is ended, and its tab is closed after that.
    try TestSupport.wait(for: "the end of the tab at the other server") {
      try elsewhere.operatorsPage().contains("0 open at this server, 0 stored")
    }
    let after = try (site.names(in: "states"), site.names(in: "keys"))
    XCTAssertEqual(after.0, ["web.signatures"])
    XCTAssertEqual(after.1, keys)
    withExtendedLifetime(events) {}
  }

  func testATabThatIsClosedAtOneServerAndChangedAtAnotherLeavesNothing() throws {
    let site = try Site(usesDatabase: true)
    let (first, second) = (Visitor(try site.serve()), Visitor(try site.serve()))
    let tab = try first.signIn("Ann")
    let before = try site.names(in: "states").filter { $0.hasPrefix("web.account") }
    second.cookies = first.cookies
    let token = try second.token(of: tab)
    try first.post("\(tab)/close")
    let change: [String: Any] = ["page": "a", "number": 1, "search": "tea"]
    XCTAssertEqual(try second.tell(change, in: tab, token: token).status, 404)
    let after = try site.names(in: "states")
    XCTAssertEqual(after, before + ["web.signatures"])
  }
}

extension Site {
  /// The names of all that servers have stored, in order; in a database, if they share one.
  fileprivate func names(in part: String) throws -> [String] {
    let store: any RemoteStateStore =
      if let database {
        try PostgreSQLStateStore(
          database.connection,
          options: PostgreSQLStateStore.Options(schema: "\(database.schema)_\(part)"))
      } else {
        try FolderStore(file("data/\(part)"))
      }
    return try result { try await store.names(prefix: "").sorted() }
  }
}
