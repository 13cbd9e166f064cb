import RestorationKit
import XCTest

/// When an autosave has something to do next, ten seconds after its beginning.
final class AutosaveStateTests: XCTestCase {
  private typealias State = AutosaveTurns.State

  private let now = 10
  /// Whether something has changed, whether a save is tried again, the end of the pause, the time at which to
  /// ask, and what comes of them; all times in seconds.
  private let rows: [(hasChanged: Bool, retries: Bool, pauseEnd: Int, askAt: Int?, next: Int?)] = [
    (false, false, 0, nil, nil),
    (false, false, 0, 12, 12),
    (false, false, 0, 10, 10),
    (false, false, 0, 9, 9),
    (false, false, 11, nil, 11),
    (false, false, 11, 12, 11),
    (false, false, 11, 9, 11),
    (true, false, 0, nil, 10),
    (true, false, 10, nil, 10),
    (true, false, 0, 12, 10),
    (true, false, 11, nil, 11),
    (true, false, 11, 9, 11),
    (false, true, 0, nil, 10),
    (false, true, 11, nil, 11),
    (true, true, 0, 12, 10),
    (true, true, 11, 12, 11),
  ]

  private func assertEach(
    line: UInt = #line, is next: (Int?) -> Int?, _ change: (inout State) -> Void = { _ in }
  ) {
    for row in rows {
      var state = State()
      state.dueSince = row.hasChanged ? .seconds(1) : nil
      state.retry = row.retries ? .seconds(30) : nil
      state.notBefore = .seconds(row.pauseEnd)
      state.askAt = row.askAt.map { .seconds($0) }
      change(&state)
      let expected = next(row.next).map { Duration.seconds($0) }
      XCTAssertEqual(state.nextTime(at: .seconds(now)), expected, "\(row)", line: line)
    }
  }

  func testTheBeginningIsDue() {
    XCTAssertEqual(State().nextTime(at: .zero), .zero)
  }

  func testAPauseComesFirstThenWhatIsDueThenTheTimeAtWhichToAsk() {
    assertEach(is: { $0 })
  }

  func testAFlushWaitsForNothing() {
    assertEach(is: { _ in now }) { $0.flushes = [{ _ in }] }
  }

  func testAfterTheEndThereIsNothingToDo() {
    assertEach(is: { _ in nil }) { state in
      state.flushes = [{ _ in }]
      state.isStopped = true
    }
  }
}
