import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// When a store is asked again, and what is told of it.
@MainActor
final class RemoteRetryTests: LocalCopyTestCase {
  func testAStoreThatCannotBeReachedIsAskedAgainAfterEverLongerPausesOfAMinuteAtMost() async throws
  {
    let clock = TestClock()
    for localCopy in [nil, MemoryStateDirectory()] {
      let device = Device("here", store, keys: keys, localCopy: localCopy)
      device.pauses = clock
      let (keeper, root) = (try device.launch("copy \(localCopy != nil)"), TestNode("root"))
      _ = try await keeper.restore(into: [root])
      store.isReachable = false
      root.value = "Rome"
      do { _ = try await keeper.save([root]) } catch { XCTAssertEqual(error.code, .store) }
      var pauses: [Duration] = []
      for _ in 0..<9 {
        try await waitUntil("it pauses") { !clock.sleeps.isEmpty }
        pauses.append(clock.sleeps[0])
        // A moment less is not enough.
        clock.advance(by: clock.sleeps[0] - .milliseconds(1))
        for _ in 0..<20 { await Task.yield() }
        XCTAssertEqual(clock.sleeps, [.milliseconds(1)])
        clock.advance(by: .milliseconds(1))
      }
      XCTAssertEqual(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
      try await waitUntil("it pauses") { !clock.sleeps.isEmpty }
      store.isReachable = true
      clock.advance(by: .seconds(60))
      try await waitUntil("the store has it") { keeper.remoteStatus == .current }
      for _ in 0..<20 { await Task.yield() }
      XCTAssertEqual(clock.sleeps, [])
      // The next failure begins with a second again.
      store.isReachable = false
      root.value = "Oslo"
      do { _ = try await keeper.save([root]) } catch { XCTAssertEqual(error.code, .store) }
      try await waitUntil("it pauses") { !clock.sleeps.isEmpty }
      XCTAssertEqual(clock.sleeps, [.seconds(1)])
      store.isReachable = true
      clock.advance(by: .seconds(1))
      try await waitUntil("the store has it") { keeper.remoteStatus == .current }
      await keeper.close()
    }
  }

  private func saveThere(_ value: String) async throws {
    let (other, root) = (try there.launch(), TestNode("root"))
    _ = try await other.restore(into: [root])
    root.value = value
    _ = try await other.save([root])
    await other.close()
  }

  func testAChangeThatIsToldWhileTheStoreIsAskedIsLookedAtAfterThat() async throws {
    let telling = TellingStore(store)
    let keeper = try Device("here", telling, keys: keys).launch()
    let root = TestNode("root", value: "Rome")
    _ = try await keeper.save([root])
    let changes = keeper.remoteStatusChanges
    store.holdsLoads = true
    telling.tell(RemoteChange(name: "main", version: nil))
    // It has the answer of the store, and does not get it.
    try await waitUntil("the store is asked") { store.isHolding }
    try await saveThere("Oslo")
    telling.tell(RemoteChange(name: "main", version: nil))
    for _ in 0..<50 { await Task.yield() }
    store.holdsLoads = false
    try await waitFor("it has heard of it", in: changes, within: .seconds(20)) {
      if case .newer = $0 { true } else { false }
    }
    _ = try await keeper.restore(into: [root])
    XCTAssertEqual(root.value, "Oslo")
  }

  func testASaveRightAfterTheirsWasKeptSetsTheirsAside() async throws {
    for device in [here, Device("here", store, keys: keys)] {
      for name in try await base.names(prefix: "") { base[bytes: name] = nil }
      for name in try copy.names() { copy.memory(named: name).bytes = nil }
      let (keeper, root) = (try device.launch(), TestNode("root", value: "Rome"))
      _ = try await keeper.save([root])
      try await saveThere("Oslo")
      root.value = "Paris"
      let conflict = try await keeper.save([root])
      guard conflict.conflict != nil else { return XCTFail("\(conflict.outcome)") }
      try await keeper.resolveConflict(keeping: .theirs)
      // Without the restore that comes in between: nobody has read theirs.
      root.value = "Bern"
      let report = try await keeper.save([root])
      XCTAssertEqual(report.outcome, .saved)
      XCTAssertNotNil(report.setAside)
      let value = try await there.restoredValue()
      XCTAssertEqual(value, "Bern")
      let other = try there.launch()
      let states = try await other.setAsideStates()
      XCTAssertEqual(Set(states.map(\.reason)), [.conflict, .unread])
      let theirs = try XCTUnwrap(states.first { $0.reason == .unread })
      try await other.putBack(theirs)
      let back = try await there.restoredValue()
      XCTAssertEqual(back, "Oslo")
      await other.close()
      await keeper.close()
    }
  }

  func testAStatusIsToldOnceAsLongAsItIsTheSame() async throws {
    let (keeper, root) = (try here.launch(), TestNode("root", value: "Rome"))
    let changes = keeper.remoteStatusChanges
    var heard: [RemoteStatus] = []
    let listening = Task { for await status in changes { heard.append(status) } }
    func save(_ value: String) async throws {
      root.value = value
      _ = try await keeper.save([root])
      // It hears each one before the next.
      for _ in 0..<100 { await Task.yield() }
    }
    try await waitUntil("it listens") { !heard.isEmpty }
    for value in ["Oslo", "Bern"] { try await save(value) }
    store.isReachable = false
    for value in ["Wien", "Paris"] { try await save(value) }
    let error = RemoteStoreError(.unavailable, "The network is down. Connect it.")
    try await waitUntil("it has heard of it") { heard.last == .unsent(error) }
    XCTAssertEqual(heard, [.unknown, .current, .unsent(error)])
    listening.cancel()
    await listening.value
  }
}
