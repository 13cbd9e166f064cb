#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// How many files are open for states that go on.
@MainActor
final class OpenFileTests: XCTestCase {
  /// The names of the states in a directory whose files this process has open.
  private func openStates(in directory: TemporaryDirectory) throws -> [String] {
    let own = "/proc/self/fd"
    let targets = try FileManager.default.contentsOfDirectory(atPath: own).compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "\(own)/\($0)")
    }
    let prefix = directory.child("states/")
    return targets.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".rka") }
      .map { String($0.dropFirst(prefix.count).dropLast(".rka".count)) }.sorted()
  }

  // A keeper has one file, with all its windows.
  func testAStateHasOneOpenFileFromItsFirstCallToItsEnd() async throws {
    let directory = try TemporaryDirectory()
    let keys = MemoryKeyProvider()
    func keeper(_ number: Int) throws -> StateKeeper {
      try StateKeeper(
        application: Launch.application, name: "state\(number)",
        directory: FileStateDirectory(path: directory.child("states")), keys: keys)
    }
    let keepers = try (10...21).map(keeper)
    let names = (10...21).map { "state\($0)" }
    XCTAssertEqual(try openStates(in: directory), [])
    // The second value is so long that the file is replaced.
    for value in ["first", String(repeating: "x", count: 70_000), "third"] {
      for keeper in keepers { _ = try await keeper.save([TestNode("a", value: value)]) }
      XCTAssertEqual(try openStates(in: directory), names)
    }
    for keeper in keepers { await keeper.close() }
    XCTAssertEqual(try openStates(in: directory), [])
    for number in 10...21 {
      let node = TestNode("a")
      let again = try keeper(number)
      XCTAssertEqual(try openStates(in: directory), [])
      _ = try await again.restore(into: [node])
      XCTAssertEqual(try openStates(in: directory), ["state\(number)"])
      XCTAssertEqual(node.value, "third")
      await again.close()
    }
    XCTAssertEqual(try openStates(in: directory), [])
  }
}
#endif
