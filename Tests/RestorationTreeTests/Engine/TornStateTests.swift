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

  func testAStateWhoseLastSaveIsTornComesBackAsItWasBeforeThatSave() async throws {
    // A save that is cut off may also be one that goes on. When only the length has
    // reached the disk, it is damaged, and the report says so.
    for (count, problem) in [(0, nil), (10, ArchiveError.Code.damaged)] {
      let launch = Launch()
      let first = try launch.keeper()
      let root = TrackedNode("root")
      root.value = "first"
      let savedAt = launch.now
      _ = try await first.save([root])
      let whole = try XCTUnwrap(launch.storedBytes)
      root.value = "second"
      _ = try await first.save([root])
      await first.close()
      var torn = try XCTUnwrap(launch.storedBytes)
      XCTAssertEqual(Array(torn.prefix(whole.count)), whole)
      torn = torn.dropLast(10) + [UInt8](repeating: 0, count: count)
      launch.storedBytes = torn

      let keeper = try launch.keeper()
      let back = TrackedNode("root")
      let restored = try await keeper.restore(into: [back])
      XCTAssertEqual(restored.outcome, .restored)
      XCTAssertEqual(back.value, "first")
      XCTAssertEqual(
        restored.launchProblem,
        problem.map { code in
          "The end of the state is damaged, so this is the one of \(savedAt); what was saved after it"
            + " is lost. The next save keeps a copy of the file. (\(code): commit, byte"
            + " \(whole.count), in memory)"
        })
      XCTAssertEqual(
        "\(restored)".contains("\n  problem of the launch: The end of the state is damaged"),
        problem != nil)

      back.value = "third"
      let saved = try await keeper.save([back])
      XCTAssertEqual(try launch.storedRecords()?["root"]?.value, "third")
      // Of what is damaged somebody may find more one day than a launch does.
      XCTAssertEqual(launch.setAside, problem == nil ? [] : [torn])
      XCTAssertEqual(saved.setAside, problem == nil ? nil : launch.asideLocation)
      XCTAssertEqual(
        Array(try XCTUnwrap(launch.storedBytes).prefix(whole.count)) == whole, problem == nil)
    }
  }

  /// Saves twice, with the second save damaged, and gives what is stored then.
  private func saveTorn(in launch: Launch) async throws -> [UInt8] {
    let first = try launch.keeper()
    let root = TrackedNode("root")
    root.value = "first"
    _ = try await first.save([root])
    root.value = "second"
    _ = try await first.save([root])
    await first.close()
    let torn =
      try XCTUnwrap(launch.storedBytes).dropLast(10) + [UInt8](repeating: 0, count: 10)
    launch.storedBytes = Array(torn)
    return Array(torn)
  }

  func testADamagedEndIsKeptWhenTheGateSaysNo() async throws {
    let launch = Launch()
    let torn = try await saveTorn(in: launch)
    let delegate = TestDelegate()
    delegate.saves = false
    let keeper = try launch.keeper(delegate: delegate)
    let root = TrackedNode("root")
    _ = try await keeper.restore(into: [root])
    let declined = try await keeper.save([root])
    XCTAssertEqual(declined.outcome, .declined)
    XCTAssertEqual(declined.setAside, launch.asideLocation)
    try launch.assertNothingIsStored()
    XCTAssertEqual(launch.setAside, [torn])
    delegate.saves = true
    let saved = try await keeper.save([root])
    XCTAssertNil(saved.setAside)
    XCTAssertEqual(launch.setAside, [torn])
  }

  func testWhatHasToStayIsKeptAlsoWhenItIsRestoredAgainAfterASaveThatFailed() async throws {
    for isTorn in [true, false] {
      let launch = Launch()
      let kept: [UInt8]
      if isTorn {
        kept = try await saveTorn(in: launch)
      } else {
        // That of another version of the app stays as a generation.
        _ = try await launch.keeper().save([TrackedNode("root")])
        kept = try XCTUnwrap(launch.storedBytes)
        launch.environment = ApplicationEnvironment(applicationVersion: "12")
      }
      let isFull = Flag()
      let store = HookedStore(launch.store) { _, call throws(ArchiveError) in
        if call == .replace, isFull.isSet { throw ArchiveError(.storageFull) }
      }
      let keeper = try StateKeeper(
        application: Launch.application, directory: store, keys: launch.keys,
        environment: launch.environment)
      let root = TrackedNode("root")
      _ = try await keeper.restore(into: [root])
      isFull.isSet = true
      root.value = "third"
      await assertThrows(WholeError(ArchiveError(.storageFull, location: "memory"))) {
        _ = try await keeper.save([root])
      }
      isFull.isSet = false
      _ = try await keeper.restore(into: [root])
      root.value = "fourth"
      _ = try await keeper.save([root])
      XCTAssertEqual(launch.setAside, [kept])
      XCTAssertEqual(try launch.storedRecords()?["root"]?.value, "fourth")
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
    keeper.policy.isSingleInstance = true
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
