#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Processes that signals end while something is unsaved.
final class AutosaveSignalTests: XCTestCase {
  private static let directory = "AUTOSAVE_DIRECTORY"
  private static let hangs = "AUTOSAVE_HANGS"
  private static let handles = "AUTOSAVE_HANDLES"
  private static let environment = ProcessInfo.processInfo.environment

  /// A keeper whose writes never end once it hangs.
  @MainActor
  private static func keeper(
    at path: String, hangs: @escaping @Sendable () -> Bool = { false }
  ) throws -> StateKeeper {
    let files = FileStateDirectory(path: "\(path)/state")
    let directory = HookedStore(files) { _, call throws(ArchiveError) in
      guard call.isWrite, hangs() else { return }
      TestProcess.say("hanging")
      let gate = Gate()
      gate.holdUp()
      gate.pass()
    }
    return try StateKeeper(
      application: Launch.application, directory: directory,
      keys: FileKeyProvider(path: "\(path)/key"))
  }

  /// The other process: has a change that would be saved in an hour, says so, and goes on.
  @MainActor
  func testTheProcessThatIsEnded() async throws {
    guard let path = Self.environment[Self.directory] else {
      throw XCTSkip("Runs in a process of its own.")
    }
    signal(SIGHUP, SIG_IGN)
    if Self.environment[Self.handles] != nil {
      signal(SIGTERM) { _ in _ = write(STDERR_FILENO, "handled\n", 8) }
    }
    let isSaved = Flag()
    let hangs = Self.environment[Self.hangs] != nil
    let keeper = try Self.keeper(at: path) { hangs && isSaved.isSet }
    let node = TrackedNode("root")
    _ = try await keeper.restore(into: [node])
    let autosave = keeper.autosave(every: .seconds(3600)) {
      [node]
    } told: { _ in
      isSaved.isSet = true
    }
    autosave.flushOnSignals(within: .seconds(3600))
    while !isSaved.isSet { await Task.yield() }
    node.value = "last"
    // Whoever started it with “nohup” wants that.
    kill(getpid(), SIGHUP)
    TestProcess.say("ready")
    let (endless, continuation) = AsyncStream<Void>.makeStream()
    for await _ in endless {}
    withExtendedLifetime((autosave, continuation)) {}
  }

  private func process(_ path: String, _ variables: [String: String] = [:]) throws -> TestProcess {
    let process = try TestProcess(
      "RestorationKitTests.AutosaveSignalTests/testTheProcessThatIsEnded",
      variables.merging([Self.directory: path]) { $1 })
    XCTAssertEqual(try process.answer(), "ready")
    return process
  }

  @MainActor
  private func storedValue(_ path: String) async throws -> String {
    let node = TrackedNode("root")
    _ = try await Self.keeper(at: path).restore(into: [node])
    return node.value
  }

  @MainActor
  func testASignalSavesTheLastChangeAndEndsTheProcess() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(directory.path)
    process.send(signal: SIGTERM)
    XCTAssertEqual(process.endingSignal(), SIGTERM)
    let stored = try await storedValue(directory.path)
    XCTAssertEqual(stored, "last")
  }

  @MainActor
  func testASecondSignalEndsTheProcessAtOnce() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(directory.path, [Self.hangs: "1"])
    process.send(signal: SIGTERM)
    XCTAssertEqual(try process.answer(), "hanging")
    process.send(signal: SIGTERM)
    XCTAssertEqual(process.endingSignal(), SIGTERM)
    let stored = try await storedValue(directory.path)
    XCTAssertEqual(stored, "")
  }

  @MainActor
  func testTheHandlerThatWasThereBeforeIsCalledAfterTheSave() async throws {
    let directory = try TemporaryDirectory()
    let process = try process(directory.path, [Self.handles: "1"])
    process.send(signal: SIGTERM)
    XCTAssertEqual(try process.answer(), "handled")
    process.send(signal: SIGTERM)
    XCTAssertEqual(try process.answer(), "handled")
    process.kill()
    let stored = try await storedValue(directory.path)
    XCTAssertEqual(stored, "last")
  }
}
#endif
