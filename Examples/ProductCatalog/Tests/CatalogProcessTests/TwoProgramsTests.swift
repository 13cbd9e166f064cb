import Foundation
import XCTest

/// Two programs that share the file of the edits.
final class TwoProgramsTests: XCTestCase {
  private static let count = 50

  func testNoneOfManyEditsThatAreSavedAtTheSameTimeIsLost() throws {
    let sandbox = try Sandbox()
    let edits = Array(repeating: "enter e ! ctrl-s esc down", count: Self.count)
      .joined(separator: "\n")
    let programs = try ["", "down*\(Self.count)"].map {
      try CatalogProcess("\($0)\n\(edits)", in: sandbox)
    }
    for program in programs { XCTAssertEqual(program.end(), 0) }
    let file = sandbox.directory.appending(path: "data/product-catalog/edits.json")
    let contents = try XCTUnwrap(
      JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: [String: Any]])
    XCTAssertEqual(contents["edits"]?.count, 2 * Self.count)
  }

  func testAProgramThatIsRunningSeesWhatAnotherOneSaves() throws {
    let sandbox = try Sandbox()
    let first = try CatalogProcess("enter e text:\" mine\"", stays: true, in: sandbox)
    try wait(for: "the edit") { try first.screens.last?.screen.contains(" mine") == true }
    let second = try CatalogProcess("enter e text:\" theirs\" ctrl-s", in: sandbox)
    XCTAssertEqual(second.end(), 0)
    try wait(for: "the question") {
      try first.screens.last?.screen.contains("Changed meanwhile.") == true
    }
    XCTAssertEqual(try first.screens.last?.screen.contains(" theirs"), true)
    // A kill may come before the last key is stored.
    _ = first.terminate()
    let again = try CatalogProcess("ctrl-b ctrl-s", in: sandbox)
    XCTAssertEqual(again.end(), 0)
    let screens = try again.screens.map(\.screen)
    XCTAssertEqual(screens.first?.contains("Changed meanwhile."), true)
    XCTAssertEqual(screens.last?.contains(" mine / "), true, screens.last ?? "")
  }
}
