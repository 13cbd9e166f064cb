import Foundation
import XCTest

final class KillTests: XCTestCase {
  func testAKilledCatalogComesBackAsItWas() throws {
    try checkThatItComesBack(
      after: #"down*30 enter tab down tab down*2 e tab up text:"Stoneware\n日本" left*2"#,
      showing: ["Stoneware"], in: try Sandbox())
  }

  func testTwoWindowsThatAreKilledComeBackEachWithItsProductTabAndEdit() throws {
    let sandbox = try Sandbox()
    try checkThatItComesBack(
      after:
        #"down*3 enter tab e text:"Left " ctrl-n esc down*9 enter tab*2 e tab text:"Right\n日本" left"#,
      showing: ["Left ", "日本"], in: sandbox)

    // The right one is closed, and the left one is what comes back.
    let closing = try CatalogProcess("ctrl-w ctrl-d ctrl-w", stays: true, in: sandbox)
    try wait(for: "one window") {
      try closing.screens.last.map { LoggedScreen.panes(of: $0.screen).count == 1 } ?? false
    }
    try waitUntilStill("the stored state") { sandbox.stateVersion }
    closing.kill()
    let one = try firstScreen(in: sandbox)
    XCTAssertTrue(one.contains("Left ") && !one.contains("日本"), one)
    XCTAssertEqual(sandbox.windowFiles.count, 1)
  }

  func testAnOrderlyEndKeepsTheScreensToo() throws {
    let quitting = try Sandbox()
    XCTAssertEqual(try CatalogProcess("down enter tab q", in: quitting).end(), 0)
    XCTAssertTrue(try firstScreen(in: quitting).contains("[Details]"))

    let terminated = try Sandbox()
    let process = try CatalogProcess("down enter tab e !", stays: true, in: terminated)
    try wait(for: "the edit") { try process.screens.last?.screen.contains("unsaved") == true }
    let before = try process.screens.last?.screen
    XCTAssertEqual(process.terminate(), 128 + SIGTERM)
    XCTAssertEqual(try firstScreen(in: terminated), before)
  }

  func testKilledFiftyTimesAtRandomMomentsItComesBackToAScreenOfTheLastSecond() throws {
    try checkKills(rounds: 50, keys: .screen) { [$0] }
  }

  /// Windows are stored one after the other, so each is as it was at a moment of its own.
  func testKilledAtRandomMomentsEachOfTwoWindowsComesBackAsItWasInTheLastSecond() throws {
    try checkKills(rounds: 15, keys: .windows, preparing: "ctrl-n") { screen in
      let panes = LoggedScreen.panes(of: screen)
      XCTAssertEqual(panes.count, 2, screen)
      return panes
    }
  }

  func testKilledAtRandomMomentsWhileWindowsComeAndGoItAlwaysComesBack() throws {
    var generator = try seededGenerator()
    let sandbox = try Sandbox()
    for round in 1...15 {
      let script = RandomKeys.comingAndGoing.script(milliseconds: 3000, using: &generator)
      let lifetime = Double.random(in: 0.3...1.0, using: &generator)
      let process = try CatalogProcess(script, stays: true, in: sandbox)
      Thread.sleep(forTimeInterval: lifetime)
      process.kill()
      let again = try CatalogProcess(in: sandbox)
      XCTAssertEqual(again.end(), 0)
      let output = try again.errorOutput
      XCTAssertFalse(output.contains("catalog:"), "Round \(round), \(generator): \(output)")
      XCTAssertEqual(sandbox.leftovers, [], "Round \(round), \(generator)")
      XCTAssertFalse(try XCTUnwrap(again.screens.first?.screen).isEmpty)
    }
  }

  /// Kills the program when everything is stored, and checks that the next two launches begin with
  /// the screen that it had.
  private func checkThatItComesBack(
    after script: String, showing texts: [String], in sandbox: Sandbox
  ) throws {
    let first = try CatalogProcess(script, stays: true, in: sandbox)
    try wait(for: "\(texts)") {
      let screen = try first.screens.last?.screen ?? ""
      return texts.allSatisfy { screen.contains($0) }
    }
    try wait(for: "the stored state") { sandbox.stateVersion != nil }
    try waitUntilStill("the stored state") { sandbox.stateVersion }
    let before = try XCTUnwrap(first.screens.last?.screen)
    first.kill()
    XCTAssertTrue(first.wasKilled)

    for _ in 1...2 {
      let again = try CatalogProcess(stays: true, in: sandbox)
      try wait(for: "the first screen") { try !again.screens.isEmpty }
      again.kill()
      XCTAssertTrue(again.wasKilled)
      XCTAssertEqual(try again.screens.map(\.screen), [before])
    }
  }

  private func seededGenerator() throws -> SeededGenerator {
    let seed = ProcessInfo.processInfo.environment["CATALOG_TEST_SEED"].flatMap { UInt64($0) }
    return SeededGenerator(seed: seed ?? UInt64.random(in: 0...(.max)))
  }

  /// Kills the program again and again, and checks that each part of the first screen of the next
  /// launch was there in the last second.
  private func checkKills(
    rounds: Int, keys: RandomKeys, preparing: String = "", parts: (String) -> [String]
  ) throws {
    var generator = try seededGenerator()
    let sandbox = try Sandbox()
    XCTAssertEqual(try CatalogProcess(preparing, in: sandbox).end(), 0)
    var restored = try firstScreen(in: sandbox)
    for round in 1...rounds {
      let script = keys.script(milliseconds: 3000, using: &generator)
      let lifetime = Double.random(in: 0.3...1.5, using: &generator)
      let started = Date()
      let process = try CatalogProcess(script, stays: true, in: sandbox)
      Thread.sleep(until: started + lifetime)
      let killed = Date().timeIntervalSince1970
      process.kill()
      XCTAssertTrue(process.wasKilled)

      let log = try process.screens
      let lastSecond = LoggedScreen.since(killed - 1, in: log).map(\.screen)
      // A process that was killed before its first screen leaves things as they were.
      let allowed = (lastSecond.isEmpty ? [restored] : lastSecond).map(parts)
      restored = try firstScreen(in: sandbox)
      for (index, part) in parts(restored).enumerated() {
        XCTAssertTrue(
          allowed.contains { $0.indices.contains(index) && $0[index] == part },
          """
          Round \(round) with \(generator): of \(log.count) screens, \(allowed.count) were there in \
          the last second, but not this:
          \(part)
          """)
      }
    }
  }

  /// Starts the program without keys, which changes nothing that is stored.
  private func firstScreen(in sandbox: Sandbox) throws -> String {
    let process = try CatalogProcess(in: sandbox)
    XCTAssertEqual(process.end(), 0)
    return try XCTUnwrap(process.screens.first?.screen)
  }
}
