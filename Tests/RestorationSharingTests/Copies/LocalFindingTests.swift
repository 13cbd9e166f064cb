import RestorationKit
import RestorationSharing
import XCTest

/// What is done about a local copy, in all cases.
final class LocalFindingTests: XCTestCase {
  private typealias Course = LocalFinding.Course

  /// For a file with its note: what is done if the store is not reachable, has nothing, has
  /// something that cannot be read, and has a state.
  private func assertCourses(
    _ file: LocalFinding.File, _ note: LocalFinding.Note, hasSubkeys: Bool,
    _ expected: [Course], line: UInt = #line
  ) {
    let finding = LocalFinding(file: file, note: note, hasSubkeys: hasSubkeys)
    XCTAssertEqual(
      LocalFinding.Store.allCases.map(finding.course), expected, "\(finding)", line: line)
    let asks = expected != [.goOn, .goOn, .goOn, .goOn]
    XCTAssertEqual(finding.asksStore, asks, "\(finding)", line: line)
  }

  func testWhatIsWholeAndAsItWasLeftGoesOn() {
    assertCourses(.whole, .fits, hasSubkeys: true, [.goOn, .goOn, .goOn, .goOn])
    assertCourses(.whole, .fits, hasSubkeys: false, [.conflict, .goOn, .goOn, .loadSubkeys])
  }

  func testOfWhatIsNotAsItWasLeftTheStoreDecides() {
    for hasSubkeys in [false, true] {
      let expected = [Course.conflict, .conflict, .conflict, .load]
      assertCourses(.whole, .differs, hasSubkeys: hasSubkeys, expected)
      assertCourses(.damaged, .differs, hasSubkeys: hasSubkeys, expected)
      assertCourses(.damaged, .fits, hasSubkeys: hasSubkeys, expected)
      assertCourses(
        .damaged, .missing, hasSubkeys: hasSubkeys, [.conflict, .goOn, .conflict, .load])
    }
  }

  func testWhatIsThereThoughItWasRemovedIsAConflict() {
    for hasSubkeys in [false, true] {
      assertCourses(
        .whole, .removed, hasSubkeys: hasSubkeys, [.conflict, .conflict, .conflict, .conflict])
      assertCourses(
        .damaged, .removed, hasSubkeys: hasSubkeys, [.conflict, .conflict, .conflict, .load])
    }
  }

  func testWhatNobodyHasNotedGoesOnIfItIsWhole() {
    for hasSubkeys in [false, true] {
      assertCourses(.whole, .missing, hasSubkeys: hasSubkeys, [.goOn, .goOn, .goOn, .goOn])
    }
  }

  func testWhereNothingIsTheStoreIsAskedUnlessItWasRemovedHere() {
    for hasSubkeys in [false, true] {
      let expected = [Course.wait, .load, .load, .load]
      assertCourses(.missing, .missing, hasSubkeys: hasSubkeys, expected)
      assertCourses(.missing, .differs, hasSubkeys: hasSubkeys, expected)
      assertCourses(.missing, .removed, hasSubkeys: hasSubkeys, expected)
      assertCourses(.missing, .fits, hasSubkeys: hasSubkeys, [.goOn, .goOn, .goOn, .goOn])
    }
  }
}
