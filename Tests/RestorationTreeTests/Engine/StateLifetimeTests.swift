import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// From when and until when a stored state counts, and who can open it.
@MainActor
final class StateLifetimeTests: XCTestCase {
  private let launch = Launch()

  private func save(_ value: String = "saved") async throws {
    _ = try await launch.keeper().save([TestNode("a", value: value)])
  }

  private func restore(
    _ body: @MainActor (StateKeeper) async throws -> Void = { _ in }
  ) async throws -> String? {
    let keeper = try launch.keeper()
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    try await body(keeper)
    return node.value
  }

  func testALaunchThatIsKilledInTheForegroundFindsTheStateAgain() async throws {
    try await save()
    for _ in 1...3 {
      let value = try await restore()
      XCTAssertEqual(value, "saved")
    }
  }

  func testAForcedQuitDiscardsTheStateForTheNextLaunch() async throws {
    try await save()
    try await launch.keeper().discardState()
    let delegate = TestDelegate()
    let report = try await launch.keeper(delegate: delegate).restore()
    XCTAssertEqual(report.outcome, .noArchive)
  }

  func testASaveAfterBackgroundWorkReplacesTheState() async throws {
    try await save("before the work")
    let keeper = try launch.keeper()
    let node = TestNode("a")
    _ = try await keeper.restore(into: [node])
    node.value = "after the work"
    let report = try await keeper.save([node])
    XCTAssertEqual(report.outcome, .saved)
    let value = try await restore()
    XCTAssertEqual(value, "after the work")
  }

  func testAPowerCutInASaveLeavesTheStateBeforeIt() async throws {
    struct Store: StateDirectory {
      let storage: FaultyStorage
      func storage(named name: String) -> any ArchiveStorage {
        name.hasSuffix(".launch") ? MemoryStorage() : storage
      }
    }
    try await save("before")
    let before = launch.storedBytes
    for call in [FaultyStorage.Call.write, .sync] {
      let storage = FaultyStorage(before) { made, _ in
        made == call ? ArchiveError(.inputOutput) : nil
      }
      let keeper = try StateKeeper(
        application: Launch.application, directory: Store(storage: storage), keys: launch.keys,
        environment: launch.environment)
      _ = try await keeper.restore()
      do {
        _ = try await keeper.save([TestNode("a", value: "after")])
        XCTFail("did not throw")
      } catch {
        XCTAssertEqual(
          WholeError(error), WholeError(ArchiveError(.inputOutput, location: "faulty")))
      }
      launch.storedBytes = storage.durableBytes
      let value = try await restore()
      XCTAssertEqual(value, "before")
    }
  }

  func testKeysThatWereAddedOpenWhatIsSavedAfterwards() async throws {
    try await save("first")
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    let backup = try ArchiveKey()
    let storage = launch.store.memory(named: "main")
    let context = ArchiveContext([Launch.application, "main"])
    try ArchiveWriter.open(storage, key: key, context: context).addSlot(.key(backup))
    for value in ["second", "third"] {
      _ = try await restore { keeper in
        _ = try await keeper.save([TestNode("a", value: value)])
      }
    }
    XCTAssertEqual(try Archive.slots(of: storage)?.count, 2)
    XCTAssertEqual(try launch.archive()?.version.generation, 3)
    XCTAssertNotNil(try Archive.open(storage, key: backup, context: context))
    let value = try await restore()
    XCTAssertEqual(value, "third")
  }
}
