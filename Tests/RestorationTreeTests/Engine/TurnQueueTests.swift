import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Who has a turn when.
@MainActor
final class TurnQueueTests: XCTestCase {
  private struct Failure: Error {}

  private let queue = TurnQueue()
  private var told: [String] = []

  /// A body that lets others run in its midst.
  private func body(_ name: String, isFailing: Bool = false) async throws(Failure) {
    told.append("\(name) begins")
    for _ in 0..<3 { await Task.yield() }
    told.append("\(name) ends")
    if isFailing { throw Failure() }
  }

  private func call(_ name: String, isFailing: Bool = false) -> Task<Void, any Error> {
    Task { @MainActor in try await queue.run { try await body(name, isFailing: isFailing) } }
  }

  func testEachBodyRunsAloneInTheOrderOfTheCallsAlsoAfterOneThatFails() async throws {
    let tasks = (0..<200).map { call("\($0)", isFailing: $0 % 3 == 0) }
    for (number, task) in tasks.enumerated() {
      let isFailed: Bool
      do {
        try await task.value
        isFailed = false
      } catch {
        isFailed = true
      }
      XCTAssertEqual(isFailed, number % 3 == 0)
    }
    XCTAssertEqual(told, (0..<200).flatMap { ["\($0) begins", "\($0) ends"] })
    XCTAssertFalse(queue.isRunning)
  }

  func testWhoCallsWhenATurnEndsComesAfterAllThatWait() async throws {
    let first = Task { @MainActor in
      try await queue.run { () async throws(Failure) in try await body("first") }
      try await queue.run { () async throws(Failure) in try await body("first again") }
    }
    let second = call("second")
    for task in [first, second] { try await task.value }
    XCTAssertEqual(
      told,
      [
        "first begins", "first ends", "second begins", "second ends", "first again begins",
        "first again ends",
      ])
  }

  func testABodyThatOvertakesRunsAtOnceAndTheTurnInWhoseMidstItRanGoesOn() async throws {
    let first = call("first")
    let second = call("second")
    try await waitUntil("the first one runs") { told == ["first begins"] }
    await queue.overtake { told.append("overtakes") }
    XCTAssertTrue(queue.isRunning)
    for task in [first, second] { try await task.value }
    XCTAssertEqual(
      told, ["first begins", "overtakes", "first ends", "second begins", "second ends"])
  }

  func testWhoCallsInTheMidstOfABodyThatOvertakesNobodyHasATurnAfterIt() async throws {
    var inner: Task<Void, any Error>?
    await queue.overtake {
      inner = Task.immediate { @MainActor in try await queue.run { try await body("inner") } }
      told.append("overtakes")
    }
    try await inner?.value
    XCTAssertEqual(told, ["overtakes", "inner begins", "inner ends"])
    XCTAssertFalse(queue.isRunning)
  }
}

extension TurnQueue {
  fileprivate func overtake(_ body: () -> Void) async {
    await run(overtaking: true) { body() }
  }
}
