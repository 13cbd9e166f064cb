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

  func testWindowsAreDisconnectedInAConflictSoThatTheStateOfTheOtherMachineCanStay() async throws {
    let first = try await launch("here")
    try await open("Rome", in: first)
    await first.close()
    var hosts: [SceneHost] = []
    for name in ["here", "there"] {
      let host = try await launch(name)
      _ = try await host.connect(try XCTUnwrap(host.openSessions.first))
      hosts.append(host)
    }
    for (place, value) in [(2, "Oslo"), (1, "Bern")] {
      let scene = try XCTUnwrap(hosts[place - 1].connectedScenes.first)
      scene.testRoot?.value = value
      let report = try await hosts[place - 1].save(scene)
      XCTAssertEqual(report.conflict == nil, value == "Oslo")
    }
    let here = hosts[0]
    let report = try await here.disconnect(try XCTUnwrap(here.connectedScenes.first))
    XCTAssertNotNil(report.conflict)
    XCTAssertEqual(here.connectedScenes.map(\.session), [])
    try await here.keeper.resolveConflict(keeping: .theirs)
    try await here.launch()
    _ = try await here.connect(try XCTUnwrap(here.openSessions.first))
    XCTAssertEqual(value(3), "Oslo")
    let kept = try await here.keeper.history().map(\.reason)
    XCTAssertEqual(kept, [.conflict])
  }
}
