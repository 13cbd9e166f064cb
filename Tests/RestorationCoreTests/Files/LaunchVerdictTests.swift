import ArchiveCodec
import RestorationKit
import XCTest

/// The decision of a launch on the restores before it, for all evidence that there is.
final class LaunchVerdictTests: XCTestCase {
  private let element = LaunchSubject(element: 7)

  /// What a launch finds of the restores before it.
  private struct Found {
    var crashes = 0
    var isOfState = true
    var isOfApplication = true
    /// Whether the last restore tried again what was left out.
    var isTrial = false
    var hasRestarted = false
    var note: LaunchNote?
    var threshold = 2

    /// Whether the last restore was ended by a crash of its own.
    var isCrash: Bool { crashes > 0 && !hasRestarted && note?.stage != .ended }

    /// What a launch decides, and leaves behind.
    func decided(rootCount: Int = 1) -> (isTaken: Bool, record: LaunchRecord) {
      let version = ArchiveVersion(generation: 1, mac: [1])
      var record = isTrial ? LaunchVerdictTests.trial : LaunchRecord()
      (record.crashes, record.note) = (crashes, note)
      record.stateMAC = isOfState ? version.mac : [2]
      record.applicationVersion = isOfApplication ? "1" : "2"
      let environment = FileTestCase.environment(of: "1")
      record.bootSession = hasRestarted ? "other" : environment.bootSession
      var tree = LaunchVerdictTests.tree
      if rootCount > 1 { tree.texts[20] = "another root" }
      let isTaken = record.take(version, tree, threshold: threshold, in: environment)
      return (isTaken, record)
    }
  }

  /// 1 is above 2, that one above the element that crashes, and 9 is another one below 1.
  private static let tree: TextTree = {
    var tree = TextTree([1: "root", 2: "above", 7: "crashing", 9: "tried"])
    tree.parents = [2: 1, 7: 2, 9: 1]
    return tree
  }()

  /// The record of a launch that tries again what crashed once after a restore.
  fileprivate static let trial: LaunchRecord = {
    let version = ArchiveVersion(generation: 1, mac: [1])
    let environment = FileTestCase.environment(of: "1")
    var record = LaunchRecord()
    record.begin(version, in: environment)
    record.note = LaunchNote(.restored, LaunchSubject(element: 9))
    record.endRestore(threshold: 1, in: environment)
    record.retry()
    XCTAssertTrue(record.take(version, tree, threshold: 1, in: environment))
    XCTAssertEqual(record.rest.tried, LaunchSubject(element: 9))
    return record
  }()

  /// All notes that a restore leaves behind: none, outside of all elements, in one, and after its end.
  private var notes: [LaunchNote?] {
    [nil, LaunchNote(.restoring), LaunchNote(.restoring, element), LaunchNote(.ended)]
  }

  private func forAll(_ body: (Found, String) -> Void) {
    for crashes in 0...7 {
      for flags in 0..<16 {
        for note in notes {
          for threshold in 0...3 {
            let found = Found(
              crashes: crashes, isOfState: flags & 1 != 0, isOfApplication: flags & 2 != 0,
              isTrial: flags & 4 != 0, hasRestarted: flags & 8 != 0, note: note,
              threshold: threshold)
            body(found, "\(found)")
          }
        }
      }
    }
  }

  /// Whether the launch answers the crashes: there are enough, and they are of this state and app.
  private func step(_ found: Found) -> Int? {
    let step = found.crashes - max(1, found.threshold)
    return found.isCrash && found.isOfState && found.isOfApplication && !found.isTrial && step >= 0
      ? step : nil
  }

  func testBelowTheThresholdAndForAnotherStateOrVersionOfTheAppEverythingIsRestored() {
    forAll { found, text in
      guard step(found) == nil else { return }
      let (isTaken, record) = found.decided()
      XCTAssertTrue(isTaken, text)
      XCTAssertFalse(record.leftOut.contains(element), text)
    }
  }

  func testAfterThatAnElementIsLeftOutThenWithThoseAboveItsRootAndElseTheStateGivesWay() {
    forAll { found, text in
      guard let step = step(found) else { return }
      for rootCount in 1...2 {
        let (isTaken, record) = found.decided(rootCount: rootCount)
        let expected: [UInt64]? =
          switch (found.note, found.note?.subject, step) {
          case (_, _?, 0): [7]
          // Nothing is left out yet whose parent could go.
          case (_, _?, 1): nil
          case (_, _?, _): rootCount > 1 ? [1] : nil
          // A note that is missing may be one that somebody has written over.
          case (nil, _, 0...1): []
          default: nil
          }
        XCTAssertEqual(isTaken, expected != nil, text)
        XCTAssertEqual(record.leftOut.map(\.element), expected ?? [], text)
      }
    }
  }

  func testAnEndThatIsNoCrashTakesOneAwayAndACrashNone() {
    forAll { found, text in
      let isOther = !found.isOfState || !found.isOfApplication
      let isOwn = found.isCrash && !found.isTrial
      let expected = isOther ? 0 : isOwn ? found.crashes : max(1, found.crashes) - 1
      XCTAssertEqual(found.decided().record.crashes, expected, text)
    }
  }

  func testATrialFailsByACrashOfTheSameVersionOfTheAppAndElseIsTriedAgainWhereNoCrashIsNear() {
    forAll { found, text in
      guard found.isTrial else { return }
      let record = found.decided().record
      guard found.isOfApplication else { return XCTAssertEqual(record.leftOut, [], text) }
      XCTAssertEqual(record.leftOut, [LaunchSubject(element: 9)], text)
      XCTAssertEqual(record.rest.tried != nil, !found.isCrash && record.crashes == 0, text)
    }
  }

  func testACountThatNoLaunchCanReachIsNoTrap() {
    for crashes in [Int.min, -1, .max] {
      for threshold in [Int.min, 0, 1, .max] {
        let note = LaunchNote(.restoring, element)
        _ = Found(crashes: crashes, note: note, threshold: threshold).decided()
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
      for subject in [nil, element] {
        let note = LaunchNote(stage, subject)
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
