import Foundation
import RestorationKit
import XCTest

/// The two rules about bodies that depend on their arguments alone, on all small inputs.
final class BodyChoiceTests: XCTestCase {
  private typealias Candidate = (unread: Kept.Reason?, isReadable: Bool)

  private static let reasons: [Kept.Reason] = [
    .newerVersion, .migrationFailed, .decodeThrew, .otherClass, .leftOut, .fieldReplaced, .replaced,
  ]

  /// All lists of up to three unread bodies, with and without an own one.
  private static let lists: [[Candidate]] = {
    let unread = reasons.flatMap { reason in
      [true, false].map { isReadable -> Candidate in (reason, isReadable) }
    }
    var lists: [[Candidate]] = [[]]
    var last = lists
    for _ in 0..<3 {
      last = last.flatMap { list in unread.map { list + [$0] } }
      lists += last
    }
    let own = [[], [true], [false]].map { $0.map { isReadable -> Candidate in (nil, isReadable) } }
    return lists.flatMap { list in own.map { list + $0 } }
  }()

  func testBodiesThatThrewAreOfferedFirstAndOneOtherAfterThem() {
    XCTAssertEqual(Self.lists.count, (1 + 14 + 14 * 14 + 14 * 14 * 14) * 3)
    for list in Self.lists {
      let order = ReadBody.order(list)
      let thrown = order.prefix { list[$0].unread == .decodeThrew }
      let rest = order.dropFirst(thrown.count)
      for place in list.indices {
        let isOffered = order.contains(place)
        guard list[place].isReadable else {
          XCTAssertFalse(isOffered, "\(list): one that nobody can read")
          continue
        }
        if list[place].unread == .decodeThrew {
          XCTAssertTrue(isOffered, "\(list): one that threw")
        } else if !isOffered {
          XCTAssertGreaterThan(rest.first ?? -1, place, "\(list): a newer one is offered")
        }
      }
      XCTAssertEqual(Array(thrown), thrown.sorted(by: >), "\(list): newest first, each once")
      XCTAssertEqual(Set(thrown).count, thrown.count)
      XCTAssertLessThanOrEqual(rest.count, 1, "\(list)")
      XCTAssertFalse(rest.contains { list[$0].unread == .decodeThrew }, "\(list)")
    }
  }

  func testALateRestoreIsOfferedAllThatItCanReadAndTheNewestFirst() {
    for list in Self.lists {
      let order = ReadBody.order(list, isLate: true)
      XCTAssertEqual(order, list.indices.reversed().filter { list[$0].isReadable }, "\(list)")
    }
  }

  func testTheOwnBodyIsOfferedUnlessNobodyCanReadIt() {
    let own: Candidate = (nil, true)
    let lost: Candidate = (nil, false)
    for reason in Self.reasons {
      let other: Candidate = (reason, true)
      XCTAssertEqual(ReadBody.order([other, own]), reason == .decodeThrew ? [0, 1] : [1])
      XCTAssertEqual(ReadBody.order([other, lost]), [0])
      XCTAssertEqual(ReadBody.order([other]), [0])
    }
    XCTAssertEqual(ReadBody.order([own]), [0])
    XCTAssertEqual(ReadBody.order([lost]), [])
    XCTAssertEqual(ReadBody.order([]), [])
  }

  func testWhatIsTooOldGoesAndThenTheOldestUntilTheRestFits() {
    let now = Date(timeIntervalSinceReferenceDate: 800_000_000)
    var lists: [[(age: Int, byteCount: Int)]] = [[]]
    var last = lists
    for _ in 0..<4 {
      last = last.flatMap { list in
        // The oldest comes first; a clock that was set back gives an age below 0.
        (-1...3).filter { $0 <= list.last?.age ?? 3 }.flatMap { age in
          (0...2).map { list + [(age, $0)] }
        }
      }
      lists += last
    }
    for list in lists {
      let kept = list.map {
        (since: now.addingTimeInterval(-Double($0.age)), byteCount: $0.byteCount)
      }
      for (age, most) in [nil, 0, 1, 2].flatMap({ age in [nil, 0, 1, 3].map { (age, $0) } })
        as [(Int?, Int?)]
      {
        var policy = StatePolicy()
        (policy.keptAge, policy.keptByteCount) = (age.map { Double($0) }, most)
        let gone = policy.excess(ofKept: kept, at: now)
        let expired = list.count { item in age.map { item.age > $0 } ?? false }
        let fitting = (expired...list.count).first { count in
          let rest = list.dropFirst(count).reduce(0) { $0 + $1.byteCount }
          return most.map { rest <= $0 } ?? true
        }
        XCTAssertEqual(gone.map(\.index), Array(0..<(fitting ?? list.count)), "\(list) \(policy)")
        XCTAssertEqual(
          gone.map(\.isExpired), gone.indices.map { $0 < expired }, "\(list) \(policy)")
      }
    }
  }
}
