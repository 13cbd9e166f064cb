import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import TestSupport
import XCTest

/// Windows, and the list of them, whose local copy is damaged or another one.
@MainActor
final class LocalCopyWindowTests: XCTestCase {
  private var nodes: [TestNode] = []
  private var delegates: [TestSceneDelegate] = []

  private func launch(_ device: Device) async throws -> SceneHost {
    let host = SceneHost(try device.launch())
    host.register(
      SceneConfiguration { [unowned self] in
        let (delegate, node) = (TestSceneDelegate(), TestNode("root"))
        delegate.roots = [node]
        delegates.append(delegate)
        nodes.append(node)
        return delegate
      })
    try await host.launch()
    return host
  }

  @MainActor
  private struct Windows {
    let base = MemoryRemoteStateStore()
    let network: NetworkStore
    let keys = MemoryKeyProvider()
    let copy = MemoryStateDirectory()
    let here: Device
    let there: Device
    var older: [String: [UInt8]] = [:]

    init() {
      network = NetworkStore(base)
      here = Device("here", network, keys: keys, localCopy: copy)
      there = Device("there", base, keys: keys)
    }

    func file(_ prefix: String) throws -> String {
      try XCTUnwrap(
        try copy.names().first { $0.hasPrefix(prefix) && !$0.hasSuffix(".launch") })
    }
  }

  /// A window that was saved often, and a mark on it that only the list has.
  private func windows() async throws -> Windows {
    var windows = Windows()
    let host = try await launch(windows.here)
    let scene = try await host.open()
    for number in 1...20 {
      nodes.last?.value = "state \(number)"
      try await host.save(scene)
      if number == 12 {
        for name in try windows.copy.names() {
          windows.older[name] = windows.copy.memory(named: name).bytes
        }
      }
    }
    try await host.disconnect(scene)
    host.openSessions[0].userInfo["pinned"] = true
    try await host.saveSessions()
    await host.close()
    return windows
  }

  func testTheStoreHasTheLastWordOnADamagedWindowAndADamagedList() async throws {
    for prefix in ["main.scene-", "main.scenes"] {
      let first = try await windows()
      let name = try first.file(prefix)
      let count = SavedOften.damages(
        of: try XCTUnwrap(first.copy.memory(named: name).bytes), older: first.older[name]
      ).count
      for number in 0..<count {
        let windows = try await windows()
        let name = try windows.file(prefix)
        let file = try XCTUnwrap(windows.copy.memory(named: name).bytes)
        let (damage, bytes) = SavedOften.damages(of: file, older: windows.older[name])[number]
        let what = "\(prefix) \(damage)"
        windows.copy.memory(named: name).bytes = bytes
        let host = try await launch(windows.here)
        let session = try XCTUnwrap(host.openSessions.first, what)
        XCTAssertEqual(session.userInfo["pinned"], true, what)
        let scene = try await host.connect(session)
        XCTAssertEqual(nodes.last?.value, "state 20", what)
        nodes.last?.value = "next"
        scene.needsSave = true
        let report = try await host.save(scene)
        XCTAssertEqual(report.outcome, .saved, what)
        await host.close()
        let other = try await launch(windows.there)
        XCTAssertEqual(other.openSessions.count, 1, what)
        let theirs = try XCTUnwrap(other.openSessions.first, what)
        XCTAssertEqual(theirs.userInfo["pinned"], true, what)
        try await other.connect(theirs)
        XCTAssertEqual(nodes.last?.value, "next", what)
        await other.close()
      }
    }
  }

  func testWhatIsSavedOfADamagedWindowWithoutTheStoreIsAConflict() async throws {
    let count = 16
    for number in 0..<count {
      let windows = try await windows()
      let name = try windows.file("main.scene-")
      let before = windows.base[bytes: name]
      let file = try XCTUnwrap(windows.copy.memory(named: name).bytes)
      let damages = SavedOften.damages(of: file, older: windows.older[name])
      XCTAssertEqual(damages.count, count)
      let (what, bytes) = damages[number]
      windows.copy.memory(named: name).bytes = bytes
      windows.network.isReachable = false
      let host = try await launch(windows.here)
      let session = try XCTUnwrap(host.openSessions.first, what)
      let scene = try await host.connect(session)
      nodes.last?.value = "Oslo"
      scene.needsSave = true
      _ = try await host.save(scene)
      windows.network.isReachable = true
      _ = await host.checkRemoteState(of: session)
      guard case .conflict = host.remoteStatus(of: session) else {
        XCTFail("\(what) \(host.remoteStatus(of: session) as Any)")
        continue
      }
      XCTAssertEqual(windows.base[bytes: name], before, what)
      await host.close()
    }
  }
}
