import Foundation
import RestorationKit
import RestorationSharing
import XCTest

/// What becomes of a state by each event: the table of all pairs, and what holds for all sequences.
final class SyncStateTests: XCTestCase {
  private typealias Table = SyncStateTable

  func testEachEventDoesToEachStateWhatTheTableSays() {
    var lines: [String] = []
    for (name, event) in Table.events {
      // Phases with the same answer share a line.
      var answers: [(states: [String], answer: String)] = []
      for (state, before) in Table.states {
        let (after, actions) = before.after(event, at: Table.changes)
        let answer = Table.difference(before, after, actions)
        if let place = answers.firstIndex(where: { $0.answer == answer }) {
          answers[place].states.append(state)
        } else {
          answers.append(([state], answer))
        }
      }
      lines.append(name)
      lines += answers.map { "  \($0.states.joined(separator: " ")): \($0.answer)" }
    }
    let expected = Table.text.split(separator: "\n").map(String.init)
    for (found, expected) in zip(lines, expected) { XCTAssertEqual(found, expected) }
    XCTAssertEqual(lines.count, expected.count)
  }

  /// All sequences of three events, from each state.
  func testNoSequenceOfEventsBreaksARule() {
    for (name, begun) in Table.states {
      for first in Table.events {
        let one = step(begun, first)
        for second in Table.events {
          let two = step(one, second)
          for third in Table.events {
            let three = step(two, third)
            guard isSound(three) else {
              return XCTFail("\(name): \(first.name), \(second.name), \(third.name): \(three)")
            }
          }
        }
      }
    }
  }

  private func step(_ state: SyncState, _ event: (name: String, event: SyncEvent)) -> SyncState {
    let (next, actions) = state.after(event.event, at: Table.changes)
    if Phase(state) == .opposed, Phase(next) != .opposed {
      XCTAssertTrue(Self.decisions.contains(event.name), "\(event.name) ends a conflict")
    }
    if state.isUnsent(at: Table.changes), !next.isUnsent(at: Table.changes) {
      XCTAssertTrue(Self.answers.contains(event.name), "\(event.name) says that all is sent")
    }
    if Phase(next) == .opposed {
      XCTAssertFalse(event.name.hasPrefix("sent") && next != state, "\(event.name) in a conflict")
      XCTAssertFalse(
        event.name.hasPrefix("sent") && !actions.isEmpty, "\(event.name) in a conflict")
    }
    return next
  }

  /// Somebody has decided, and the other state is here or gives way.
  private static let decisions: Set = [
    "took", "took nothing", "took what is damaged", "prevailed",
  ]

  /// The store has answered, a launch has compared, or there is nothing to send any more.
  private static let answers: Set = [
    "took", "took nothing", "took what is damaged", "recognized", "stored the first",
    "stored the last", "stored as nothing", "undone", "proved file, doubted",
  ]

  /// Each case has its number; who adds one writes a row of the table for it.
  func testTheTableHasEachEvent() {
    XCTAssertEqual(Set(Table.events.map { number(of: $0.event) }), Set(1...17))
  }

  private func number(of event: SyncEvent) -> Int {
    switch event {
    case .began: 1
    case .proved: 2
    case .removed: 3
    case .unwanted: 4
    case .undone: 5
    case .endsLease: 6
    case .trusted: 7
    case .sent: 8
    case .stored: 9
    case .notStored: 10
    case .asked: 11
    case .leased: 12
    case .took: 13
    case .recognized: 14
    case .foundPlace: 15
    case .opposed: 16
    case .prevailed: 17
    }
  }

  private func isSound(_ state: SyncState) -> Bool {
    if state.theirs != nil, !state.attempts.isEmpty { return false }
    if case .known(let base) = state.store, state.past.contains(base?.id) { return false }
    return state.past.count <= 64 && state.attempts.count <= 64
  }

  func testManyAttemptsAndStatesOfTheStoreAreForgotten() {
    var state = SyncState()
    for number in 1...200 as ClosedRange<UInt64> {
      state = state.after(.sent(Table.attempt(.change, number)), at: Table.changes).0
      state =
        state.after(
          .took(Table.base(number), nil, needsWhole: false), at: Table.changes
        ).0
      state = state.after(.sent(Table.attempt(.change, 1000 + number)), at: Table.changes).0
    }
    XCTAssertEqual(state.past, (136...199).map(Table.id))
    for number in 1...200 as ClosedRange<UInt64> {
      state = state.after(.sent(Table.attempt(.change, number)), at: Table.changes).0
    }
    XCTAssertEqual(state.attempts.map(\.id), (137...200).map(Table.id))
  }
}
