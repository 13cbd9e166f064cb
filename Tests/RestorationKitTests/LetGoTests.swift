import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What goes with a scene or a state, and in which order.
@MainActor
final class LetGoTests: XCTestCase {
  /// Keeps nothing alive that it gives out.
  private final class ForgetfulStore: StateStore {
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

  func testOfASceneThatDoesNotOpenNothingStaysInMemory() async throws {
    struct Failure: Error {}
    let store = ForgetfulStore()
    let host = SceneHost(
      try StateKeeper(application: "org.example", store: store, keys: MemoryKeyProvider()))
    var used: [String] = []
    host.register(
      SceneConfiguration { [unowned host] in
        _ = try await host.keptStates(of: host.openSessions[0])
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

  func testANumberedStateThatCannotBeRemovedStillHasItsMark() async throws {
    let launch = Launch()
    let store = HookedStore(launch.store) { name, call throws(ArchiveError) in
      if call == .remove, name == "main~2" { throw ArchiveError(.inputOutput, location: name) }
    }
    let first = try launch.keeper()
    _ = try await first.save([TestNode("a")])
    let second = try launch.keeper(endsLast: false)
    _ = try await second.save([TestNode("a")])
    launch.store.memory(named: "main~2.launch").bytes = [1]
    launch.endProcess()
    await first.close()
    await second.close()
    launch.now += 31 * 24 * 60 * 60
    let last = try StateKeeper(
      application: Launch.application, store: store, keys: launch.keys,
      now: { [launch] in launch.now })
    let report = try await last.restore(into: [TestNode("a")])
    XCTAssertEqual(report.outcome, .restored)
    XCTAssertNotNil(report.launchProblem)
    XCTAssertEqual(launch.store.memory(named: "main~2.launch").bytes, [1])
  }
}
