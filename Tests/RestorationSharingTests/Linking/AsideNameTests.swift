import ArchiveCodec
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// Set-aside states that have the same name in the store, one after the other.
@MainActor
final class AsideNameTests: XCTestCase {
  private let base = MemoryRemoteStateStore()
  private let keys = MemoryKeyProvider()
  private lazy var network = NetworkStore(base)
  private lazy var here = Device("here", network, keys: keys, localCopy: MemoryStateDirectory())
  private lazy var there = Device("there", base, keys: keys, localCopy: MemoryStateDirectory())

  /// The names of what conflicts have set aside.
  private func asides() async throws -> [String] {
    try await base.asides("conflict")
  }

  /// What the store has under a name.
  private func value(storedAs name: String?) async throws -> String? {
    let scratch = MemoryRemoteStateStore()
    scratch[bytes: "main"] = try base[bytes: XCTUnwrap(name)]
    return try await Device("reader", scratch, keys: keys).restoredValue()
  }

  func testWhatHasTheNameOfAStateThatWasPutBackIsNotRemovedInItsStead() async throws {
    let (root, theirs) = (TestNode("root"), TestNode("root"))
    let other = try there.launch()
    var keeper: StateKeeper? = try here.launch()
    func save(_ value: String, _ keeper: StateKeeper) async throws -> PreservationReport {
      let root = keeper === other ? theirs : root
      root.value = value
      return try await keeper.save([root])
    }

    // A state is set aside by a conflict, under a name that says when.
    _ = try await save("1", other)
    _ = try await keeper?.restore(into: [root])
    _ = try await save("2", other)
    _ = try await save("3", XCTUnwrap(keeper))
    try await keeper?.resolveConflict(keeping: .ours)
    let names = try await asides()
    XCTAssertEqual(names.count, 1)
    var states = try await XCTUnwrap(keeper).setAsideStates()
    // Both machines remove it. The first one cannot tell the store.
    network.delaysWrites = true
    try await keeper?.remove(XCTUnwrap(states.last))
    network.delaysWrites = false
    keeper = nil
    _ = await other.checkRemoteState()
    _ = try await other.restore(into: [theirs])
    XCTAssertEqual(theirs.value, "3")
    states = try await other.history().filter { $0.reason == .conflict }
    XCTAssertEqual(states.count, 1)
    try await other.remove(XCTUnwrap(states.first))
    _ = try await save("5", other)
    // As the state that was removed: the first one is in conflict with it.
    let again = try here.launch()
    network.isReachable = false
    _ = try await again.restore(into: [root])
    _ = try await save("6", again)
    await again.close()
    network.isReachable = true
    let left = try await asides()
    XCTAssertEqual(left, [])
    // The other one begins anew, and sets aside what it finds in the same moment.
    let next = try here.launch()
    _ = try await next.restore(into: [root])
    _ = await next.checkRemoteState()
    try await next.resolveConflict(keeping: .ours)
    let last = try await asides()
    XCTAssertEqual(last.count, 1)
    let value = try await value(storedAs: last.first)
    XCTAssertEqual(value, "5")
  }

  func testWhatWasPutBackAndIsSetAsideElsewhereStaysThoughItsOldNameGoes() async throws {
    let (keeper, other) = (try here.launch(), try there.launch())
    let (root, theirs) = (TestNode("root"), TestNode("root", value: "1"))
    _ = try await other.save([theirs])
    _ = try await keeper.restore(into: [root])
    theirs.value = "2"
    _ = try await other.save([theirs])
    root.value = "3"
    _ = try await keeper.save([root])
    try await keeper.resolveConflict(keeping: .theirs)
    let names = try await asides()
    XCTAssertEqual(names.count, 1)
    // The state that is put back is sent, and then the network is cut: the store keeps the old name.
    let states = try await keeper.setAsideStates()
    network.writesBeforeTheCut = 3
    try await keeper.putBack(XCTUnwrap(states.first))
    let sent = try await value(storedAs: "main")
    XCTAssertEqual(sent, "3")
    let left = try await asides()
    XCTAssertEqual(left, names)
    // The other machine sets the state aside, by a clock that shows the same moment.
    theirs.value = "4"
    _ = try await other.save([theirs])
    try await other.resolveConflict(keeping: .ours)
    // The removal gets to the store.
    network.isReachable = true
    _ = await keeper.checkRemoteState()
    let last = try await asides()
    XCTAssertEqual(last, names)
    let value = try await value(storedAs: last.first)
    XCTAssertEqual(value, "3")
  }
}
