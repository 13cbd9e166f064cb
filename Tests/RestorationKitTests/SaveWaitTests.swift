import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Saves while somebody else is writing the state.
@MainActor
final class SaveWaitTests: XCTestCase {
  private let launch = Launch()

  private func keeper(_ store: any StateStore) throws -> StateKeeper {
    try StateKeeper(application: Launch.application, store: store, keys: launch.keys)
  }

  func testASaveWaitsForAWriterThatIsSoonDone() async throws {
    let triesLeft = Mutex(3)
    let store = HookedStore(launch.store) { _, call throws(ArchiveError) in
      guard call == .lock else { return }
      let isFree = triesLeft.withLock { left in
        defer { left -= 1 }
        return left <= 0
      }
      if !isFree { throw ArchiveError(.locked, subject: "process 1") }
    }
    let report = try await keeper(store).save([TestNode("a", value: "saved")])
    XCTAssertEqual(report.outcome, .saved)
    XCTAssertEqual(triesLeft.withLock { $0 }, -1)
    XCTAssertNotNil(try launch.archive())
  }

  func testASaveBesideAWriterThatStaysFailsAndNamesIt() async throws {
    let directory = try TemporaryDirectory()
    let store = FileStateStore(directory: directory.path)
    _ = try await keeper(store).save([TestNode("a", value: "first")])
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    let storage = store.storage(named: "main")
    let before = try directory.bytes(of: "main.rka")
    let tool = try ArchiveWriter.open(
      storage, key: key, context: ArchiveContext([Launch.application, "main"]))
    let process = ProcessInfo.processInfo
    let second = try keeper(store)
    do {
      _ = try await second.save([TestNode("a", value: "second")])
      XCTFail("did not throw")
    } catch {
      XCTAssertEqual(
        error.archive,
        ArchiveError(
          .locked, subject: "process \(process.processIdentifier), \(process.processName)",
          location: directory.child("main.rka")))
    }
    XCTAssertEqual(try directory.bytes(of: "main.rka"), before)
    _ = consume tool
    _ = try await second.restore()
    let report = try await second.save([TestNode("a", value: "second")])
    XCTAssertEqual(report.outcome, .saved)
    XCTAssertEqual(try directory.names(), ["main.rka"])
  }

  func testKeepersThatSaveAtOnceAllSaveWhetherTheStateHasOneSlotOrTwo() async throws {
    for slotCount in 1...2 {
      let directory = try TemporaryDirectory()
      let store = FileStateStore(directory: directory.path)
      _ = try await keeper(store).save([TestNode("a")])
      let key = try XCTUnwrap(try launch.keys.key(creating: false))
      let storage = store.storage(named: "main")
      let context = ArchiveContext([Launch.application, "main"])
      if slotCount == 2 {
        try ArchiveWriter.open(storage, key: key, context: context).addSlot(.key(try ArchiveKey()))
      }
      var saves: [Task<Void, any Error>] = []
      for number in 1...3 {
        let keeper = try keeper(store)
        _ = try await keeper.restore()
        saves.append(
          Task { @MainActor in
            for _ in 1...10 {
              let report = try await keeper.save([TestNode("a", value: "\(number)")])
              XCTAssertEqual(report.outcome, .saved)
            }
          })
      }
      for save in saves { try await save.value }
      XCTAssertEqual(
        try Archive.open(storage, key: key, context: context)?.version.generation, 31)
      XCTAssertEqual(try Archive.slots(of: storage)?.count, slotCount)
    }
  }

  func testOfSavesThatWaitTheLatestIsStored() async throws {
    let isLocked = Mutex(true)
    let store = HookedStore(launch.store) { _, call throws(ArchiveError) in
      if call == .lock, isLocked.withLock({ $0 }) { throw ArchiveError(.locked) }
    }
    let keeper = try keeper(store)
    let saves = (1...4).map { number in
      Task { @MainActor in try await keeper.save([TestNode("a", value: "\(number)")]).outcome }
    }
    for _ in 0..<20 { await Task.yield() }
    isLocked.withLock { $0 = false }
    for save in saves {
      let outcome = try await save.value
      XCTAssertTrue([.saved, .superseded].contains(outcome), "\(outcome)")
    }
    let node = TestNode("a")
    _ = try await launch.keeper().restore(into: [node])
    XCTAssertEqual(node.value, "4")
  }

  func testASaveThatIsCancelledWhileItWaitsEndsAtOnce() async throws {
    let tries = Mutex(0)
    let store = HookedStore(launch.store) { _, call throws(ArchiveError) in
      guard call == .lock else { return }
      tries.withLock { $0 += 1 }
      throw ArchiveError(.locked)
    }
    let keeper = try keeper(store)
    let save = Task { @MainActor in try await keeper.save([TestNode("a")]).outcome }
    save.cancel()
    do {
      _ = try await save.value
      XCTFail("did not throw")
    } catch let error as RestorationError {
      XCTAssertEqual(error.archive?.code, .locked)
    }
    XCTAssertEqual(tries.withLock { $0 }, 1)
  }
}
