import Foundation
import RestorationKit
import TestSupport
import XCTest

/// A date that is no number cannot be described: the system ends the process that tries.
@MainActor
final class TimeTests: XCTestCase {
  private let launch = Launch()
  private let before = Date.now

  override func setUp() async throws { launch.now = Date(timeIntervalSinceReferenceDate: .nan) }

  /// Checks that a date is of now: one that is no number compares as equal with any other.
  private func assertIsOfNow(_ date: Date?, line: UInt = #line) throws {
    // A commit has whole seconds.
    let seconds = try XCTUnwrap(date, line: line).timeIntervalSince(before)
    XCTAssertTrue((-1...600).contains(seconds), "\(seconds)", line: line)
  }

  func testAClockThatGivesNoNumberCountsAsTheSystems() async throws {
    let gone = TestNode("gone", value: "Oslo")
    _ = try await launch.keeper().save([TestNode("root", children: [gone])])
    for _ in 0..<2 {
      let keeper = try launch.keeper()
      let root = TestNode("root")
      let restored = try await keeper.restore(into: [root])
      root.value = "edited"
      let saved = try await keeper.save([root])
      XCTAssertFalse("\(restored)\(saved)".isEmpty)
      try assertIsOfNow(restored.savedAt)
      try assertIsOfNow(saved.kept.first?.since)
    }
  }

  func testSoDoesTheTimeOfAMoment() async throws {
    for value in ["a", "b"] {
      _ = try await launch.keeper().save([TestNode("root", value: value)])
    }
    let moments = try await launch.keeper().history()
    XCTAssertEqual(moments.map(\.reason), [.unread])
    try assertIsOfNow(moments.first?.date)
  }

  func testSoDoesTheTimeAtWhichAWindowWasClosed() async throws {
    let host = SceneHost(try launch.keeper())
    host.closedSceneCount = 10
    host.register(SceneConfiguration { TestSceneDelegate(root: TestNode("root")) })
    try await host.launch()
    try await host.close(try await host.open())
    try assertIsOfNow(host.closedSessions.first?.closedAt)
  }
}
