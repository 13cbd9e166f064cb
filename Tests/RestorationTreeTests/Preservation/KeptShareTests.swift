import Foundation
import RestorationKit
import XCTest

/// What a bound drops of what is kept, for all that three elements can be.
final class KeptShareTests: XCTestCase {
  private let start = Date(timeIntervalSinceReferenceDate: 800_000_000)

  /// All shares of a record.
  private func shares(_ record: UInt64) -> [KeptShare] {
    (0..<16).map { bits in
      KeptShare(
        since: start + Double(bits & 1), rank: bits >> 1 & 1, byteCount: 1 + bits >> 2 & 1,
        record: record, index: bits >> 3 & 1)
    }
  }

  /// Whether one goes before another, in the words of the documentation: the older one, the one of
  /// the lower rank, the larger one, and else the one that is stored first, the oldest of a record.
  private func goes(_ one: KeptShare, before other: KeptShare) -> Bool {
    if one.since != other.since { return one.since < other.since }
    if one.rank != other.rank { return one.rank < other.rank }
    if one.byteCount != other.byteCount { return one.byteCount > other.byteCount }
    if one.record != other.record { return one.record < other.record }
    return one.index > other.index
  }

  /// Drops one after the other while there is no room.
  private func expected(_ shares: [KeptShare], most: Int) -> Set<Int> {
    var dropped: Set<Int> = []
    while true {
      let left = shares.indices.filter { !dropped.contains($0) }
      guard left.reduce(0, { $0 + shares[$1].byteCount }) > most else { return dropped }
      let next = left.filter { place in
        left.allSatisfy { $0 == place || goes(shares[place], before: shares[$0]) }
      }
      XCTAssertEqual(next.count, 1)
      dropped.formUnion(next)
    }
  }

  func testTheOldestGoAndOfOneAgeTheLargestUntilTheOthersHaveRoom() {
    for first in shares(3) {
      for second in shares(4) {
        for third in shares(5) {
          for most in 0...7 {
            let all = [second, third, first]
            XCTAssertEqual(
              Set(KeptBound(byteCount: most).crowdedOut(of: all)), expected(all, most: most),
              "\(all), \(most)")
          }
        }
      }
    }
  }

  func testOfOneRecordTheOlderStateGoesFirst() {
    let states = (0..<3).map {
      KeptShare(since: start, rank: 0, byteCount: 2, record: 3, index: $0)
    }
    XCTAssertEqual(KeptBound(byteCount: 4).crowdedOut(of: states), [2])
    XCTAssertEqual(KeptBound(byteCount: 1).crowdedOut(of: states), [2, 1, 0])
  }

  func testNothingIsDroppedWithoutABound() {
    XCTAssertEqual(KeptBound(byteCount: nil).crowdedOut(of: shares(3)), [])
    XCTAssertEqual(KeptBound(byteCount: 0).crowdedOut(of: []), [])
    XCTAssertFalse(KeptBound(age: nil).hasExpired(.distantPast, at: .distantFuture))
  }

  func testSomethingExpiresWhenItIsOlderThanItsAge() {
    let bound = KeptBound(age: 10)
    for (seconds, hasExpired) in [(-1.0, false), (0, false), (10, false), (10.5, true)] {
      XCTAssertEqual(bound.hasExpired(start, at: start + seconds), hasExpired, "\(seconds)")
    }
  }
}
