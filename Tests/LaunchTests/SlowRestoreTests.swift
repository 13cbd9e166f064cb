import Glibc
import TestSupport
import XCTest

/// Signals in the midst of a restore.
final class SlowRestoreTests: XCTestCase {
  private func home() throws -> TemporaryDirectory {
    let home = try TemporaryDirectory()
    let app = try LaunchedApp("SlowRestore", "writes", home: home)
    XCTAssertEqual(try app.line(), "restored ")
    XCTAssertEqual(app.ending(), .exited(0))
    return home
  }

  func testASignalInTheMidstOfARestoreIsNoCrash() throws {
    let home = try home()
    for number in [SIGTERM, SIGINT, SIGHUP, SIGTERM, SIGINT] {
      let app = try LaunchedApp("SlowRestore", "hangs", home: home)
      XCTAssertEqual(try app.line(), "decoding")
      XCTAssertEqual(app.end(by: number), .killed(by: number))
    }
    XCTAssertEqual(try LaunchedApp("SlowRestore", home: home).line(), "restored Milk")
  }

  func testAnAppWhoseHookNeverReturnsStartsWithoutItAfterSignals() throws {
    try LongTests.skipUnlessOn()
    let home = try home()
    // As after crashes: two lead to a launch without the element, and it is tried again after that.
    for hangs in [true, true, false, true, false] {
      let app = try LaunchedApp("SlowRestore", "hangs", home: home)
      guard hangs else {
        XCTAssertEqual(try app.line(), "restored ")
        XCTAssertEqual(app.ending(), .exited(0))
        continue
      }
      XCTAssertEqual(try app.line(), "decoding")
      XCTAssertEqual(try app.line(), "slow")
      XCTAssertEqual(app.end(by: SIGINT), .killed(by: SIGINT))
    }
  }
}
