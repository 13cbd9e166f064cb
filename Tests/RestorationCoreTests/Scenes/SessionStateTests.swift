import RestorationKit
import XCTest

/// What each event does in each state of a session.
final class SessionStateTests: XCTestCase {
  /// The states, and what becomes of each by connect, appear, fail, leave, close and discard; a dash for nothing.
  private let table: [(state: SessionState, after: String)] = [
    (.new, "opening - - - - -"),
    (.stored, "connecting - - - closed gone"),
    (.closed, "reopening - - - - gone"),
    (.opening, "- connected gone - - gone"),
    (.connecting, "- connected stored - - gone"),
    (.reopening, "- connected closed - - gone"),
    (.connected, "- - - stored closed gone"),
    (.gone, "- - - - - -"),
  ]

  func testEachEventInEachState() {
    XCTAssertEqual(table.map(\.state), SessionState.allCases)
    XCTAssertEqual(
      SessionState.Event.allCases.map { "\($0)" },
      ["connect", "appear", "fail", "leave", "close", "discard"])
    for (state, after) in table {
      let found = SessionState.Event.allCases.map { event in
        state.after(event).map { "\($0)" } ?? "-"
      }
      XCTAssertEqual(found.joined(separator: " "), after, "\(state)")
    }
  }
}
