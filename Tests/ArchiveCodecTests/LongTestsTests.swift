import TestSupport
import XCTest

/// The parts of long tests say something.
final class LongTestsTests: XCTestCase {
  func testAPartHasAtLeastOneElementWhereThereIsOne() {
    XCTAssertEqual(LongTests.some(of: 0..<0), [])
    for count in 1...30 {
      let some = LongTests.some(of: 0..<count)
      XCTAssertGreaterThanOrEqual(some.count, max(1, count / 10), "of \(count)")
    }
  }
}
