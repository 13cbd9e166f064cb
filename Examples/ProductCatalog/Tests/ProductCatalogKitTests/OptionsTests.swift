import CatalogModel
import ArgumentParser
import Foundation
import ProductCatalogKit
import XCTest

final class OptionsTests: XCTestCase {
  func testReadsEveryOption() throws {
    let options = try Options.parse([
      "--script", "-", "--size", "100x30", "--stay", "--screen-log", "l", "--data", "d",
      "--products", "p", "--report",
    ])
    XCTAssertEqual(options.script, "-")
    XCTAssertEqual(options.size, Size(columns: 100, rows: 30))
    XCTAssertTrue(options.stay)
    XCTAssertTrue(options.report)
    XCTAssertEqual([options.screenLog, options.data, options.products], ["l", "d", "p"])
  }

  func testMistakesAreErrors() {
    let mistakes = [
      (["--what"], "Unknown option '--what'. Did you mean '--data'?"),
      (["stray"], "Unexpected argument 'stray'"),
      (["--data"], "Missing value for '--data <dir>'"),
      (["--data", ""], "The option --data needs a value."),
      (["--script", "-", "--size", "80"], "The value '80' is invalid for '--size <80x24>'"),
      (["--script", "-", "--size", "80x-1"], "The value '80x-1' is invalid for '--size <80x24>'"),
      (["--size", "80x24"], "The option --size goes with --script only."),
      (["--stay"], "The option --stay goes with --script only."),
    ]
    for (arguments, expected) in mistakes {
      XCTAssertThrowsError(try Options.parse(arguments)) {
        XCTAssertEqual(Options.message(for: $0), expected)
      }
    }
  }

  func testDataDirectoryFollowsTheEnvironment() {
    let xdg = DataDirectory.usual(environment: ["XDG_DATA_HOME": "/x", "HOME": "/h"])
    XCTAssertEqual(xdg.path, "/x/product-catalog")
    let home = DataDirectory.usual(environment: ["XDG_DATA_HOME": "relative", "HOME": "/h"])
    XCTAssertEqual(home.path, "/h/.local/share/product-catalog")
  }
}
