import RestorationKit
import XCTest

/// What a budget leaves out, for all small states.
final class BudgetPlanTests: XCTestCase {
  private typealias Share = BudgetPlan.Share

  /// The parents of all forests of some elements, each element followed by those below it.
  private func forests(of count: Int) -> [[Int?]] {
    guard count > 0 else { return [[]] }
    return forests(of: count - 1).flatMap { forest -> [[Int?]] in
      var parents: [Int?] = [nil]
      var next = forest.indices.last
      while let place = next {
        parents.append(place)
        next = forest[place]
      }
      return parents.map { forest + [$0] }
    }
  }

  /// All that an element below a parent can be, with two sizes.
  private func shares(below parent: Int?) -> [Share] {
    var shares: [Share] = []
    for byteCount in [2, 3] {
      for (isAlone, priority) in [
        (true, nil), (true, .low), (true, .high), (true, .required), (false, nil),
      ] as [(Bool, RestorationPriority?)] {
        for (isKept, last) in [(false, nil), (true, nil), (false, 1)] as [(Bool, Int?)] {
          shares.append(
            Share(
              parent: parent, byteCount: byteCount, isAlone: isAlone, priority: priority,
              isKept: isKept, lastByteCount: last))
        }
      }
    }
    return shares
  }

  private func forEachState(_ body: ([Share]) -> Void) {
    for first in shares(below: nil) {
      body([first])
      for parents in forests(of: 2) {
        for second in shares(below: parents[1]) { body([first, second]) }
      }
    }
    // Of three elements fewer kinds, and all trees.
    for parents in forests(of: 3) {
      for first in shares(below: nil) where first.byteCount == 2 && !first.isKept {
        for second in shares(below: parents[1]) where !second.isKept {
          for third in shares(below: parents[2])
          where third.lastByteCount == nil && third.byteCount == 3 {
            body([first, second, third])
          }
        }
      }
    }
  }

  func testWhatIsLeftOutIsWhatTheDocumentationSays() {
    var count = 0
    forEachState { shares in
      for hard in [0, 3, 4, 6, 7] {
        let plan = BudgetPlan(shares, applicationByteCount: 1, hard: hard)
        let expected = Documented(shares, applicationByteCount: 1, hard: hard)
        count += 1
        guard plan.fates == expected.fates, plan.tops == expected.tops else {
          return XCTFail("\(shares), \(hard): \(plan.fates), \(plan.tops), not \(expected)")
        }
      }
    }
    XCTAssertGreaterThan(count, 30_000)
  }

  func testAStateThatHasRoomIsWhole() {
    forEachState { shares in
      let all = shares.reduce(1) { $0 + $1.byteCount }
      XCTAssertEqual(BudgetPlan(shares, applicationByteCount: 1, hard: all).fates, [:])
    }
  }

  func testWhatIsRequiredOrKeptStaysWithAllAboveIt() {
    forEachState { shares in
      let fates = BudgetPlan(shares, applicationByteCount: 1, hard: 0).fates
      for place in shares.indices where shares[place].isKept || shares[place].priority == .required
      {
        var next: Int? = place
        while let place = next {
          XCTAssertNil(fates[place], "\(shares)")
          next = shares[place].parent
        }
      }
    }
  }
}

/// The rules of `SizeBudget` in their order, with no care for time.
private struct Documented {
  private(set) var tops: [BudgetPlan.Top] = []
  private(set) var fates: [Int: BudgetPlan.Fate] = [:]

  init(_ shares: [BudgetPlan.Share], applicationByteCount: Int, hard: Int) {
    /// An element and those above it.
    func line(_ place: Int) -> [Int] {
      [place] + (shares[place].parent.map(line) ?? [])
    }
    func below(_ place: Int) -> [Int] { shares.indices.filter { line($0).contains(place) } }
    /// The element that a share counts with.
    func owner(_ place: Int) -> Int { line(place).first { shares[$0].isAlone } ?? place }
    func ownPriority(_ place: Int) -> RestorationPriority {
      if shares.indices.contains(where: { owner($0) == place && shares[$0].isKept }) {
        return .required
      }
      return line(place).lazy.filter { shares[$0].isAlone }.compactMap { shares[$0].priority }
        .first ?? .normal
    }
    func priority(_ place: Int) -> RestorationPriority {
      below(place).filter { shares[$0].isAlone }.map(ownPriority).max() ?? .normal
    }
    func ownBytes(_ place: Int) -> Int {
      shares.indices.filter { owner($0) == place }.reduce(0) { $0 + shares[$1].byteCount }
    }
    var out: [Int: Int] = [:]
    func size() -> Int {
      shares.indices.filter { out[$0] == nil }.reduce(applicationByteCount) {
        $0 + shares[$1].byteCount
      }
    }
    let order = shares.indices.filter { shares[$0].isAlone && priority($0) < .required }
      .sorted {
        (priority($0), -ownBytes($0), -$0) < (priority($1), -ownBytes($1), -$1)
      }
    var turns: [Int] = []
    for place in order where out[place] == nil && size() > hard {
      for lower in below(place) where out[lower] == nil { out[lower] = turns.count }
      turns.append(place)
    }
    func isTop(_ place: Int) -> Bool { shares[place].parent.map { out[$0] == nil } ?? true }
    for (turn, place) in turns.enumerated().reversed() where isTop(place) {
      let before = out
      out = out.filter { $0.value != turn }
      if size() > hard { out = before }
    }
    var size = size()
    for place in turns where out[place] != nil && isTop(place) {
      let bytes = below(place).reduce(0) { $0 + shares[$1].byteCount }
      tops.append(BudgetPlan.Top(place: place, byteCount: bytes))
    }
    for index in tops.indices.reversed() {
      let top = tops[index].place
      for place in below(top) { fates[place] = .leftOut }
      let kept = below(top).filter { place in
        line(place).allSatisfy { !below(top).contains($0) || shares[$0].lastByteCount != nil }
      }
      let bytes = kept.reduce(0) { $0 + (shares[$1].lastByteCount ?? 0) }
      guard kept.contains(top), size + bytes <= hard else { continue }
      size += bytes
      tops[index] = BudgetPlan.Top(place: top, byteCount: tops[index].byteCount, keepsLast: true)
      for place in kept { fates[place] = .lastState }
    }
  }
}
