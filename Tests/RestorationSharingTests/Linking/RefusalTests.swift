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
      let refusal = Refusal(because: conflict)
      XCTAssertEqual(refusal.cause as? RemoteConflict, conflict)
      XCTAssertEqual(refusal.description, conflict.description)
    }
  }

  func testAConflictHasNoTimeThatIsNoNumber() {
    let conflict = RemoteConflict(
      savedBy: "there", savedAt: Date(timeIntervalSinceReferenceDate: .nan))
    XCTAssertNil(conflict.savedAt)
    XCTAssertEqual(conflict.description, "there has saved the state")
  }

  func testARefusalOfAnotherModuleHasNoConflict() {
    XCTAssertNil(Refusal(because: "it is full").cause as? RemoteConflict)
  }
}
