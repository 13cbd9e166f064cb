import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What goes with a scene or a state, and in which order.
@MainActor
final class LetGoTests: XCTestCase {
  /// Keeps nothing alive that it gives out.
  private final class ForgetfulStore: StateDirectory {
    private struct Given {
      let name: String
      weak var storage: MemoryStorage?
    }

    private let given = Mutex<[Given]>([])

    func storage(named name: String) -> any ArchiveStorage {
      let storage = MemoryStorage()
      given.withLock { $0.append(Given(name: name, storage: storage)) }
      return storage
    }

    func names() throws(ArchiveError) -> [String] { [] }

    var usedNames: [String] {
      given.withLock { given in given.filter { $0.storage != nil }.map(\.name) }
    }
  }

  #if !RESTORATION_NEXT
  func testOfASceneThatDoesNotOpenNothingStaysInMemory() async throws {
    struct Failure: Error {}
    let store = ForgetfulStore()
    let host = SceneHost(
      try StateKeeper(application: "org.example", directory: store, keys: MemoryKeyProvider()))
    var used: [String] = []
    host.register(
      SceneConfiguration { [unowned host] in
        _ = try await host.setAsideStates(of: host.openSessions[0])
        used = store.usedNames
        throw Failure()
      })
    try await host.launch()
    do {
      try await host.open()
      XCTFail("It is open.")
    } catch {
      XCTAssertEqual(error.code, .noDelegate)
    }
    XCTAssertTrue(used.contains { $0.hasPrefix("main.scene-") })
    XCTAssertEqual(store.usedNames.filter { $0.hasPrefix("main.scene-") }, [])
  }
  #endif

  // The new core removes no state of another instance: nothing of it is lost, and there are at most as many
  // as instances ever ran at once.
  #if !RESTORATION_NEXT
  /// A launch that may be the first to see a state old, before the machine starts again.
  private func restoreBeforeAnotherStart(_ launch: Launch) async throws {
    let keeper = try launch.keeper()
    _ = try await keeper.restore()
    await keeper.close()
    launch.environment.bootSession = "another start"
  }

  func testANumberedStateThatCannotBeRemovedStillHasItsMark() async throws {
    let launch = Launch()
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if call == .remove, name == "main~2" { throw ArchiveError(.inputOutput, location: name) }
    }
    let first = try launch.keeper()
    _ = try await first.save([TestNode("a")])
    let second = try launch.keeper(endsLast: false)
    _ = try await second.save([TestNode("a")])
    launch.endProcess()
    await first.close()
    await second.close()
    launch.now += 31 * 24 * 60 * 60
    try await restoreBeforeAnotherStart(launch)
    let mark = try XCTUnwrap(launch.store.memory(named: "main~2.launch").bytes)
    let last = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys,
      environment: launch.environment, now: { [launch] in launch.now })
    let report = try await last.restore(into: [TestNode("a")])
    XCTAssertEqual(report.outcome, .restored)
    await last.close()
    let next = try await last.restore(into: [TestNode("a")])
    XCTAssertEqual(
      next.launchProblem, ArchiveError(.inputOutput, location: "main~2").description)
    XCTAssertEqual(launch.store.memory(named: "main~2.launch").bytes, mark)
  }

  func testANumberedStateGoesWhenNobodyHadItForMoreThanThirtyDays() async throws {
    let launch = Launch()
    let first = try launch.keeper()
    _ = try await first.save([TestNode("a")])
    let second = try launch.keeper(endsLast: false)
    _ = try await second.save([TestNode("a")])
    await first.close()
    await second.close()
    launch.now += 30 * 24 * 60 * 60
    let third = try launch.keeper()
    _ = try await third.restore()
    await third.close()
    XCTAssertNotNil(launch.store.memory(named: "main~2").bytes)
    launch.now += 1
    try await restoreBeforeAnotherStart(launch)
    XCTAssertNotNil(launch.store.memory(named: "main~2").bytes, "One start has seen it old.")
    let fourth = try launch.keeper()
    _ = try await fourth.restore()
    await fourth.close()
    XCTAssertNil(launch.store.memory(named: "main~2").bytes)
  }

  func testNobodyCanTakeANumberedStateWhileItIsRemoved() async throws {
    let launch = Launch()
    let states = launch.store
    let first = try launch.keeper()
    _ = try await first.save([TestNode("a")])
    let second = try launch.keeper(endsLast: false)
    _ = try await second.save([TestNode("a")])
    await first.close()
    await second.close()
    launch.now += 31 * 24 * 60 * 60
    try await restoreBeforeAnotherStart(launch)
    let removals = Mutex<[String: Bool]>([:])
    let store = HookedStore(states) { name, call throws(ArchiveError) in
      guard call == .remove, name.hasPrefix("main~2") else { return }
      let isLocked = try states.memory(named: "main~2").isLocked()
      removals.withLock { $0[name] = isLocked }
    }
    let last = try StateKeeper(
      application: Launch.application, directory: store, keys: launch.keys,
      environment: launch.environment, now: { [launch] in launch.now })
    _ = try await last.restore(into: [TestNode("a")])
    await last.close()
    XCTAssertEqual(removals.withLock { $0 }, ["main~2": true, "main~2.launch": true])
    XCTAssertFalse(try states.memory(named: "main~2").isLocked())
    XCTAssertEqual(try states.names().filter { $0.hasPrefix("main~2") }, [])
  }
  #endif

  func testAStateThatAnotherHasTakenMeanwhileIsNobodysAndItsSetAsideStatesStay() async throws {
    for isSingle in [false, true] {
      let directory = try TemporaryDirectory()
      let keys = MemoryKeyProvider()
      func keeper() throws -> StateKeeper {
        let keeper = try StateKeeper(
          application: "org.example", directory: FileStateDirectory(path: directory.path),
          keys: keys)
        if isSingle { keeper.policy.instances = .single }
        return keeper
      }
      let before = try keeper()
      _ = try await before.save([TestNode("a")])
      await before.close()
      // It has not read what is stored, so it keeps that.
      let first = try keeper()
      _ = try await first.save([TestNode("a")])
      let kept = try await first.setAsideStates()
      XCTAssertEqual(kept.count, 1)
      try FileManager.default.removeItem(atPath: directory.child(".main.rka.lock"))
      let other = try keeper()
      _ = try await other.restore(into: [TestNode("a")])
      XCTAssertEqual(other.stateName, "main")
      let wanted = try XCTUnwrap(kept.first)
      do {
        try await first.removeSetAside(wanted)
        XCTAssertFalse(isSingle, "It was removed.")
      } catch {
        XCTAssertEqual(error.code, .inUse)
      }
      XCTAssertEqual(first.stateName, isSingle ? nil : "main~2")
      let left = try await other.setAsideStates()
      XCTAssertEqual(left, kept)
    }
  }

  func testTheSetAsideStatesOfASecondInstanceAreThoseOfTheStateThatItHas() async throws {
    let launch = Launch()
    _ = try await launch.keeper().save([TestNode("a")])
    let first = try launch.keeper()
    _ = try await first.save([TestNode("a")])
    let second = try launch.keeper(endsLast: false)
    _ = try await second.save([TestNode("a")])
    XCTAssertEqual(second.stateName, "main~2")
    let kept = try await first.setAsideStates()
    XCTAssertEqual(kept.count, 1)
    var listed = try await second.setAsideStates()
    XCTAssertEqual(listed, [])
    // Closed, it has none, and looks at the first one.
    await second.close()
    listed = try await second.setAsideStates()
    XCTAssertEqual(listed, kept)
  }

  func testAStateThatIsPutBackEndsTheRestoreOfTheOneBefore() async throws {
    let launch = Launch()
    for value in ["old", "new"] {
      _ = try await launch.keeper().save([TestNode("a", value: value)])
    }
    let keeper = try launch.keeper()
    // What is not back may come late, so the mark stays.
    _ = try await keeper.restore()
    XCTAssertNotNil(launch.markerBytes)
    let kept = try await keeper.setAsideStates()
    try await keeper.putBack(try XCTUnwrap(kept.first))
    launch.assertIsNotMarked()
    _ = try await keeper.save([TestNode("a", value: "newest")])
    launch.assertIsNotMarked()
  }
}
