#if os(Linux)
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import Testing
import XCTest

/// Real processes, killed at moments that the test names.
final class KillTests: XCTestCase {
  private static let application = "org.example.killed"
  private static let saveCount = 12

  /// The other process: saves one number after the other, and says each.
  @MainActor
  func testTheApp() async throws {
    guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
    try await Self.run(app)
  }

  @MainActor
  static func run(_ app: AppUnderTest) async throws {
    let keeper = try StateKeeper(
      application: application, directory: app.directory, keys: app.keys)
    let node = TestNode("root")
    _ = try await keeper.restore(into: [node])
    let start = node.value.flatMap { Int($0) } ?? 0
    app.say("restored \(start)")
    for number in start + 1...start + saveCount {
      node.value = "\(number)"
      _ = try await keeper.save([node])
      app.acknowledgeSave("saved \(number)")
    }
  }

  /// Another process: says something while somebody else has begun a line.
  func testTheAppThatMumbles() throws {
    guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
    try FileHandle.standardError.write(contentsOf: Data("mumbled, ".utf8))
    app.say("heard")
    try FileHandle.standardError.write(contentsOf: Data("mumbled again".utf8))
    exit(3)
  }

  func testAnAnswerIsFoundBehindWhatOthersHaveBegunToSay() throws {
    let directory = try TemporaryDirectory()
    let app = try AppProcess.again(
      ["RestorationTestingTests.KillTests/testTheAppThatMumbles"], folder: directory.path)
    XCTAssertEqual(try app.answer(), "heard")
    XCTAssertNil(try app.answer())
    do {
      try app.end()
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(
        error.seen,
        "It ended otherwise, exited(status: 3). It said:\nmumbled, \nmumbled again")
    }
  }

  private func launch(
    _ directory: borrowing TemporaryDirectory, killedAt moment: KillMoment?
  ) throws -> AppProcess {
    try AppProcess.again(
      ["RestorationTestingTests.KillTests/testTheApp"], folder: directory.path, killedAt: moment)
  }

  func testAKillAfterASaveLeavesThatSaveAndNoLaterOne() throws {
    let directory = try TemporaryDirectory()
    var last = 0
    for count in 1...4 {
      let answers = try launch(directory, killedAt: .afterSave(count)).answersUntilKilled()
      XCTAssertEqual(
        answers, ["restored \(last)"] + (1...count).map { "saved \(last + $0)" }, "\(count)")
      last += count
    }
    let answers = try launch(directory, killedAt: nil).remainingAnswers()
    XCTAssertEqual(answers.first, "restored \(last)")
  }

  @MainActor
  func testAKillInTheMidstOfAWriteLeavesTheSaveBeforeIt() async throws {
    for write in 1...5 {
      let directory = try TemporaryDirectory()
      let answers = try launch(directory, killedAt: .inWrite(write)).answersUntilKilled()
      XCTAssertEqual(answers, ["restored 0"] + (1..<write).map { "saved \($0)" })
      if write == 1 {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.child("states"))
        let temporary = try XCTUnwrap(names.first { $0.hasSuffix(".tmp") }, "\(names)")
        XCTAssertGreaterThan(try directory.bytes(of: "states/\(temporary)").count, 0)
        XCTAssertFalse(names.contains("main.rka"))
      } else {
        let whole = try TemporaryDirectory()
        _ = try launch(whole, killedAt: .afterSave(write - 1)).answersUntilKilled()
        XCTAssertGreaterThan(
          try directory.bytes(of: "states/main.rka").count,
          try whole.bytes(of: "states/main.rka").count, "Half of a change is at its end.")
        let tester = RestorationTester(application: Self.application, leftIn: directory.path)
        let node = TestNode("root")
        _ = try await tester.launch().restore(into: [node])
        XCTAssertEqual(node.value, "\(write - 1)")
      }
      let next = try launch(directory, killedAt: .afterSave(1)).answersUntilKilled()
      XCTAssertEqual(next, ["restored \(write - 1)", "saved \(write)"])
    }
  }

  func testAnAppThatEndsBeforeItsMomentFailsTheTest() throws {
    let directory = try TemporaryDirectory()
    let app = try launch(directory, killedAt: .afterSave(Self.saveCount + 1))
    do {
      _ = try app.answersUntilKilled()
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .process)
      XCTAssertEqual(error.expected, "It is killed at its moment.")
      XCTAssertEqual(
        error.seen,
        "It ended otherwise, exited(status: 0), after \(Self.saveCount + 1) answers.")
    }
  }

  func testANameThatNoTestHasIsSaidToBeOne() throws {
    let directory = try TemporaryDirectory()
    for (arguments, status) in [
      (["RestorationTestingTests.KillTests/testNobody"], 0),
      (["--testing-library", "swift-testing", "--filter", "nobodyHasThisName"], 69),
    ] {
      let app = try AppProcess.again(
        arguments, folder: directory.path, killedAt: .afterSave(1))
      do {
        _ = try app.answersUntilKilled()
        XCTFail("It did not throw.")
      } catch {
        let start = "It ended otherwise, exited(status: \(status)), after 0 answers."
        let advice = " Check its arguments: either no test has that name, or the test was skipped."
        XCTAssert(error.seen.hasPrefix(start + advice), error.seen)
      }
    }
  }

  func testAKillAtAnyMomentLeavesWhatWasAcknowledged() throws {
    let directory = try TemporaryDirectory()
    let app = try launch(directory, killedAt: nil)
    while let answer = try app.answer(), answer != "saved 3" {}
    app.kill()
    let last = try app.remainingAnswers().last.flatMap { Int($0.dropFirst("saved ".count)) } ?? 3
    let next = try launch(directory, killedAt: nil).answer()
    // One that was written may not have been acknowledged any more.
    XCTAssertTrue(["restored \(last)", "restored \(last + 1)"].contains(next), next ?? "nil")
  }

  func testNoAppIsUnderTestInTheProcessOfTheTest() {
    let isChild = ProcessInfo.processInfo.environment["RESTORATION_TESTING_FOLDER"] != nil
    XCTAssertEqual(AppUnderTest.current == nil, !isChild)
  }

  // MARK: Any executable

  private func shell(_ script: String) throws -> AppProcess {
    try AppProcess(
      executable: "/bin/sh", arguments: ["-c", script], environment: ["GREETING": "hello"])
  }

  func testAnExecutableIsTalkedToLineByLine() throws {
    let process = try shell("echo $GREETING; while read line; do echo got $line; done")
    XCTAssertEqual(try process.answer(), "hello")
    XCTAssertEqual(try process.ask("one"), "got one")
    try process.send("two")
    try process.end()
    XCTAssertEqual(try process.remainingAnswers(), ["got two"])
  }

  func testAnExecutableThatEndsWithAStatusFailsTheTest() throws {
    let process = try shell("exit 3")
    do {
      try process.end()
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(
        error.description,
        "/bin/sh -c exit 3: It ends with status 0. It ended otherwise, exited(status: 3).")
    }
    XCTAssertEqual(process.kill(), .exited(status: 3))
  }

  func testAKilledExecutableTakesNoLineAndGivesNoAnswer() throws {
    let process = try shell("echo ready; read line")
    XCTAssertEqual(try process.answer(), "ready")
    XCTAssertEqual(process.kill(), .killed(signal: SIGKILL))
    XCTAssertNil(try process.answer())
    do {
      // The pipe may take one line before it is known to be broken.
      for _ in 0..<2 { _ = try process.ask("line") }
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .process)
    }
  }

  func testASignalReachesAnExecutableWhoseEndIsWaitedFor() throws {
    let handling = try shell("trap 'echo handled; exit 7' TERM; echo ready; read line")
    XCTAssertEqual(try handling.answer(), "ready")
    try handling.send(signal: SIGTERM)
    XCTAssertEqual(try handling.answer(), "handled")
    XCTAssertEqual(handling.waitUntilExit(), .exited(status: 7))

    let plain = try shell("echo ready; read line")
    XCTAssertEqual(try plain.answer(), "ready")
    try plain.send(signal: SIGTERM)
    XCTAssertEqual(plain.waitUntilExit(), .killed(signal: SIGTERM))
    XCTAssertEqual(plain.waitUntilExit(), .killed(signal: SIGTERM), "It can be asked again.")
  }

  func testAnExecutableThatHasEndedTakesNoSignal() throws {
    let process = try shell("exit 3")
    XCTAssertEqual(process.waitUntilExit(), .exited(status: 3))
    do {
      try process.send(signal: SIGTERM)
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(
        error.description,
        "/bin/sh -c exit 3: It takes signal 15. It had ended before, exited(status: 3).")
    }
  }

  func testAnExecutableTakesNoNumberThatIsNoSignal() throws {
    let process = try shell("read line")
    do {
      try process.send(signal: 1000)
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.expected, "It takes signal 1000.")
      XCTAssertEqual(error.seen, "The system refused it with error \(EINVAL).")
    }
  }

  func testAnExecutableThatIsNotThereFailsTheTest() {
    do {
      _ = try AppProcess(executable: "/nowhere/app")
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .process)
      XCTAssertEqual(error.subject, "/nowhere/app")
    }
  }

  // MARK: Swift Testing

  func testATestOfSwiftTestingIsRunAgain() throws {
    let directory = try TemporaryDirectory()
    let app = try AppProcess.again(
      ["--testing-library", "swift-testing", "--filter", "KilledAppOfSwiftTesting"],
      folder: directory.path, killedAt: .inWrite(3))
    XCTAssertEqual(try app.answersUntilKilled(), ["restored 0", "saved 1", "saved 2"])
  }
}

@MainActor
struct KilledAppOfSwiftTesting {
  @Test(.enabled(if: AppUnderTest.current != nil))
  func theApp() async throws {
    try await KillTests.run(try #require(AppUnderTest.current))
  }
}
#endif
