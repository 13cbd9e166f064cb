import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// Scenes whose states several machines share.
@MainActor
final class RemoteSceneTests: XCTestCase {
  private let store = MemoryRemoteStateStore()
  private let keys = MemoryKeyProvider()
  private lazy var network = NetworkStore(store)
  private var delegates: [TestSceneDelegate] = []

  private func launch(
    _ name: String, _ localCopy: (any StateDirectory)? = nil, bound: ClosedSceneBound? = nil
  ) async throws -> SceneHost {
    let host = SceneHost(try Device(name, network, keys: keys, localCopy: localCopy).launch())
    host.closedSceneBound = bound
    host.register(
      SceneConfiguration { [unowned self] in
        let delegate = TestSceneDelegate()
        delegate.roots = [TestNode("root")]
        delegates.append(delegate)
        return delegate
      })
    try await host.launch()
    return host
  }

  private func value(_ place: Int) -> String? {
    (delegates[place].roots.first as? TestNode)?.value
  }

  /// Opens a scene and saves it with a value.
  private func open(_ value: String, in host: SceneHost) async throws {
    let scene = try await host.open()
    (delegates[delegates.count - 1].roots.first as? TestNode)?.value = value
    let report = try await host.save(scene)
    XCTAssertEqual(report.outcome, .saved)
  }

  /// Launches on another machine, which brings back both scenes.
  private func expectBoth() async throws {
    let other = try await launch("later")
    XCTAssertEqual(other.openSessions.count, 2)
    for session in other.openSessions { _ = try await other.connect(session) }
    XCTAssertEqual(Set([value(2), value(3)]), ["Rome", "Oslo"])
  }

  func testScenesComeBackOnAnotherMachine() async throws {
    let host = try await launch("here")
    try await open("Rome", in: host)
    try await open("Oslo", in: host)
    await host.close()
    try await expectBoth()
  }

  #if !RESTORATION_NEXT
  func testScenesThatTwoMachinesHaveOpenedAreBothThere() async throws {
    let (host, other) = (try await launch("here"), try await launch("there"))
    try await open("Rome", in: host)
    try await open("Oslo", in: other)
    await host.close()
    await other.close()
    try await expectBoth()
  }

  func testAHostHearsThatAnotherMachineHasSavedAScene() async throws {
    let host = try await launch("here")
    try await open("Rome", in: host)
    let session = try XCTUnwrap(host.openSessions.first)
    let changes = host.remoteStatusChanges(of: session)
    let other = try await launch("there")
    let scene = try await other.connect(try XCTUnwrap(other.openSessions.first))
    (delegates[1].roots.first as? TestNode)?.value = "Oslo"
    let report = try await other.save(scene)
    XCTAssertEqual(report.outcome, .saved)
    let status = try await waitFor("the store has something newer", in: changes) {
      if case .newer = $0 { true } else { false }
    }
    guard case .newer(let conflict) = status else { return XCTFail("\(status)") }
    XCTAssertEqual(conflict.savedBy, "there")
  }

  func testTheStatusOfASceneEndsWithItsHost() async throws {
    var host: SceneHost? = try await launch("here")
    try await open("Rome", in: try XCTUnwrap(host))
    let changes = host?.remoteStatusChanges(of: try XCTUnwrap(host?.openSessions.first))
    host = nil
    try await waitForEnd("the host is gone", of: XCTUnwrap(changes))
  }

  func testADiscardedSceneIsGoneOnAllMachines() async throws {
    let host = try await launch("here")
    try await open("Rome", in: host)
    try await host.discard(host.openSessions)
    await host.close()
    let names = try await store.names(prefix: "main.scene-")
    XCTAssertEqual(names, [])
    let other = try await launch("there")
    XCTAssertEqual(other.openSessions.count, 0)
  }

  /// A scene that another machine has saved meanwhile, and that has changed here as well.
  private func changedTwice(
    _ copy: MemoryStateDirectory? = nil
  ) async throws -> (host: SceneHost, scene: RestorableScene) {
    let host = try await launch("here", copy)
    try await open("Rome", in: host)
    let other = try await launch("there")
    let theirs = try await other.connect(try XCTUnwrap(other.openSessions.first))
    (delegates[1].roots.first as? TestNode)?.value = "Oslo"
    try await other.save(theirs)
    await other.close()
    (delegates[0].roots.first as? TestNode)?.value = "Paris"
    let scene = try XCTUnwrap(host.connectedScenes.first)
    scene.needsSave = true
    return (host, scene)
  }

  func testASceneThatAnotherMachineHasSavedMeanwhileComesBackIfNobodyDecidesAboutItsDiscard()
    async throws
  {
    for copy in [nil, MemoryStateDirectory()] {
      for name in try await store.names(prefix: "") { store[bytes: name] = nil }
      delegates = []
      let (host, scene) = try await changedTwice(copy)
      do {
        try await host.discard(scene.session)
        XCTFail("It did not throw.")
      } catch {
        XCTAssertEqual(error.code, .conflict)
      }
      await host.close()
      let next = try await launch("here", copy)
      XCTAssertEqual(next.openSessions.count, 1)
      await next.close()
      let value = try await valueElsewhere()
      XCTAssertEqual(value, "Oslo")
      // Whoever discards it now has seen it.
      let last = try await launch("last")
      try await last.discard(last.openSessions)
      let names = try await store.names(prefix: "main.scene-")
      XCTAssertEqual(names, [])
    }
  }

  func testASceneThatComesBackFromAnotherMachineStaysAlsoIfItWasNotToComeBackHere() async throws {
    let (host, scene) = try await changedTwice()
    scene.session.isRestorable = false
    do { try await host.discard(scene.session) } catch {}
    await host.close()
    let next = try await launch("here")
    XCTAssertEqual(next.openSessions.map(\.isRestorable), [false])
    let session = try XCTUnwrap(next.openSessions.first)
    try await next.connect(session)
    XCTAssertEqual(value(delegates.count - 1), "Oslo")
    let names = try await store.names(prefix: "main.scene-")
    XCTAssertEqual(names.count, 1)
  }

  func testASceneThatWasDiscardedOfflineComesBackIfAnotherMachineHasSavedIt() async throws {
    let copy = MemoryStateDirectory()
    let (host, scene) = try await changedTwice(copy)
    network.delaysWrites = true
    do { try await host.discard(scene.session) } catch {}
    await host.close()
    network.delaysWrites = false
    let next = try await launch("here", copy)
    let session = try XCTUnwrap(next.openSessions.first)
    try await next.connect(session)
    XCTAssertEqual(value(delegates.count - 1), "Oslo")
  }

  func testADiscardThatTheStoreDidNotHearOfIsSentByTheNextLaunch() async throws {
    let copy = MemoryStateDirectory()
    let host = try await launch("here", copy)
    try await open("Rome", in: host)
    let scene = try XCTUnwrap(host.connectedScenes.first)
    network.delaysWrites = true
    do { try await host.discard(scene.session) } catch {}
    await host.close()
    network.delaysWrites = false
    let next = try await launch("here", copy)
    XCTAssertEqual(next.openSessions.count, 0)
    let names = try await store.names(prefix: "main.scene-")
    XCTAssertEqual(names, [])
  }

  func testWhatIsOnlyInTheListOfAnotherMachineIsTakenOver() async throws {
    let first = try await launch("first")
    try await open("Rome", in: first)
    await first.close()
    let (host, other) = (try await launch("here"), try await launch("there"))
    other.openSessions[0].userInfo["pinned"] = true
    try await other.saveSessions()
    await other.close()
    // Its list is another one.
    try await open("Oslo", in: host)
    await host.close()
    let last = try await launch("last")
    let pinned = last.openSessions.filter { $0.userInfo["pinned"] == true }
    XCTAssertEqual(pinned.count, 1)
    XCTAssertEqual(last.openSessions.count, 2)
  }

  func testTheirsComesWithItsValuesAndNothingOfOurs() async throws {
    for isDiscard in [false, true] {
      for name in try await store.names(prefix: "") { store[bytes: name] = nil }
      delegates = []
      let host = try await launch("here")
      try await open("Rome", in: host)
      let scene = try XCTUnwrap(host.connectedScenes.first)
      let other = try await launch("there")
      let theirs = try await other.connect(try XCTUnwrap(other.openSessions.first))
      theirs.session.userInfo["draft"] = "theirs"
      try await other.save(theirs)
      await other.close()
      scene.session.userInfo["draft"] = "ours"
      if isDiscard {
        do { try await host.discard(scene.session) } catch {}
      } else {
        expectConflict(try await host.save(scene))
        try await host.disconnect(scene)
      }
      try await host.resolveConflict(of: scene.session, keeping: .theirs)
      XCTAssertEqual(scene.session.userInfo["draft"], "theirs", "a discard: \(isDiscard)")
    }
  }

  private func expectConflict(_ report: PreservationReport?) {
    guard let conflict = report?.conflict else {
      return XCTFail("The outcome was \(report?.outcome as Any).")
    }
    XCTAssertEqual(conflict.savedBy, "there")
  }

  func testASceneThatWasSavedElsewhereMeanwhileIsAConflict() async throws {
    let (host, scene) = try await changedTwice()
    expectConflict(try await host.save(scene))
  }

  /// A scene of which two machines have saved another state.
  private func conflict() async throws -> (host: SceneHost, scene: RestorableScene) {
    let (host, scene) = try await changedTwice()
    try await host.save(scene)
    guard case .conflict = host.remoteStatus(of: scene.session) else {
      XCTFail("\(host.remoteStatus(of: scene.session) as Any)")
      return (host, scene)
    }
    return (host, scene)
  }

  /// What another machine has of the one scene.
  private func valueElsewhere() async throws -> String? {
    let other = try await launch("there", bound: ClosedSceneBound())
    let sessions = other.openSessions + other.closedSessions
    XCTAssertEqual(sessions.count, 1)
    guard let session = sessions.first else { return nil }
    if other.openSessions.isEmpty {
      try await other.reopen(session)
    } else {
      try await other.connect(session)
    }
    return value(delegates.count - 1)
  }

  func testAConflictOfTheLastSaveOfASceneIsReportedAndDecided() async throws {
    let (host, scene) = try await changedTwice()
    expectConflict(try await host.disconnect(scene))
    try await host.resolveConflict(of: scene.session, keeping: .ours)
    let value = try await valueElsewhere()
    XCTAssertEqual(value, "Paris")
  }

  func testAConflictAtTheEndOfAnAppIsReportedAndDecided() async throws {
    for choice in [ConflictChoice.ours, .theirs] {
      for name in try await store.names(prefix: "") { store[bytes: name] = nil }
      delegates = []
      let (host, scene) = try await changedTwice()
      do {
        try await host.terminate()
        XCTFail("It did not throw.")
      } catch {
        XCTAssertEqual(error.code, .conflict)
      }
      if choice == .theirs { try await host.disconnect(scene) }
      try await host.resolveConflict(of: scene.session, keeping: choice)
      await host.close()
      let value = try await valueElsewhere()
      XCTAssertEqual(value, choice == .ours ? "Paris" : "Oslo")
    }
  }

  func testAConflictOfASceneThatIsClosedAndCanBeOpenedAgainIsReportedAndDecided() async throws {
    for choice in [ConflictChoice.ours, .theirs] {
      for name in try await store.names(prefix: "") { store[bytes: name] = nil }
      delegates = []
      let (host, scene) = try await changedTwice()
      host.closedSceneBound = ClosedSceneBound()
      expectConflict(try await host.close(scene))
      XCTAssertEqual(host.closedSessions, [scene.session])
      try await host.resolveConflict(of: scene.session, keeping: choice)
      XCTAssertEqual(host.remoteStatus(of: scene.session), .current)
      await host.close()
      let value = try await valueElsewhere()
      XCTAssertEqual(value, choice == .ours ? "Paris" : "Oslo")
    }
  }

  /// A scene that was closed for good here, and saved elsewhere meanwhile.
  private func closedForGood() async throws -> (host: SceneHost, session: SceneSession) {
    let (host, scene) = try await changedTwice()
    do {
      try await host.close(scene)
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .conflict)
    }
    XCTAssertEqual(host.openSessions, [])
    guard case .conflict = host.remoteStatus(of: scene.session) else {
      XCTFail("\(host.remoteStatus(of: scene.session) as Any)")
      return (host, scene.session)
    }
    return (host, scene.session)
  }

  func testASceneThatIsClosedForGoodGoesAfterAConflict() async throws {
    let (host, session) = try await closedForGood()
    try await host.resolveConflict(of: session, keeping: .ours)
    XCTAssertEqual(host.openSessions, [])
    let names = try await store.names(prefix: "main.scene-")
    XCTAssertEqual(names, [])
  }

  func testASceneThatIsClosedForGoodAndSavedElsewhereCanBeKept() async throws {
    let (host, session) = try await closedForGood()
    try await host.resolveConflict(of: session, keeping: .theirs)
    XCTAssertEqual(host.openSessions, [session])
    try await host.connect(session)
    XCTAssertEqual(value(2), "Oslo")
    await host.close()
    let value = try await valueElsewhere()
    XCTAssertEqual(value, "Oslo")
  }

  func testOursIsChosenForAScene() async throws {
    let (host, scene) = try await conflict()
    let location = try await host.resolveConflict(of: scene.session, keeping: .ours)
    XCTAssertNotNil(location)
    XCTAssertEqual(host.remoteStatus(of: scene.session), .current)
    let report = try await host.save(scene)
    XCTAssertEqual(report.outcome, .saved)
    let other = try await launch("there")
    _ = try await other.connect(try XCTUnwrap(other.openSessions.first))
    XCTAssertEqual(value(2), "Paris")
    let states = try await host.setAsideStates(of: scene.session)
    XCTAssertEqual(states.map(\.location), [location])
  }

  func testTheirsIsChosenForASceneThatIsNotConnected() async throws {
    let (host, scene) = try await conflict()
    do {
      try await host.resolveConflict(of: scene.session, keeping: .theirs)
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .connected)
    }
    try await host.disconnect(scene)
    let location = try await host.resolveConflict(of: scene.session, keeping: .theirs)
    XCTAssertNotNil(location)
    let status = await host.checkRemoteState(of: scene.session)
    XCTAssertEqual(status, .current)
    _ = try await host.connect(scene.session)
    XCTAssertEqual(value(2), "Oslo")
    let states = try await host.setAsideStates(of: scene.session)
    XCTAssertEqual(states.map(\.location), [location])
  }
  #endif

  func testALaunchWithoutTheStoreHasTheScenesOfTheLocalCopy() async throws {
    let copy = MemoryStateDirectory()
    let host = try await launch("here", copy)
    try await open("Rome", in: host)
    await host.close()
    network.isReachable = false
    let next = try await launch("here", copy)
    XCTAssertEqual(next.openSessions.count, 1)
    _ = try await next.connect(try XCTUnwrap(next.openSessions.first))
    XCTAssertEqual(value(1), "Rome")
  }

  func testALaunchWithoutTheStoreAndWithoutACopySaysSo() async throws {
    network.isReachable = false
    do {
      _ = try await launch("here")
      XCTFail("It did not throw.")
    } catch let error as RestorationError {
      XCTAssertEqual(error.code, .store)
    }
  }
}
