import ArchiveCodec
import RestorationKit
import XCTest

/// The decision of a launch on the restores before it, for all evidence that there is.
final class LaunchVerdictTests: XCTestCase {
  private let element = LaunchSubject(element: 7)
  private let window = LaunchSubject(element: 2)

  private func forAll(_ body: (LaunchEvidence, Int, String) -> Void) {
    let places: [LaunchEvidence.Place] = [.unknown, .outside, .subject(element), .ended]
    for crashes in 0...7 {
      for flags in 0..<16 {
        for place in places {
          for window in [nil, window] {
            for threshold in 0...3 {
              var evidence = LaunchEvidence()
              evidence.crashes = crashes
              evidence.isOfState = flags & 1 != 0
              evidence.isOfApplication = flags & 2 != 0
              evidence.isTrial = flags & 4 != 0
              evidence.hasRestarted = flags & 8 != 0
              (evidence.place, evidence.window) = (place, window)
              body(evidence, threshold, "\(evidence), threshold \(threshold)")
            }
          }
        }
      }
    }
  }

  /// Whether the last restore was ended by a crash of its own.
  private func isCrash(_ evidence: LaunchEvidence) -> Bool {
    evidence.crashes > 0 && !evidence.hasRestarted && evidence.place != .ended
  }

  func testBelowTheThresholdAndForAnotherStateOrVersionOfTheAppEverythingIsRestored() {
    forAll { evidence, threshold, text in
      guard
        !isCrash(evidence) || !evidence.isOfState || !evidence.isOfApplication
          || evidence.crashes < max(1, threshold) || evidence.isTrial
      else { return }
      XCTAssertEqual(LaunchVerdict(evidence, threshold: threshold).action, .restore, text)
    }
  }

  func testAfterThatAnElementIsLeftOutThenThoseAboveThenTheWindowThenTheState() {
    forAll { evidence, threshold, text in
      let step = evidence.crashes - max(1, threshold)
      guard isCrash(evidence), evidence.isOfState, evidence.isOfApplication, !evidence.isTrial,
        step >= 0
      else { return }
      let last: LaunchVerdict.Action =
        evidence.window.map { .leaveOutWindow($0) } ?? .giveWay
      let expected: LaunchVerdict.Action =
        switch (evidence.place, step) {
        case (.subject(let subject), 0): .leaveOut(subject, withThoseAbove: false)
        case (.subject(let subject), 1): .leaveOut(subject, withThoseAbove: true)
        // A note that is missing may be one that somebody has written over.
        case (.unknown, 0...1): .restore
        default: last
        }
      XCTAssertEqual(LaunchVerdict(evidence, threshold: threshold).action, expected, text)
    }
  }

  func testAnEndThatIsNoCrashTakesOneAwayAndACrashNone() {
    forAll { evidence, threshold, text in
      let count = LaunchVerdict(evidence, threshold: threshold).crashes
      let isOther = !evidence.isOfState || !evidence.isOfApplication
      let isOwn = isCrash(evidence) && !evidence.isTrial
      let expected = isOther ? 0 : isOwn ? evidence.crashes : max(1, evidence.crashes) - 1
      XCTAssertEqual(count, expected, text)
    }
  }

  func testATrialFailsByACrashOfTheSameVersionOfTheApp() {
    forAll { evidence, threshold, text in
      XCTAssertEqual(
        LaunchVerdict(evidence, threshold: threshold).hasTrialFailed,
        evidence.isTrial && evidence.isOfApplication && isCrash(evidence), text)
    }
  }

  func testSomethingIsTriedAgainOnlyWhereNoOtherCrashIsNear() {
    forAll { evidence, threshold, text in
      let verdict = LaunchVerdict(evidence, threshold: threshold)
      XCTAssertEqual(
        verdict.mayTry,
        !verdict.hasTrialFailed && verdict.crashes == 0
          && (!evidence.isOfState || !evidence.isOfApplication || !isCrash(evidence)), text)
    }
  }

  func testACountThatNoLaunchCanReachIsNoTrap() {
    for crashes in [Int.min, -1, .max] {
      for threshold in [Int.min, 0, 1, .max] {
        var evidence = LaunchEvidence()
        (evidence.crashes, evidence.place) = (crashes, .subject(element))
        _ = LaunchVerdict(evidence, threshold: threshold)
      }
    }
  }

  func testASubjectIsTheSameAgainAndNoValueIsAnElement() {
    XCTAssertEqual(LaunchSubject(element: 7).element, 7)
    XCTAssertEqual(LaunchSubject(element: 0).element, 0)
    XCTAssertNil(LaunchSubject(valueTag: 7).element)
    XCTAssertNil(LaunchSubject(valueTag: .max).element)
    XCTAssertNotEqual(LaunchSubject(element: 0).number, 0)
  }

  func testNoBitOfANoteCanBeChanged() throws {
    let tag = NumberTag()
    for stage in [LaunchNote.Stage.restoring, .restored, .ended] {
      for (subject, window) in [(nil, nil), (element, nil), (element, window), (nil, window)] {
        var note = LaunchNote(stage)
        (note.subject, note.window) = (subject, window)
        let bytes = note.bytes(tag)
        XCTAssertEqual(bytes.count, LaunchNote.byteCount)
        XCTAssertEqual(LaunchNote(endOf: [1, 2, 3] + bytes, tag), note)
        XCTAssertNil(LaunchNote(endOf: bytes, NumberTag()))
        XCTAssertNil(LaunchNote(endOf: Array(bytes.dropLast()), tag))
        for bit in 0..<bytes.count * 8 {
          var changed = bytes
          changed[bit / 8] ^= 1 << (bit % 8)
          XCTAssertNil(LaunchNote(endOf: changed, tag), "\(bit)")
        }
      }
    }
  }
}
