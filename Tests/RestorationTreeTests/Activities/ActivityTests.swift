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
    let product =
      "A Product is no property list value. Store its identifier, or encode it to Data."
    var deep: Any = 1
    for _ in 0..<70 { deep = [deep] }
    let refused: [(Any, String)] = [
      (Product(), product), (["deep": [Product()]] as [String: Any], product),
      (UInt64.max, "18446744073709551615 does not fit Int. Store it as a String."),
      (deep, "Collections may be nested 32 deep."),
    ]
    for (value, reason) in refused {
      await assertThrows(WholeError(.unsupportedValue, reason)) {
        try activity.setUserInfo(["other": 2, "value": value])
      }
      XCTAssertEqual(activity.userInfo, ["kept": 1])
    }
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

  func testAnActivityIsACodableValue() async throws {
    let activity = UserActivity(activityType: "a")
    activity.title = "Lamp"
    activity.userInfo = ["id": 3, "tags": ["x", nil], "at": .date(Date(timeIntervalSince1970: 5))]
    activity.requiredUserInfoKeys = ["id"]
    activity.persistentIdentifier = "p"
    activity.expirationDate = Date(timeIntervalSince1970: 7)
    activity.needsSave = true
    let launch = Launch()
    let node = TestNode("a")
    node.onEncode = { try $0.encode(activity, forKey: "activity") }
    _ = try await launch.keeper().save([node])
    var back: UserActivity?
    node.onDecode = { back = try $0.decode(UserActivity.self, forKey: "activity") }
    _ = try await launch.keeper().restore(into: [node])
    let read = try XCTUnwrap(back)
    XCTAssertEqual(read.activityType, "a")
    XCTAssertEqual(read.title, "Lamp")
    XCTAssertEqual(read.userInfo, activity.userInfo)
    XCTAssertEqual(read.requiredUserInfoKeys, ["id"])
    XCTAssertEqual(read.persistentIdentifier, "p")
    XCTAssertEqual(read.expirationDate, activity.expirationDate)
    XCTAssertTrue(read.isValid && !read.needsSave)
  }

  func testCollectionsAreTakenAsDeepAsTheLimitAndNoDeeper() throws {
    let kinds: [(Any) -> Any] = [{ [$0] }, { ["key": $0] }]
    for collection in kinds {
      var value: Any = 1
      for _ in 1...PropertyListValue.deepestNesting { value = collection(value) }
      XCTAssertNoThrow(try PropertyListValue(value))
      XCTAssertThrowsError(try PropertyListValue(collection(value))) {
        XCTAssertEqual(($0 as? RestorationError)?.code, .unsupportedValue)
      }
    }
  }

  func testAValueIsReadAsItsOwnKindAndNoOther() {
    let now = Date()
    let url = URL(filePath: "/a")
    let id = UUID()
    let values: [PropertyListValue] = [
      .bool(true), .integer(1), .double(2), .string("3"), .data(Data([4])), .date(now), .url(url),
      .uuid(id), .array([5]), .dictionary(["six": 6]), .null, .set([7]),
    ]
    func readable<Value: Equatable>(
      _ value: KeyPath<PropertyListValue, Value?>
    ) -> [Int: Value] {
      Dictionary(
        uniqueKeysWithValues: values.enumerated().compactMap { place, stored in
          stored[keyPath: value].map { (place, $0) }
        })
    }
    XCTAssertEqual(readable(\.boolValue), [0: true])
    XCTAssertEqual(readable(\.integerValue), [1: 1])
    XCTAssertEqual(readable(\.doubleValue), [1: 1, 2: 2])
    XCTAssertEqual(readable(\.stringValue), [3: "3"])
    XCTAssertEqual(readable(\.dataValue), [4: Data([4])])
    XCTAssertEqual(readable(\.dateValue), [5: now])
    XCTAssertEqual(readable(\.urlValue), [6: url])
    XCTAssertEqual(readable(\.uuidValue), [7: id])
    XCTAssertEqual(readable(\.arrayValue), [8: [5]])
    XCTAssertEqual(readable(\.dictionaryValue), [9: ["six": 6]])
  }
}
