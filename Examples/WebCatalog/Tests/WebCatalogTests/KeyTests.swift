import Foundation
import TestSupport
import XCTest

/// Keys of users under a master key.
final class KeyTests: XCTestCase {
  func testTheMasterKeyIsChangedWhileServersRun() throws {
    let site = try Site(usesDatabase: true)
    let visitor = Visitor(try site.serve())
    let tab = try visitor.signIn("Ann")
    let old = visitor.server
    let new = try site.serve(
      masterKey: "new", "--former-master-key", site.file("key"))
    let words = try site.run(
      "--master-key", site.file("new"), "--former-master-key", site.file("key"), "--rotate-keys")
    XCTAssertEqual(words, "3 keys are sealed anew, 0 were before.\n")
    for (number, server) in [old, new].enumerated() {
      visitor.server = server
      XCTAssertEqual(
        try visitor.tell(["page": "a", "number": number, "search": "\(number)"], in: tab).status,
        200)
    }
    try old.kill()
    try new.kill()
    try FileManager.default.removeItem(atPath: site.file("key"))
    visitor.server = try site.serve(masterKey: "new")
    XCTAssertTrue(try visitor.get(tab).text.contains(#"type="search" value="1""#))
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
