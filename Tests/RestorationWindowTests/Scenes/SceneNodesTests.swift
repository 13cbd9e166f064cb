import ArchiveCodec
import RestorationKit
import TestSupport
import XCTest

/// The trees of nodes of scenes.
@MainActor
final class SceneNodesTests: XCTestCase {
  private let app = SceneLaunch()
  private let trace = Trace()

  /// Follows a scene and takes part in restoring its nodes.
  @MainActor
  private final class Both: @MainActor SceneDelegate, @MainActor StateDelegate {
    let trace: Trace
    var roots: [any RestorableNode] = []

    init(_ trace: Trace) {
      self.trace = trace
    }

    func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] { roots }

    func willEncodeRestorableState(with coder: StateEncoder) throws {
      coder.encode("mine", forKey: "scene")
    }

    func node(at path: RestorationPath, coder: StateDecoder) throws -> (any RestorableNode)? {
      trace.add("node \(path)")
      return path.description == "root/made" ? TestNode("made") : nil
    }

    func layOutRestoredInterface() { trace.add("layOut") }

    func didDecodeRestorableState(with coder: StateDecoder) throws {
      trace.add(try coder.decode(String.self, forKey: "scene"))
    }
  }

  private func host(_ register: (StateKeeper) throws -> Void) async throws -> SceneHost {
    let keeper = try app.launch.keeper()
    try register(keeper)
    let host = SceneHost(keeper)
    host.declaredActivityTypes = ["product"]
    host.register(SceneConfiguration { [app] in app.makeDelegate() })
    try await host.launch()
    return host
  }

  func testADelegateThatIsAStateDelegateTakesPartInItsSceneWithoutGates() async throws {
    for isFirst in [true, false] {
      let keeper = try app.launch.keeper()
      // The app's own delegate has nothing to say about scenes.
      let own = TestDelegate(trace)
      keeper.delegate = own
      let host = SceneHost(keeper)
      let both = Both(trace)
      both.roots = [TestNode("root", children: isFirst ? [TestNode("made", value: "x")] : [])]
      host.register(SceneConfiguration { both })
      try await host.launch()
      if isFirst {
        try await host.save(try await host.open())
        XCTAssertEqual(trace.events, [])
      } else {
        await host.restoreScenes()
        #if RESTORATION_NEXT
        let ofApp = ["shouldRestore", "didDecode"]
        #else
        let ofApp: [String] = []
        #endif
        XCTAssertEqual(trace.events, ofApp + ["node root", "node root/made", "layOut", "mine"])
      }
      withExtendedLifetime(own) {}
    }
  }

  #if !RESTORATION_NEXT
  func testWhatASceneCannotReadIsKeptInItsOwnFileAlone() async throws {
    let newer = try await host { try $0.register(TestNode.self, version: 2) }
    for number in 1...2 {
      let scene = try await newer.open()
      app.delegates[number - 1].roots = [TestNode("root", value: "newer \(number)")]
      try await newer.save(scene)
    }
    app.prepare = { $0.roots = [TestNode("root", value: "older")] }
    let older = try await host { try $0.register(TestNode.self, version: 1) }
    await older.restoreScenes()
    for scene in older.connectedScenes {
      let report = try await older.save(scene)
      XCTAssertEqual(report.outcome(of: "root"), .keptAsStored)
    }
    var nodes: [TestNode] = []
    app.prepare = { delegate in
      nodes.append(TestNode("root"))
      delegate.roots = [nodes[nodes.count - 1]]
    }
    let again = try await host { try $0.register(TestNode.self, version: 2) }
    await again.restoreScenes()
    XCTAssertEqual(nodes.map(\.value), ["newer 2", "newer 1"])
  }
  #endif

  func testObjectsOfOneNameInTwoScenesAreApart() async throws {
    @MainActor
    final class Filter: @MainActor RestorableObject {
      var value: String?
      weak var restorationParent: (any StateRestoring)?
      init(_ value: String? = nil) { self.value = value }
      func encodeRestorableState(with coder: StateEncoder) { coder.encode(value, forKey: "v") }
      func decodeRestorableState(with coder: StateDecoder) throws {
        value = try coder.decodeIfPresent(forKey: "v")
      }
    }
    let shared = Filter("shared")
    var current: StateKeeper?
    func prepare(_ filters: [Filter]) {
      var next = 0
      app.prepare = { delegate in
        let filter = filters[next]
        next += 1
        let root = TestNode("root")
        root.onEncode = { coder in
          coder.encode(filter, forKey: "filter")
          coder.encode(shared, forKey: "shared")
        }
        delegate.roots = [root]
        #if RESTORATION_NEXT
        filter.restorationParent = root
        delegate.onConnect = { _ in
          current?.registerObject(filter, restorationIdentifier: "filter")
        }
        #else
        delegate.onConnect = { $0.registerObject(filter, restorationIdentifier: "filter") }
        #endif
      }
    }
    func register(_ keeper: StateKeeper) {
      current = keeper
      keeper.registerObject(shared, restorationIdentifier: "shared")
    }
    let stored = [Filter("1"), Filter("2")]
    prepare(stored)
    let first = try await host(register)
    for _ in stored { try await first.save(try await first.open()) }
    shared.value = nil
    let back = [Filter(), Filter()]
    prepare(back)
    let second = try await host(register)
    await second.restoreScenes()
    XCTAssertEqual(back.map(\.value), ["2", "1"])
    XCTAssertEqual(shared.value, "shared")
  }

  #if !RESTORATION_NEXT
  func testASceneThatCrashesAsItConnectsStartsAfreshAndTheOthersDoNot() async throws {
    let first = try await app.host()
    let good = try await app.store(1, in: first)
    let bad = try await app.store(2, in: first)
    let markers = app.launch.store.memory(named: "main.scene-\(bad).launch")
    let listed = app.launch.store.memory(named: "main.scenes").bytes
    for crashes in 1...2 {
      var crashed: [UInt8]?
      app.prepare = { delegate in
        delegate.onConnect = { scene in
          if scene.session.persistentIdentifier == bad { crashed = markers.bytes }
        }
      }
      let host = try await app.host()
      await host.restoreScenes()
      XCTAssertEqual(host.connectedScenes.map { DraftModel($0).draft }, ["draft 2", "draft 1"])
      // As if the process had ended there.
      markers.bytes = try XCTUnwrap(crashed, "launch \(crashes)")
      app.launch.store.memory(named: "main.scenes").bytes = listed
    }
    app.prepare = nil
    let host = try await app.host()
    await host.restoreScenes()
    XCTAssertEqual(host.connectedScenes.map { DraftModel($0).draft }, ["", "draft 1"])
    let scene = host.connectedScenes[0]
    XCTAssertEqual(scene.session.persistentIdentifier, bad)
    XCTAssertNil(scene.session.stateRestorationActivity)
    let restoration = try XCTUnwrap(scene.restoration)
    XCTAssertEqual(try restoration.get().outcome, .crashed(setAsideAt: "memory 1"))
    XCTAssertEqual(app.launch.store.memory(named: "main.scene-\(bad)").setAsideBytes.count, 1)
    XCTAssertNotNil(app.bytes(of: good))
  }
  #endif
}
