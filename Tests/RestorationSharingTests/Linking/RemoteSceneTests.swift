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
    _ name: String, _ localCopy: (any StateDirectory)? = nil, closedCount: Int = 0
  ) async throws -> SceneHost {
    let host = SceneHost(try Device(name, network, keys: keys, localCopy: localCopy).launch())
    host.closedSceneCount = closedCount
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

  func testWindowsOfAConflictLeaveTheScreenAndThoseOfTheOtherMachineComeInTheirPlace() async throws
  {
    let here = try await launch("here")
    try await open("Rome", in: here)
    let there = try await launch("there")
    let opened = try await there.connect(try XCTUnwrap(there.openSessions.first))
    (delegates[1].roots.first as? TestNode)?.value = "Oslo"
    opened.needsSave = true
    try await there.saveSessions()

    let scene = try XCTUnwrap(here.connectedScenes.first)
    (delegates[0].roots.first as? TestNode)?.value = "Bern"
    let report = try await here.disconnect(scene)
    XCTAssertNotNil(report.conflict)
    XCTAssertEqual(here.connectedScenes.count, 0)
    try await here.keeper.resolveConflict(keeping: .theirs)
    try await here.launch()
    let failures = await here.restoreScenes()
    XCTAssertEqual(failures.count, 0)
    XCTAssertEqual(value(2), "Oslo")
    let reasons = try await here.keeper.history().map(\.reason)
    XCTAssertEqual(reasons.filter { $0 == .conflict }.count, 1)
  }

  func testTheEndOfAnAppInAConflictSaysWhatToDo() async throws {
    let here = try await launch("here", MemoryStateDirectory())
    try await open("Rome", in: here)
    let there = try await launch("there")
    try await open("Oslo", in: there)
    await there.close()
    (delegates[0].roots.first as? TestNode)?.value = "Bern"
    do {
      try await here.terminate()
      XCTFail("It did not throw.")
    } catch {
      XCTAssertEqual(error.code, .conflict)
    }
  }
}
