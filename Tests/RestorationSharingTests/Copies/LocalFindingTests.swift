import RestorationKit
import RestorationSharing
import XCTest

/// What is done about a local copy, in all cases.
final class LocalFindingTests: XCTestCase {
  private typealias Course = LocalFinding.Course

  /// For a file with its note: what is done if the store has nothing, has something that cannot be
  /// read, and has a state.
  private func assertCourses(
    _ file: LocalFinding.File, _ note: LocalFinding.Note, _ expected: [Course], line: UInt = #line
  ) {
    let finding = LocalFinding(file: file, note: note)
    XCTAssertEqual(
      LocalFinding.Store.allCases.map(finding.course), expected, "\(finding)", line: line)
    let isDoubted = expected != [.goOn, .goOn, .goOn]
    XCTAssertEqual(finding.isDoubted, isDoubted, "\(finding)", line: line)
  }

  func testWhatIsWholeAndAsItWasLeftGoesOn() {
    assertCourses(.whole, .fits, [.goOn, .goOn, .goOn])
  }

  func testOfWhatIsNotAsItWasLeftTheStoreDecides() {
    assertCourses(.whole, .differs, [.conflict, .conflict, .load])
    assertCourses(.damaged, .differs, [.conflict, .conflict, .load])
    assertCourses(.damaged, .fits, [.conflict, .conflict, .load])
    assertCourses(.damaged, .missing, [.goOn, .conflict, .load])
  }

  func testWhatIsThereThoughItWasRemovedIsAConflict() {
    assertCourses(.whole, .removed, [.conflict, .conflict, .conflict])
    assertCourses(.damaged, .removed, [.conflict, .conflict, .load])
  }

  func testWhatNobodyHasNotedGoesOnIfItIsWhole() {
    assertCourses(.whole, .missing, [.goOn, .goOn, .goOn])
  }

  func testWhereNothingIsThereNothingIsDoubted() {
    for note in LocalFinding.Note.allCases { assertCourses(.missing, note, [.goOn, .goOn, .goOn]) }
  }
}
