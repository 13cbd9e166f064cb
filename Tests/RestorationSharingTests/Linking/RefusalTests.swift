import Foundation
import RestorationKit
import RestorationSharing
import XCTest

final class RefusalTests: XCTestCase {
  /// The conflict of two machines, with each combination of what is known of it.
  private var conflicts: [RemoteConflict] {
    let dates: [Date?] = [
      nil, Date(timeIntervalSinceReferenceDate: 0.1), .distantPast,
      Date(timeIntervalSince1970: 1_800_000_000.123_456_7),
    ]
    let names: [String?] = [nil, "", "ada’s “phone”\n"]
    return dates.flatMap { date in
      names.flatMap { name in
        names.flatMap { owner in
          [false, true].map {
            RemoteConflict(savedBy: name, savedAt: date, isRemoved: $0, takenOverBy: owner)
          }
        }
      }
    }
  }

  func testARefusalHasTheWholeConflictAndItsWords() {
    XCTAssertEqual(conflicts.count, 72)
    for conflict in conflicts {
      XCTAssertEqual(conflict.refusal.conflict, conflict)
      XCTAssertEqual(conflict.refusal.description, conflict.description)
    }
  }

  func testARefusalOfAnotherModuleHasNoConflict() {
    for facts in [[:], ["isRemoved": ""], ["isRemoved": "yes"], ["savedBy": "ada"]] {
      XCTAssertNil(Refusal("it is full", facts).conflict, "\(facts)")
    }
  }
}
