import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

@MainActor
final class StoreNamesTests: XCTestCase {
  func testAFileStoreTellsTheNamesOfItsStatesAlone() async throws {
    let directory = try TemporaryDirectory()
    let store = FileStateDirectory(path: directory.path + "/states")
    XCTAssertEqual(try store.names(), [])
    let keys = MemoryKeyProvider()
    for name in ["main", "main.x"] {
      let keeper = try StateKeeper(
        application: "org.example", name: name, directory: store, keys: keys)
      _ = try await keeper.save([TestNode("a")])
    }
    for other in ["main.rka.unreadable-1", ".main.rka.lock", ".main.rka.12.tmp", "note.txt"] {
      try Data().write(to: URL(filePath: "\(store.path)/\(other)"))
    }
    try FileManager.default.createDirectory(
      atPath: "\(store.path)/main.history", withIntermediateDirectories: true)
    XCTAssertEqual(try store.names().sorted(), ["main", "main.x"])
  }

  func testADirectoryThatCannotBeReadIsAnError() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.path + "/file"
    try Data().write(to: URL(filePath: file))
    XCTAssertThrowsError(try FileStateDirectory(path: file).names()) { error in
      XCTAssertEqual(
        error as? ArchiveError,
        ArchiveError(.notAFile, systemError: ENOTDIR, location: file))
    }
  }

  func testAMemoryStoreTellsWhatHasBytes() async throws {
    let launch = Launch()
    _ = launch.store.storage(named: "empty")
    _ = try await launch.keeper().save([TestNode("a")])
    XCTAssertEqual(try launch.store.names(), ["main"])
  }
}
