import Foundation
import ProductCatalogKit
import XCTest

final class OptionsTests: XCTestCase {
  func testReadsEveryOption() throws {
    let options = try Options([
      "--script", "-", "--size", "100x30", "--stay", "--screen-log", "l", "--data", "d",
      "--products", "p",
    ])
    XCTAssertEqual(options.script, "-")
    XCTAssertEqual(options.size, Size(columns: 100, rows: 30))
    XCTAssertTrue(options.staysAfterScript)
    XCTAssertEqual([options.screenLog, options.data, options.products], ["l", "d", "p"])
  }

  func testMistakesAreErrors() {
    let mistakes: [([String], UsageError)] = [
      (["--what"], .unknownOption("--what")),
      (["--data"], .missingValue("--data")),
      (["--script", "-", "--size", "80"], .malformedSize("80")),
      (["--script", "-", "--size", "80x-1"], .malformedSize("80x-1")),
      (["--size", "80x24"], .needsScript("--size")),
      (["--stay"], .needsScript("--stay")),
    ]
    for (arguments, expected) in mistakes {
      XCTAssertThrowsError(try Options(arguments)) { XCTAssertEqual($0 as? UsageError, expected) }
    }
  }

  func testDataDirectoryFollowsTheEnvironment() {
    let xdg = DataDirectory.usual(environment: ["XDG_DATA_HOME": "/x", "HOME": "/h"])
    XCTAssertEqual(xdg.path, "/x/product-catalog")
    let home = DataDirectory.usual(environment: ["XDG_DATA_HOME": "relative", "HOME": "/h"])
    XCTAssertEqual(home.path, "/h/.local/share/product-catalog")
  }
}
