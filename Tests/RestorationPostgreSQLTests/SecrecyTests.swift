#if PostgreSQL
import Foundation
import RestorationKit
import RestorationPostgreSQL
import TestSupport
import XCTest

/// No password is in any text.
final class SecrecyTests: StoreTestCase {
  private func assertSays(
    nothingOf secrets: [String], _ text: String, file: StaticString = #filePath,
    line: UInt = #line
  ) {
    for secret in secrets {
      XCTAssertFalse(text.contains(secret), text, file: file, line: line)
    }
  }

  private func texts(of store: PostgreSQLStateStore) -> String {
    var dumped = ""
    dump(store, to: &dumped)
    return "\(store) \(String(reflecting: store)) \(store.location) \(dumped)"
  }

  func testNoTextHasThePasswordWhateverFormTheConnectionStringHas() async throws {
    let port = server.port
    let folder = try TemporaryDirectory()
    try folder.write(Array("127.0.0.1:*:*:*:s3cr@t\n".utf8), to: "pass")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: folder.child("pass"))
    let strings = [
      "postgresql://restoration:s3cr%40t@127.0.0.1:\(port)/postgres",
      "postgres://restoration:s3cr%40t@127.0.0.1:\(port)/postgres?connect_timeout=9",
      "postgresql://127.0.0.1:\(port)/postgres?user=restoration&password=s3cr%40t",
      "host=127.0.0.1 port=\(port) dbname=postgres user=restoration password=s3cr@t",
      "host=127.0.0.1 port=\(port) dbname=postgres user=restoration password='s3cr@t'",
      "host=127.0.0.1 port=\(port) dbname=postgres user=restoration password=s3cr\\@t",
      "host=127.0.0.1 port=\(port) dbname=postgres user=restoration "
        + "passfile='\(folder.child("pass"))'",
    ]
    for string in strings {
      let store = try makeStore(string)
      XCTAssertEqual(store.location, "postgresql://127.0.0.1:\(port)/postgres")
      let error = await assertStoreError(.refused) { try await store.load("a") }
      let text = error.map { "\($0) \(String(reflecting: $0)) \($0.localizedDescription)" } ?? ""
      assertSays(nothingOf: ["s3cr", "%40t"], "\(text) \(texts(of: store))")
    }
  }

  func testAPasswordThatTheServerRepeatsIsLeftOut() async throws {
    // The last two are equal to other bytes, and to what stands in their place.
    for secret in ["hunter2", "e\u{301}", "…"] {
      let store = try makeStore(
        server.connectionString {
          $0.user = "user \(secret)"
          $0.password = secret
        })
      let error = await assertStoreError(.refused) { try await store.load("a") }
      XCTAssertEqual(
        error.map { "\($0)".contains("authentication failed for user \"user …\"") }, true,
        "\(error.map { "\($0)" } ?? "")")
    }
  }

  func testAConnectionStringThatCannotBeReadIsNotRepeated() throws {
    let strings = [
      "postgresql://ada:s3cr@t@db/states", "postgresql://ada:s3/cr@db/states",
      "postgresql://ada:12/s3cr@db/states", "postgresql://ada:s3cr@db:t0/states",
      "postgresql://ada:s3?cr@@db/states", "postgresql://ada:s3cr@db:5x,other:6/states",
      "host=db password=s3 cr", "host=db password='s3cr", "password=s3cr pass=t", "s3cr",
      "host=db dbname=postgresql://ada:s3cr@db/states", "host=db dbname='password=s3cr'",
      "host=ada:s3cr@db", "host=a,b,c port=1,2 password=s3cr",
      "host=a,b hostaddr=127.0.0.1 password=s3cr",
    ]
    for string in strings {
      XCTAssertThrowsError(try PostgreSQLStateStore(string), string) { error in
        XCTAssertEqual((error as? RemoteStoreError)?.code, .refused)
        assertSays(nothingOf: ["s3", "cr@", "t0", "12", "5x"], "\(error)")
      }
    }
    for string in [
      "postgresql://ada:s3cr%40%2F@db/states?application_name=a@b", "postgresql://",
      "postgresql://ada@db:1,other:2/states", "postgresql://[::1]:5/states",
    ] {
      let store = try PostgreSQLStateStore(string)
      assertSays(nothingOf: ["s3cr", "ada"], texts(of: store))
    }
  }
}
#endif
import RestorationSharing
