import ArchiveCodec
import RestorationKit
import RestorationSharing
import RestorationSharingTesting
import RestorationTesting
import TestSupport
import XCTest

/// Hearing of what other machines save.
@MainActor
final class RemoteListeningTests: XCTestCase {
  private let base = MemoryRemoteStateStore()
  private let keys = MemoryKeyProvider()
  private lazy var there = Device("there", base, keys: keys)

  private func keeper(_ state: String, in directory: RemoteStateDirectory) async throws
    -> StateKeeper
  {
    let keeper = try StateKeeper(
      application: Launch.application, name: state, directory: directory, keys: keys)
    _ = try await keeper.save([TestNode("root", value: "Rome")])
    return keeper
  }

  private func saveThere(_ value: String, _ state: String = "main") async throws {
    let root = TestNode("root")
    let keeper = try there.launch(state)
    _ = try await keeper.restore(into: [root])
    root.value = value
    _ = try await keeper.save([root])
  }

  /// Waits until a keeper has heard of something newer.
  private func expectNewer(_ keeper: StateKeeper, _ what: String) async throws {
    try await waitUntil(what, within: .seconds(20)) {
      if case .newer = keeper.remoteStatus { true } else { false }
    }
  }

  func testAChangeFromBeforeAKeeperListensIsTold() async throws {
    let keeper = try await keeper("main", in: RemoteStateDirectory(base))
    try await saveThere("Oslo")
    XCTAssertEqual(keeper.remoteStatus, .current)
    let changes = keeper.remoteStatusChanges
    try await expectNewer(keeper, "it has heard of it")
    withExtendedLifetime(changes) {}
  }

  func testChangesThatWereMissedAreToldWhenTheStoreListensAgain() async throws {
    let store = TellingStore(base)
    let directory = RemoteStateDirectory(store)
    let keepers = [
      try await keeper("a", in: directory), try await keeper("b", in: directory),
    ]
    let changes = keepers[0].remoteStatusChanges
    for state in ["a", "b"] { try await saveThere("Oslo", state) }
    XCTAssertEqual(keepers.map(\.remoteStatus), [.current, .current])
    store.tell(.any)
    for keeper in keepers { try await expectNewer(keeper, "it has looked") }
    withExtendedLifetime(changes) {}
  }

  /// Some states whose loads get no answer, and one that another machine has saved.
  private func expectNewer(besides silentCount: Int) async throws {
    let isSilent = Flag()
    let telling = TellingStore(base)
    let store = FaultyRemoteStateStore(telling) { call in
      isSilent.isSet && call.name.hasPrefix("silent") ? .silence() : nil
    }
    let directory = RemoteStateDirectory(store)
    var keepers: [StateKeeper] = []
    for number in 0..<silentCount {
      keepers.append(try await keeper("silent \(number)", in: directory))
    }
    let keeper = try await keeper("main", in: directory)
    let changes = keeper.remoteStatusChanges
    try await saveThere("Oslo")
    isSilent.isSet = true
    for number in 0..<silentCount {
      telling.tell(RemoteChange(name: "silent \(number)", version: nil))
    }
    telling.tell(RemoteChange(name: "main", version: nil))
    try await expectNewer(keeper, "it has heard of it besides \(silentCount)")
    withExtendedLifetime((keepers, changes)) {}
  }

  func testAStateThatGetsNoAnswerHoldsUpNoOther() async throws {
    try await expectNewer(besides: 1)
  }

  func testManyStatesThatGetNoAnswerHoldUpNoOtherForLong() async throws {
    try await expectNewer(besides: 40)
  }
}
