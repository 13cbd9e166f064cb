import Foundation
import RestorationKit
import TestSupport
import XCTest

/// The values of user info: how they are made, read and refused.
final class PropertyListValueTests: XCTestCase {
  private typealias Value = PropertyListValue

  private static let data = Data([1, 2])
  private static let date = Date(timeIntervalSinceReferenceDate: 5)
  private static let url = URL(filePath: "/lamp")
  private static let uuid = UUID(
    uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  /// Every case, the value that it is made from, and what the accessors that
  /// take it give.
  private static var cases: [(value: Value, origin: Any, read: [String: AnyHashable])] {
    let (none, nested) = (Int?.none as Any, ["a": [1]] as [String: Any])
    return [
      (.null, none, [:]),
      (.bool(true), true, ["bool": true]),
      (.bool(false), false, ["bool": false]),
      (.integer(0), 0, ["integer": 0, "double": 0.0]),
      (.integer(-3), Int8(-3), ["integer": -3, "double": -3.0]),
      (.integer(.max), UInt64(Int.max), ["integer": Int.max, "double": Double(Int.max)]),
      (.double(1.5), 1.5, ["double": 1.5]),
      (.double(2), Float(2), ["double": 2.0]),
      (.string("x"), "x", ["string": "x"]),
      (.string("1"), "1", ["string": "1"]),
      (.data(data), data, ["data": data]),
      (.date(date), date, ["date": date]),
      (.url(url), url, ["url": url]),
      (.uuid(uuid), uuid, ["uuid": uuid]),
      (.array([1, nil]), [1, none], ["array": [Value.integer(1), .null]]),
      (.set([1]), Set([1]), [:]),
      (
        .dictionary(["a": [1]]), nested,
        ["dictionary": ["a": Value.array([.integer(1)])]]
      ),
    ]
  }

  private let accessors: [(name: String, read: (Value) -> AnyHashable?)] = [
    ("bool", { $0.boolValue }), ("integer", { $0.integerValue }), ("double", { $0.doubleValue }),
    ("string", { $0.stringValue }), ("data", { $0.dataValue }), ("date", { $0.dateValue }),
    ("url", { $0.urlValue }), ("uuid", { $0.uuidValue }), ("array", { $0.arrayValue }),
    ("dictionary", { $0.dictionaryValue }),
  ]

  func testEveryAccessorReadsItsOwnKindAndNilOfAllOthers() {
    for (value, _, expected) in Self.cases {
      for (name, read) in accessors {
        XCTAssertEqual(read(value), expected[name], "\(name) of \(value)")
      }
    }
  }

  func testEveryKindIsMadeFromAValueOfAnyType() throws {
    for (value, origin, _) in Self.cases { XCTAssertEqual(try Value(origin), value) }
    for (value, _, _) in Self.cases { XCTAssertEqual(try Value(value), value) }
  }

  func testEveryKindCanBeWrittenAsItself() {
    let written: Value = [
      "bool": true, "integer": 1, "double": 1.5, "string": "x", "array": [1, nil], "again": 1,
      "again": 2,
    ]
    XCTAssertEqual(
      written,
      .dictionary([
        "bool": .bool(true), "integer": .integer(1), "double": .double(1.5),
        "string": .string("x"), "array": .array([.integer(1), .null]), "again": .integer(2),
      ]))
  }

  func testEveryKindIsACodableValue() throws {
    for (value, _, _) in Self.cases {
      let data = try JSONEncoder().encode(["value": value])
      XCTAssertEqual(try JSONDecoder().decode([String: Value].self, from: data), ["value": value])
    }
  }

  /// The cases as the compiler codes them, which is how they are stored.
  private enum Derived: Hashable, Codable {
    case null
    case bool(Bool)
    case integer(Int)
    case double(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case url(URL)
    case uuid(UUID)
    case array([Derived])
    case set(Set<Derived>)
    case dictionary([String: Derived])
  }

  func testEveryKindHasTheFormThatTheCompilerGivesACase() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    for (value, _, _) in Self.cases {
      let data = try encoder.encode(value)
      XCTAssertEqual(try encoder.encode(JSONDecoder().decode(Derived.self, from: data)), data)
    }
  }

  func testOnlyTheNamesOfCasesCountAndOneIsTaken() throws {
    func read(_ text: String) throws -> Value {
      try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
    XCTAssertEqual(try read(#"{"null":{},"_0":1,"later":1}"#), .null)
    for text in [
      #"{"null":{},"bool":{"_0":true}}"#, #"{"later":{}}"#, #"{"_0":{}}"#, #"{"bool":{}}"#,
    ] {
      XCTAssertThrowsError(try read(text), text) { XCTAssert($0 is DecodingError) }
    }
  }

  private struct Product: Hashable {}

  private func refusal(_ value: Any) -> WholeError? {
    do throws(RestorationError) {
      let taken = try Value(value)
      XCTFail("took \(taken)")
      return nil
    } catch {
      return WholeError(error)
    }
  }

  func testWhatIsNoPropertyListValueIsRefusedWhereverItLies() {
    let refused = WholeError(
      .unsupportedValue,
      "A Product is no property list value. Store its identifier, or encode it to Data.")
    let products: [Any] = [
      Product(), [Product()], ["a": Product()], Set([Product()]), ["a": [[Product()]]],
    ]
    for value in products { XCTAssertEqual(refusal(value), refused, "\(value)") }
    XCTAssertEqual(
      refusal(UInt64.max),
      WholeError(
        .unsupportedValue, "18446744073709551615 does not fit Int. Store it as a String."))
    XCTAssertEqual(
      refusal(["a": [UInt(Int.max) + 1]]),
      WholeError(.unsupportedValue, "9223372036854775808 does not fit Int. Store it as a String."))
  }

  func testCollectionsAreTakenAsDeepAsTheyCanBeStoredAndNoDeeper() throws {
    var (deep, expected): (AnyHashable, Value) = (1, 1)
    for _ in 0..<PropertyListValue.deepestNesting { (deep, expected) = ([deep], [expected]) }
    XCTAssertEqual(try Value(deep), expected)
    for deeper in [[deep], ["a": deep], Set([deep])] as [Any] {
      XCTAssertEqual(
        refusal(deeper), WholeError(.unsupportedValue, "Collections may be nested 32 deep."))
    }
  }
}
