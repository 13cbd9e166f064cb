import Foundation
import TestSupport
import XCTest

/// Keys of users under a master key.
final class KeyTests: XCTestCase {
  /// The steps of the README; at each of them all servers that run read what the others store.
  func testTheMasterKeyIsChangedWhileServersRun() throws {
    let site = try Site(usesDatabase: true)
    var users: [User] = []
    let old = try site.serve()
    try useAll([old], &users)
    XCTAssertEqual(
      try site.run("--master-key", site.file("new"), "--make-master-key"),
      "The master key is in \(site.file("new")).\n")

    let both = try site.serve("--former-master-key", site.file("new"))
    try useAll([old, both], &users)
    try old.kill()
    let new = try site.serve(masterKey: "new", "--former-master-key", site.file("key"))
    try useAll([both, new], &users)
    try both.kill()
    let rotation = [
      "--master-key", site.file("new"), "--former-master-key", site.file("key"), "--rotate-keys",
    ]
    // Those of the names, of the servers, and of all users but the one whose key the last one made.
    XCTAssertEqual(try site.run(rotation), "6 keys are sealed anew, 1 were before.\n")
    XCTAssertEqual(try site.run(rotation), "0 keys are sealed anew, 7 were before.\n")
    try FileManager.default.removeItem(atPath: site.file("key"))
    try useAll([new, try site.serve(masterKey: "new")], &users)
  }

  private struct User {
    let cookies: [String: String]
    let tab: String
    let word: String
  }

  /// Another user signs in at each server; then all users of before find their tabs at each, and
  /// make others.
  private func useAll(_ servers: [Server], _ users: inout [User]) throws {
    for server in servers {
      let (visitor, word) = (Visitor(server), "word \(users.count)")
      let tab = try visitor.signIn("User \(users.count)")
      XCTAssertEqual(
        try visitor.tell(["page": "a", "number": 1, "search": word], in: tab).status, 200)
      users.append(User(cookies: visitor.cookies, tab: tab, word: word))
    }
    for (user, server) in users.flatMap({ user in servers.map { (user, $0) } }) {
      let visitor = Visitor(server, cookies: user.cookies)
      let page = try visitor.get(user.tab).text
      XCTAssertTrue(page.contains(#"type="search" value="\#(user.word)""#), "\(user.word): \(page)")
      XCTAssertEqual(try visitor.get(visitor.path(of: visitor.post("/tabs"))).status, 200)
    }
  }

  /// A copy of all that the servers store, but for the keys, is put back after the removal.
  func testABackupOfARemovedUserCannotBeRead() throws {
    let site = try Site()
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let cookies = visitor.cookies
    try FileManager.default.copyItem(atPath: site.file("data/states"), toPath: site.file("backup"))
    try visitor.post("/account/remove", tokenOf: "/")
    _ = try visitor.server.stop()
    try FileManager.default.removeItem(atPath: site.file("data/states"))
    try FileManager.default.moveItem(atPath: site.file("backup"), toPath: site.file("data/states"))
    visitor.server = try site.serve()
    visitor.cookies = cookies
    let answer = try visitor.get(tab)
    XCTAssertEqual(answer.status, 503)
    XCTAssertTrue(answer.text.contains("This tab cannot be read."), answer.text)
  }
}
