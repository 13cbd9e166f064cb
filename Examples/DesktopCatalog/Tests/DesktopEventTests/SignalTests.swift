import DesktopTestSupport
import Foundation
import XCTest

final class SignalTests: XCTestCase {
  func testASignalStoresTheLastKeyAndThenEndsTheProcess() throws {
    for (name, number) in [("TERM", SIGTERM), ("INT", SIGINT), ("HUP", SIGHUP)] {
      let desktop = try Desktop(peers: .all)
      let app = try desktop.start(searching: "a")
      try app.press(["b", "c"], then: ["kill", "-\(name)", "\(app.child.identifier)"])
      XCTAssertEqual(try app.child.ending(), .signal(number))
      XCTAssertEqual(try desktop.searches, ["abc"], name)
      XCTAssertEqual(try app.sentences, [])
    }
  }

  func testKeysThatTheAppHasNotSeenYetCountToo() throws {
    let desktop = try Desktop(peers: .all)
    let app = try desktop.start(searching: "a")
    let keys = "bcdefghijkl".map { "\($0)" }
    // It has so much to do that it sees neither the keys nor the signal.
    app.child.send(SIGSTOP)
    try app.press(keys)
    app.child.send(SIGTERM)
    app.child.send(SIGCONT)
    XCTAssertEqual(try app.child.ending(), .signal(SIGTERM))
    XCTAssertEqual(try desktop.searches, ["a" + keys.joined()])
  }

  func testWhatASignalHasEndedComesBack() throws {
    let desktop = try Desktop(peers: .all)
    let app = try desktop.start(searching: "a")
    try app.press(["ctrl+n"])
    try waitFor("the second window") { try desktop.searches.count == 2 }
    try app.press(["ctrl+f", "x"])
    try desktop.waitUntilStored(["a", "x"])
    XCTAssertEqual(try app.kill(SIGTERM), .signal(SIGTERM))

    let again = try desktop.start()
    try again.waitForWindows(2)
    // The second window was in front, and its search field had the keyboard.
    try again.press(["y"])
    try desktop.waitUntilStored(["a", "xy"])
    XCTAssertEqual(try again.sentences, [])
  }

  func testASecondSignalEndsTheProcessAtOnce() throws {
    let desktop = try Desktop(peers: .all)
    let app = try desktop.start(searching: "a")
    try desktop.setDiskHangs(true)
    try app.press(["b"])
    app.child.send(SIGTERM)
    try waitFor("the first signal to be seen") { try !catches(SIGINT, app.child) }
    XCTAssertTrue(app.child.isRunning)
    // The first one would end it after five seconds, and as that signal.
    XCTAssertEqual(try app.kill(SIGINT), .signal(SIGINT))
  }

  /// Whether a process handles a signal itself.
  private func catches(_ signal: Int32, _ process: Child) throws -> Bool {
    let status = try String(contentsOfFile: "/proc/\(process.identifier)/status", encoding: .utf8)
    let caught = try XCTUnwrap(status.firstMatch(of: /SigCgt:\s*([0-9a-f]+)/)?.1)
    return try XCTUnwrap(UInt64(caught, radix: 16)) >> (signal - 1) & 1 == 1
  }

  func testADiskThatHangsDoesNotKeepTheProcessFromItsEnd() throws {
    let desktop = try Desktop(peers: .all)
    let app = try desktop.start(searching: "a")
    try desktop.setDiskHangs(true)
    try app.press(["b"])
    app.child.send(SIGTERM)
    XCTAssertEqual(try app.child.ending(within: 8), .signal(SIGTERM))
  }

  func testASignalThatWasIgnoredBeforeStaysIgnored() throws {
    let desktop = try Desktop(peers: .all)
    let app = try desktop.start(by: ["nohup"])
    try app.waitForWindow()
    try app.press(["ctrl+f", "a"])
    try desktop.waitUntilStored(["a"])
    app.child.send(SIGHUP)
    try app.press(["b"])
    try desktop.waitUntilStored(["ab"])
    XCTAssertEqual(try app.kill(SIGTERM), .signal(SIGTERM))
  }

  func testASignalDuringTheStartLosesNothing() throws {
    let desktop = try Desktop(peers: .all)
    var app = try desktop.start(searching: "a")
    try app.press(["ctrl+n"])
    try waitFor("the second window") { try desktop.searches.count == 2 }
    try app.press(["ctrl+f", "x"])
    try desktop.waitUntilStored(["a", "x"])
    try app.kill(SIGTERM)
    for milliseconds in stride(from: 25, through: 400, by: 25) {
      // Twice SIGKILL would look like a state that crashes the app.
      let signal = milliseconds % 50 == 0 ? SIGTERM : SIGKILL
      app = try desktop.start()
      Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
      XCTAssertEqual(try app.kill(signal), .signal(signal))
      XCTAssertEqual(try app.sentences, [], "\(milliseconds) ms")
      XCTAssertEqual(try desktop.searches.sorted(), ["a", "x"], "\(milliseconds) ms")
    }
    app = try desktop.start()
    try app.waitForWindows(2)
    try app.press(["y"])
    try desktop.waitUntilStored(["a", "xy"])
  }

  func testAKilledAppHasLostAtMostTheLastSecond() throws {
    let desktop = try Desktop(peers: .all)
    let app = try desktop.start(searching: "a")
    var typed: [(key: String, at: Date)] = []
    for key in "bcdefghijklmnopqrstuvwxyz".map({ "\($0)" }) {
      try app.press([key])
      typed.append((key, Date()))
      Thread.sleep(forTimeInterval: 0.05)
    }
    app.child.send(SIGKILL)
    let killed = Date()
    XCTAssertEqual(try app.child.ending(), .signal(SIGKILL))
    let sure = typed.filter { $0.at < killed.addingTimeInterval(-1) }.map(\.key).joined()
    XCTAssertGreaterThan(sure.count, 2)
    let stored = try XCTUnwrap(try desktop.searches.first)
    XCTAssertTrue(stored.hasPrefix("a" + sure), "\(stored) without all of a\(sure)")
  }

  func testAnAppThatIsLeftAloneHasStoredEverything() throws {
    let desktop = try Desktop(peers: .all)
    let app = try desktop.start(searching: "a")
    try app.press(["b", "c"])
    Thread.sleep(forTimeInterval: 1)
    XCTAssertEqual(try app.kill(), .signal(SIGKILL))
    XCTAssertEqual(try desktop.searches, ["abc"])
  }
}
