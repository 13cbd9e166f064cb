import Foundation
import XCTest

/// The program in a real terminal, which it has to give back as it got it.
final class TerminalTests: XCTestCase {
  private static let entering = "\u{1B}[?1049h"
  private static let leaving = "\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"

  private func start(in sandbox: Sandbox, _ terminal: Terminal) throws -> TerminalProcess {
    let length = terminal.output.count
    let process = try TerminalProcess(in: sandbox, input: terminal, output: terminal)
    try wait(for: "the first screen") { terminal.output(after: length).contains("Catalog") }
    XCTAssertTrue(terminal.isRaw)
    return process
  }

  private func type(_ keys: String, until expected: String, in terminal: Terminal) throws {
    let length = terminal.output.count
    try terminal.type(keys)
    try wait(for: expected) { terminal.output(after: length).contains(expected) }
  }

  func testQuittingGivesTheTerminalBack() throws {
    let terminal = try Terminal()
    let process = try start(in: try Sandbox(), terminal)
    try terminal.type("q")
    try wait(for: "the end") { terminal.takesLines }
    XCTAssertEqual(process.end(), 0)
    XCTAssertTrue(terminal.output.hasSuffix(Self.leaving))
  }

  func testControlZStopsTheProgramAndItGoesOnWhereItWas() throws {
    let terminal = try Terminal()
    let process = try start(in: try Sandbox(), terminal)
    try type("\r", until: "[Info]", in: terminal)
    try terminal.type("\u{1A}")
    try wait(for: "the stop") { process.isStopped }
    XCTAssertTrue(terminal.takesLines)
    XCTAssertTrue(terminal.output.hasSuffix(Self.leaving))

    let length = terminal.output.count
    process.send(SIGCONT)
    try wait(for: "the whole screen") {
      let output = terminal.output(after: length)
      return output.hasPrefix(Self.entering) && output.contains("[Info]")
        && output.contains("Quit")
    }
    XCTAssertTrue(terminal.isRaw)
    try type("e", until: "Description", in: terminal)
  }

  func testWhatWasTypedBeforeControlZIsStored() throws {
    let sandbox = try Sandbox()
    let terminal = try Terminal()
    let process = try start(in: sandbox, terminal)
    try type("\re", until: "Description", in: terminal)
    try waitUntilStill("the stored state") { sandbox.stateVersion }
    try terminal.type("Teapot\u{1A}")
    try wait(for: "the stop") { process.isStopped }
    process.send(SIGKILL)
    _ = process.end()
    let again = try CatalogProcess(in: sandbox)
    XCTAssertEqual(again.end(), 0)
    XCTAssertEqual(try again.screens.first?.screen.contains("Teapot"), true)
  }

  func testASignalThatAsksToStopIsObeyedLikeControlZ() throws {
    let terminal = try Terminal()
    let process = try start(in: try Sandbox(), terminal)
    process.send(SIGTSTP)
    try wait(for: "the stop") { process.isStopped }
    XCTAssertTrue(terminal.takesLines)
  }

  func testAfterAStopThatNobodyToldTheTerminalIsTakenAgain() throws {
    let terminal = try Terminal()
    let process = try start(in: try Sandbox(), terminal)
    process.send(SIGSTOP)
    try wait(for: "the stop") { process.isStopped }
    terminal.takeLines()
    let length = terminal.output.count
    process.send(SIGCONT)
    try wait(for: "the whole screen") {
      terminal.isRaw && terminal.output(after: length).contains("Catalog")
    }
  }
}
