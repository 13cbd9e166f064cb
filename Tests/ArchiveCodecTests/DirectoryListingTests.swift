#if os(Linux)
import ArchiveCodec
import Foundation
import TestSupport
import XCTest

/// Listings that fail when a part of the names was given.
final class DirectoryListingTests: XCTestCase {
  /// Puts something that cannot be listed in the place of an open directory.
  private func breakListing(of path: String) throws {
    let own = "/proc/self/fd"
    let real = try XCTUnwrap(realpath(path, nil))
    defer { free(real) }
    let target = String(cString: real)
    let numbers = try FileManager.default.contentsOfDirectory(atPath: own).filter { number in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(own)/\(number)")) == target
    }
    XCTAssertEqual(numbers.count, 1)
    let other = Glibc.open("/dev/null", O_RDONLY)
    defer { close(other) }
    for number in numbers.compactMap(Int32.init) { XCTAssertEqual(dup2(other, number), number) }
  }

  func testAListingThatFailsInItsMidstIsNotTakenForAWholeOne() throws {
    let directory = try TemporaryDirectory()
    for number in 0..<3 { try directory.write([1], to: "state \(number)") }
    var names: [String] = []
    XCTAssertThrowsError(
      try Directory(directory.path).forEachName(beginningWith: "state") {
        name throws(ArchiveError) in
        if names.isEmpty { XCTAssertNoThrow(try breakListing(of: directory.path)) }
        names.append(name)
      }
    ) {
      XCTAssertEqual($0 as? ArchiveError, ArchiveError(systemError: ENOTDIR))
    }
    XCTAssertEqual(names.count, 3)
  }
}
#endif
