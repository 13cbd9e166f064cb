import TestSupport
import XCTest

/// What was typed, in apps that are killed.
final class TypedWordsTests: XCTestCase {
  func testAnOlderVersionThatIsKilledTakesNothingFromTheNewerOne() throws {
    let home = try TemporaryDirectory()
    var app = try LaunchedApp("TwoVersions", "newer", home: home)
    XCTAssertEqual(try app.line(), #"["contents", "[7, 8] at 0"]"#)
    XCTAssertEqual(try app.ask("move"), "stored")
    XCTAssertEqual(app.end(by: SIGKILL), .killed(by: SIGKILL))
    for cursor in 1...2 {
      app = try LaunchedApp("TwoVersions", "older", home: home)
      XCTAssertEqual(try app.line(), #"["0 at \#(cursor)"]"#)
      XCTAssertEqual(try app.ask("move"), "stored")
      XCTAssertEqual(app.end(by: SIGKILL), .killed(by: SIGKILL))
    }
    app = try LaunchedApp("TwoVersions", "newer", home: home)
    XCTAssertEqual(try app.line(), #"["contents", "[7, 8] at 3"]"#)
    XCTAssertEqual(app.end(by: SIGTERM), .killed(by: SIGTERM))
  }

  func testWordsThatALateRestoreReplacesAreInTheStateOfAnAppThatIsKilled() throws {
    let home = try TemporaryDirectory()
    var app = try LaunchedApp("Drive", "mounted", home: home)
    XCTAssertEqual(try app.line(), "")
    XCTAssertEqual(try app.ask("one"), "one, 0 kept")
    XCTAssertEqual(app.end(by: SIGKILL), .killed(by: SIGKILL))
    app = try LaunchedApp("Drive", home: home)
    XCTAssertEqual(try app.line(), "")
    XCTAssertEqual(try app.ask("two"), "two, 1 kept")
    XCTAssertEqual(app.end(by: SIGKILL), .killed(by: SIGKILL))
    // What did not decode before is what the launch offers first; the words after it are kept.
    let back = "one"
    app = try LaunchedApp("Drive", "mounted", home: home)
    XCTAssertEqual(try app.line(), back)
    XCTAssertEqual(try app.ask("mount"), "one, 1 kept")
    XCTAssertEqual(app.end(by: SIGKILL), .killed(by: SIGKILL))
    app = try LaunchedApp("Drive", "mounted", home: home)
    XCTAssertEqual(try app.line(), "one")
    XCTAssertEqual(try app.ask("one and more"), "one and more, 1 kept")
    XCTAssertEqual(app.end(by: SIGKILL), .killed(by: SIGKILL))
  }
}
