import ArchiveCodec
import RestorationKit
import Synchronization
import TestSupport
import XCTest

/// The list of scenes, and what becomes of scenes when it or a file is lost.
@MainActor
final class SceneListTests: XCTestCase {
  private let app = SceneLaunch()

  private var list: MemoryStorage { app.launch.store.memory(named: "main.scenes") }

  private func file(_ identifier: String) -> MemoryStorage {
    app.launch.store.memory(named: "main.scene-\(identifier)")
  }

  /// What all scenes show after a launch, by their order.
  private func restoredDrafts(_ host: SceneHost) -> [String] {
    host.connectedScenes.map { DraftModel($0).draft }
  }

  func testADamagedListIsMadeAgainFromTheFilesAndSetAside() async throws {
    let first = try await app.host()
    for number in 1...2 { try await app.store(number, in: first) }
    let bytes = try XCTUnwrap(list.bytes)
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= 1
      list.bytes = damaged
      let host = SceneHost(try app.launch.keeper())
      let error = await restorationError("byte \(place)") { try await host.launch() }
      let archive = try XCTUnwrap(error?.archive)
      XCTAssertEqual(error, WholeError(notRestored: archive), "byte \(place)")
      XCTAssertEqual(archive.location, "memory", "byte \(place)")
      XCTAssertEqual(Set(host.openSessions), Set(first.openSessions), "byte \(place)")
      XCTAssertEqual(Set(host.openSessions.map(\.title)), ["Product 1", "Product 2"])
      XCTAssertEqual(list.setAsideBytes.last, damaged)
      XCTAssertEqual(host.listSetAsideAt, "memory \(list.setAsideBytes.count)")
    }
    XCTAssertEqual(list.setAsideBytes.count, bytes.count)
    list.bytes = nil
    let host = try await app.host()
    XCTAssertEqual(host.restoreReason, .recover)
    await host.restoreScenes()
    XCTAssertEqual(Set(restoredDrafts(host)), ["draft 1", "draft 2"])
  }

  func testADamagedFileOfOneSceneLeavesTheOtherWholeAndIsSetAside() async throws {
    let first = try await app.host()
    let whole = try await app.store(1, in: first)
    let broken = try await app.store(2, in: first)
    let bytes = try XCTUnwrap(app.bytes(of: broken))
    let (listed, other) = (list.bytes, app.bytes(of: whole))
    for place in bytes.indices {
      list.bytes = listed
      file(whole).bytes = other
      var damaged = bytes
      damaged[place] ^= 1
      file(broken).bytes = damaged
      let nodes = [TestNode("root"), TestNode("root")]
      var next = 0
      app.prepare = { delegate in
        delegate.roots = [nodes[next]]
        next += 1
      }
      let host = try await app.host()
      let failures = await host.restoreScenes()
      XCTAssertEqual(failures, [:])
      XCTAssertEqual(restoredDrafts(host)[1], "draft 1")
      XCTAssertEqual(nodes[1].value, "1")
      XCTAssertNil(nodes[0].value)
      let scene = try XCTUnwrap(host.openSessions[0].scene)
      guard case .failure(let error) = scene.restoration else {
        return XCTFail("Byte \(place) was not noticed.")
      }
      let archive = try XCTUnwrap(error.archive)
      XCTAssertEqual(WholeError(error), WholeError(notRestored: archive), "byte \(place)")
      XCTAssertEqual(archive.location, "memory", "byte \(place)")
      XCTAssertEqual(file(broken).bytes, damaged)
      guard place % 64 == 0 else { continue }
      let report = try await host.save(scene)
      XCTAssertNotNil(report.setAside)
      XCTAssertEqual(report.notes, [.unreadable(archive.description)])
      XCTAssertEqual(file(broken).setAsideBytes.last, damaged)
    }
  }

  func testWhatWasSetOfAWindowWithoutASceneOutlivesItsFile() async throws {
    for fate in ["whole", "damaged", "missing"] {
      let first = try await app.host()
      let stored = try await app.store(1, in: first)
      let session = try XCTUnwrap(first.openSessions.first)
      if let scene = session.scene { try await first.disconnect(scene) }
      session.userInfo["pinned"] = true
      try await first.saveSessions()
      await first.close()
      if fate == "damaged" { file(stored).bytes?[100] ^= 1 }
      if fate == "missing" { file(stored).bytes = nil }
      for _ in 0..<2 {
        app.prepare = { $0.roots = [TestNode("root")] }
        let host = try await app.host()
        _ = await host.restoreScenes()
        let scene = try XCTUnwrap(host.openSessions.first?.scene)
        XCTAssertEqual(scene.session.persistentIdentifier, stored)
        XCTAssertEqual(scene.session.userInfo["pinned"], true, fate)
        let report = try await host.save(scene)
        XCTAssertEqual(report.outcome, .saved)
        try await host.terminate()
        await host.close()
      }
      try await app.host().discardWhileNotRunning([stored])
    }
  }

  func testASceneWhoseNodesAreDamagedKeepsItsActivityAndItsValues() async throws {
    let first = try await app.host()
    let stored = try await app.store(1, in: first)
    app.delegates[0].roots = (0..<8).map { number in
      TestNode("\(number)", value: String(repeating: "x", count: 20_000))
    }
    try await first.save(first.connectedScenes[0])
    let bytes = try XCTUnwrap(app.bytes(of: stored))
    var kept = 0
    for place in stride(from: 0, to: bytes.count, by: 997) {
      var damaged = bytes
      damaged[place] ^= 1
      file(stored).bytes = damaged
      let host = try await app.host()
      await host.restoreScenes()
      let scene = host.connectedScenes[0]
      let id = scene.session.stateRestorationActivity?.id
      XCTAssertTrue([nil, 1].contains(id))
      XCTAssertEqual(DraftModel(scene).draft, id == nil ? "" : "draft 1")
      if id != nil { kept += 1 }
    }
    XCTAssertGreaterThan(kept, 100)
  }

  func testWithoutTheStoreNoListIsWritten() async throws {
    let store = HookedStore { _, _ throws(ArchiveError) in throw ArchiveError(.inputOutput) }
    let host = SceneHost(
      try StateKeeper(application: Launch.application, directory: store, keys: app.launch.keys))
    host.register(SceneConfiguration { TestSceneDelegate() })
    await assertThrows(WholeError(ArchiveError(.inputOutput))) {
      try await host.launch()
    }
    // The user gets a window all the same.
    let scene = try await host.open()
    await assertThrows(WholeError(ArchiveError(.inputOutput))) {
      try await host.save(scene)
    }
    XCTAssertTrue(scene.needsSave)
  }

  func testASceneThatTheListMissesIsFound() async throws {
    let first = try await app.host()
    try await app.store(1, in: first)
    let older = list.bytes
    try await app.store(2, in: first)
    list.bytes = older
    let second = try await app.host()
    XCTAssertEqual(second.openSessions.map(\.title), ["Product 1", "Product 2"])
    XCTAssertEqual(second.openSessions[1].userInfo, ["kept": 2])
  }

  func testWhatIsSetOnASessionHidesNothingElseOfIt() async throws {
    try await app.store(1, in: try await app.host())
    let second = try await app.host()
    second.openSessions[0].userInfo = ["set": true]
    try await second.saveSessions()
    let third = try await app.host()
    let session = third.openSessions[0]
    XCTAssertEqual(session.userInfo, ["set": true])
    XCTAssertEqual(session.stateRestorationActivity?.id, 1)
    let scene = try await third.connect(session)
    XCTAssertEqual(DraftModel(scene).draft, "draft 1")
    XCTAssertEqual(session.userInfo, ["set": true])
  }

  func testWhatWasSetBeforeALaterSaveDoesNotComeBackOverIt() async throws {
    try await app.store(1, in: try await app.host())
    let second = try await app.host()
    second.openSessions[0].userInfo = ["set": "before"]
    try await second.saveSessions()
    let listed = list.bytes
    let scene = try await second.connect(second.openSessions[0])
    scene.session.userInfo = ["set": "after"]
    try await second.save(scene)
    // As if the app had been killed between the two files.
    list.bytes = listed
    let third = try await app.host()
    XCTAssertEqual(third.openSessions[0].userInfo, ["set": "after"])
  }

  func testASaveWritesTheListOnlyIfItSaysAnythingNew() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    app.delegates[0].activity = app.activity(1)
    try await host.save(scene)
    let listed = list.bytes
    scene.needsSave = true
    DraftModel(scene).draft = "x"
    try await host.save(scene)
    XCTAssertEqual(list.bytes, listed)
    app.delegates[0].activity = app.activity(2)
    try await host.save(scene)
    XCTAssertNotEqual(list.bytes, listed)
  }

  /// A host that tells of each write of a file, and may fail.
  private func host(_ hook: @escaping HookedStore.Hook) async throws -> SceneHost {
    let store = HookedStore(app.launch.store) { name, call throws(ArchiveError) in
      if call.isWrite, !name.contains("launch") { try hook(name, call) }
    }
    let host = SceneHost(
      try StateKeeper(application: Launch.application, directory: store, keys: app.launch.keys))
    host.declaredActivityTypes = ["product"]
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    return host
  }

  func testASaveOfManyScenesWritesTheListOnceAndLast() async throws {
    let written = Mutex<[String]>([])
    let host = try await host { name, _ in written.withLock { $0.append(name) } }
    var files: [String] = []
    for _ in 0..<5 {
      let scene = try await host.open()
      files.insert("main.scene-\(scene.session.persistentIdentifier)", at: 0)
    }
    // Each save says something new of its session.
    for (id, delegate) in app.delegates.enumerated() { delegate.activity = app.activity(id) }
    written.withLock { $0 = [] }
    let reports = try await host.saveChangedScenes()
    XCTAssertEqual(reports.count, 5)
    XCTAssertEqual(written.withLock(\.self), files + ["main.scenes"])
  }

  func testScenesThatWereSavedBeforeAKillThatLeftThemOutOfTheListAreBack() async throws {
    let isKilled = Flag()
    let host = try await host { name, _ throws(ArchiveError) in
      if name == "main.scenes", isKilled.isSet { throw ArchiveError(.inputOutput) }
    }
    let listed = try await host.open()
    DraftModel(listed).draft = "listed"
    try await host.save(listed)
    for draft in ["x", "y"] { DraftModel(try await host.open()).draft = draft }
    isKilled.isSet = true
    try await host.saveChangedScenes()
    XCTAssertEqual(host.listFailure?.archive?.code, .inputOutput)
    await host.close()
    let next = try await app.host()
    await next.restoreScenes()
    XCTAssertEqual(
      next.connectedScenes.map { DraftModel($0).draft }.sorted(), ["listed", "x", "y"])
    XCTAssertEqual(next.openSessions.first, listed.session, "Those that are listed come first.")
  }

  func testASaveThatFailsStoresTheValuesOfItsSceneWithTheList() async throws {
    let isFull = Flag()
    let host = try await host { name, _ throws(ArchiveError) in
      if isFull.isSet, name.contains(".scene-") { throw ArchiveError(.storageFull) }
    }
    let scene = try await host.open()
    try await host.save(scene)
    isFull.isSet = true
    DraftModel(scene).draft = "only in the list"
    try XCTUnwrap(app.delegates.last).activity = app.activity(7)
    let error = await restorationError { try await host.save(scene) }
    XCTAssertEqual(error?.archive?.code, .storageFull)
    XCTAssertTrue(scene.needsSave)
    await host.close()
    let next = try await app.host()
    XCTAssertEqual(next.openSessions.count, 1)
    XCTAssertEqual(next.openSessions[0].stateRestorationActivity?.id, 7)
    let back = try await next.connect(next.openSessions[0])
    XCTAssertEqual(DraftModel(back).draft, "only in the list")
  }

  func testTheSizeOfASessionIsThatOfItsFileAlsoWhenItHasBecomeSmaller() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    let (session, model) = (scene.session, DraftModel(scene))
    model.draft = String(repeating: "x", count: 200_000)
    try await host.save(scene)
    let largest = session.byteCount
    XCTAssertGreaterThan(largest, 200_000)
    XCTAssertEqual(largest, app.bytes(of: session.persistentIdentifier)?.count)
    // Another version of the app writes the file anew.
    app.launch.environment = ApplicationEnvironment(applicationVersion: "12", systemVersion: "6.1")
    let next = try await app.host()
    let again = try await next.connect(next.openSessions[0])
    XCTAssertEqual(again.session.byteCount, largest)
    DraftModel(again).draft = "x"
    try await next.save(again)
    let smaller = again.session.byteCount
    XCTAssertLessThan(smaller, 10_000)
    XCTAssertEqual(smaller, app.bytes(of: session.persistentIdentifier)?.count)
    let last = try await app.host()
    XCTAssertEqual(last.openSessions[0].byteCount, smaller)
  }

  func testTheTimesOfTheFilesBeatThoseOfTheList() async throws {
    let host = try await app.host()
    let scene = try await host.open()
    try await host.save(scene)
    app.launch.now += 60
    DraftModel(scene).draft = "longer than before"
    try await host.save(scene)
    let session = try await app.host().openSessions[0]
    XCTAssertEqual(session.savedAt, app.launch.now)
    XCTAssertEqual(session.byteCount, app.bytes(of: session.persistentIdentifier)?.count)
  }

  func testADiscardThatIsCutShortIsFinishedByTheNextLaunch() async throws {
    let first = try await app.host()
    let gone = try await app.store(1, in: first)
    let bytes = app.bytes(of: gone)
    try await app.store(2, in: first)
    // The list says so, and the process ends.
    try await app.host(launching: false).discardWhileNotRunning([gone])
    file(gone).bytes = bytes
    let second = try await app.host()
    XCTAssertEqual(second.openSessions.map(\.title), ["Product 2"])
    XCTAssertNil(app.bytes(of: gone))
    XCTAssertEqual(app.hostDelegate.discarded, [[gone]])
  }

  func testALongTitleIsWholeInItsFileAndCutInTheList() async throws {
    let first = try await app.host()
    for _ in 1...3 {
      let scene = try await first.open()
      let product = app.activity(1)
      product.title = String(repeating: "long ", count: 1_500_000)
      app.delegates[app.delegates.count - 1].activity = product
      try await first.save(scene)
    }
    XCTAssertNil(first.listFailure)
    XCTAssertLessThan(try XCTUnwrap(list.bytes).count, 10_000)
    let second = try await app.host()
    XCTAssertEqual(second.openSessions.map { $0.title?.count }, [7_500_000, 7_500_000, 7_500_000])
  }

  func testASecondLaunchOfAHostAddsNothing() async throws {
    try await app.store(1, in: try await app.host())
    let host = try await app.host()
    let scene = try await host.connect(host.openSessions[0])
    try await host.launch()
    XCTAssertEqual(host.openSessions.count, 1)
    XCTAssertTrue(host.openSessions[0] === scene.session)
  }

  func testTheScenesOfTwoStatesOfOneAppAreApart() async throws {
    for user in ["anna", "ben"] {
      let host = SceneHost(
        try StateKeeper(
          application: Launch.application, name: user, directory: app.launch.store,
          keys: app.launch.keys))
      host.register(SceneConfiguration { TestSceneDelegate() })
      try await host.launch()
      XCTAssertEqual(host.openSessions, [])
      try await host.save(try await host.open())
    }
    for name in ["main.scenes", "a.scene-b"] {
      await assertThrows(
        WholeError(
          .invalidName,
          "“\(name)” cannot name a state: it must not end in “.launch” or “.remote”, or contain “.scene” or “.aside.”."
        )
      ) {
        _ = try StateKeeper(application: "a", name: name)
      }
    }
  }
}
