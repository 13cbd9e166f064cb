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

  /// Stores older states, which a discard takes along; returns their identifiers.
  @discardableResult
  private func setAside(_ count: Int) throws -> [String] {
    var moments: [Moment] = []
    for _ in 0..<count {
      let moment = Moment(.version, at: launch.now, after: moments.last, byteCount: 1)
      launch.store.memory(named: "main.history-\(moment.id)").bytes = [1]
      moments.append(moment)
    }
    return moments.map(\.id)
  }

  private func keeper(_ store: some StateDirectory) throws -> StateKeeper {
    try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys,
      now: { [launch] in launch.now })
  }

  func testTheStateGoesFirstAndThenWhatWasSetAside() async throws {
    _ = try await keeper(launch.store).save([TestNode("a")])
    let ids = try setAside(2)
    let calls = Mutex<[String]>([])
    let store = HookedStore(launch.store) { name, call in
      if call.isChange { calls.withLock { $0.append("\(name) \(call)") } }
    }
    let keeper = try keeper(store)
    try await keeper.discardState(includingSetAside: true)
    await keeper.close()
    let expected = ["main replace"] + ids.map { "main.history-\($0) remove" }
    XCTAssertEqual(calls.withLock { Array($0.prefix(expected.count)) }, expected)
  }

  func testWhatCouldNotBeRemovedIsStillListedAndTheErrorSaysSo() async throws {
    let ids = try setAside(3)
    let failure = ArchiveError(.permissionDenied, location: "main")
    let isBroken = Flag()
    isBroken.isSet = true
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      let isOfOlder = call == .remove && name.hasPrefix("main.history-")
      if isOfOlder, isBroken.isSet { throw failure }
    }
    let keeper = try keeper(store)
    do {
      try await keeper.discardState(includingSetAside: true)
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(WholeError(error), WholeError(failure))
    }
    let listed = try await keeper.setAsideStates()
    XCTAssertEqual(listed.map(\.id), ids)
    isBroken.isSet = false
    try await keeper.discardState(includingSetAside: true)
    let left = try await keeper.setAsideStates()
    XCTAssertEqual(left, [])
  }
}
