import Glibc
import TestSupport
import XCTest

/// Signals that come in the midst of an end.
final class SignalTests: XCTestCase {
  private func launch(_ how: String, in home: TemporaryDirectory) throws -> (
    back: String?, ending: LaunchedApp.Ending
  ) {
    let app = try LaunchedApp("Signals", how, home: home)
    return (try app.line(), app.ending())
  }

  func testASignalInTheMidstOfAnEndOfTheAppItselfLosesNothing() throws {
    for how in ["Restoration", "keeper", "exit", "end"] {
      let home = try TemporaryDirectory()
      for back in ["back ", "back x", "back xx"] {
        let launch = try launch(how, in: home)
        XCTAssertEqual(launch.back, back, how)
        // The app ends itself, or the signal has ended it when all was stored.
        XCTAssertTrue([.exited(0), .killed(by: SIGTERM)].contains(launch.ending), how)
      }
    }
  }

  func testOtherSignalsAndTheSameOneAgainDoNotCutAFlushShort() throws {
    for how in ["other", "same"] {
      let home = try TemporaryDirectory()
      for back in ["back ", "back x", "back xx"] {
        let launch = try launch(how, in: home)
        XCTAssertEqual(launch.back, back, how)
        XCTAssertEqual(launch.ending, .killed(by: SIGTERM), how)
      }
    }
  }

  func testASignalThatTheAppWaitsForItselfIsLeftToIt() throws {
    let home = try TemporaryDirectory()
    let app = try LaunchedApp("Signals", "own", home: home)
    XCTAssertEqual(try app.line(), "waits")
    // The thread for signals has begun by then.
    usleep(200_000)
    kill(app.process.processIdentifier, SIGTERM)
    XCTAssertEqual(try app.line(), "took \(SIGTERM)")
    XCTAssertEqual(app.ending(), .exited(0))
  }
}
