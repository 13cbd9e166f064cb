import DesktopTestSupport
import Foundation
import XCTest

/// What the tests take for the end of a change: nobody on the desktop has anything to do.
final class SettlingTests: XCTestCase {
  /// Its window may be there and still be black.
  func testAnAppThatWaitsForAProcessorIsNotAsleep() throws {
    let desktop = try Desktop()
    let busy = try desktop.child(["sh", "-c", "while :; do :; done"])
    let waiting = try desktop.child(["sleep", "60"])
    try waitFor("one to sleep") { waiting.isAsleep }
    XCTAssertFalse(busy.isAsleep)
  }

  func testAnAppThatIsHeldUpIsNotAsleep() throws {
    let desktop = try Desktop()
    let app = try desktop.launch()
    try waitFor("the app to sleep") { app.child.isAsleep }
    app.child.send(SIGSTOP)
    try waitFor("the app to stop") { !app.child.isAsleep }
  }
}
