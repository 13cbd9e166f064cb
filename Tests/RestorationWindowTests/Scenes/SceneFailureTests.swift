import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// Scenes of which some cannot be stored.
@MainActor
final class SceneFailureTests: XCTestCase {
  private let app = SceneLaunch()

  #if !RESTORATION_NEXT
  func testOfSeveralScenesThatCannotBeSavedTheFirstErrorIsThrown() async throws {
    let store = HookedStore(app.launch.store) { name, call throws(ArchiveError) in
      guard call.isWrite, name.hasPrefix("main.scene-") else { return }
      throw ArchiveError(.storageFull, location: name)
    }
    let host = SceneHost(
      try StateKeeper(application: Launch.application, directory: store, keys: app.launch.keys))
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    for _ in 1...3 { try await host.open() }
    let first = try XCTUnwrap(host.connectedScenes.first).session.persistentIdentifier
    do {
      try await host.saveChangedScenes()
      XCTFail("Nothing was thrown.")
    } catch {
      XCTAssertEqual(
        error.archive, ArchiveError(.storageFull, location: "main.scene-\(first)"))
    }
  }

  func testASceneWhoseFileHasAnotherShapeSaysSoAtTheLaunch() async throws {
    let stored = try await app.store(1, in: try await app.host())
    let name = "main.scene-\(stored)"
    let builder = RecordBuilder()
    try builder.append(record: 1) { encoder in
      encoder.encodeContainer(forKey: "host") { $0.encode(["role": 1], forKey: "scene") }
    }
    let key = try XCTUnwrap(try app.launch.keys.key(creating: false))
    _ = try Archive.write(
      try builder.finish(), to: app.launch.store.memory(named: name), key: key,
      context: ArchiveContext([Launch.application, name]))
    let host = try await app.host()
    let session = try XCTUnwrap(host.openSessions.first)
    let archive = try XCTUnwrap(session.failure?.archive)
    XCTAssertEqual(session.failure.map(WholeError.init), WholeError(archive))
    XCTAssertEqual(archive.code, .malformed)
    XCTAssertEqual(
      archive.subject?.hasPrefix("There is no String at scene/role. "), true, "\(archive)")
  }
  #endif

  func testOfTwoConfigurationsOfOneRoleAndNameTheLastCounts() async throws {
    let host = SceneHost(try app.launch.keeper())
    let panel = SceneRole(rawValue: "panel")
    var made: [String] = []
    func register(_ role: SceneRole, _ name: String?, _ maker: String) {
      host.register(
        SceneConfiguration(role: role, name: name) { [app] in
          made.append(maker)
          return app.makeDelegate()
        })
    }
    register(.windowApplication, nil, "first")
    register(panel, nil, "panel")
    register(.windowApplication, "other", "other")
    register(.windowApplication, nil, "last")
    try await host.launch()
    try await host.open()
    try await host.open(panel)
    try await host.open(configurationName: "other")
    XCTAssertEqual(made, ["last", "panel", "other"])
  }

  /// A list of scenes that cannot be looked through for what was set aside.
  private struct StubbornStore: StateDirectory {
    let store: MemoryStateDirectory

    func storage(named name: String) -> any ArchiveStorage {
      let storage = store.storage(named: name)
      return name == "main.scenes" ? StubbornStorage(storage: storage) : storage
    }
  }

  private struct StubbornStorage: ArchiveStorage {
    let storage: any ArchiveStorage

    var location: String { storage.location }
    func open() throws(ArchiveError) -> (any ArchiveFile)? { try storage.open() }
    func openForAppending() throws(ArchiveError) -> (any AppendableArchiveFile)? {
      try storage.openForAppending()
    }
    func lock() throws(ArchiveError) -> any ArchiveLock { try storage.lock() }
    func isLocked() throws(ArchiveError) -> Bool { try storage.isLocked() }
    func replace(_ body: (any ArchiveSink) throws(ArchiveError) -> Void) throws(ArchiveError) {
      try storage.replace(body)
    }
    func remove() throws(ArchiveError) { try storage.remove() }
    func setAside() throws(ArchiveError) -> String? { try storage.setAside() }
    func setAside(_ reason: SetAsideReason, at date: Date) throws(ArchiveError) -> String? {
      try storage.setAside(reason, at: date)
    }
    func setAsideArchives() throws(ArchiveError) -> [SetAsideArchive] {
      throw ArchiveError(.inputOutput, location: location)
    }
    func putBack(_ archive: SetAsideArchive) throws(ArchiveError) { try storage.putBack(archive) }
  }

  #if !RESTORATION_NEXT
  func testTheLastWindowSaysThatAnOldListCouldNotBeRemoved() async throws {
    let host = SceneHost(
      try StateKeeper(
        application: Launch.application, directory: StubbornStore(store: app.launch.store),
        keys: app.launch.keys))
    host.delegate = app.hostDelegate
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    let scenes = [try await host.open(), try await host.open()]
    try await host.close(scenes[0])
    do {
      try await host.close(scenes[1])
      XCTFail("Nothing was thrown.")
    } catch {
      XCTAssertEqual(error.archive?.code, .inputOutput)
    }
    XCTAssertEqual(host.openSessions, [])
    XCTAssertEqual(app.hostDelegate.discarded.count, 2)
  }
  #endif
}
