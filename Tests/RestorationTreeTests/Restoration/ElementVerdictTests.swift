import RestorationKit
import TestSupport
import XCTest

/// What a restore decides of one stored element, for all that it can find of it.
final class ElementVerdictTests: XCTestCase {
  private typealias Outcome = RestorationReport.NodeOutcome

  // MARK: Before the lookup

  private struct Found: Hashable {
    let kind: ElementKind
    let isBelowMissing, isLeftOut, isLate, isOnCutStack, isTab, namesClass: Bool

    var lookup: Lookup {
      Lookup(
        kind, isBelowMissing: isBelowMissing, isLeftOut: isLeftOut, isLate: isLate,
        isOnCutStack: isOnCutStack, isTab: isTab, namesClass: namesClass)
    }
  }

  private var everyElement: [Found] {
    let kinds: [ElementKind] = [.application, .scene, .node, .view, .object]
    return kinds.flatMap { kind in
      (0..<64).map { bits in
        Found(
          kind: kind, isBelowMissing: bits & 1 > 0, isLeftOut: bits & 2 > 0, isLate: bits & 4 > 0,
          isOnCutStack: bits & 8 > 0, isTab: bits & 16 > 0, namesClass: bits & 32 > 0)
      }
    }
  }

  func testWhereEachElementIsLookedFor() {
    for found in everyElement {
      let expected: Lookup =
        switch (found.isBelowMissing, found.isLeftOut, found.isLate, found.kind) {
        case (true, _, _, _): .belowMissing
        case (false, true, _, _): .leftOut
        case (false, false, true, _): .late
        case (false, false, false, .application), (false, false, false, .scene),
          (false, false, false, .view):
          .inLoadedNode
        case (false, false, false, .object): found.namesClass ? .restorationClass : .registered
        case (false, false, false, .node):
          switch (found.isOnCutStack, found.isTab, found.namesClass) {
          case (true, _, _): .onCutStack
          case (false, true, _): .amongTabs
          case (false, false, true): .restorationClass
          case (false, false, false): .laterSteps
          }
        }
      XCTAssertEqual(found.lookup, expected, "\(found)")
    }
  }

  // MARK: After the lookup

  private let path = RestorationPath(["above"])

  #if RESTORATION_NEXT
  private let otherReasons: [Outcome] = []
  #else
  private let otherReasons: [Outcome] = [.notARestorationClass("A")]
  #endif

  private var reasons: [Outcome] {
    [
      .vetoed, .factoryFailed(.delegate, "error"), .unknownRestorationClass("A"), .notFound,
      .notInStoryboard("Main", identifier: "a"), .notRegistered, .viewNotFound, .stackCut,
      .tabNotFound, .providedTwice(path), .parentMissing(path), .skipped,
    ] + otherReasons
  }

  private var steps: [RestorationReport.Step] {
    [.restorationClass, .delegate, .existing, .storyboard]
  }

  private struct Finding: Hashable {
    let object: ElementVerdict.Object
    let reading: StateReading
    let hasState, isOnKeptNode, isAwaited: Bool
    let keptReason: String?

    #if RESTORATION_NEXT
    // A factory that cannot take a state now throws.
    var verdict: ElementVerdict {
      ElementVerdict(
        object, reading, hasState: hasState, isOnKeptNode: isOnKeptNode, isAwaited: isAwaited)
    }

    var kept: Outcome? { nil }
    #else
    var verdict: ElementVerdict {
      ElementVerdict(
        object, reading, hasState: hasState, isOnKeptNode: isOnKeptNode, isAwaited: isAwaited,
        keptReason: keptReason)
    }

    var kept: Outcome? { keptReason.map { .kept(by: nil, $0) } }
    #endif
  }

  private var everyFinding: [Finding] {
    let found = steps.flatMap { step in
      [nil, "B"].map { ElementVerdict.Object.found(by: step, otherClass: $0) }
    }
    let readings: [StateReading] = [
      .current, .migrated(from: 1), .newer(stored: 3, known: 2), .failed(version: 1, error: "no"),
    ]
    return (found + reasons.map { .missing($0) }).flatMap { object in
      readings.flatMap { reading in
        (0..<16).map { bits in
          Finding(
            object: object, reading: reading, hasState: bits & 1 > 0, isOnKeptNode: bits & 2 > 0,
            isAwaited: bits & 4 > 0, keptReason: bits & 8 > 0 ? "away" : nil)
        }
      }
    }
  }

  private func withheld(_ reading: StateReading, by step: RestorationReport.Step?) -> Outcome? {
    switch reading {
    case .current, .migrated: nil
    case .newer: .newerVersion(by: step, stored: 3, known: 2)
    case .failed: .migrationFailed(by: step, from: 1, "no")
    }
  }

  /// The outcome in the report, and whether saves keep the element.
  private func expected(_ finding: Finding) -> (outcome: Outcome, isKept: Bool) {
    switch finding.object {
    case .found(let step, otherClass: "B"?): return (.classMismatch(by: step, found: "B"), false)
    case .found(let step, _):
      let read: Outcome =
        finding.hasState ? .restored(by: step) : .restoredWithoutState(by: step)
      return (withheld(finding.reading, by: step) ?? read, false)
    case .missing(let reason):
      switch reason {
      case .parentMissing: return (reason, false)
      case .stackCut: return (reason, finding.isOnKeptNode)
      case .viewNotFound where finding.isAwaited: return (reason, false)
      case .vetoed:
        let withheld = withheld(finding.reading, by: nil) ?? finding.kept
        return (withheld ?? .vetoed, withheld != nil)
      default: return (withheld(finding.reading, by: nil) ?? reason, true)
      }
    }
  }

  func testWhatBecomesOfEachElement() {
    for finding in everyFinding {
      let verdict = finding.verdict
      XCTAssertEqual(verdict.outcome, expected(finding).outcome, "\(finding)")
      XCTAssertEqual(verdict.isKept, expected(finding).isKept, "\(finding)")
    }
  }

  func testOnlyAVetoDropsAnElement() {
    for finding in everyFinding {
      let verdict = finding.verdict
      guard case .missing(let reason) = finding.object, !verdict.isKept else { continue }
      switch reason {
      case .vetoed: XCTAssertEqual(verdict.outcome, .vetoed, "\(finding)")
      // These stay with another element, or are looked for again.
      case .parentMissing: break
      case .stackCut: XCTAssertFalse(finding.isOnKeptNode)
      case .viewNotFound: XCTAssert(finding.isAwaited)
      default: XCTFail("\(finding) is dropped.")
      }
    }
  }

  func testAStateThatNobodyReadIsSaidToBeSo() {
    for finding in everyFinding {
      let outcome = finding.verdict.outcome
      switch outcome {
      case .restored: XCTAssertNil(withheld(finding.reading, by: nil), "\(finding)")
      case .newerVersion(let step, _, _), .migrationFailed(let step, _, _):
        guard case .found(let found, _) = finding.object else {
          XCTAssertNil(step, "\(finding)")
          continue
        }
        XCTAssertEqual(step, found)
      default: break
      }
    }
  }
}
