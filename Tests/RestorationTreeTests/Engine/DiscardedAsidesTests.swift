import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// Discarding a state of which many were set aside.
@MainActor
final class DiscardedAsidesTests: XCTestCase {
  private let launch = Launch()

  private func setAside(_ count: Int, of name: String = "main") throws {
    let storage = launch.store.memory(named: name)
    for number in 0..<count {
      storage.bytes = [UInt8(truncatingIfNeeded: number)]
      _ = try storage.setAside(.crashed, at: launch.now + TimeInterval(number))
    }
  }

  private func keeper(_ store: some StateDirectory) throws -> StateKeeper {
    try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys,
      now: { [launch] in launch.now })
  }

  func testADiscardAsksTheStorageAsOftenForManySetAsideAsForOne() async throws {
    var all: [[String]] = []
    for count in [1, 2, 300] {
      try setAside(count)
      let calls = Mutex<[String]>([])
      let store = HookedStore(launch.store) { name, call in
        if [.list, .remove, .removeSetAside].contains(call) {
          calls.withLock { $0.append("\(name) \(call)") }
        }
      }
      let keeper = try keeper(store)
      try await keeper.discardState(includingSetAside: true)
      let left = try await keeper.setAsideStates()
      XCTAssertEqual(left, [])
      await keeper.close()
      all.append(calls.withLock { $0 })
    }
    XCTAssertEqual(all[1], all[0])
    XCTAssertEqual(all[2], all[0])
    XCTAssertEqual(all[0].count { $0 == "main removeSetAside" }, 1)
  }

  func testTheStateGoesFirstAndThenWhatWasSetAside() async throws {
    _ = try await keeper(launch.store).save([TestNode("a")])
    try setAside(2)
    let calls = Mutex<[String]>([])
    let store = HookedStore(launch.store) { name, call in
      if call.isChange { calls.withLock { $0.append("\(name) \(call)") } }
    }
    let keeper = try keeper(store)
    try await keeper.discardState(includingSetAside: true)
    await keeper.close()
    XCTAssertEqual(
      calls.withLock { $0.prefix(2) }, ["main remove", "main removeSetAside"])
  }

  func testWhatCouldNotBeRemovedIsStillListedAndTheErrorSaysSo() async throws {
    try setAside(3)
    let failure = ArchiveError(.permissionDenied, location: "main")
    let isBroken = Flag()
    isBroken.isSet = true
    let store = HookedStore(launch.store) { _, call throws(ArchiveError) in
      if call == .removeSetAside, isBroken.isSet { throw failure }
    }
    let keeper = try keeper(store)
    do {
      try await keeper.discardState(includingSetAside: true)
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(WholeError(error), WholeError(failure))
    }
    let listed = try await keeper.setAsideStates()
    XCTAssertEqual(listed.map(\.id), ["1", "2", "3"])
    isBroken.isSet = false
    try await keeper.discardState(includingSetAside: true)
    let left = try await keeper.setAsideStates()
    XCTAssertEqual(left, [])
  }
}
