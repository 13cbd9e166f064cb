#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Real processes that save to a real directory until they are killed.
///
/// Set `KILLED_APP_KILLS` for another number of kills than 25.
final class KilledKeeperTests: XCTestCase {
  private static let nodeCount = 8

  private var random = SeededGenerator()
  private let kills = LongTests.given("KILLED_APP_KILLS") ?? 25

  /// A keeper of this process; the key is beside the states.
  @MainActor
  private func keeper() throws -> StateKeeper {
    guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
    let keeper = try StateKeeper(
      application: Launch.application, directory: app.directory, keys: app.keys)
    // A restore that is killed is not one that crashes.
    keeper.policy.crashThreshold = .max
    return keeper
  }

  /// Runs the other process, and kills it at some moment after some answers.
  private func runAndKill(in directory: borrowing TemporaryDirectory) throws -> [String] {
    let process = try AppProcess.again(
      ["RestorationTreeTests.KilledKeeperTests/testTheKeeperThatIsKilled"], folder: directory.path)
    var lines: [String] = []
    let count = Int.random(in: 1...15, using: &random)
    while lines.count < count, let line = try process.answer() { lines.append(line) }
    // In the midst of whatever it does now.
    let end = ContinuousClock.now + .microseconds(.random(in: 0...6000, using: &random))
    while ContinuousClock.now < end {}
    XCTAssertEqual(process.kill(), .killed(signal: SIGKILL))
    return lines + (try process.remainingAnswers())
  }

  private func leftOver(in directory: borrowing TemporaryDirectory) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.child("states"))
      .filter { name in
        !name.hasPrefix(".") && !name.hasSuffix(".rka") && !name.contains(".rka.previous-")
          && name != "main.history"
      }
  }

  /// The other process: changes one node after the other, and says what is stored, and when.
  @MainActor
  func testTheKeeperThatIsKilled() async throws {
    let keeper = try keeper()
    let root = TrackedNode("root")
    let nodes = (0..<Self.nodeCount).map { TrackedNode("n\($0)") }
    root.below = nodes
    let report = try await keeper.restore(into: [root])
    var number = Int(root.value) ?? 0
    let values = nodes.map { String($0.value.prefix { $0 != " " }) }
    AppUnderTest.say("\(report.outcome) \(number) \(values.joined(separator: ","))")
    while true {
      number += 1
      root.value = "\(number)"
      nodes[number % Self.nodeCount].value =
        "\(number) " + String(repeating: "x", count: number % 5 * 700)
      do {
        let report =
          number % 10 == 0
          ? try await keeper.saveEverything([root]) : try await keeper.save([root])
        AppUnderTest.say("\(report.outcome) \(number) \(DispatchTime.now().uptimeNanoseconds)")
      } catch {
        AppUnderTest.say("failed")
        // Until it is killed.
        _ = readLine()
      }
    }
  }

  /// The number of the save that came back, after a check that it is one.
  static func restoredNumber(_ line: String, _ what: String) -> Int? {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, let number = Int(words[1]) else {
      XCTFail("\(what): \(line)")
      return nil
    }
    XCTAssertEqual(words[0], number == 0 ? "noArchive" : "restored", what)
    let values = (0..<nodeCount).map { place in
      let last = number - (number - place + nodeCount) % nodeCount
      return last > 0 ? "\(last)" : ""
    }
    XCTAssertEqual(String(words[2]), values.joined(separator: ","), what)
    return number
  }

  func testWhatAKilledKeeperSaidToBeStoredComesBackAndNothingHalf() throws {
    let directory = try TemporaryDirectory()
    var last = 0
    for kill in 0..<kills {
      let what = "kill \(kill), seed \(random.seed)"
      let lines = try runAndKill(in: directory)
      guard let first = lines.first else { continue }
      guard let number = Self.restoredNumber(first, what) else { return }
      // What was written may not have been acknowledged any more.
      XCTAssertTrue((last...last + 1).contains(number), "\(what): \(number) after \(last)")
      last = number
      for line in lines.dropFirst() {
        last += 1
        XCTAssertTrue(line.hasPrefix("saved \(last) "), "\(what): \(line)")
      }
    }
    XCTAssertGreaterThan(last, 0)
    XCTAssertEqual(try leftOver(in: directory), [])
  }
}
#endif
