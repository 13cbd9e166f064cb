import DesktopTestSupport
import Foundation
import XCTest

/// Logging out, with a session manager of the test's own.
final class SessionTests: XCTestCase {
  private func startedApp(on desktop: Desktop) throws -> CatalogApp {
    let app = try desktop.start(searching: "a")
    try desktop.waitForReport("registered \(Desktop.application)")
    return app
  }

  func testTheSessionManagerIsAnsweredWhenTheLastKeyIsStored() throws {
    let desktop = try Desktop(peers: .all)
    let app = try startedApp(on: desktop)
    try desktop.tell("kill answered \(app.child.identifier)")
    try app.press(["b", "c"])
    try desktop.tell("query")
    XCTAssertEqual(try app.child.ending(), .signal(SIGKILL))
    try desktop.waitForReport("answered yes")
    XCTAssertEqual(try desktop.searches, ["abc"])
  }

  func testKeysThatTheAppHasNotSeenYetAreStoredBeforeTheAnswerToo() throws {
    let desktop = try Desktop(peers: .all)
    let app = try startedApp(on: desktop)
    let keys = "bcdefghijkl".map { "\($0)" }
    try desktop.tell("kill answered \(app.child.identifier)")
    app.child.send(SIGSTOP)
    try app.press(keys)
    try desktop.tell("query")
    app.child.send(SIGCONT)
    XCTAssertEqual(try app.child.ending(), .signal(SIGKILL))
    XCTAssertEqual(try desktop.searches, ["a" + keys.joined()])
  }

  func testAfterALogoutThatIsCancelledTheAppGoesOnAndSaves() throws {
    let desktop = try Desktop(peers: .all)
    let app = try startedApp(on: desktop)
    for (key, text) in [("b", "ab"), ("c", "abc")] {
      try desktop.tell("query")
      try desktop.waitForReport("answered yes", times: text.count - 1)
      try desktop.tell("cancel")
      try app.press([key])
      try desktop.waitUntilStored([text])
    }
    XCTAssertEqual(try app.kill(), .signal(SIGKILL))
    XCTAssertEqual(try desktop.searches, ["abc"])
  }

  func testTheEndOfTheSessionKeepsAllWindowsAndTheLastKey() throws {
    for (command, isAsked) in [("end", true), ("end", false), ("stop", false)] {
      let desktop = try Desktop(peers: .all)
      let app = try startedApp(on: desktop)
      try app.press(["ctrl+n"])
      try waitFor("the second window") { try desktop.searches.count == 2 }
      try app.press(["ctrl+f", "x"])
      try desktop.waitUntilStored(["a", "x"])
      if isAsked {
        try desktop.tell("query")
        try desktop.waitForReport("answered yes")
      }
      try app.press(["y", "z"])
      try desktop.tell(command)
      XCTAssertEqual(try app.child.ending(), .exit(0))
      XCTAssertEqual(try desktop.searches.sorted(), ["a", "xyz"], command)
      XCTAssertEqual(try app.sentences, [])
      let again = try desktop.start()
      try again.waitForWindows(2)
      try again.press(["w"])
      try desktop.waitUntilStored(["a", "xyzw"])
    }
  }

  func testTheSessionManagerIsAnsweredAlsoWhileTheDiskHangs() throws {
    let desktop = try Desktop(peers: .all)
    let app = try startedApp(on: desktop)
    try desktop.setDiskHangs(true)
    try app.press(["b"])
    try desktop.tell("query")
    try desktop.waitForReport("answered yes")
    try desktop.setDiskHangs(false)
    try desktop.waitUntilStored(["ab"])
  }

  /// A session that breaks down takes its bus with it.
  func testTheEndOfTheSessionBusStoresTheLastKey() throws {
    let desktop = try Desktop(peers: .all)
    let app = try startedApp(on: desktop)
    try app.press(["b", "c"])
    try XCTUnwrap(desktop.buses[.session]).send(SIGKILL)
    XCTAssertEqual(try app.child.ending(), .signal(SIGTERM))
    XCTAssertEqual(try desktop.searches, ["abc"])
  }

  func testWithoutASessionBusTheAppSaysNothingAndSaves() throws {
    let desktop = try Desktop(peers: .all)
    let app = try desktop.start(
      changing: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/session"])
    try app.waitForWindow()
    try app.press(["ctrl+f", "a"], then: ["kill", "-TERM", "\(app.child.identifier)"])
    XCTAssertEqual(try app.child.ending(), .signal(SIGTERM))
    XCTAssertEqual(try desktop.searches, ["a"])
    XCTAssertEqual(try app.sentences, [])
  }
}
