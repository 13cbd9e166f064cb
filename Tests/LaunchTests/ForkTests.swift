import Glibc
import TestSupport
import XCTest

/// Apps that fork, and go on in the fork.
final class ForkTests: XCTestCase {
  func testASignalToAForkIsTheForksAlone() throws {
    let home = try TemporaryDirectory()
    let (app, child) = try begin(home)
    kill(child, SIGTERM)
    XCTAssertEqual(try app.line(), "child killed by \(SIGTERM)")
    XCTAssertEqual(try app.line(), "soon")
    XCTAssertEqual(try app.ask("+"), "count 2")
    try app.endInput()
    XCTAssertEqual(app.ending(), .exited(0))
    XCTAssertEqual(try LaunchedApp("Forking", home: home).line(), "count 2 in main")
  }

  func testTheExitOfAForkWaitsForNothingAndEndsNothing() throws {
    let home = try TemporaryDirectory()
    let app = try LaunchedApp("Forking", "exits", home: home)
    XCTAssertEqual(try app.line(), "count 0 in main")
    XCTAssertEqual(try app.line(), "child exited")
    XCTAssertEqual(try app.line(), "soon")
    XCTAssertEqual(try app.ask("+"), "count 2")
    try app.endInput()
    XCTAssertEqual(app.ending(), .exited(0))
    XCTAssertEqual(try LaunchedApp("Forking", home: home).line(), "count 2 in main")
  }

  func testAForkThatOutlivesTheAppDoesNotKeepItsState() throws {
    let home = try TemporaryDirectory()
    let (app, child) = try begin(home)
    defer { kill(child, SIGKILL) }
    app.signal(SIGKILL)
    // The fork has a copy of the pipe by which `Process` learns of the end.
    var end = siginfo_t()
    waitid(P_PID, id_t(app.process.processIdentifier), &end, WEXITED | WNOWAIT)
    XCTAssertEqual(kill(child, 0), 0)
    XCTAssertEqual(try LaunchedApp("Forking", home: home).line(), "count 1 in main")
  }

  func testWhileTheAppLivesItsStateIsItsOwn() throws {
    let home = try TemporaryDirectory()
    let (app, child) = try begin(home)
    XCTAssertEqual(try LaunchedApp("Forking", home: home).line(), "count 0 in main~2")
    kill(child, SIGKILL)
    XCTAssertEqual(app.end(by: SIGKILL), .killed(by: SIGKILL))
  }

  /// Starts an app, and gives the number of its fork, which waits.
  private func begin(_ home: TemporaryDirectory) throws -> (LaunchedApp, pid_t) {
    let app = try LaunchedApp("Forking", "waits", home: home)
    XCTAssertEqual(try app.line(), "count 0 in main")
    let child = try XCTUnwrap(app.line()?.split(separator: " ").last.flatMap { pid_t($0) })
    return (app, child)
  }
}
