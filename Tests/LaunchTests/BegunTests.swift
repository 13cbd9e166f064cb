import Foundation
import TestSupport
import XCTest

/// What `Restoration.begin` does by itself in a process of the README's kind.
final class BegunTests: XCTestCase {
  func testAValueComesBackAfterEachEnd() throws {
    let home = try TemporaryDirectory()
    for isNow in [false, true] {
      let program = isNow ? "CountingNow" : "Counting"
      let first = isNow ? 4 : 0
      var app = try LaunchedApp(program, home: home, isNow: isNow)
      XCTAssertEqual(try app.line(), "count \(first)")
      XCTAssertEqual(try app.ask("+"), "count \(first + 1)")
      XCTAssertEqual(app.end(by: SIGTERM), .killed(by: SIGTERM))
      app = try LaunchedApp(program, home: home, isNow: isNow)
      XCTAssertEqual(try app.line(), "count \(first + 1)")
      XCTAssertEqual(try app.ask("+"), "count \(first + 2)")
      try app.endInput()
      XCTAssertEqual(app.ending(), .exited(0))
      app = try LaunchedApp(program, home: home, isNow: isNow)
      XCTAssertEqual(try app.line(), "count \(first + 2)")
      for count in 3...4 { XCTAssertEqual(try app.ask("+"), "count \(first + count)") }
      app.signal(SIGINT)
      XCTAssertEqual(app.ending(), .killed(by: SIGINT))
    }
  }

  func testTheWindowsOfTheReadmeComeBackAfterASignalAndAfterAKill() throws {
    let home = try TemporaryDirectory()
    var app = try LaunchedApp("ReadmeWindows", home: home)
    XCTAssertEqual(try app.line(), "problems 0")
    XCTAssertEqual(try app.line(), #"drafts [""]"#)
    XCTAssertEqual(try app.ask("Milk"), "typed")
    XCTAssertEqual(app.end(by: SIGTERM), .killed(by: SIGTERM))
    app = try LaunchedApp("ReadmeWindows", home: home)
    XCTAssertEqual(try app.line(), "problems 0")
    XCTAssertEqual(try app.line(), #"drafts ["Milk"]"#)
    for line in ["open", "!"] {
      XCTAssertEqual(try app.ask(line), "typed")
      XCTAssertEqual(try app.line(), "stored")
    }
    XCTAssertEqual(app.end(by: SIGKILL), .killed(by: SIGKILL))
    app = try LaunchedApp("ReadmeWindows", home: home)
    XCTAssertEqual(try app.line(), "problems 0")
    XCTAssertEqual(try app.line(), #"drafts ["!", "Milk!"]"#)
    try app.endInput()
    XCTAssertEqual(app.ending(), .exited(0))
  }
}
