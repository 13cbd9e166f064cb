import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class ActivityTests: XCTestCase {
  func testUserInfoTakesPropertyListValuesOfEveryKind() async throws {
    let activity = UserActivity(activityType: "a")
    let date = Date(timeIntervalSinceReferenceDate: 1)
    let nested: [String: Any] = ["array": [1, "two", 3.5] as [Any], "set": Set(["x"])]
    try activity.setUserInfo([
      "bool": true, "integer": Int8(-3), "float": Float(1.5), "data": Data([1]), "date": date,
      "nested": nested, "nil": Optional<Int>.none as Any,
    ])
    XCTAssertEqual(
      activity.userInfo,
      [
        "bool": true, "integer": -3, "float": 1.5, "data": .data(Data([1])), "date": .date(date),
        "nested": ["array": [1, "two", 3.5], "set": .set(["x"])], "nil": nil,
      ])
  }

  func testAValueOfAnotherTypeIsRefusedAndChangesNothing() async throws {
    struct Product {}
    let activity = UserActivity(activityType: "a")
    activity.userInfo = ["kept": 1]
    for value in [Product(), UInt64.max, ["deep": [Product()]] as [String: Any]] as [Any] {
      XCTAssertThrowsError(try activity.setUserInfo(["other": 2, "value": value])) { error in
        XCTAssertEqual((error as? RestorationError)?.code, .unsupportedValue)
      }
      XCTAssertEqual(activity.userInfo, ["kept": 1])
    }
    var deep: Any = 1
    for _ in 0..<70 { deep = [deep] }
    XCTAssertThrowsError(try activity.setUserInfo(["deep": deep]))
  }

  func testACopyAndItsOriginalChangeApart() async {
    let activity = UserActivity(activityType: "a")
    activity.title = "one"
    let copy = activity.copy()
    copy.title = "two"
    activity.userInfo = ["a": 1]
    XCTAssertEqual([activity.title, copy.title], ["one", "two"])
    XCTAssertEqual(copy.userInfo, [:])
  }

  func testContentIsComparedWithoutCaseAndDiacritics() async {
    let matcher: ContentMatcher = ["Édition"]
    XCTAssertTrue(matcher.matches(["edition"]))
    XCTAssertFalse(matcher.matches(["editions"]))
    XCTAssertTrue(ContentMatcher([], prefixes: ["edit"]).matches(["Editions"]))
    XCTAssertTrue(ContentMatcher.all.matches(["x"]))
    for text in [[], [""]] {
      XCTAssertFalse(ContentMatcher.all.matches(text))
      XCTAssertFalse(ContentMatcher([""], prefixes: [""]).matches(text + ["x"]))
    }
    XCTAssertFalse(ContentMatcher.none.matches(["x"]))
    XCTAssertTrue(matcher.union(["b"]).matches(["B"]))
  }
}
