import RestorationKit
import XCTest

final class RestorationPathTests: XCTestCase {
  func testAPathPrintsItsIdentifiersAndMarksSlashes() {
    XCTAssertEqual(RestorationPath(["a", "b"]).description, "a/b")
    XCTAssertEqual(RestorationPath(["a/b", "c\\d"]).description, "a\\/b/c\\\\d")
    XCTAssertEqual(RestorationPath(["a", ""]).description, "a/∅")
    XCTAssertEqual(RestorationPath().description, "")
  }

  func testDifferentPathsPrintDifferently() {
    XCTAssertNotEqual(
      RestorationPath(["a/b"]).description, RestorationPath(["a", "b"]).description)
    XCTAssertNotEqual(
      RestorationPath(["a\\", "b"]).description, RestorationPath(["a\\/b"]).description)
  }

  func testPathsAreEqualByTheirIdentifiers() {
    let path = RestorationPath(["a", "b", "c"])
    XCTAssertEqual(path, RestorationPath(["a"]).appending("b").appending("c"))
    XCTAssertEqual(path.hashValue, RestorationPath(["a", "b", "c"]).hashValue)
    XCTAssertNotEqual(path, RestorationPath(["a", "b"]))
    XCTAssertNotEqual(path, RestorationPath(["x", "b", "c"]))
    XCTAssertEqual(path.components, ["a", "b", "c"])
    XCTAssertEqual(path.identifier, "c")
    XCTAssertEqual(path.parent, RestorationPath(["a", "b"]))
    XCTAssertNil(RestorationPath().parent)
    XCTAssertEqual(path.count, 3)
  }

  func testAMillionIdentifiersDeepIsNoProblem() {
    var path = RestorationPath()
    for _ in 0..<1_000_000 { path = path.appending("x") }
    XCTAssertEqual(path.count, 1_000_000)
    XCTAssertEqual(path, path.parent?.appending("x"))
  }
}
