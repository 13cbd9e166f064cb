import ArchiveCodec
import Foundation
import RestorationInspection
import RestorationKit
import TestSupport
import XCTest

/// The windows of a stored state as a tool sees them.
@MainActor
final class WindowInspectionTests: XCTestCase {
  private let launch = SceneLaunch()

  private func open() throws -> StoredState {
    let launch = launch.launch
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    return try XCTUnwrap(
      try StoredState.open(
        launch.store.memory(named: "main"), named: "main", of: Launch.application,
        with: .key(key)))
  }

  private func windows() throws -> [StoredState.Window] {
    let state = try open()
    return state.windows(in: try state.outline())
  }

  private func openWindow(_ title: String?, _ host: SceneHost) async throws -> RestorableScene {
    let scene = try await host.open()
    let delegate = scene.delegate as? TestSceneDelegate
    delegate?.roots = [TestNode("root", value: title ?? "untitled")]
    if let title {
      delegate?.activity = UserActivity(activityType: "product")
      delegate?.activity?.title = title
    }
    return scene
  }

  func testWindowsAreKnownByTheirTitlesConnectedOrNot() async throws {
    let host = try await launch.host()
    host.closedSceneCount = 5
    var scenes: [RestorableScene] = []
    for title in ["Milk", nil, "Tea", "Bread"] { scenes.append(try await openWindow(title, host)) }
    for scene in scenes { _ = try await host.save(scene) }
    try await host.close(scenes[0])
    try await host.disconnect(scenes[2])
    let windows = try windows()
    XCTAssertEqual(Set(windows.prefix(3).map(\.title)), [nil, "Tea", "Bread"])
    XCTAssertEqual(windows.last?.title, "Milk")
    XCTAssertEqual(windows.map { $0.closedAt == nil }, [true, true, true, false])
    XCTAssertEqual(windows.last?.closedAt, launch.launch.now)
    XCTAssertEqual(windows.map(\.role), Array(repeating: "windowApplication", count: 4))
    XCTAssertEqual(
      Set(windows.map(\.element.path.description)),
      Set(scenes.map(\.session.persistentIdentifier)))
    XCTAssertEqual(windows.map(\.element.role), Array(repeating: .scene, count: 4))
    XCTAssertEqual(windows.map(\.error), [nil, nil, nil, nil])
    // What is below a window counts with it.
    for window in windows { XCTAssertGreaterThan(window.byteCount, window.element.byteCount) }
    let outline = try open().outline()
    XCTAssertEqual(outline.problemCount, 0)
    var paths: [String] = []
    outline.forEach { element in
      if element.role == .child { paths.append("\(element.path)") }
      XCTAssertEqual(outline.element(withIdentifier: element.identifier), element)
    }
    XCTAssertEqual(Set(paths), Set(scenes.map { "\($0.session.persistentIdentifier)/root" }))
  }

  func testALaunchThatHasEndedIsNoCrash() async throws {
    let (launch, host) = (launch.launch, try await launch.host())
    _ = try await openWindow("Milk", host)
    try await host.terminate()
    let key = try XCTUnwrap(try launch.keys.key(creating: false))
    let state = try open()
    func crashCount() throws -> Int {
      try StoredLaunches(
        in: launch.store, named: "main", of: Launch.application, before: state, state.outline(),
        with: key
      ).crashCount
    }
    XCTAssertEqual(try crashCount(), 0)
    let next = try await self.launch.host()
    XCTAssertEqual(try crashCount(), 0, "It is restored by now.")
    try await next.terminate()
    XCTAssertEqual(try crashCount(), 0)
  }

  func testTheOneThatWasUsedLastComesFirst() async throws {
    let host = try await launch.host()
    let scenes = [try await openWindow("Milk", host), try await openWindow("Tea", host)]
    try await host.connect(scenes[0].session)
    for scene in scenes { _ = try await host.save(scene) }
    XCTAssertEqual(try windows().map(\.title), ["Milk", "Tea"])
  }

  func testAWindowWhoseStateCannotBeReadIsThereWithItsError() async throws {
    let builder = RecordBuilder()
    try builder.append(record: .max - 2) { coder in
      coder.encode(UInt64(9), forKey: "idLimit")
      coder.encode(["SceneNode"], forKey: "classes")
      coder.encode([""], forKey: "makers")
      coder.encode([1], forKey: "versions")
    }
    try builder.append(record: 1) { coder in
      coder.encode([Int64(1), 1, 1, 1], forKey: "ids")
      coder.encode(["none", "text", "empty", "timeless"], forKey: "names")
      coder.encode([0, 0, 0, 0], forKey: "forms")
      coder.encode([5, 5, 5, 5], forKey: "roles")
    }
    try builder.append(record: 8) { coder in
      coder.encodeContainer(forKey: SceneContent.key) { scene in
        scene.encode("windowApplication", forKey: "role")
        scene.encodeContainer(forKey: "userInfo") { _ in }
        scene.encode(0, forKey: "turn")
        scene.encode(Date(timeIntervalSinceReferenceDate: .nan), forKey: "closedAt")
        scene.encode(true, forKey: "isRestorable")
      }
    }
    try builder.append(record: 4) { $0.encode("text", forKey: SceneContent.key) }
    try builder.append(record: 6) { $0.encodeContainer(forKey: SceneContent.key) { _ in } }
    let key = try XCTUnwrap(try launch.launch.keys.key(creating: true))
    _ = try Archive.write(
      try builder.finish(), to: launch.launch.store.memory(named: "main"), key: key,
      context: StoredState.context(of: "main", in: Launch.application))
    let windows = try windows()
    XCTAssertEqual(windows.map(\.element.path.description), ["none", "text", "empty", "timeless"])
    XCTAssertEqual(windows.map { $0.error == nil }, [true, false, false, true])
    XCTAssertEqual(windows.map(\.role), [nil, nil, nil, "windowApplication"])
    XCTAssertEqual(windows.map(\.closedAt), [nil, nil, nil, .distantPast])
  }
}
