// Tests of the app.

import RestorationKit
import RestorationTesting
import XCTest

@testable import Notes

final class KillTests: XCTestCase {
  // The block stands here.
}
