import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Restores and saves while somebody else has the state.
@MainActor
final class SaveWaitTests: XCTestCase {
  private let launch = Launch()

  private func keeper(_ store: any StateDirectory) throws -> StateKeeper {
    try StateKeeper(application: Launch.application, directory: store, keys: launch.keys)
  }

  /// A store whose state is locked for so many tries.
  private func store(lockedFor count: Int) -> HookedStore {
    let triesLeft = Mutex(count)
    return HookedStore(launch.store) { name, call throws(ArchiveError) in
      guard call == .lock, name == "main" else { return }
      let isFree = triesLeft.withLock { left in
        defer { left -= 1 }
        return left <= 0
      }
      if !isFree { throw ArchiveError(.locked, subject: "process 1") }
    }
  }

  func testASaveWaitsForAWriterThatIsSoonDone() async throws {
    for isSingle in [false, true] {
      let keeper = try keeper(store(lockedFor: 3))
      keeper.policy.isSingleInstance = isSingle
      let report = try await keeper.save([TestNode("a", value: "saved")])
      XCTAssertEqual(report.outcome, .saved)
      XCTAssertEqual(report.stateName, "main")
      XCTAssertNotNil(try launch.archive())
    }
  }

  func testOneThatWaitedInVainDoesNotWaitAgain() async throws {
    let tries = Mutex(0)
    let store = HookedStore(launch.store) { _, call throws(ArchiveError) in
      guard call == .lock else { return }
      tries.withLock { $0 += 1 }
      throw ArchiveError(.locked)
    }
    let keeper = try keeper(store)
    keeper.policy.isSingleInstance = true
    _ = try await keeper.restore()
    let before = tries.withLock { $0 }
    let report = try await keeper.save([TestNode("a")])
    XCTAssertEqual(report.outcome, .inUse(by: nil))
    XCTAssertEqual(tries.withLock { $0 }, before + 1)
  }

  func testADelegateThatTheAppLetsGoDuringASaveTakesPartAlsoIfAllIsWrittenAnew() async throws {
    let gate = Gate()
    let keeper = try keeper(HookedStore(launch.store) { _, _ in gate.pass() })
    var delegate: TestDelegate? = TestDelegate()
    delegate?.onWillEncode = { $0.encode("of the delegate", forKey: "value") }
    keeper.delegate = delegate
    let root = TestNode("a")
    _ = try await keeper.save([root])
    let first = launch.storedBytes
    root.value = "second"
    _ = try await keeper.save([root])
    // Somebody puts an older copy back, so that all must be written.
    launch.storedBytes = first
    gate.holdUp()
    root.value = "third"
    let save = Task { @MainActor in try await keeper.save([root]).outcome }
    try await waitUntil("the save reaches its file") { gate.isWaitedFor }
    delegate = nil
    gate.goOn()
    let outcome = try await save.value
    XCTAssertEqual(outcome, .saved)
    XCTAssertNil(keeper.delegate)
    let records = try launch.storedRecords()
    XCTAssertEqual(try records?["a"]?.value, "third")
    let value: String? = try records?.application?.decodeIfPresent(forKey: "value")
    XCTAssertEqual(value, "of the delegate")
  }

  func testOfSavesThatWaitTheLatestIsStored() async throws {
    let isLocked = Mutex(true)
    let store = HookedStore(launch.store) { _, call throws(ArchiveError) in
      if call == .lock, isLocked.withLock({ $0 }) { throw ArchiveError(.locked) }
    }
    let keeper = try keeper(store)
    keeper.policy.isSingleInstance = true
    let saves = (1...4).map { number in
      Task { @MainActor in try await keeper.save([TestNode("a", value: "\(number)")]).outcome }
    }
    for _ in 0..<20 { await Task.yield() }
    isLocked.withLock { $0 = false }
    for save in saves {
      let outcome = try await save.value
      XCTAssertEqual(outcome, .saved)
    }
    await keeper.close()
    let node = TestNode("a")
    _ = try await launch.keeper().restore(into: [node])
    XCTAssertEqual(node.value, "4")
  }

  func testASaveThatIsCancelledDoesNotWait() async throws {
    for isSingle in [false, true] {
      let tries = Mutex<[String]>([])
      let store = HookedStore { name, call throws(ArchiveError) in
        guard call == .lock else { return }
        tries.withLock { $0.append(name) }
        throw ArchiveError(.locked, subject: "process 1")
      }
      let keeper = try keeper(store)
      keeper.policy.isSingleInstance = isSingle
      let save = Task { @MainActor in try await keeper.save([TestNode("a")]).outcome }
      save.cancel()
      let outcome = try await save.value
      XCTAssertEqual(outcome, .inUse(by: "process 1"))
      let expected = isSingle ? ["main", "main"] : ["main", "main", "main~2"]
      XCTAssertEqual(tries.withLock { Array($0.prefix(3)) }, expected)
    }
  }

  func testAStateWithTwoSlotsIsSavedAsOneWithOneIs() async throws {
    for slotCount in 1...2 {
      let directory = try TemporaryDirectory()
      let store = FileStateDirectory(path: directory.path)
      _ = try await keeper(store).save([TestNode("a")])
      let key = try XCTUnwrap(try launch.keys.key(creating: false))
      let storage = store.storage(named: "main")
      let context = ArchiveContext([Launch.application, "main"])
      if slotCount == 2 {
        try ArchiveWriter.open(storage, key: key, context: context).addSlot(.key(try ArchiveKey()))
      }
      let keeper = try keeper(store)
      _ = try await keeper.restore()
      for number in 1...10 {
        let report = try await keeper.save([TestNode("a", value: "\(number)")])
        XCTAssertEqual(report.outcome, .saved)
        XCTAssertNil(report.setAside)
      }
      XCTAssertEqual(
        try Archive.open(storage, key: key, context: context)?.version.generation, 11)
      XCTAssertEqual(try Archive.slots(of: storage)?.count, slotCount)
    }
  }
}
