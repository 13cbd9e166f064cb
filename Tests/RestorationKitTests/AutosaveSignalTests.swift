#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Processes that signals end while something is unsaved.
final class AutosaveSignalTests: XCTestCase {
  private static let hangs = "AUTOSAVE_HANGS"
  private static let handles = "AUTOSAVE_HANDLES"
  private static let environment = ProcessInfo.processInfo.environment

  /// A keeper whose writes never end once it hangs.
  @MainActor
  private static func keeper(
    _ app: AppUnderTest, hangs: @escaping @Sendable () -> Bool
  ) throws -> StateKeeper {
    let directory = HookedStore(app.directory) { _, call throws(ArchiveError) in
      guard call.isWrite, hangs() else { return }
      app.say("hanging")
      let gate = Gate()
      gate.holdUp()
      gate.pass()
    }
    return try StateKeeper(
      application: Launch.application, directory: directory, keys: app.keys)
  }

  /// The other process: has a change that would be saved in an hour, says so, and goes on.
  @MainActor
  func testTheProcessThatIsEnded() async throws {
    guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
    signal(SIGHUP, SIG_IGN)
    if Self.environment[Self.handles] != nil {
      // In a handler nothing may be allocated.
      signal(SIGTERM) { _ in _ = write(STDERR_FILENO, "app under test: handled\n", 24) }
    }
    let isSaved = Flag()
    let hangs = Self.environment[Self.hangs] != nil
    let keeper = try Self.keeper(app) { hangs && isSaved.isSet }
    let node = TrackedNode("root")
    _ = try await keeper.restore(into: [node])
    let autosave = keeper.autosave(every: .seconds(3600)) {
      [node]
    } told: { _ in
      isSaved.isSet = true
    }
    autosave.flushOnSignals(within: .seconds(3600))
    try await waitUntil("the first save is told") { isSaved.isSet }
    node.value = "last"
    // Whoever started it with “nohup” wants that.
    kill(getpid(), SIGHUP)
    app.say("ready")
    let (endless, continuation) = AsyncStream<Void>.makeStream()
    for await _ in endless {}
    withExtendedLifetime((autosave, continuation)) {}
  }

  /// Starts the other process, and waits until it is ready.
  private func process(
    in directory: borrowing TemporaryDirectory, _ variable: String? = nil
  ) throws -> AppProcess {
    let process = try AppProcess.again(
      ["RestorationKitTests.AutosaveSignalTests/testTheProcessThatIsEnded"],
      environment: variable.map { [$0: "1"] } ?? [:], folder: directory.path)
    XCTAssertEqual(try process.answer(), "ready")
    return process
  }

  @MainActor
  private func assertStored(
    _ value: String, in directory: borrowing TemporaryDirectory, line: UInt = #line
  ) async throws {
    let node = TrackedNode("root")
    let tester = RestorationTester(application: Launch.application, leftIn: directory.path)
    // A tracked node does not read all of its keys.
    tester.isStrict = false
    _ = try await tester.launch().restore(into: [node])
    XCTAssertEqual(node.value, value, line: line)
  }

  @MainActor
  func testASignalSavesTheLastChangeAndEndsTheProcess() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(in: directory)
    try process.send(signal: SIGTERM)
    XCTAssertEqual(process.waitUntilExit(), .killed(signal: SIGTERM))
    try await assertStored("last", in: directory)
  }

  @MainActor
  func testASecondSignalEndsTheProcessAtOnce() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(in: directory, Self.hangs)
    try process.send(signal: SIGTERM)
    XCTAssertEqual(try process.answer(), "hanging")
    try process.send(signal: SIGTERM)
    XCTAssertEqual(process.waitUntilExit(), .killed(signal: SIGTERM))
    try await assertStored("", in: directory)
  }

  @MainActor
  func testTheHandlerThatWasThereBeforeIsCalledAfterTheSave() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(in: directory, Self.handles)
    for _ in 0..<2 {
      try process.send(signal: SIGTERM)
      XCTAssertEqual(try process.answer(), "handled")
    }
    process.kill()
    try await assertStored("last", in: directory)
  }
}
#endif
