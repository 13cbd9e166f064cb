#if os(Linux)
import ArchiveCodec
import Foundation
import RestorationKit
import RestorationTesting
import TestSupport
import XCTest

/// Processes that end with `exit` right after a change.
final class EndNowProcessTests: XCTestCase {
  /// The other process.
  @MainActor
  func testTheProcessThatExits() async throws {
    guard let app = AppUnderTest.current else { throw XCTSkip("Runs in a process of its own.") }
    let keeper = try StateKeeper(
      application: Launch.application, directory: app.directory, keys: app.keys)
    let node = PlainNode("root")
    _ = try await keeper.restore(into: [node])
    node.value += "."
    let autosave = keeper.autosave { [node] }
    await autosave.flush()
    node.value += "."
    autosave.setNeedsSave()
    // Its write may have begun.
    await Task.yield()
    node.value += "."
    keeper.endNow(within: .seconds(60))
    exit(0)
  }

  @MainActor
  func testAnExitAfterAChangeLosesNothing() async throws {
    let directory = try TemporaryDirectory()
    var dots = ""
    for _ in 0..<5 {
      let process = try AppProcess.again(
        ["RestorationTreeTests.EndNowProcessTests/testTheProcessThatExits"], folder: directory.path)
      XCTAssertEqual(process.waitUntilExit(), .exited(status: 0))
      dots += "..."
      let node = PlainNode("root")
      let keeper = try StateKeeper(
        application: Launch.application,
        directory: FileStateDirectory(path: "\(directory.path)/states"),
        keys: KeyFile(path: "\(directory.path)/app.key"))
      _ = try await keeper.restore(into: [node])
      await keeper.close()
      XCTAssertEqual(node.value, dots)
    }
  }
}
#endif
