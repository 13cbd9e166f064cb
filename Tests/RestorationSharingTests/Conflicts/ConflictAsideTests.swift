import RestorationKit
import RestorationSharing
import XCTest

/// What the end of a conflict sets aside, for all that can be in conflict.
final class ConflictAsideTests: XCTestCase {
  func testTheStateThatGivesWayIsSetAside() {
    for hasOurs in [false, true] {
      for hasTheirs in [false, true] {
        for isLasting in [false, true] {
          for choice in [ConflictChoice.ours, .theirs] {
            let expected: ConflictAside =
              switch (choice, hasOurs, hasTheirs, isLasting) {
              case (.theirs, true, _, true): .ours(mustBeSent: false)
              // In memory nothing is set aside for long.
              case (.theirs, true, _, false): .ours(mustBeSent: true)
              case (.ours, _, true, _): .theirs
              // It was discarded, here or on the other machine.
              case (.theirs, false, _, _), (.ours, _, false, _): .nothing
              }
            XCTAssertEqual(
              ConflictAside(
                choice, hasOurs: hasOurs, hasTheirs: hasTheirs, isCopyLasting: isLasting),
              expected, "\(choice), \(hasOurs), \(hasTheirs), \(isLasting)")
          }
        }
      }
    }
  }
}
