import RestorationKit
import XCTest

/// Which subkeys are stored, for all that can be stored, referred to and known.
final class SubkeyNeedTests: XCTestCase {
  private static let ids: [UInt64] = [1, 2, 3]
  private static let sets: [Set<UInt64>] = (0..<8).map { bits in
    Set(ids.enumerated().filter { bits & 1 << $0.offset > 0 }.map(\.element))
  }

  private var all: [SubkeyNeed] {
    Self.sets.flatMap { stored in
      Self.sets.map { SubkeyNeed(stored: stored, referred: $0) }
    }
  }

  func testEachKnownSubkeyIsStoredBeforeTheStateThatRefersToIt() {
    for need in all {
      for known in Self.sets {
        for hasMoved in [false, true] {
          let written = need.beforeState(isKnown: known.contains, hasMoved: hasMoved)
          let before = "\(need), \(known), \(hasMoved)"
          // One that is neither known nor stored was forgotten.
          let missing = need.referred.intersection(known).subtracting(need.stored)
          XCTAssertEqual(written != nil, hasMoved || !missing.isEmpty, before)
          // Those of the state before stay until the next one is there.
          XCTAssertTrue(written?.isSuperset(of: need.stored.union(need.referred)) ?? true, before)
          XCTAssertTrue(written?.isSubset(of: need.stored.union(need.referred)) ?? true, before)
        }
      }
    }
  }

  func testAfterAStateOnlyThoseStayThatSomethingNeeds() {
    for need in all {
      XCTAssertEqual(need.afterState(.unknown), .none, "\(need)")
      XCTAssertEqual(need.hasUnreferred, !need.stored.subtracting(need.referred).isEmpty)
      for others in Self.sets {
        let needed = need.referred.union(others)
        XCTAssertEqual(
          need.afterState(.subkeys(others)),
          need.stored.subtracting(needed).isEmpty ? .none : .keep(needed), "\(need), \(others)")
      }
    }
  }

  func testBeforeAStateGoesOnlyThoseStayThatSomethingElseNeeds() {
    for need in all where need.referred.isEmpty {
      XCTAssertEqual(need.beforeRemoval(.unknown), .none, "\(need)")
      for needed in Self.sets {
        let expected: SubkeyNeed.Change =
          switch (need.stored.intersection(needed).isEmpty, need.stored.subtracting(needed).isEmpty)
          {
          // Also where none are stored: what is known here goes, too.
          case (true, _): .removeAll
          case (false, true): .none
          case (false, false): .keep(needed)
          }
        XCTAssertEqual(need.beforeRemoval(.subkeys(needed)), expected, "\(need), \(needed)")
      }
    }
  }
}
