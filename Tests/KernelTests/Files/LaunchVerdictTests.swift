import ArchiveCodec
import RestorationKit
import XCTest

/// The decision of a launch on the restores before it, for all evidence that there is.
final class LaunchVerdictTests: XCTestCase {
  private let element = LaunchSubject(element: 7)
  private let window = LaunchSubject(element: 2)

  /// What a launch finds of the restores before it.
  private struct Found {
    var crashes = 0
    var isOfState = true
    var isOfApplication = true
    /// Whether the last restore tried again what was left out.
    var isTrial = false
    var hasRestarted = false
    var note: LaunchNote?
    var isWindowLeftOut = false
    var threshold = 2

    /// Whether the last restore was ended by a crash of its own.
    var isCrash: Bool { crashes > 0 && !hasRestarted && note?.stage != .ended }

    var verdict: LaunchVerdict {
      let version = ArchiveVersion(generation: 1, mac: [1])
      let environment = FileTestCase.environment(of: "1")
      var record = LaunchRecord()
      record.crashes = crashes
      record.version = isOfState ? version : ArchiveVersion(generation: 1, mac: [2])
      record.applicationVersion = isOfApplication ? "1" : "2"
      record.bootSession = hasRestarted ? "other" : environment.bootSession
      if isTrial {
        record.leftOut.add([LaunchSubject(element: 9)], by: "1")
        record.leftOut.retry()
        let tree = TextTree([9: "tried"])
        XCTAssertNotNil(record.leftOut.begin(in: tree, by: "1", mayTry: true))
      }
      if isWindowLeftOut { record.leftOut.add([note?.window].compactMap(\.self), by: "1") }
      return LaunchVerdict(record, note, of: version, in: environment, threshold: threshold)
    }
  }

  /// All notes that a restore leaves behind: none, outside of all elements, in one, and after its end.
  private var notes: [LaunchNote?] {
    [nil]
      + [window, nil].flatMap { window in
        [(.restoring, nil), (.restoring, element), (.ended, nil)].map {
          (stage: LaunchNote.Stage, subject: LaunchSubject?) in
          var note = LaunchNote(stage)
          (note.subject, note.window) = (subject, window)
          return note
        }
      }
  }

  private func forAll(_ body: (Found, String) -> Void) {
    for crashes in 0...7 {
      for flags in 0..<32 {
        for note in notes {
          for threshold in 0...3 {
            let found = Found(
              crashes: crashes, isOfState: flags & 1 != 0, isOfApplication: flags & 2 != 0,
              isTrial: flags & 4 != 0, hasRestarted: flags & 8 != 0, note: note,
              isWindowLeftOut: flags & 16 != 0, threshold: threshold)
            body(found, "\(found)")
          }
        }
      }
    }
  }

  func testBelowTheThresholdAndForAnotherStateOrVersionOfTheAppEverythingIsRestored() {
    forAll { found, text in
      guard
        !found.isCrash || !found.isOfState || !found.isOfApplication
          || found.crashes < max(1, found.threshold) || found.isTrial
      else { return }
      XCTAssertEqual(found.verdict.action, .restore, text)
    }
  }

  func testAfterThatAnElementIsLeftOutThenThoseAboveThenTheWindowThenTheState() {
    forAll { found, text in
      let step = found.crashes - max(1, found.threshold)
      guard found.isCrash, found.isOfState, found.isOfApplication, !found.isTrial, step >= 0
      else { return }
      let last: LaunchVerdict.Action =
        found.note?.window.flatMap { found.isWindowLeftOut ? nil : $0 }
        .map { .leaveOut($0, withThoseAbove: false) } ?? .giveWay
      let expected: LaunchVerdict.Action =
        switch (found.note, found.note?.subject, step) {
        case (_, let subject?, 0): .leaveOut(subject, withThoseAbove: false)
        case (_, let subject?, 1): .leaveOut(subject, withThoseAbove: true)
        // A note that is missing may be one that somebody has written over.
        case (nil, _, 0...1): .restore
        default: last
        }
      XCTAssertEqual(found.verdict.action, expected, text)
    }
  }

  func testAnEndThatIsNoCrashTakesOneAwayAndACrashNone() {
    forAll { found, text in
      let isOther = !found.isOfState || !found.isOfApplication
      let isOwn = found.isCrash && !found.isTrial
      let expected = isOther ? 0 : isOwn ? found.crashes : max(1, found.crashes) - 1
      XCTAssertEqual(found.verdict.crashes, expected, text)
    }
  }

  func testATrialFailsByACrashOfTheSameVersionOfTheApp() {
    forAll { found, text in
      XCTAssertEqual(
        found.verdict.hasTrialFailed, found.isTrial && found.isOfApplication && found.isCrash, text)
    }
  }

  func testSomethingIsTriedAgainOnlyWhereNoOtherCrashIsNear() {
    forAll { found, text in
      let verdict = found.verdict
      XCTAssertEqual(
        verdict.mayTry,
        !verdict.hasTrialFailed && verdict.crashes == 0
          && (!found.isOfState || !found.isOfApplication || !found.isCrash), text)
    }
  }

  func testACountThatNoLaunchCanReachIsNoTrap() {
    for crashes in [Int.min, -1, .max] {
      for threshold in [Int.min, 0, 1, .max] {
        var note = LaunchNote()
        note.subject = element
        _ = Found(crashes: crashes, note: note, threshold: threshold).verdict
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
