import Foundation
import RestorationKit
import XCTest

/// Which moments go.
final class HistoryBoundTests: XCTestCase {
  private let day = 86_400.0
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  /// A moment some days ago.
  private func moment(
    _ number: Int, _ reason: Moment.Reason, daysAgo days: Double = 0, byteCount: Int = 10,
    isOfMain: Bool = false
  ) throws -> Moment {
    let seconds = Int(now.timeIntervalSince1970 - days * day)
    let digits = String(number)
    let zeros = String(repeating: "0", count: 9 - digits.count)
    var moment = try XCTUnwrap(
      Moment(id: "\(zeros)\(digits)-\(seconds)-\(reason.rawValue)-\(byteCount)"))
    moment.isOfMain = isOfMain
    return moment
  }

  private func left(_ all: [Moment], _ policy: StatePolicy = StatePolicy()) -> [Int] {
    let gone = Set(policy.excess(of: all, at: now).map(\.id))
    return all.indices.filter { !gone.contains(all[$0].id) }
  }

  func testOfEachReasonTheNewestStay() throws {
    for reason in Moment.Reason.allCases where reason.isRestorable {
      let all = try (0..<6).map { try moment($0, reason, daysAgo: 100) }
      for count in [.min, .max] + Array(-1...7) {
        var policy = StatePolicy()
        policy.historyCounts[reason] = count
        // The newest one of all stays in any case.
        let kept = min(6, max(1, count))
        XCTAssertEqual(left(all, policy), Array(6 - kept..<6), "\(reason) \(count)")
      }
    }
    XCTAssertEqual(StatePolicy().historyCounts, [.replaced: 1, .version: 3])
  }

  func testOfTheOthersTheOldestTheTwoNewestAndAllYoungOnesStay() throws {
    for reason in Moment.Reason.allCases where !reason.isRestorable {
      let all = try [200, 100, 40, 31, 30, 29, 10].enumerated().map {
        try moment($0.offset, reason, daysAgo: $0.element)
      }
      XCTAssertEqual(left(all), [0, 5, 6], "\(reason)")
    }
  }

  func testAMomentOfTheFutureIsYoung() throws {
    let all = try (0..<5).map { try moment($0, .unread, daysAgo: -1000) }
    XCTAssertEqual(left(all).count, 5)
  }

  func testOneThatARestoreMayTakeHasOtherBytesThanTheStoredArchive() throws {
    var all = [try moment(0, .replaced)]
    for number in 1...5 { all.append(try moment(number, .session, isOfMain: true)) }
    var policy = StatePolicy()
    policy.historyCounts = [.session: 2]
    XCTAssertEqual(left(all, policy), [0, 4, 5])
    policy.historyByteCount = 0
    XCTAssertEqual(left(all, policy), [0, 5])
  }

  func testTheBytesAreThoseOfAllThatARestoreMayTake() throws {
    let all = try (0..<4).map { try moment($0, .version, byteCount: 100) }
    var policy = StatePolicy()
    policy.historyCounts = [.version: 10]
    policy.historyByteCount = 250
    XCTAssertEqual(left(all, policy), [2, 3])
    policy.historyByteCount = -1
    XCTAssertEqual(left(all, policy), [3])
  }

  func testOnlyTheNameOfAMomentIsOne() throws {
    XCTAssertNotNil(Moment(id: "000000001-1700000000-session-10"))
    for id in [
      "", "main.rka", "1-1700000000-session-10", "000000001-1700000000-other-10",
      "000000001-1700000000-session-0", "000000001-1700000000-session--1",
      "000000001-1700000000-session-10-1", "000000001-+1-session-10",
      "../../../000000001-1-session-1",
      "000000001-1700000000-session-99999999999999999999", "0000000001-1-session-10",
    ] {
      XCTAssertNil(Moment(id: id), id)
    }
  }
}
