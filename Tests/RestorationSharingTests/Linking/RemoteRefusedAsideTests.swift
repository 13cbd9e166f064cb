import ArchiveCodec
import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import RestorationTesting
import TestSupport
import XCTest

/// Whether a name is that of an older state.
private func isAside(_ name: String) -> Bool {
  name.contains(".aside.") || name.contains(".history-")
}

/// What was set aside and the store does not take.
@MainActor
final class RemoteRefusedAsideTests: XCTestCase {
  private let base = MemoryRemoteStateStore()
  private let keys = MemoryKeyProvider()
  private let copy = MemoryStateDirectory()
  private lazy var there = Device("there", base, keys: keys)
  private let root = TestNode("root", value: "Rome")

  override func setUp() async throws {
    base[bytes: "main"] = Array(repeating: 1, count: 1000)
    _ = try keys.key(creating: true)
  }

  /// A machine whose store takes nothing that was set aside, but for a place.
  private func device(
    _ error: RemoteStoreError, _ isRefusing: Flag, copy: MemoryStateDirectory? = nil
  ) -> (Device, FaultyRemoteStateStore) {
    isRefusing.isSet = true
    let store = FaultyRemoteStateStore(base) { call in
      isRefusing.isSet && isAside(call.name) && call.byteCount > 100
        ? .failure(error) : nil
    }
    return (Device("here", store, keys: keys, localCopy: copy), store)
  }

  /// A keeper that could not restore what is stored.
  private func launch(_ device: Device) async throws -> StateKeeper {
    let keeper = try device.launch()
    do {
      _ = try await keeper.restore(into: [root])
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.archive?.code, .notAnArchive)
    }
    return keeper
  }

  private func saveOnce(_ value: String, with keeper: StateKeeper) async throws
    -> PreservationReport
  {
    root.value = value
    let report = try await keeper.save([root])
    XCTAssertEqual(report.outcome, .saved)
    return report
  }

  func testASaveGoesOnWithoutWhatIsTooLargeAndSaysSo() async throws {
    let error = RemoteStoreError(.tooLarge, "It is too large. Save less.")
    for copy in [nil, copy] {
      base[bytes: "main"] = Array(repeating: 1, count: 1000)
      let isRefusing = Flag()
      let (device, store) = device(error, isRefusing, copy: copy)
      let keeper = try await launch(device)
      let first = try await saveOnce("Rome", with: keeper)
      XCTAssertEqual(first.unsentAside, "It is too large. Save less.")
      XCTAssertTrue(
        first.description.contains("What was set aside is not in the store. It is too large."),
        first.description)
      let tries = store.calls.filter { $0.byteCount > 100 && isAside($0.name) }
      XCTAssertEqual(tries.count, 1)
      let second = try await saveOnce("Oslo", with: keeper)
      XCTAssertNil(second.unsentAside)
      XCTAssertEqual(
        store.calls.filter { $0.byteCount > 100 && isAside($0.name) }, tries)
      XCTAssertEqual(keeper.remoteStatus, .current)
      let value = try await there.restoredValue()
      XCTAssertEqual(value, "Oslo")
      // It is here all the same.
      let states = try await keeper.setAsideStates()
      XCTAssertEqual(states.map(\.reason), [.unreadable])
      await keeper.close()
    }
  }

  func testALaterLaunchTriesAgainWhatWasRefused() async throws {
    let isRefusing = Flag()
    let (device, _) = device(
      RemoteStoreError(.tooLarge, "It is too large. Save less."), isRefusing, copy: copy)
    var keeper: StateKeeper? = try await launch(device)
    _ = try await saveOnce("Rome", with: XCTUnwrap(keeper))
    keeper = nil
    isRefusing.isSet = false
    let next = try device.launch()
    _ = try await next.restore(into: [root])
    let report = try await saveOnce("Oslo", with: next)
    XCTAssertNil(report.unsentAside)
    let states = try await there.launch().setAsideStates()
    XCTAssertEqual(states.map(\.reason), [.unreadable])
  }

  func testWhatThereIsNoRoomForIsTriedWithTheNextSave() async throws {
    let isRefusing = Flag()
    let (device, _) = device(RemoteStoreError(.full, "There is no room."), isRefusing)
    let keeper = try await launch(device)
    let first = try await saveOnce("Rome", with: keeper)
    XCTAssertEqual(first.unsentAside, "There is no room.")
    isRefusing.isSet = false
    let second = try await saveOnce("Oslo", with: keeper)
    XCTAssertNil(second.unsentAside)
    let states = try await there.launch().setAsideStates()
    XCTAssertEqual(states.map(\.reason), [.unreadable])
  }
}
