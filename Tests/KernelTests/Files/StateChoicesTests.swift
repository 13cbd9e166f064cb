import ArchiveCodec
import Foundation
import RestorationKit
import XCTest

/// The decisions about a file, with all that they are made from.
final class StateChoicesTests: XCTestCase {
  /// All codes that an archive, its key or its storage can throw.
  private let codes: [(code: ArchiveError.Code, verdict: String)] = [
    (.notAnArchive, "older, keeps damaged"), (.damaged, "older, keeps damaged"),
    (.truncated, "older, keeps damaged"), (.malformed, "older, keeps damaged"),
    (.limitExceeded, "older, keeps damaged"), (.typeMismatch, "older, keeps damaged"),
    (.keyNotFound, "older, keeps damaged"), (.numberOutOfRange, "older, keeps damaged"),
    (.unsupportedVersion, "older, keeps unread"), (.unsupportedFeature, "older, keeps unread"),
    (.wrongKey, "older, keeps unread"), (.wrongContext, "older, keeps unread"),
    (.inputOutput, "keeps unread"), (.permissionDenied, "keeps unread"),
    (.notAFile, "keeps unread"), (.storageFull, "keeps unread"),
    (.keyMissing, "keeps unread"), (.keyLocked, "keeps unread"),
    (.keyUnavailable, "keeps unread"), (.keyDamaged, "keeps unread"),
    (.storeUnavailable, "keeps unread"), (.locked, "keeps unread"),
  ]

  private func text(_ finding: StateFinding) -> String {
    let verdict = StateVerdict(finding)
    let write: String? =
      switch verdict.write {
      case .append: "appends"
      case .copy: "copies"
      case .anew: nil
      }
    return [
      verdict.isRestored ? "restored" : nil, verdict.looksFurther ? "older" : nil,
      verdict.keeps.map { "keeps \($0.rawValue)" }, write,
    ].compactMap(\.self).joined(separator: ", ")
  }

  func testWhatIsDoneWithWhatIsFound() {
    let table: [(StateFinding, String)] = [
      (.absent, "older, keeps unread"),
      (.whole, "restored, appends"), (.torn, "restored, appends"),
      (.damagedEnd, "restored, keeps damaged, copies"),
      (.readOnly, "restored, keeps unread, copies"),
      (.replacedByOthers, "keeps conflict, copies"),
      (.crashed, "older, keeps crashed"), (.unread, "keeps unread"),
    ]
    for (finding, expected) in table { XCTAssertEqual(text(finding), expected, "\(finding)") }
    for (code, expected) in codes {
      XCTAssertEqual(text(.unreadable(code)), expected, "\(code)")
    }
  }

  func testNothingThatIsThereIsReplacedWithoutBeingKeptUnlessItWasReadWhole() {
    let all =
      [.absent, .damagedEnd, .readOnly, .replacedByOthers, .crashed, .unread]
      + codes.map { StateFinding.unreadable($0.code) }
    for finding in all { XCTAssertNotNil(StateVerdict(finding).keeps, "\(finding)") }
  }

  // MARK: Instances

  func testAnInstanceTakesTheFirstFreeNameAndItsOwnBeforeThat() throws {
    let names = ["main", "main~2", "main~3"]
    for policy in [InstancePolicy.numbered, .single] {
      for last in [nil] + names.map(Optional.some) {
        for busy in 0..<(1 << names.count) {
          let taken = Set(names.indices.filter { busy & 1 << $0 != 0 }.map { names[$0] })
          let found = try InstanceName.first("main", last: last, policy) {
            (name) throws(ArchiveError) in taken.contains(name) ? nil : name
          }
          let isSingle = policy == .single
          let expected =
            isSingle
            ? (taken.contains("main") ? nil : "main")
            : ([last].compactMap(\.self) + names).first { !taken.contains($0) } ?? "main~4"
          XCTAssertEqual(found, expected, "\(policy) \(last ?? "none") \(taken)")
        }
      }
    }
  }

  func testWhereAllNamesAreTakenThereIsAnEnd() throws {
    var count = 0
    let found = try InstanceName.first("main", last: nil, .numbered) {
      _ throws(ArchiveError) in
      count += 1
      return nil as String?
    }
    XCTAssertNil(found)
    XCTAssertEqual(count, InstanceName.largestNumber)
  }

  func testAFailureOfALockIsNoReasonToTakeAnotherName() {
    XCTAssertThrowsError(
      try InstanceName.first("main", last: nil, .numbered) { (_) throws(ArchiveError) -> String? in
        throw ArchiveError(.permissionDenied)
      })
  }

  // MARK: Age

  func testAStateIsGivenUpForItsAgeByTheSecondLaunchThatCanSayIt() {
    let saved = Date(timeIntervalSinceReferenceDate: 1000)
    let day = 86_400.0
    for age in [99.0, 100, 101] {
      for maximumAge in [nil, 100.0] {
        for isOfState in [nil, false, true] {
          for boot in ["same", "other"] {
            for passed in [-1, 0, day - 1, day] {
              let seen = SeenOld(savedAt: saved, bootSession: "same", uptime: 5 * day)
              let before = isOfState.map {
                SeenOld(
                  savedAt: $0 ? saved : saved.addingTimeInterval(1), bootSession: boot,
                  uptime: 5 * day - passed)
              }
              let verdict = AgeVerdict(
                seen, before: before, now: saved.addingTimeInterval(age), maximumAge: maximumAge)
              let isOld = maximumAge != nil && age > 100
              let isAgain =
                isOfState == true && (boot == "other" || passed < 0 || passed >= day)
              XCTAssertEqual(
                verdict, isOld ? (isAgain ? .giveUp : .leave) : .restore,
                "\(age) \(String(describing: isOfState)) \(boot) \(passed)")
            }
          }
        }
      }
    }
  }
}
