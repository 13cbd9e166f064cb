import RestorationKit
import XCTest

/// What an authentic but hostile archive can cost.
final class CoreTreeTests: XCTestCase {
  func testNoChoiceOfIndicesMakesSiblingsHardToTellApart() {
    let count = 4096
    // An index that undoes what the place of the parent adds to a product, for
    // some odd numbers by which hashes are often multiplied.
    let factors: [Int] = [
      0, 1, 31, 0x9e37_79b9_7f4a, 0x9e37_79b9, Int(bitPattern: 0x9e37_79b9_7f4a_7c15),
    ]
    for factor in factors {
      var check = SiblingCheck(count: count)
      for parent in 0..<count {
        let name = SiblingCheck.Name(
          kind: .node, parent: parent, identifier: "page", index: 0 &- parent &* factor)
        XCTAssertTrue(check.insert(name))
      }
      XCTAssertLessThan(check.stepCount, 8 * count, "factor \(factor)")
    }
  }
}
