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
        let ofApp = ["shouldRestore", "didDecode"]
        XCTAssertEqual(trace.events, ofApp + ["node root", "node root/made", "layOut", "mine"])
      }
      withExtendedLifetime(own) {}
    }
  }

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
        filter.restorationParent = root
        delegate.onConnect = { _ in
          current?.registerObject(filter, restorationIdentifier: "filter")
        }
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
}
