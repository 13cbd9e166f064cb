import Foundation
import TestSupport
import XCTest

/// Where a problem is printed, by what stderr is.
final class ProblemLineTests: XCTestCase {
  private func expected(_ place: String) -> String {
    "RestorationKit: The value that is declared at LaunchedApps/TerminalMistakes.swift:\(place) has no"
      + " key, so it is not stored. Give it one, or make it a field of a class that conforms to"
      + " RestorableScreen."
  }

  private func lines(of app: LaunchedApp) throws -> [String] {
    try app.errorLines().filter { $0.hasPrefix(LaunchedApp.said) }
  }

  private var both: [String] { ["14", "15"].map(expected) }

  func testALineBeginsInTheFirstColumnOfATerminalInRawMode() throws {
    let app = try LaunchedApp("Mistakes", "inRawMode", home: TemporaryDirectory(), onTerminal: true)
    XCTAssertEqual(try [app.errorLine(), app.errorLine()], both.map { $0 + "\r" })
    XCTAssertEqual(try app.line(), "made")
    XCTAssertEqual(app.ending(), .exited(0))
  }

  func testNothingIsPrintedWhereTestsAreLoaded() throws {
    for (library, printed) in [("libXCTest.so", []), ("libTesting.so", []), ("libm.so.6", both)] {
      let app = try LaunchedApp(
        "Mistakes", "withALibrary", library, home: TemporaryDirectory())
      XCTAssertEqual(try app.line(), "loaded", library)
      XCTAssertEqual(try lines(of: app), printed, library)
      XCTAssertEqual(app.ending(), .exited(0))
    }
  }

  func testAClosureTakesTheLines() throws {
    let app = try LaunchedApp("Mistakes", "withAClosure", home: TemporaryDirectory())
    XCTAssertEqual(try lines(of: app), [])
    XCTAssertEqual(try app.rest(), ["heard: The value", "heard: The value", "made"])
  }
}
