import RestorationKit
import TestSupport
import XCTest

/// What a restore decides of one stored element, for all that it can find of it.
final class OutcomeTests: XCTestCase {
  private typealias Outcome = RestorationReport.NodeOutcome

  private let path = RestorationPath(["above"])

  private var reasons: [Outcome] {
    [
      .vetoed, .factoryFailed(.delegate, "error"), .unknownRestorationClass("A"),
      .notFound, .notInStoryboard("Main", identifier: "a"),
      .notRegistered, .viewNotFound, .stackCut, .tabNotFound, .providedTwice(path),
      .parentMissing(path), .skipped,
    ]
  }

  private let steps: [RestorationReport.Step] = [
    .restorationClass, .delegate, .existing, .storyboard,
  ]

  /// The bodies that nobody gets to see, and one that an object may read.
  private let withheld: [Outcome.Refusal?] = [
    nil, { .newerVersion(by: $0, stored: 3, known: 2) },
    { .migrationFailed(by: $0, from: 1, "no") },
  ]

  func testAnObjectReadsItsBodyUnlessItIsOfAnotherClassOrNobodyCanReadIt() {
    for step in steps {
      for hasState in [true, false] {
        func outcome(_ otherClass: String?, _ withheld: Outcome.Refusal?) -> Outcome {
          Outcome(by: step, otherClass: otherClass, withheld: withheld, hasState: hasState)
        }
        for withheld in withheld {
          XCTAssertEqual(outcome("B", withheld), .classMismatch(by: step, found: "B"))
        }
        XCTAssertEqual(
          outcome(nil, nil), hasState ? .restored(by: step) : .restoredWithoutState(by: step))
        XCTAssertEqual(outcome(nil, withheld[1]), .newerVersion(by: step, stored: 3, known: 2))
        XCTAssertEqual(outcome(nil, withheld[2]), .migrationFailed(by: step, from: 1, "no"))
      }
    }
  }

  func testABodyThatNobodyCouldReadIsWhyAnElementIsMissingUnlessAnotherElementSaysWhy() {
    for reason in reasons {
      for withheld in withheld {
        let outcome = Outcome.missing(reason, withheld: withheld, isOnKeptNode: false).outcome
        switch reason {
        case .parentMissing, .stackCut: XCTAssertEqual(outcome, reason)
        default: XCTAssertEqual(outcome, withheld?(nil) ?? reason)
        }
      }
    }
  }

  func testOnlyAVetoDropsAnElement() {
    for reason in reasons {
      for isOnKeptNode in [true, false] {
        let isKept = Outcome.missing(reason, withheld: nil, isOnKeptNode: isOnKeptNode).isKept
        switch reason {
        case .vetoed: XCTAssertFalse(isKept)
        // These stay, or go, with another element.
        case .parentMissing: XCTAssertFalse(isKept)
        case .stackCut: XCTAssertEqual(isKept, isOnKeptNode)
        default: XCTAssertTrue(isKept, "\(reason) is dropped.")
        }
      }
    }
    for withheld in withheld where withheld != nil {
      XCTAssertTrue(
        Outcome.missing(.vetoed, withheld: withheld, isOnKeptNode: false).isKept,
        "the veto of one that has not seen the state")
    }
  }
}
