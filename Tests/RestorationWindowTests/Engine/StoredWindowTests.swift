import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// States with windows, values, views and objects, and with what nobody has claimed or read, kept as files.
@MainActor
final class StoredWindowTests: XCTestCase {
  private struct Broken: Error {}

  /// The files that the present version and those before it have written.
  private static let last = 1

  private let app = SceneLaunch()
  private let object = TestObject()
  private let (torn, view) = (TestNode("torn"), TestView("view"))
  private lazy var root = TestNode("root", children: [torn])

  override func setUp() async throws {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 1)
    defer { bytes.deallocate() }
    for place in bytes.indices { bytes[place] = UInt8(place) }
    try app.launch.keys.exchange(by: ArchiveKey(moving: bytes))
    root.restorationViews = [view]
    root.onEncode = { [object] in $0.encode(object, forKey: "object") }
  }

  private func file(_ number: Int) -> URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("StoredStates/windows-\(number).rka")
  }

  /// A host of the next launch, whose keeper has not restored yet.
  private func nextHost() async throws -> SceneHost {
    let host = try await app.host(launching: false)
    host.closedSceneCount = 10
    host.keeper.registerObject(object, restorationIdentifier: "object")
    return host
  }

  func testAllThatAStateCanHaveComesBack() async throws {
    for number in 1...Self.last {
      app.launch.storedBytes = Array(try Data(contentsOf: file(number)))
      let host = try await nextHost()
      let kept = TestNode("kept")
      var found: TestObject?
      root.restorationChildren.append(kept)
      root.onDecode = { found = try $0.decodeObject(forKey: "object") }
      let report = try await host.keeper.restore(into: [root])
      XCTAssertEqual(report.problems.map(\.description), [])
      XCTAssertEqual([root.value, kept.value, torn.value], ["root", "kept", "whole"])
      XCTAssertIdentical(found, object)
      XCTAssertEqual([object.value, view.value], ["object", "view"])
      // What its node said while it could not read its state.
      XCTAssertEqual(report.kept.map(\.path.description), ["root/torn"])
      XCTAssertEqual(report.kept.map(\.since), [app.launch.now])
      app.prepare = { $0.roots = [TestNode("root")] }
      try await host.launch()
      let sessions = [host.openSessions, host.closedSessions]
      XCTAssertEqual(sessions.map(\.count), [1, 1])
      XCTAssertEqual(sessions[1].first?.closedAt, app.launch.now)
      for (place, session) in sessions.joined().enumerated() {
        let id = place + 1
        let scene = try await place == 0 ? host.connect(session) : host.reopen(session)
        XCTAssertEqual(scene.testRoot?.value, "\(id)")
        XCTAssertEqual(session.stateRestorationActivity?.title, "Product \(id)")
        XCTAssertEqual(session.stateRestorationActivity?.id, id)
        XCTAssertEqual(session.userInfo, ["kept": .integer(id)])
        XCTAssertEqual(DraftModel(scene).draft, "draft \(id)")
      }
      await host.close()
    }
  }

  func testTheMissingFileIsWritten() async throws {
    try XCTSkipUnless(
      ProcessInfo.processInfo.environment["WRITE_STATES"] == "1",
      "Stored states are only read. Run with WRITE_STATES=1 to write those that are missing.")
    let file = file(Self.last)
    if !FileManager.default.fileExists(atPath: file.path) {
      try Data(try await written()).write(to: file)
    }
  }

  /// The bytes of two launches: the second one lacks a node, and cannot read another one.
  private func written() async throws -> [UInt8] {
    let first = try await nextHost()
    try await first.launch()
    for id in 1...2 { try await app.store(id, in: first) }
    try await first.close(try XCTUnwrap(first.connectedScenes.first))
    (root.value, torn.value, object.value, view.value) = ("root", "whole", "object", "view")
    root.restorationChildren.append(TestNode("kept", value: "kept"))
    _ = try await first.keeper.save([root])
    let second = try await nextHost()
    root.restorationChildren.removeLast()
    torn.onDecode = { _ in throw Broken() }
    _ = try await second.keeper.restore(into: [root])
    torn.value = "typed"
    let report = try await second.keeper.save([root])
    XCTAssertEqual(Set(report.kept.map(\.path.description)), ["root/kept", "root/torn"])
    return try XCTUnwrap(app.launch.storedBytes)
  }
}
