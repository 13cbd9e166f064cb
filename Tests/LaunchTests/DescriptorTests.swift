import Foundation
import TestSupport
import XCTest

/// Apps that are started with standard descriptors closed, as some programs start others.
final class DescriptorTests: XCTestCase {
  func testNoFileOfTheLibraryTakesTheNumberOfAStandardDescriptor() throws {
    for isNow in [false, true] {
      for closed in [[0], [1], [2], [0, 1, 2]] {
        let home = try TemporaryDirectory()
        try assertLeavesClosed(closed, isNow: isNow, in: home)
        try assertLeavesClosed(closed, isNow: isNow, in: home)
        let app = try LaunchedApp(
          isNow ? "DescriptorsNow" : "Descriptors", home: home, isNow: isNow)
        XCTAssertEqual(try app.line()?.hasPrefix("count 3 "), true, "\(closed)")
        XCTAssertEqual(app.ending(), .exited(0))
      }
    }
  }

  private func assertLeavesClosed(
    _ closed: [Int], isNow: Bool, in home: TemporaryDirectory
  ) throws {
    let closing = closed.map { "\($0)>&-" }.joined(separator: " ")
    let app = try LaunchedApp(
      isNow ? "DescriptorsNow" : "Descriptors", home: home, isNow: isNow,
      through: ["/bin/sh", "-c", "exec \"$@\" \(closing)", "sh"])
    if closed.count < 3 {
      let line = try XCTUnwrap(closed == [1] ? app.errorLine() : app.line())
      let names = line.split(separator: " ").suffix(3).map(String.init)
      for number in closed {
        // The system's event loop may have taken the number.
        XCTAssertTrue(names[number] == "closed" || names[number].hasPrefix("anon_inode:"), line)
      }
    }
    XCTAssertEqual(app.ending(), .exited(0), closing)
    // The line would lie in a file that has the number.
    XCTAssertEqual(try files(below: home.path, containing: Data("count".utf8)), [], closing)
  }

  private func files(below path: String, containing text: Data) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
      // A directory has no content.
      FileManager.default.contents(atPath: "\(path)/\(name)")?.range(of: text) != nil
    }
  }
}
