import Glibc
import TestSupport
import XCTest

/// Ends of apps whose main actor, or whose threads, do something else.
final class BusyTests: XCTestCase {
  func testASignalStoresTheValuesWhileTheMainActorIsBusyOrAllSharedThreads() throws {
    try LongTests.skipUnlessOn()
    for how in ["threads", "main", "short"] {
      let home = try TemporaryDirectory()
      for count in 0...2 {
        let app = try LaunchedApp("Busy", how, home: home)
        XCTAssertEqual(try app.line(), "count \(count)", how)
        XCTAssertEqual(try app.line(), "busy")
        app.signal(SIGTERM)
        XCTAssertEqual(app.ending(within: 15), .killed(by: SIGTERM), how)
      }
    }
  }

  func testAChangeThatWaitsForABusyMainActorIsStoredBeforeAKill() throws {
    let home = try TemporaryDirectory()
    var app = try LaunchedApp("Busy", "stored", home: home)
    XCTAssertEqual(try app.line(), "count 0")
    XCTAssertEqual(try app.line(), "stored")
    XCTAssertEqual(app.end(by: SIGKILL), .killed(by: SIGKILL))
    // The saves that come after such a change go on.
    app = try LaunchedApp("Busy", "stored", home: home)
    XCTAssertEqual(try app.line(), "count 1")
    XCTAssertEqual(try app.line(), "stored")
    XCTAssertEqual(try app.ask(""), "free")
    XCTAssertEqual(app.ending(), .exited(0))
    app = try LaunchedApp("Busy", home: home)
    XCTAssertEqual(try app.line(), "count 12")
  }
}
