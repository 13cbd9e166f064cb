import ArchiveCodec
import Foundation
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// What saves that were killed have left in the directory of states.
@MainActor
final class LeftoverTests: XCTestCase {
  /// A store that counts how often it is asked to sweep.
  private struct CountingStore: StateDirectory {
    let files: FileStateDirectory
    let sweeps: Count

    final class Count: Sendable {
      private let count = Mutex(0)

      var value: Int { count.withLock { $0 } }

      func add() { count.withLock { $0 += 1 } }
    }

    func storage(named name: String) -> any ArchiveStorage { files.storage(named: name) }

    func names() throws(ArchiveError) -> [String] { try files.names() }

    func removeLeftovers(where isOwn: (_ name: String) -> Bool) throws(ArchiveError) {
      sweeps.add()
      try files.removeLeftovers(where: isOwn)
    }
  }

  private let app = SceneLaunch()
  private let sweeps = CountingStore.Count()

  private func keeper(_ directory: TemporaryDirectory) throws -> StateKeeper {
    let keeper = try StateKeeper(
      application: Launch.application,
      directory: CountingStore(files: FileStateDirectory(path: directory.path), sweeps: sweeps),
      keys: app.launch.keys)
    try keeper.register(restorationClass: TestFactory.self)
    return keeper
  }

  private func host(_ directory: TemporaryDirectory) async throws -> SceneHost {
    let host = SceneHost(try keeper(directory))
    host.delegate = app.hostDelegate
    host.declaredActivityTypes = ["product"]
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    return host
  }

  /// Leaves what a killed process leaves: a file that nobody has locked.
  private func leave(_ names: [String], in directory: TemporaryDirectory) throws {
    for name in names { try directory.write([1], to: ".\(name).rka.abc.tmp") }
  }

  private func temporaries(_ directory: TemporaryDirectory) throws -> [String] {
    try directory.names().filter { $0.hasSuffix(".tmp") }
  }

  private let own = [
    "main", "main.launch", "main.scenes", "main.scene-closed", "main.scene-closed.launch",
  ]
  private let others = [
    "main.other", "main2", "mai", "other", "other.scenes", "other.scene-closed",
  ]

  func testALaunchRemovesWhatWasLeftOfTheStateAndOfAllItsScenes() async throws {
    for hasState in [false, true] {
      let directory = try TemporaryDirectory()
      if hasState { _ = try await keeper(directory).save([TestNode("a")]) }
      try leave(own + others, in: directory)
      let keeper = try self.keeper(directory)
      let report = try await keeper.restore(into: [TestNode("a")])
      XCTAssertEqual(report.outcome, hasState ? .restored : .noArchive)
      XCTAssertNil(report.launchProblem)
      XCTAssertTrue(try temporaries(directory).contains(".main.rka.abc.tmp"), "not in the launch")
      await keeper.close()
      XCTAssertEqual(
        try temporaries(directory), others.map { ".\($0).rka.abc.tmp" }.sorted())
    }
  }

  func testTheFileThatLockedTheStateOfAKilledInstanceGoesIfNothingIsStored() async throws {
    let directory = try TemporaryDirectory()
    let locks = [".main~2.rka.lock", ".main~3.rka.lock", ".main.scene-gone.rka.lock"]
    for lock in locks { try directory.write([UInt8](repeating: 0, count: 4096), to: lock) }
    let third = try FileStateDirectory(path: directory.path).storage(named: "main~3").lock()
    let keeper = try keeper(directory)
    _ = try await keeper.restore(into: [TestNode("a")])
    await keeper.close()
    XCTAssertEqual(try directory.names(), [locks[1]], "An instance has the third state.")
    withExtendedLifetime(third) {}
  }

  func testAKeeperThatOnlySavesSweepsToo() async throws {
    let directory = try TemporaryDirectory()
    try leave(own, in: directory)
    let keeper = try keeper(directory)
    _ = try await keeper.save([TestNode("a")])
    await keeper.close()
    XCTAssertEqual(try temporaries(directory), [])
  }

  func testADiscardSweepsWhatItDiscardsBeforeItReturns() async throws {
    let directory = try TemporaryDirectory()
    let host = try await host(directory)
    let scene = try await host.open()
    try await host.save(scene)
    let name = "main.scene-\(scene.session.persistentIdentifier)"
    try leave([name], in: directory)
    try await host.close(scene)
    XCTAssertEqual(try temporaries(directory), [])
    await host.close()
    let keeper = try keeper(directory)
    _ = try await keeper.save([TestNode("a")])
    try leave(["main"], in: directory)
    try await keeper.discardState()
    XCTAssertEqual(try temporaries(directory), [])
    await keeper.close()
  }

  func testALaunchSweepsByItselfWhenItIsOver() async throws {
    let directory = try TemporaryDirectory()
    try leave(own, in: directory)
    let keeper = try self.keeper(directory)
    _ = try await keeper.restore(into: [TestNode("a")])
    let end = ContinuousClock.now + .seconds(30)
    while try !temporaries(directory).isEmpty, ContinuousClock.now < end {
      try await Task.sleep(for: .milliseconds(50))
    }
    XCTAssertEqual(try temporaries(directory), [])
  }

  func testALaunchOfAHostRemovesWhatWasLeftOfScenesThatHaveNoSession() async throws {
    let directory = try TemporaryDirectory()
    try leave(own + others, in: directory)
    let host = try await self.host(directory)
    await host.close()
    XCTAssertEqual(try temporaries(directory), others.map { ".\($0).rka.abc.tmp" }.sorted())
  }

  func testALaunchWithManyScenesSweepsOnce() async throws {
    let directory = try TemporaryDirectory()
    let first = try await host(directory)
    for id in 1...5 { try await app.store(id, in: first) }
    await first.close()
    let before = sweeps.value
    let second = try await host(directory)
    let failures = await second.restoreScenes()
    XCTAssertEqual(failures, [:])
    XCTAssertEqual(second.connectedScenes.count, 5)
    XCTAssertEqual(sweeps.value, before)
    await second.close()
    XCTAssertEqual(sweeps.value, before + 1)
  }

  func testAClosedWindowLeavesNothingThatASaveOfItHasLeft() async throws {
    for isClosedByTheEnd in [false, true] {
      for isStored in [false, true] {
        let directory = try TemporaryDirectory()
        let host = try await host(directory)
        let scene = try await host.open()
        if isStored { try await host.save(scene) }
        let name = "main.scene-\(scene.session.persistentIdentifier)"
        try leave([name, name + ".launch"], in: directory)
        if isClosedByTheEnd {
          try await host.terminate(closingScenes: true)
        } else {
          try await host.close(scene)
        }
        await host.close()
        XCTAssertEqual(try directory.names(), ["main.scenes.rka"])
      }
    }
  }

  func testADiscardedStateLeavesNothingThatASaveOfItHasLeft() async throws {
    for isStored in [false, true] {
      let directory = try TemporaryDirectory()
      let keeper = try keeper(directory)
      if isStored { _ = try await keeper.save([TestNode("a")]) }
      try leave(["main", "main.launch"], in: directory)
      try await keeper.discardState()
      await keeper.close()
      XCTAssertEqual(try directory.names(), [])
    }
  }

  func testWhatCannotBeSweptIsReportedByTheNextRestore() async throws {
    struct Store: StateDirectory {
      let states: MemoryStateDirectory

      func storage(named name: String) -> any ArchiveStorage { states.storage(named: name) }

      func removeLeftovers(where isOwn: (_ name: String) -> Bool) throws(ArchiveError) {
        throw ArchiveError(.permissionDenied, location: "the directory")
      }
    }
    _ = try await app.launch.keeper().save([TestNode("a", value: "saved")])
    let keeper = try StateKeeper(
      application: Launch.application, directory: Store(states: app.launch.store),
      keys: app.launch.keys)
    let node = TestNode("a")
    let report = try await keeper.restore(into: [node])
    XCTAssertEqual(node.value, "saved")
    XCTAssertNil(report.launchProblem)
    await keeper.close()
    let next = try await keeper.restore(into: [node])
    XCTAssertEqual(
      next.launchProblem,
      ArchiveError(.permissionDenied, location: "the directory").description)
  }
}
