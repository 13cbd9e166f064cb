#if os(Linux)
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Apps that begin and end in each way, in processes of their own.
final class RestorationEndTests: XCTestCase {
  @MainActor
  private func begin() throws -> RestoredValue<Int> {
    guard AppUnderTest.current != nil else { throw XCTSkip("Runs in a process of its own.") }
    let value = RestoredValue("value", default: 0)
    try Restoration.beginNow("org.example.ends", signals: [])
    return value
  }

  @MainActor
  func testTheAppThatCallsExit() throws {
    let value = try begin()
    AppUnderTest.say("\(value.value)")
    value.value += 1
    exit(0)
  }

  @MainActor
  func testTheAppThatCallsExitElsewhere() async throws {
    let value = try begin()
    AppUnderTest.say("\(value.value)")
    value.value += 1
    Thread.detachNewThread { exit(0) }
    // The main actor is free.
    try await Task.sleep(for: .seconds(60))
  }

  @MainActor
  func testTheAppThatEndsNow() throws {
    let value = try begin()
    AppUnderTest.say("\(value.value)")
    value.value += 1
    AppUnderTest.say(Restoration.endNow() ? "stored" : "not stored")
    _exit(0)
  }

  private func launches(of test: String, _ count: Int) throws -> [String] {
    let directory = try TemporaryDirectory()
    return try (0..<count).flatMap { _ in
      // Where apps have their state, as if nobody tested them.
      let process = try AppProcess.again(
        ["RestorationKitTests.RestorationEndTests/\(test)"],
        environment: [
          "XDG_STATE_HOME": directory.child("state"), "XDG_DATA_HOME": directory.child("data"),
        ], folder: directory.path)
      return try process.remainingAnswers()
    }
  }

  func testAnAppThatCallsExitRightAfterAChangeLosesNothing() throws {
    XCTAssertEqual(try launches(of: "testTheAppThatCallsExit", 4), ["0", "1", "2", "3"])
  }

  func testAnAppThatCallsExitOnAnotherThreadLosesNothing() throws {
    XCTAssertEqual(try launches(of: "testTheAppThatCallsExitElsewhere", 3), ["0", "1", "2"])
  }

  func testAnAppThatEndsNowHasStoredAll() throws {
    XCTAssertEqual(
      try launches(of: "testTheAppThatEndsNow", 3),
      ["0", "stored", "1", "stored", "2", "stored"])
  }
}
#endif
