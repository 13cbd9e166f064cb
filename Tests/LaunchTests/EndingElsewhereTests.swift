import TestSupport
import XCTest

/// Ends of an app with an `async` main that are not in its main task.
final class EndingElsewhereTests: XCTestCase {
  private func lines(_ how: String, in home: TemporaryDirectory) throws -> [String] {
    let app = try LaunchedApp("EndingElsewhere", how, home: home)
    let lines = try app.rest()
    XCTAssertEqual(app.ending(), .exited(0), how)
    return lines
  }

  func testAnExitOnAnyThreadLosesNothing() throws {
    for how in ["main", "thread", "task", "queue"] {
      let home = try TemporaryDirectory()
      XCTAssertEqual(try lines(how, in: home), ["back 0, window “”"], how)
      XCTAssertEqual(try lines(how, in: home), ["back 1, window “x”"], how)
      XCTAssertEqual(try lines(how, in: home), ["back 2, window “xx”"], how)
    }
  }

  func testAnEndNowInACallbackOfTheMainQueueStoresAll() throws {
    // A window is in the state of its keeper.
    let back = ["Restoration", "keeper", "host"].map { ($0, "back 1, window “x”") }
    for (how, stored) in back {
      let home = try TemporaryDirectory()
      XCTAssertEqual(try lines(how, in: home), ["back 0, window “”", "stored true"], how)
      let line = try XCTUnwrap(lines("main", in: home).first)
      XCTAssertTrue(line.contains(stored), "\(how): \(line)")
    }
  }

  func testABeginNowInACallbackOfTheMainQueueHasRestoredWhenItReturns() throws {
    let home = try TemporaryDirectory()
    XCTAssertEqual(try lines("beginNow", in: home), ["back 0, report", "stored true"])
    XCTAssertEqual(try lines("beginNow", in: home), ["back 1, report", "stored true"])
  }

  func testAnExitStoresTheValuesIfTheNodesCannotBeSavedUnlessTheGateSaysNo() throws {
    for (how, counts) in [("limit", [0, 1, 2]), ("gate", [0, 0, 0])] {
      let home = try TemporaryDirectory()
      for count in counts {
        let app = try LaunchedApp("Refusing", how, home: home)
        XCTAssertEqual(try app.line(), "count \(count)", how)
        XCTAssertEqual(app.ending(), .exited(0), how)
      }
    }
  }
}
