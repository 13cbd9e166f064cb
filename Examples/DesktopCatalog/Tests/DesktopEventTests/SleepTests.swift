import DesktopTestSupport
import Foundation
import XCTest

/// Sleep of the machine, with a logind of the test's own.
final class SleepTests: XCTestCase {
  private func startedApp(on desktop: Desktop) throws -> CatalogApp {
    let app = try desktop.start(searching: "a")
    try desktop.waitForReport("locked sleep delay")
    return app
  }

  func testTheMachineSleepsWhenTheLastKeyIsStored() throws {
    let desktop = try Desktop(peers: .all)
    let app = try startedApp(on: desktop)
    try desktop.tell("kill released \(app.child.identifier)")
    try app.press(["b", "c"])
    try desktop.tell("sleep")
    XCTAssertEqual(try app.child.ending(), .signal(SIGKILL))
    XCTAssertEqual(try desktop.searches, ["abc"])
  }

  func testEachSleepIsWaitedFor() throws {
    let desktop = try Desktop(peers: .all)
    let app = try startedApp(on: desktop)
    for (times, key) in ["b", "c", "d"].enumerated() {
      XCTAssertEqual(try desktop.reports.count { $0 == "released" }, times)
      try app.press([key])
      try desktop.tell("sleep")
      try desktop.waitForReport("released", times: times + 1)
      try desktop.tell("wake")
      try desktop.waitForReport("locked sleep delay", times: times + 2)
    }
    XCTAssertEqual(try desktop.searches, ["abcd"])
    XCTAssertEqual(try app.kill(SIGTERM), .signal(SIGTERM))
    try desktop.waitForReport("released", times: 4)
  }

  func testTheMachineSleepsAlsoWhenTheDiskHangs() throws {
    let desktop = try Desktop(peers: .all)
    let app = try startedApp(on: desktop)
    try desktop.setDiskHangs(true)
    try app.press(["b"])
    try desktop.tell("sleep")
    try desktop.waitForReport("released", seconds: 6)
    try desktop.setDiskHangs(false)
    try desktop.waitUntilStored(["ab"])
  }

  func testWithoutLogindTheAppSaysNothingAndSaves() throws {
    try checkThatItSaves(on: Desktop(peers: .sessionManager))
  }

  func testWithoutASystemBusTheAppSaysNothingAndSaves() throws {
    try checkThatItSaves(
      on: Desktop(peers: .all),
      changing: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere/system"])
  }

  func testASystemBusThatHangsHoldsNothingUp() throws {
    let desktop = try Desktop(peers: .all)
    try XCTUnwrap(desktop.buses[.system]).send(SIGSTOP)
    try checkThatItSaves(on: desktop)
  }

  func testTheEndOfTheSystemBusIsNotTheEndOfTheApp() throws {
    let desktop = try Desktop(peers: .all)
    let app = try startedApp(on: desktop)
    let bus = try XCTUnwrap(desktop.buses[.system])
    bus.send(SIGKILL)
    XCTAssertEqual(try bus.ending(), .signal(SIGKILL))
    try app.press(["b"])
    try desktop.waitUntilStored(["ab"])
    XCTAssertTrue(app.child.isRunning)
    XCTAssertEqual(try app.sentences, [])
  }

  private func checkThatItSaves(
    on desktop: Desktop, changing changes: [String: String?] = [:]
  ) throws {
    let app = try desktop.start(changing: changes)
    try app.waitForWindow()
    try app.press(["ctrl+f", "a"])
    try desktop.waitUntilStored(["a"])
    XCTAssertEqual(try desktop.reports.filter { $0.hasPrefix("locked") }, [])
    XCTAssertEqual(try app.child.errorLines, [])
    XCTAssertEqual(try app.kill(SIGTERM), .signal(SIGTERM))
  }
}
