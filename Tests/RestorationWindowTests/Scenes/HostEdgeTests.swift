import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// What several hosts of one app do at the edges of each other's time.
@MainActor
final class HostEdgeTests: InstanceTestCase {
  /// The windows that are held up before they have a delegate.
  @MainActor
  private final class Held {
    var windows: [CheckedContinuation<Void, Never>] = []
  }

  /// A host of the next launch that holds up its windows.
  private func holdingHost() async throws -> (SceneHost, Held) {
    let held = Held()
    let host = SceneHost(try second())
    host.register(
      SceneConfiguration { [app] in
        await withCheckedContinuation { held.windows.append($0) }
        return app.makeDelegate()
      })
    try await host.launch()
    return (host, held)
  }

  func testAWindowThatConnectsWhileItIsDiscardedWithOthersIsGone() async throws {
    let first = host(try second())
    try await first.launch()
    _ = try await app.store(1, in: first)
    _ = try await app.store(2, in: first)
    await first.close()

    let (next, held) = try await holdingHost()
    let sessions = next.openSessions
    XCTAssertEqual(sessions.count, 2)
    let connecting = Task { @MainActor in _ = await next.restoreScenes() }
    try await waitUntil("one is held up") { held.windows.count == 1 }
    // All windows are closed, e.g. in the order in which the app shows them.
    let discarding = Task { @MainActor in try await next.discard(Array(sessions.reversed())) }
    for _ in 0..<100 { await Task.yield() }
    held.windows[0].resume()
    for _ in 0..<1000 { await Task.yield() }
    if held.windows.count > 1 { held.windows[1].resume() }
    try await discarding.value
    _ = await connecting.value
    // What the app has of it saves as always.
    for delegate in app.delegates.suffix(1) {
      for scene in delegate.connected.compactMap(\.session.scene) {
        _ = try? await next.save(scene)
      }
    }
    XCTAssertEqual(next.openSessions, [])
    XCTAssertEqual(try launch.store.names().filter { $0.contains(".scene-") }, [])
    await next.close()
    let last = host(try second())
    try await last.launch()
    XCTAssertEqual(last.openSessions, [])
  }

  func testATerminationWhileAWindowConnectsLetsTheStateGo() async throws {
    let first = host(try second())
    try await first.launch()
    _ = try await app.store(1, in: first)
    await first.close()
    let (next, held) = try await holdingHost()
    let connecting = Task { @MainActor in _ = await next.restoreScenes() }
    try await waitUntil("one is held up") { held.windows.count == 1 }
    let ending = Task { @MainActor in try await next.terminate() }
    for _ in 0..<100 { await Task.yield() }
    held.windows[0].resume()
    try await ending.value
    _ = await connecting.value
    let successor = try second()
    _ = try await save("x", with: successor)
    XCTAssertEqual(successor.stateName, "main")
    withExtendedLifetime(next) {}
  }

  /// The windows of which something is stored.
  private func storedWindows() throws -> Set<String> {
    Set(
      try launch.storedRecords()?.elements.filter { $0.kind == "scene" }.map(\.path) ?? [])
  }

  func testRandomHostsLoseNoWindow() async throws {
    var generator = SeededGenerator(seed: 7)
    var most = 0
    for round in 0..<60 {
      let names = try storedWindows()
      most = max(most, names.count)
      let next = host(try second())
      try await next.launch()
      XCTAssertEqual(next.openSessions.count, names.count, "round \(round)")
      var tasks: [Task<Void, Never>] = []
      var closed: Set<String> = []
      for _ in 0..<Int.random(in: 0...8, using: &generator) {
        switch Int.random(in: 0...5, using: &generator) {
        case 0: tasks.append(Task { @MainActor in _ = await next.restoreScenes() })
        case 1:
          tasks.append(
            Task { @MainActor in
              guard let scene = try? await next.open() else { return }
              _ = try? await next.save(scene)
            })
        case 2:
          tasks.append(Task { @MainActor in _ = try? await next.saveChangedScenes() })
        case 3:
          if let session = next.openSessions.randomElement(using: &generator) {
            closed.insert(session.persistentIdentifier)
            tasks.append(Task { @MainActor in try? await next.discard(session) })
          }
        case 4:
          if let session = next.openSessions.randomElement(using: &generator) {
            tasks.append(Task { @MainActor in _ = try? await next.connect(session) })
          }
        default:
          tasks.append(
            Task { @MainActor in
              for scene in next.connectedScenes { _ = try? await next.disconnect(scene) }
            })
        }
      }
      for task in tasks { await task.value }
      let open = Set(next.openSessions.map(\.persistentIdentifier))
      XCTAssertTrue(open.isDisjoint(with: closed))
      for scene in next.connectedScenes { _ = try await next.save(scene) }
      try await next.terminate()
      XCTAssertEqual(try storedWindows(), open, "round \(round)")
    }
    XCTAssertGreaterThan(most, 2)
  }

  func testClosingAHostTwiceAndLaunchingItAgainWorks() async throws {
    let one = host(try second())
    try await one.launch()
    let a = try await app.store(1, in: one)
    await one.close()
    await one.close()
    try await one.terminate()
    try await one.terminate()
    try await one.launch()
    XCTAssertEqual(one.openSessions.map(\.persistentIdentifier), [a])
    await one.restoreScenes()
    let closes = [
      Task { @MainActor in await one.close() }, Task { @MainActor in await one.close() },
    ]
    for close in closes { await close.value }
    let next = try second()
    _ = try await save("x", with: next)
    XCTAssertEqual(next.stateName, "main")
  }
}
