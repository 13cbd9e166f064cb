import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// Values of scenes, each of which is a record of its own.
@MainActor
final class SceneValueTests: XCTestCase {
  private let launch = Launch()

  private func host() async throws -> SceneHost {
    let host = SceneHost(try launch.keeper())
    host.register(SceneConfiguration { TestSceneDelegate() })
    try await host.launch()
    return host
  }

  private func next() async throws -> RestorableScene {
    let host = try await host()
    kept.append(host)
    return try await host.connect(host.openSessions[0])
  }

  /// A scene does not keep its host.
  private var kept: [SceneHost] = []

  private final class Model: SceneMember {
    let scene: RestorableScene
    @SceneStorage("text") var text = ""
    @SceneStorage("page") var page = 0

    init(_ scene: RestorableScene) { self.scene = scene }
  }

  private struct Editor {
    @Restored("text") var text = ""
    @Restored("pin") var pin = ""
  }

  func testAChangeOfOneValueOfASceneWritesThatOneAlone() async throws {
    let host = try await host()
    let scene = try await host.open()
    Model(scene).text = String(repeating: "A long text. ", count: 200_000 / 13)
    Model(scene).page = 1
    try await host.save(scene)
    Model(scene).page = 2
    let report = try await host.save(scene)
    XCTAssert((1...400).contains(report.writtenByteCount), "\(report.writtenByteCount)")
    let back = Model(try await next())
    XCTAssertEqual(back.page, 2)
    XCTAssertEqual(back.text.count, 200_000 / 13 * 13)
  }

  func testAScopePutsKeysBelowAScene() async throws {
    let host = try await host()
    let (one, other) = (try await host.open(), try await host.open())
    let editors = [one, other].map { scene in Restoration.scope(scene) { Editor() } }
    editors[0].text = "one"
    editors[1].text = "other"
    editors[1].pin = "1234"
    XCTAssertEqual(Model(one).text, "one")
    XCTAssertEqual(Model(other).text, "other")
    let inner = Restoration.scope(one) { Restoration.scope(nil) { Editor() } }
    XCTAssertNotEqual(inner.text, "one")
    XCTAssertTrue(one.needsSave)
    try await host.saveChangedScenes()
    let second = try await self.host()
    var found: [String: String] = [:]
    for session in second.openSessions {
      let scene = try await second.connect(session)
      let editor = Restoration.scope(scene) { Editor() }
      found[editor.text] = editor.pin
    }
    XCTAssertEqual(found, ["one": "", "other": "1234"])
  }

  func testAValueThatIsUsedBelowTwoScenesIsAProblem() async throws {
    let host = try await host()
    let (one, other) = (try await host.open(), try await host.open())
    let editor = Restoration.scope(one) { Editor() }
    editor.text = "one"
    Restoration.scope(other) { editor.text = "two" }
    XCTAssertEqual(Model(one).text, "two")
    XCTAssertEqual(Model(other).text, "")
    let report = try await host.save(one)
    XCTAssertEqual(report.notes, [.valueOfAnotherScene(key: "text")])
  }

  func testARemovedValueOfASceneIsGone() async throws {
    let host = try await host()
    let scene = try await host.open()
    Model(scene).text = "text"
    Model(scene).page = 3
    try await host.save(scene)
    Restoration.scope(scene) { Restoration.removeValue(forKey: "text") }
    XCTAssertTrue(scene.needsSave)
    XCTAssertEqual(Model(scene).text, "")
    try await host.save(scene)
    let back = Model(try await next())
    XCTAssertEqual(back.text, "")
    XCTAssertEqual(back.page, 3)
  }

  func testAValueThatIsSetAfterItsSceneHasGoneComesBackWithTheNext() async throws {
    let host = try await host()
    let scene = try await host.open()
    let model = Model(scene)
    model.text = "before"
    model.page = 1
    try await host.disconnect(scene)
    model.text = "after"
    try await host.saveSessions()
    let back = Model(try await next())
    XCTAssertEqual(back.text, "after")
    XCTAssertEqual(back.page, 1)
  }
}
