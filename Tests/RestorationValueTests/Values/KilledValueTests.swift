#if os(Linux)
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Real processes with 50 values that are killed.
///
/// Set `KILLED_APP_KILLS` for another number of kills than 25.
final class KilledValueTests: XCTestCase {
  private static let valueCount = 50

  private var random = SeededGenerator()
  private let kills = LongTests.given("KILLED_APP_KILLS") ?? 25

  /// This process as the launch of an app whose state lies where the other process says.
  @MainActor
  private func asApp(_ body: @MainActor () async throws -> Void) async throws {
    guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
    let session = RestorationSession(
      directory: app.directory, keys: app.keys, environment: ApplicationEnvironment(),
      now: { Date() })
    try await session.run { try await body() }
  }

  private struct Note: Codable, Sendable, Equatable {
    var number = 0
    var text = ""
  }

  /// The other process: changes one value after the other, and says what is stored.
  @MainActor
  func testTheAppThatIsKilled() async throws {
    try await asApp {
      // A restore that is killed is not one that crashes.
      let keeper = try await Restoration.begin(
        Launch.application, prepare: { $0.policy.crashThreshold = .max })
      let values = (0..<Self.valueCount).map { RestoredValue("value \($0)", default: Note()) }
      let last = RestoredValue("last", default: 0)
      let numbers = values.map { String($0.value.number) }
      AppUnderTest.say("\(last.value) \(numbers.joined(separator: ","))")
      while true {
        last.value += 1
        values[last.value % Self.valueCount].value = Note(
          number: last.value, text: String(repeating: "x", count: last.value % 5 * 700))
        let report = try await keeper.save([])
        AppUnderTest.say("\(report.outcome) \(last.value)")
      }
    }
  }

  private struct Trap: Codable, Sendable {
    var text = "initial"

    init(text: String) { self.text = text }

    init(from decoder: any Decoder) throws {
      raise(SIGKILL)
      text = "alive"
    }
  }

  /// The other process: sets its values at its first launch, and reads them in the others.
  @MainActor
  func testTheAppThatCrashesInAValue() async throws {
    try await asApp {
      try await Restoration.begin(Launch.application, signals: [])
      let draft = RestoredValue("draft", default: "")
      let trap = RestoredValue("trap", default: Trap(text: "initial"))
      AppUnderTest.say(draft.value)
      draft.value += "x"
      _ = try await Restoration.keeper?.save([])
      if draft.value == "x" { trap.value = Trap(text: "stored") }
      AppUnderTest.say(trap.value.text)
      await Restoration.end()
    }
  }

  func testAnAppThatCrashesInAValueStartsWithoutIt() throws {
    let directory = try TemporaryDirectory()
    var answers: [[String]] = []
    for _ in 1...5 {
      let process = try AppProcess.again(
        ["RestorationValueTests.KilledValueTests/testTheAppThatCrashesInAValue"],
        folder: directory.path)
      answers.append(try process.remainingAnswers())
    }
    XCTAssertEqual(
      answers, [["", "stored"], ["x"], ["xx"], ["xxx", "initial"], ["xxxx"]])
  }

  func testWhatAKilledAppSaidToBeStoredComesBack() throws {
    let directory = try TemporaryDirectory()
    var last = 0
    for kill in 0..<kills {
      let what = "kill \(kill), seed \(random.seed)"
      let process = try AppProcess.again(
        ["RestorationValueTests.KilledValueTests/testTheAppThatIsKilled"], folder: directory.path)
      var lines: [String] = []
      let count = Int.random(in: 1...15, using: &random)
      while lines.count < count, let line = try process.answer() { lines.append(line) }
      // In the midst of whatever it does now.
      let end = ContinuousClock.now + .microseconds(.random(in: 0...6000, using: &random))
      while ContinuousClock.now < end {}
      XCTAssertEqual(process.kill(), .killed(signal: SIGKILL), what)
      lines += try process.remainingAnswers()
      let words = try XCTUnwrap(lines.first, what).split(separator: " ")
      let restored = try XCTUnwrap(words.first.flatMap { Int($0) }, what)
      // What was written may not have been acknowledged any more.
      XCTAssertTrue((last...last + 1).contains(restored), "\(what): \(restored) after \(last)")
      let numbers = (0..<Self.valueCount).map { place in
        let number = restored - (restored - place + Self.valueCount) % Self.valueCount
        return String(max(0, number))
      }
      XCTAssertEqual(words.last.map(String.init), numbers.joined(separator: ","), what)
      last = restored
      for line in lines.dropFirst() {
        last += 1
        XCTAssertEqual(line, "saved \(last)", what)
      }
    }
    XCTAssertGreaterThan(last, 0)
  }
}
#endif
