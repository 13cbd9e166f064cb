import ArchiveCodec
import Foundation
import RestorationKit
import XCTest

/// The decisions about a file, with all that they are made from.
final class StateChoicesTests: XCTestCase {
  /// All codes that an archive, its key or its storage can throw.
  private let codes: [(code: ArchiveError.Code, keeps: Moment.Reason)] = [
    (.notAnArchive, .damaged), (.damaged, .damaged), (.truncated, .damaged),
    (.malformed, .damaged), (.limitExceeded, .damaged), (.typeMismatch, .damaged),
    (.keyNotFound, .damaged), (.numberOutOfRange, .damaged),
    (.unsupportedVersion, .unread), (.unsupportedFeature, .unread), (.wrongKey, .unread),
    (.wrongContext, .unread), (.inputOutput, .unread), (.permissionDenied, .unread),
    (.notAFile, .unread), (.storageFull, .unread), (.keyMissing, .unread), (.keyLocked, .unread),
    (.keyUnavailable, .unread), (.keyDamaged, .unread), (.storeUnavailable, .unread),
    (.locked, .unread),
  ]

  func testWhatCannotBeReadIsKeptAsDamagedOrAsUnread() {
    for (code, keeps) in codes { XCTAssertEqual(ArchiveError(code).keeps, keeps, "\(code)") }
  }

  // MARK: Instances

  func testAnInstanceTakesTheFirstFreeNameAndItsOwnBeforeThat() {
    let names = ["main", "main~2", "main~3"]
    for isSingle in [false, true] {
      for last in [nil] + names.map(Optional.some) {
        for busy in 0..<(1 << names.count) {
          let taken = Set(names.indices.filter { busy & 1 << $0 != 0 }.map { names[$0] })
          let found = StateFile.names("main", last: last, isSingle: isSingle).first {
            !taken.contains($0)
          }
          let expected =
            isSingle
            ? (taken.contains("main") ? nil : "main")
            : ([last].compactMap(\.self) + names).first { !taken.contains($0) } ?? "main~4"
          XCTAssertEqual(found, expected, "\(isSingle) \(last ?? "none") \(taken)")
        }
      }
    }
  }

  func testWhereAllNamesAreTakenThereIsAnEnd() {
    let names = Array(StateFile.names("main", last: nil, isSingle: false))
    XCTAssertEqual(names.count, StateFile.largestNumber)
    XCTAssertEqual(Set(names).count, names.count)
  }

  // MARK: Age

  func testALaunchConfirmsTheAgeThatOneBeforeItHasSeenUnlessBothMayHaveOneWrongClock() {
    let saved = Date(timeIntervalSinceReferenceDate: 1000)
    let day = 86_400.0
    for isOfState in [nil, false, true] {
      for boot in ["same", "other"] {
        for passed in [-1, 0, day - 1, day] {
          var environment = FileTestCase.environment(of: "1")
          (environment.bootSession, environment.uptime) = ("same", 5 * day)
          let seen = SeenOld(savedAt: saved, in: environment)
          (environment.bootSession, environment.uptime) = (boot, 5 * day - passed)
          let before = isOfState.map { isOfState in
            SeenOld(savedAt: isOfState ? saved : saved.addingTimeInterval(1), in: environment)
          }
          XCTAssertEqual(
            seen.confirms(before),
            isOfState == true && (boot == "other" || passed < 0 || passed >= day),
            "\(String(describing: isOfState)) \(boot) \(passed)")
        }
      }
    }
  }
}
