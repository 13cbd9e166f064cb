import RestorationKit
import XCTest

/// What a launch decides by the restores before it, for all that these can have left.
final class LaunchVerdictTests: XCTestCase {
  private let notes: [LaunchNote.Place?] = [nil, .outside, .element(7), .ended]

  private var all: [LaunchEvidence] {
    var all: [LaunchEvidence] = []
    for count in [0, 1, 2, 3, 4, 5, .max, -1, .min] {
      for bits in 0..<16 {
        for note in notes {
          all.append(
            LaunchEvidence(
              begunRestores: count, isOfState: bits & 1 > 0, isOfApplication: bits & 2 > 0,
              isTrial: bits & 4 > 0, note: note, hasRestarted: bits & 8 > 0))
        }
      }
    }
    return all
  }

  /// What is decided, in the words of the article about the order of a restore.
  private func expected(_ evidence: LaunchEvidence, _ threshold: Int) -> LaunchVerdict {
    var verdict = LaunchVerdict(
      LaunchEvidence(
        begunRestores: 0, isOfState: false, isOfApplication: false, isTrial: false, note: nil,
        hasRestarted: false), threshold: 1)
    verdict.mayTry = true
    let isCrash = evidence.note != .ended && !evidence.hasRestarted
    switch (evidence.isOfApplication, evidence.isOfState, isCrash && evidence.isTrial) {
    case (false, _, _), (true, false, false): return verdict
    case (true, false, true):
      verdict.hasTrialFailed = evidence.begunRestores > 0
      verdict.mayTry = !verdict.hasTrialFailed
    case (true, true, true) where evidence.begunRestores > 0:
      verdict.hasTrialFailed = true
      verdict.begunRestores = evidence.begunRestores - 1
      verdict.mayTry = false
    case (true, true, _) where !isCrash || evidence.begunRestores <= 0:
      verdict.begunRestores = evidence.begunRestores > 0 ? evidence.begunRestores - 1 : 0
      verdict.mayTry = verdict.begunRestores == 0
    default:
      let count = evidence.begunRestores
      (verdict.begunRestores, verdict.mayTry) = (count, false)
      guard count >= threshold else { break }
      switch evidence.note {
      case .element(let place): verdict.action = .leaveOut(place, after: count - threshold)
      case nil where count - threshold < 2: break
      default: verdict.action = .giveWay
      }
    }
    return verdict
  }

  func testAllThatLaunchesCanLeave() {
    for threshold in [1, 2, 3, .max] {
      for evidence in all {
        XCTAssertEqual(
          LaunchVerdict(evidence, threshold: threshold), expected(evidence, threshold),
          "\(evidence), \(threshold)")
      }
    }
  }

  func testNothingIsTriedAgainWhileACrashIsNear() {
    for evidence in all {
      let verdict = LaunchVerdict(evidence, threshold: 2)
      guard verdict.mayTry else { continue }
      XCTAssertEqual(verdict.action, .restore)
      XCTAssertEqual(verdict.begunRestores, 0)
      XCTAssertFalse(verdict.hasTrialFailed)
    }
  }

  func testWithoutANoteNoStateIsGivenUpAsSoonAsWithOne() {
    for evidence in all where evidence.note == nil && evidence.begunRestores < 4 {
      XCTAssertEqual(LaunchVerdict(evidence, threshold: 2).action, .restore, "\(evidence)")
    }
  }
}
