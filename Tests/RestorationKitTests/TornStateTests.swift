import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// A state to which a tool was appending when it was killed.
@MainActor
final class TornStateTests: XCTestCase {
  func testASaveOverAStateWithATornEndSetsItAsideAndSaves() async throws {
    let launch = Launch()
    let directory = try TemporaryDirectory()
    let store = FileStateDirectory(path: directory.path)
    func keeper() throws -> StateKeeper {
      try StateKeeper(application: Launch.application, directory: store, keys: launch.keys)
    }
    _ = try await keeper().save([TestNode("a", value: "first")])
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    do {
      let tool = try ArchiveWriter.open(
        store.storage(named: "main"), key: key,
        context: ArchiveContext([Launch.application, "main"]))
      let builder = tool.builder()
      try builder.append(record: 1_000_000) { $0.encode("by a tool", forKey: "note") }
      try tool.append(builder.finish())
    }
    let whole = try directory.bytes(of: "main.rka")
    try directory.write(Array(whole.dropLast(10)), to: "main.rka")
    for _ in 0..<2 {
      let report = try await keeper().save([TestNode("a", value: "second")])
      XCTAssertEqual(report.outcome, .saved)
    }
  }

  func testADeclinedOrDiscardedStateIsNotRemovedUnderAWriter() async throws {
    let launch = Launch()
    let directory = try TemporaryDirectory()
    let store = FileStateDirectory(path: directory.path)
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    _ = try await keeper.save([TestNode("a", value: "first")])
    await keeper.close()
    keeper.instancePolicy = .single
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    let tool = try ArchiveWriter.open(
      store.storage(named: "main"), key: key,
      context: ArchiveContext([Launch.application, "main"]))
    let delegate = TestDelegate()
    delegate.saves = false
    keeper.delegate = delegate
    let report = try await keeper.save([TestNode("a")])
    XCTAssertEqual(report.outcome, .inUse(by: "this process"))
    await assertThrows(
      WholeError(.inUse, "The state is in use by this process. Close that one first.")
    ) {
      try await keeper.discardState()
    }
    let builder = tool.builder()
    try builder.append(record: 1_000_000) { $0.encode("by a tool", forKey: "note") }
    try tool.append(builder.finish())
  }
}
