import TestSupport
import XCTest

/// That a test which waits for something fails where it would hang.
final class WaitingTests: XCTestCase {
  func testAWaitEndsWhenItIsSoAndFailsAtItsLimit() async throws {
    var count = 0
    try await waitUntil("it was asked three times") {
      count += 1
      return count == 3
    }
    XCTAssertEqual(count, 3)
    do {
      try await waitUntil("it comes", within: .zero) { false }
      XCTFail("It did not throw.")
    } catch let error as WaitedInVain {
      XCTAssertEqual("\(error)", "It is not so within 0.0 seconds that it comes.")
    }
  }
}
