import Foundation
import RestorationKit
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
    _ name: String, _ localCopy: (any StateDirectory)? = nil
  ) async throws -> SceneHost {
    let host = SceneHost(try Device(name, network, keys: keys, localCopy: localCopy).launch())
    host.register(
      SceneConfiguration(restoration: .always) { [unowned self] in
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

  func testScenesComeBackOnAnotherMachine() async throws {
    let host = try await launch("here")
    try await open("Rome", in: host)
    try await open("Oslo", in: host)
    await host.close()
    let other = try await launch("there")
    XCTAssertEqual(other.openSessions.count, 2)
    for session in other.openSessions { _ = try await other.connect(session) }
    XCTAssertEqual(Set([value(2), value(3)]), ["Rome", "Oslo"])
  }

  func testScenesThatTwoMachinesHaveOpenedAreBothThere() async throws {
    let (host, other) = (try await launch("here"), try await launch("there"))
    try await open("Rome", in: host)
    try await open("Oslo", in: other)
    await host.close()
    await other.close()
    let later = try await launch("later")
    XCTAssertEqual(later.openSessions.count, 2)
    for session in later.openSessions { _ = try await later.connect(session) }
    XCTAssertEqual(Set([value(2), value(3)]), ["Rome", "Oslo"])
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

  func testASceneThatWasSavedElsewhereMeanwhileIsAConflict() async throws {
    let host = try await launch("here")
    try await open("Rome", in: host)
    let other = try await launch("there")
    let theirs = try await other.connect(try XCTUnwrap(other.openSessions.first))
    (delegates[1].roots.first as? TestNode)?.value = "Oslo"
    try await other.save(theirs)
    (delegates[0].roots.first as? TestNode)?.value = "Paris"
    let report = try await host.save(try XCTUnwrap(host.connectedScenes.first))
    guard case .conflict(let conflict) = report.outcome else {
      return XCTFail("The outcome was \(report.outcome).")
    }
    XCTAssertEqual(conflict.savedBy, "there")
  }

  /// A scene of which two machines have saved another state.
  private func conflict() async throws -> (host: SceneHost, scene: Scene) {
    let host = try await launch("here")
    try await open("Rome", in: host)
    let other = try await launch("there")
    let theirs = try await other.connect(try XCTUnwrap(other.openSessions.first))
    (delegates[1].roots.first as? TestNode)?.value = "Oslo"
    try await other.save(theirs)
    await other.close()
    (delegates[0].roots.first as? TestNode)?.value = "Paris"
    let scene = try XCTUnwrap(host.connectedScenes.first)
    try await host.save(scene)
    guard case .conflict = host.remoteStatus(of: scene.session) else {
      XCTFail("\(host.remoteStatus(of: scene.session) as Any)")
      return (host, scene)
    }
    return (host, scene)
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
