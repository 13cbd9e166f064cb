import ArchiveCodec
import RestorationKit
import XCTest

/// What becomes of a stored state that another one replaces, for all that can be found of it.
final class ReplacingTests: XCTestCase {
  func testWhatBecomesOfAStateThatWasRestored() {
    typealias SavedBy = RestoredEvidence.SavedBy
    // A damaged end comes before a crash, and both before another version of the app.
    let versions: [(savedBy: SavedBy?, running: String?, Replacing)] = [
      (nil, nil, .previous), (nil, "2", .previous),
      (SavedBy(nil), nil, .previous), (SavedBy(nil), "2", .ofVersion(nil)),
      (SavedBy("1"), nil, .ofVersion("1")), (SavedBy("1"), "2", .ofVersion("1")),
      (SavedBy("2"), "2", .previous),
    ]
    for (savedBy, running, asGeneration) in versions {
      for end in RestoredEvidence.End.allCases {
        for hasCrashed in [false, true] {
          let evidence = RestoredEvidence(end: end, hasCrashed: hasCrashed, savedBy: savedBy)
          let expected: Replacing =
            switch (end, hasCrashed) {
            case (.damaged, _): .setAside(.unreadable)
            case (.whole, true), (.truncated, true): .setAside(.crashed)
            case (.whole, false), (.truncated, false): asGeneration
            }
          XCTAssertEqual(
            Replacing(evidence, by: running), expected, "\(evidence) by \(running ?? "nil")")
        }
      }
    }
  }

  func testWhetherAnArchiveMayBeReplaced() {
    for isLast in [false, true] {
      for isKnown in [false, true] {
        for isDamaged in [false, true] {
          for isWhole in [nil, false, true] as [Bool?] {
            let found = FoundArchive(
              isLast: isLast, isKnown: isKnown, isDamaged: isDamaged, isWhole: isWhole)
            let expected: FoundArchive.Obstacle =
              switch (isLast, isKnown, isDamaged, isWhole) {
              // Nothing could follow it, whoever has read it.
              case (true, _, _, _): .setAside(.unreadable)
              case (false, true, _, _): .none
              case (false, false, true, _), (false, false, false, false?): .setAside(.unreadable)
              case (false, false, false, nil): .needsTree
              case (false, false, false, true?): .setAside(.unread)
              }
            XCTAssertEqual(found.obstacle, expected, "\(found)")
          }
        }
      }
    }
  }
}
