import ArchiveCodec
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// The history of a state that several machines share.
@MainActor
final class SharedHistoryTests: LocalCopyTestCase {
  /// Keeps theirs in a conflict, and gives the moment that ours has become.
  private func conflict(
    in store: MemoryRemoteStateStore, _ copy: MemoryStateDirectory?
  ) async throws -> (keeper: StateKeeper, id: String) {
    let keeper = try Device("here", store, keys: keys, localCopy: copy).launch()
    let (root, theirs) = (TestNode("root", value: "Rome"), TestNode("root"))
    _ = try await keeper.save([root])
    let other = try Device("there", store, keys: keys).launch()
    _ = try await other.restore(into: [theirs])
    theirs.value = "Oslo"
    _ = try await other.save([theirs])
    root.value = "Bern"
    _ = try await keeper.save([root])
    let id = try await keeper.resolveConflict(keeping: .theirs)
    return (keeper, try XCTUnwrap(id))
  }

  func testAMomentWhoseNameAnotherOneHasInTheStoreGetsTheNextOne() async throws {
    for copy in [nil, MemoryStateDirectory()] {
      let first = MemoryRemoteStateStore()
      let (_, taken) = try await conflict(in: first, nil)
      let store = MemoryRemoteStateStore()
      store[bytes: "main.history-\(taken)"] = first[bytes: "main"]
      let (keeper, id) = try await conflict(in: store, copy)
      XCTAssertNotEqual(id, taken)
      XCTAssertEqual(store[bytes: "main.history-\(taken)"], first[bytes: "main"])
      let names = try await store.names(prefix: "main.history-")
      XCTAssertEqual(Set(names), ["main.history-\(taken)", "main.history-\(id)"])
      let moment = try await keeper.history().first { $0.id == id }
      try await keeper.putBack(try XCTUnwrap(moment))
      let value = try await Device("later", store, keys: keys).restoredValue()
      XCTAssertEqual(value, "Bern")
    }
  }

  func testAMomentOfTheStoreThatIsPutBackStaysInTheStoreAlone() async throws {
    let (store, copy) = (MemoryRemoteStateStore(), MemoryStateDirectory())
    let (_, id) = try await conflict(in: store, nil)
    let keeper = try Device("other", store, keys: keys, localCopy: copy).launch()
    _ = try await keeper.restore()
    let moment = try await keeper.history().first { $0.id == id }
    try await keeper.putBack(try XCTUnwrap(moment))
    let value = try await Device("later", store, keys: keys).restoredValue()
    XCTAssertEqual(value, "Bern")
    XCTAssertFalse(try copy.names().contains("main.history-\(id)"))
    XCTAssertNotNil(store[bytes: "main.history-\(id)"])
  }

  func testWhatARestoreMayTryStaysOnThisMachine() async throws {
    for copy in [nil, MemoryStateDirectory()] {
      for version in ["10", "11"] {
        let keeper = try StateKeeper(
          application: Launch.application,
          directory: RemoteStateDirectory(base, localCopy: copy), keys: keys,
          environment: ApplicationEnvironment(applicationVersion: version))
        let root = TestNode("root")
        _ = try await keeper.restore(into: [root])
        root.value = version
        _ = try await keeper.save([root])
        let reasons = try await keeper.history().map(\.reason)
        XCTAssertEqual(reasons, copy == nil || version == "10" ? [] : [.version])
        await keeper.close()
      }
      let names = try await base.names(prefix: "")
      XCTAssertEqual(names, ["main"])
      base[bytes: "main"] = nil
    }
  }

  func testAnAppThatHasDiscardedGetsWhatAnotherMachineHasSavedSince() async throws {
    var keeper: StateKeeper? = try here.launch()
    _ = try await keeper?.save([TestNode("root", value: "Rome")])
    try await keeper?.discardState()
    await keeper?.close()
    keeper = nil
    XCTAssertTrue(copy.isMainGone)
    _ = try await there.launch().save([TestNode("root", value: "Oslo")])
    let value = try await here.restoredValue()
    XCTAssertEqual(value, "Oslo")
  }

  func testAMomentOfAnotherMachineIsRemovedFromTheStore() async throws {
    let (_, id) = try await conflict(in: base, nil)
    let keeper = try here.launch()
    let history = try await keeper.history()
    XCTAssertEqual(history.map(\.id), [id])
    try await keeper.remove(try XCTUnwrap(history.first))
    let names = try await base.names(prefix: "")
    XCTAssertEqual(names, ["main"])
    let left = try await keeper.history()
    XCTAssertEqual(left, [])
  }
}
