import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// The end of an app with windows that cannot wait for anything but a blocked thread.
@MainActor
final class SceneEndNowTests: XCTestCase {
  private static let limit = Duration.seconds(60)

  private let app = SceneLaunch()
  private let disk = AutosaveDisk()

  /// A host whose writes can be held up.
  private func host() async throws -> SceneHost {
    let host = SceneHost(
      try StateKeeper(
        application: Launch.application, directory: disk.directory(app.launch.store),
        keys: app.launch.keys))
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    return host
  }

  private func open(_ host: SceneHost) async throws -> (RestorableScene, PlainNode) {
    let scene = try await host.open()
    let node = PlainNode("root")
    try XCTUnwrap(app.delegates.last).roots = [node]
    return (scene, node)
  }

  /// What the nodes of the next launch have, in order.
  private func restoredValues(after host: SceneHost) async throws -> [String] {
    await host.close()
    var nodes: [PlainNode] = []
    app.prepare = { delegate in
      let node = PlainNode("root")
      nodes.append(node)
      delegate.roots = [node]
    }
    let next = try await app.host()
    XCTAssertFalse(next.followsCrash)
    _ = await next.restoreScenes()
    await next.close()
    return nodes.map(\.value).sorted()
  }

  func testAllScenesAndTheListAreStored() async throws {
    let host = try await host()
    let (_, first) = try await open(host)
    let autosave = host.autosave(every: .seconds(3600))
    let isStored = await autosave.flush()
    XCTAssertTrue(isStored)
    let (_, second) = try await open(host)
    // Nobody has told of it.
    first.value = "1"
    second.value = "2"
    XCTAssertTrue(host.endNow(within: Self.limit))
    XCTAssertFalse(autosave.needsSave && host.connectedScenes.contains(where: \.needsSave))
    let values = try await restoredValues(after: host)
    XCTAssertEqual(values, ["1", "2"])
  }

  func testASaveWhoseEndIsNotKnownIsFollowedByAnother() async throws {
    let host = try await host()
    let (scene, node) = try await open(host)
    try await host.save(scene)
    node.value = "1"
    disk.gate.holdUp()
    let save = Task { try await host.save(scene) }
    try await waitUntil("a write is held up") { disk.gate.isWaitedFor }
    node.value = "2"
    disk.gate.goOn()
    XCTAssertTrue(host.endNow(within: Self.limit))
    _ = try await save.value
    node.value = "3"
    scene.needsSave = true
    XCTAssertTrue(host.endNow(within: Self.limit))
    let values = try await restoredValues(after: host)
    XCTAssertEqual(values, ["3"])
  }

  func testADiskThatHangsIsWaitedForNoLongerThanTheLimit() async throws {
    let host = try await host()
    let (scene, node) = try await open(host)
    try await host.save(scene)
    disk.gate.holdUp()
    node.value = "1"
    scene.needsSave = true
    XCTAssertFalse(host.endNow(within: .milliseconds(20)))
    disk.gate.goOn()
    XCTAssertTrue(host.endNow(within: Self.limit))
    let values = try await restoredValues(after: host)
    XCTAssertEqual(values, ["1"])
  }

  func testAHostThatIsNotLaunchedOrLockedStoresNothing() async throws {
    let host = try await app.host(launching: false)
    XCTAssertFalse(host.endNow(within: Self.limit))
    app.launch.keys.isLocked = true
    let first = try await app.host(launching: false)
    _ = try? await first.launch()
    XCTAssertFalse(first.endNow(within: Self.limit))
    XCTAssertEqual(try app.launch.store.names(), [])
  }

  func testASceneThatDoesNotComeBackKeepsNoOtherFromBeingStored() async throws {
    let host = try await host()
    let (gone, _) = try await open(host)
    let (_, node) = try await open(host)
    gone.session.isRestorable = false
    gone.needsSave = true
    node.value = "1"
    XCTAssertTrue(host.endNow(within: Self.limit))
    let values = try await restoredValues(after: host)
    XCTAssertEqual(values, ["1"])
  }
}
