import ArchiveCodec
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// Set-aside states that have the same name in the store, one after the other.
@MainActor
final class AsideNameTests: XCTestCase {
  func testWhatHasTheNameOfAStateThatWasPutBackIsNotRemovedInItsStead() async throws {
    let (base, keys) = (MemoryRemoteStateStore(), MemoryKeyProvider())
    let network = NetworkStore(base)
    let here = Device("here", network, keys: keys, localCopy: MemoryStateDirectory())
    let there = Device("there", base, keys: keys, localCopy: MemoryStateDirectory())
    let (root, theirs) = (TestNode("root"), TestNode("root"))
    let other = try there.launch()
    var keeper: StateKeeper? = try here.launch()
    func save(_ value: String, _ keeper: StateKeeper) async throws -> PreservationReport {
      let root = keeper === other ? theirs : root
      root.value = value
      return try await keeper.save([root])
    }
    func asides() async throws -> [String] {
      try await base.names(prefix: "main").filter { $0.hasPrefix("main.aside.conflict-") }
    }

    // A state is set aside by a conflict, under a name that says when.
    _ = try await save("1", other)
    _ = try await keeper?.restore(into: [root])
    _ = try await save("2", other)
    _ = try await save("3", XCTUnwrap(keeper))
    try await keeper?.resolveConflict(keeping: .ours)
    let names = try await asides()
    XCTAssertEqual(names.count, 1)
    // Both machines put it back, and one of them stores that. The other one cannot tell the store.
    var states = try await XCTUnwrap(keeper).setAsideStates()
    network.delaysWrites = true
    try await keeper?.putBack(XCTUnwrap(states.first))
    network.delaysWrites = false
    keeper = nil
    _ = await other.checkRemoteState()
    _ = try await other.restore(into: [theirs])
    XCTAssertEqual(theirs.value, "3")
    let saved = try await save("4", other)
    XCTAssertEqual(saved.outcome, .saved)
    states = try await other.setAsideStates()
    XCTAssertEqual(states.map(\.reason), [.conflict])
    try await other.putBack(XCTUnwrap(states.first))
    _ = try await other.restore(into: [theirs])
    _ = try await save("5", other)
    let left = try await asides()
    XCTAssertEqual(left, [])
    // The other one begins anew, and sets aside what it finds in the same moment.
    let next = try here.launch()
    _ = try await next.restore(into: [root])
    _ = await next.checkRemoteState()
    try await next.resolveConflict(keeping: .ours)
    let last = try await asides()
    XCTAssertEqual(last, names)
    let scratch = MemoryRemoteStateStore()
    scratch[bytes: "main"] = try base[bytes: XCTUnwrap(names.first)]
    let value = try await Device("reader", scratch, keys: keys).restoredValue()
    XCTAssertEqual(value, "5")
  }
}
