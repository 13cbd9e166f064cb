import Foundation
import XCTest

/// The program in a real terminal, which it has to give back as it got it.
final class TerminalTests: XCTestCase {
  private static let entering = "\u{1B}[?1049h"
  private static let leaving = "\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"

  private static let noTerminal = "to show its screens on"
  private static let noCursor = "that can move its cursor, and TERM names none"

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
    try wait(for: "the end") { !process.isRunning }
    XCTAssertTrue(terminal.takesLines)
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

  func testWithoutATerminalThatCanShowScreensItSaysSoAndChangesNothing() throws {
    let terminal = try Terminal()
    let cases: [(input: Terminal?, output: Terminal?, term: String?, reason: String)] = [
      (terminal, terminal, "dumb", Self.noCursor),
      (terminal, terminal, "", Self.noCursor),
      (terminal, terminal, nil, Self.noCursor),
      (nil, terminal, "xterm", Self.noTerminal),
      (terminal, nil, "xterm", Self.noTerminal),
    ]
    for (input, output, term, reason) in cases {
      let sandbox = try Sandbox()
      let errors = sandbox.newFile()
      let process = try TerminalProcess(
        in: sandbox, input: input, output: output, errors: errors, term: term)
      try wait(for: "the end") { !process.isRunning }
      XCTAssertEqual(process.end(), 1)
      XCTAssertEqual(
        try String(decoding: Data(contentsOf: errors), as: UTF8.self),
        "catalog: The catalog needs a terminal \(reason). Without one, use --script FILE.\n")
      XCTAssertTrue(terminal.takesLines)
      XCTAssertEqual(terminal.output, "")
      XCTAssertEqual(sandbox.files, [errors.lastPathComponent])
    }
  }

  func testAScriptNeedsNoTerminal() throws {
    let sandbox = try Sandbox()
    XCTAssertEqual(try CatalogProcess("down", in: sandbox, term: "dumb").end(), 0)
    XCTAssertEqual(sandbox.windowFiles.count, 1)
  }

  func testAfterSIGKILLTheNextStartLeavesTheTerminalAsItShouldBe() throws {
    let sandbox = try Sandbox()
    let terminal = try Terminal()
    let killed = try start(in: sandbox, terminal)
    killed.send(SIGKILL)
    _ = killed.end()
    XCTAssertTrue(terminal.isRaw)

    let length = terminal.output.count
    let next = try start(in: sandbox, terminal)
    XCTAssertTrue(
      terminal.output(after: length).hasPrefix(
        Self.leaving + "catalog: A program that was killed left this terminal unusable. It is"
          + " mended now, as “reset” would have done.\r\n" + Self.entering))
    try terminal.type("q")
    try wait(for: "the end") { !next.isRunning }
    XCTAssertEqual(next.end(), 0)
    XCTAssertTrue(terminal.takesLines)
    XCTAssertTrue(terminal.output.hasSuffix(Self.leaving))
  }

  func testModesOfATerminalThatTakesLinesStayAsTheyWere() throws {
    let terminal = try Terminal()
    terminal.stopEchoing()
    let process = try TerminalProcess(in: try Sandbox(), input: terminal, output: terminal)
    try wait(for: "the first screen") { terminal.output.contains("Catalog") }
    try terminal.type("q")
    try wait(for: "the end") { !process.isRunning }
    XCTAssertEqual(process.end(), 0)
    XCTAssertFalse(terminal.takesLines)
    XCTAssertFalse(terminal.isRaw)
    XCTAssertTrue(terminal.output.hasPrefix(Self.entering))
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
