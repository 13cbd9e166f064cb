import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Saves over a state that nobody has read.
@MainActor
final class UnreadStateTests: XCTestCase {
  private let launch = Launch()
  private let failing = Names()

  /// The names of states that cannot be opened now.
  private final class Names: Sendable {
    private let names = Mutex<Set<String>>([])

    var all: Set<String> {
      get { names.withLock { $0 } }
      set { names.withLock { $0 = newValue } }
    }
  }

  private func keeper() throws -> StateKeeper {
    let store = HookedStore(launch.store) { [failing] name, call throws(ArchiveError) in
      if call == .open, failing.all.contains(name) {
        throw ArchiveError(.inputOutput, systemError: 24)
      }
    }
    return try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys,
      environment: launch.environment)
  }

  private func failRestore(_ keeper: StateKeeper) async throws {
    failing.all = ["main"]
    do {
      _ = try await keeper.restore()
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(error.archive?.systemError, 24)
    }
    failing.all = []
  }

  private func value(of bytes: [UInt8]?) async throws -> String? {
    let next = Launch()
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    next.storedBytes = bytes
    let node = TestNode("a")
    let keeper = try StateKeeper(
      application: Launch.application, directory: next.store, keys: key)
    _ = try await keeper.restore(into: [node])
    return node.value
  }

  func testASaveAfterARestoreThatFailedSetsTheStateAsideAndNextOnesReplaceTheirOwn() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "typed for hours")])
    let keeper = try keeper()
    try await failRestore(keeper)
    let first = try await keeper.save([TestNode("a", value: "default")])
    XCTAssertNotNil(first.setAside)
    for _ in 0..<2 {
      let next = try await keeper.save([TestNode("a", value: "default")])
      XCTAssertNil(next.setAside)
    }
    let aside = launch.setAside
    XCTAssertEqual(aside.count, 1)
    let kept = try await value(of: aside.first)
    XCTAssertEqual(kept, "typed for hours")
    let saved = try await value(of: launch.storedBytes)
    XCTAssertEqual(saved, "default")
  }

  func testAStateThatNobodyHasReadStaysInItsPlaceIfItCannotBeReplaced() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "typed for hours")])
    for stored in [launch.storedBytes, [1, 2, 3]] {
      launch.storedBytes = stored
      try launch.removeSetAside()
      try await saveOnAFullDisk()
    }
  }

  private func saveOnAFullDisk() async throws {
    let before = launch.storedBytes
    let isFull = Flag()
    isFull.isSet = true
    let store = HookedStore(launch.store) { _, call throws(ArchiveError) in
      if call == .replace, isFull.isSet { throw ArchiveError(.storageFull) }
    }
    launch.endProcess()
    let keeper = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys)
    for _ in 0..<2 {
      await assertThrows(WholeError(ArchiveError(.storageFull, location: "memory"))) {
        _ = try await keeper.save([TestNode("a", value: "default")])
      }
      XCTAssertEqual(launch.storedBytes, before)
      XCTAssertEqual(launch.setAside, [])
    }
    isFull.isSet = false
    let report = try await keeper.save([TestNode("a", value: "default")])
    XCTAssertNotNil(report.setAside)
    XCTAssertEqual(launch.setAside, [before])
  }

  func testANodeThatThrowsOverAStateThatCannotBeReadIsSavedWithoutState() async throws {
    struct Failure: Error {}
    for isKeyMissing in [false, true] {
      let launch = Launch()
      let first = try launch.keeper()
      _ = try await first.save([TestNode("root", children: [TestNode("a", value: "stored")])])
      await first.close()
      if !isKeyMissing { launch.storedBytes?[100] ^= 1 }
      let stored = try XCTUnwrap(launch.storedBytes)
      let keeper = try StateKeeper(
        application: Launch.application, directory: launch.store,
        keys: isKeyMissing ? MemoryKeyProvider() : launch.keys)
      let node = TestNode("a")
      node.onEncode = { _ in throw Failure() }
      let report = try await keeper.save([TestNode("root", children: [node])])
      XCTAssertEqual(report.outcome, .saved)
      XCTAssertEqual(report.outcome(of: "root/a"), .savedWithoutState)
      XCTAssertEqual(launch.setAside, [stored])
      await keeper.close()
    }
  }

  func testAStateThatWasReadAfterAllIsReplaced() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "first")])
    let keeper = try keeper()
    try await failRestore(keeper)
    _ = try await keeper.restore()
    let report = try await keeper.save([TestNode("a", value: "second")])
    XCTAssertNil(report.setAside)
    XCTAssertEqual(launch.setAside, [])

    // A restore that fails later counts again: the app has its defaults now.
    try await failRestore(keeper)
    let own = try await keeper.save([TestNode("a", value: "third")])
    XCTAssertNotNil(own.setAside)
  }

  func testADeclinedSaveAfterARestoreThatFailedRemovesNothing() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "kept")])
    let before = launch.storedBytes
    let keeper = try keeper()
    try await failRestore(keeper)
    let delegate = TestDelegate()
    delegate.saves = false
    keeper.delegate = delegate
    let report = try await keeper.save([TestNode("a")])
    XCTAssertEqual(report.outcome, .declined)
    XCTAssertNotNil(report.setAside)
    try launch.assertNothingIsStored()
    XCTAssertEqual(launch.setAside.first, before)
  }

  func testASaveBeforeAnyRestoreSetsAsideWhatIsStoredOnce() async throws {
    _ = try await launch.keeper().save([TestNode("a", value: "of the last launch")])
    let before = launch.storedBytes
    let keeper = try launch.keeper()
    let first = try await keeper.save([TestNode("a", value: "1")])
    let second = try await keeper.save([TestNode("a", value: "2")])
    XCTAssertNotNil(first.setAside)
    XCTAssertNil(second.setAside)
    XCTAssertEqual(launch.setAside, [before].compactMap(\.self))
  }

  func testTheReportOfADeclinedSaveSaysWhatIsKept() async throws {
    _ = try await launch.keeper().save([TestNode("a")])
    let keeper = try keeper()
    try await failRestore(keeper)
    let delegate = TestDelegate()
    delegate.saves = false
    keeper.delegate = delegate
    let first = try await keeper.save([TestNode("a")])
    XCTAssertEqual(
      first.description,
      "Nothing saved: the gate said no."
        + " What was stored is set aside at \(try XCTUnwrap(first.setAside)).")
    let second = try await keeper.save([TestNode("a")])
    XCTAssertEqual(second.description, "Nothing saved: the gate said no.")
  }

  /// A state of which there is only an older one, since its file is empty, with the bytes of that.
  private func storeOlderOnly() async throws -> [UInt8] {
    let first = try launch.keeper()
    _ = try await first.save([TestNode("a", value: "typed for hours")])
    await first.close()
    let good = try XCTUnwrap(launch.storedBytes)
    // The first save of another version of the app keeps it.
    launch.environment = ApplicationEnvironment(applicationVersion: "12")
    let next = try launch.keeper()
    let node = TestNode("a")
    _ = try await next.restore(into: [node])
    _ = try await next.save([node])
    launch.storedBytes = []
    launch.endProcess()
    return good
  }

  func testAGenerationThatNobodyHasReadIsKeptWhenItsStateIsGone() async throws {
    let good = try await storeOlderOnly()
    let keeper = try launch.keeper()
    for number in 1...4 {
      let report = try await keeper.save([TestNode("a", value: "default \(number)")])
      // The older state is where it was, and a file without bytes is no state to keep.
      XCTAssertNil(report.setAside)
      XCTAssertEqual(launch.setAside, [good])
    }
    XCTAssertEqual(try launch.storedRecords()?["a"]?.value, "default 4")
  }

  func testAGenerationThatWasRestoredStaysOne() async throws {
    let good = try await storeOlderOnly()
    let keeper = try launch.keeper()
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "typed for hours")
    _ = try await keeper.save([node])
    XCTAssertEqual(launch.setAside, [good])
  }
}
