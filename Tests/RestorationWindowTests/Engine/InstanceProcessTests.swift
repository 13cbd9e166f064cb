#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Several running instances of one app: real processes over one directory.
final class InstanceProcessTests: XCTestCase {
  private static let single = "INSTANCE_IS_SINGLE"

  // MARK: The other process

  /// Does what it is told: `restore`, `slow` for a restore that waits for another
  /// line, `save VALUE`, `windows` for a launch with windows, `close`.
  @MainActor
  func testTheInstance() async throws {
    guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
    let keeper = try StateKeeper(
      application: Launch.application, directory: app.directory, keys: app.keys)
    try keeper.register(restorationClass: TestFactory.self)
    if ProcessInfo.processInfo.environment[Self.single] != nil {
      keeper.policy.isSingleInstance = true
    }
    let node = TestNode("a", value: "default")
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      switch words[0] {
      case "restore", "slow":
        node.onDecode = { _ in
          guard words[0] == "slow" else { return }
          app.say("decoding")
          _ = readLine()
        }
        let report = try await keeper.restore(into: [node])
        app.say(
          "\(describe(report.outcome)) \(report.stateName ?? "none") \(node.value ?? "nil")"
            + report.others.map { " \($0.stateName) by \($0.process ?? "nil")" }.joined())
      case "save":
        node.value = words[1]
        let report = try await keeper.save([node])
        app.say("\(report.outcome) \(report.setAside == nil ? "replaced" : "kept")")
      case "close":
        await keeper.close()
        app.say("closed")
      default: XCTFail(line)
      }
    }
  }

  private func describe(_ outcome: ReportOutcome) -> String {
    switch outcome {
    case .inUse(let process): "in use by \(process ?? "nil"):"
    case .crashed: "crashed"
    default: "\(outcome)"
    }
  }

  // MARK: What they say

  private func instance(_ directory: borrowing TemporaryDirectory, single: Bool = false) throws
    -> AppProcess
  {
    try AppProcess.again(
      ["RestorationWindowTests.InstanceProcessTests/testTheInstance"],
      environment: single ? [Self.single: "1"] : [:], folder: directory.path)
  }

  /// How a lock names it.
  private func name(of process: AppProcess) -> String {
    "process \(process.identifier), \(ProcessInfo.processInfo.processName)"
  }

  private func keptNames(in directory: borrowing TemporaryDirectory) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.child("states"))
      .filter { !$0.hasPrefix(".") && (!$0.hasSuffix(".rka") || $0.contains(".history")) }
  }

  func testTwoInstancesHaveAStateEachAndGetThemBackInTheirOrder() throws {
    let directory = try TemporaryDirectory()
    let (one, two) = (try instance(directory), try instance(directory))
    XCTAssertEqual(try one.ask("restore"), "noArchive main default")
    XCTAssertEqual(
      try two.ask("restore"), "noArchive main~2 default main by \(name(of: one))")
    XCTAssertEqual(try one.ask("save one"), "saved replaced")
    XCTAssertEqual(try two.ask("save two"), "saved replaced")
    one.kill()
    two.kill()

    let (third, fourth) = (try instance(directory), try instance(directory))
    XCTAssertEqual(try third.ask("restore"), "restored main one")
    XCTAssertEqual(
      try fourth.ask("restore"), "restored main~2 two main by \(name(of: third))")
    // The first one is free again while the second one is not.
    XCTAssertEqual(try third.ask("close"), "closed")
    let fifth = try instance(directory)
    XCTAssertEqual(try fifth.ask("restore"), "restored main one")
    XCTAssertEqual(try keptNames(in: directory), [])
  }

  func testRestoresThatAreUnderWayInOtherProcessesAreNoCrashes() throws {
    let directory = try TemporaryDirectory()
    for round in 0..<3 {
      let instances = try (0..<3).map { _ in try instance(directory) }
      for (number, instance) in instances.enumerated() {
        if round == 0 {
          _ = try instance.ask("restore")
          _ = try instance.ask("save \(number)")
        } else {
          XCTAssertEqual(try instance.ask("slow"), "decoding")
        }
      }
      // All of them are in the midst of it.
      if round > 0 {
        for (number, instance) in instances.enumerated() {
          let answer = try instance.ask("go on")
          XCTAssertTrue(
            answer.hasPrefix("restored main\(number == 0 ? "" : "~\(number + 1)") \(number)"),
            answer)
        }
      }
      for instance in instances { instance.kill() }
    }
    XCTAssertEqual(try keptNames(in: directory), [])
  }

  func testARestoreWhoseProcessIsKilledCountsAsACrash() throws {
    let directory = try TemporaryDirectory()
    let first = try instance(directory)
    _ = try first.ask("restore")
    _ = try first.ask("save text")
    first.kill()
    for _ in 0..<2 {
      let killed = try instance(directory)
      XCTAssertEqual(try killed.ask("slow"), "decoding")
      killed.kill()
    }
    // What crashed is left out, and the state stays where it is.
    let next = try instance(directory)
    XCTAssertEqual(try next.ask("slow"), "restored main default")
    XCTAssertEqual(try keptNames(in: directory).count, 0)
  }

  func testASecondInstanceOfASingleOneRestoresAndWritesNothingUntilTheFirstIsGone() throws {
    let directory = try TemporaryDirectory()
    let (one, two) = (
      try instance(directory, single: true), try instance(directory, single: true)
    )
    _ = try one.ask("restore")
    _ = try one.ask("save one")
    let bytes = try directory.bytes(of: "states/main.rka")
    XCTAssertEqual(try two.ask("restore"), "in use by \(name(of: one)): none default")
    XCTAssertEqual(
      try two.ask("save two"), "inUse(by: Optional(\"\(name(of: one))\")) replaced")
    XCTAssertEqual(try directory.bytes(of: "states/main.rka"), bytes)
    one.kill()
    // It has not read what the first one has left, so that stays.
    XCTAssertEqual(try two.ask("save two"), "saved kept")
    XCTAssertEqual(try keptNames(in: directory).count, 1)
    two.kill()

    let three = try instance(directory, single: true)
    XCTAssertEqual(try three.ask("restore"), "restored main two")
    XCTAssertEqual(try three.ask("save three"), "saved replaced")
  }
}
#endif
