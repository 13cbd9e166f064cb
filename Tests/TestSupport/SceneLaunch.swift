internal import ArchiveCodec
package import RestorationKit

package import Foundation

/// Launches of an app with scenes over one store, without a process.
@MainActor
package final class SceneLaunch {
  package let launch = Launch()
  /// What the delegates were called for since the last
  /// ``host(isRestorable:launching:endsLast:)``, as they wrote it down.
  package let calls = Trace()
  /// Kept alive, which a host does not do.
  package private(set) lazy var hostDelegate = TestHostDelegate(calls)
  /// Those of all scenes of all launches, in the order in which they were made.
  package var delegates: [TestSceneDelegate] = []
  /// Set up every delegate that is made.
  package var prepare: ((TestSceneDelegate) -> Void)?

  package init() {}

  /// A host of a new launch; what was stored before is there.
  ///
  /// The process of the launch before has ended, unless `endsLast` is false.
  package func host(
    isRestorable: Bool = true, launching: Bool = true, endsLast: Bool = true
  ) async throws -> SceneHost {
    let host = SceneHost(try launch.keeper(endsLast: endsLast))
    host.delegate = hostDelegate
    host.declaredActivityTypes = ["product"]
    host.register(
      SceneConfiguration(isRestorable: isRestorable) { [unowned self] in makeDelegate() })
    if launching { try await host.launch() }
    calls.clear()
    return host
  }

  package func makeDelegate() -> TestSceneDelegate {
    let made = TestSceneDelegate(calls)
    prepare?(made)
    delegates.append(made)
    return made
  }

  /// What the user does with a product.
  package func activity(_ id: Int) -> UserActivity {
    let activity = UserActivity(activityType: "product")
    activity.title = "Product \(id)"
    activity.userInfo = ["id": .integer(id)]
    return activity
  }

  /// Lets an app be killed that has scenes with products 1, 2 and so on; the last one is at
  /// the front.
  @discardableResult
  package func store(count: Int) async throws -> [String] {
    let host = try await host()
    var identifiers: [String] = []
    for number in 1...count { identifiers.append(try await store(number, in: host)) }
    return identifiers
  }

  /// Stores a scene with an activity, a node, a value and user info, and lets
  /// the app be killed.
  ///
  /// - Returns: The identifier of its session.
  @discardableResult
  package func store(_ id: Int, in host: SceneHost) async throws -> String {
    let scene = try await host.open()
    let delegate = delegates[delegates.count - 1]
    delegate.activity = activity(id)
    delegate.roots = [TestNode("root", value: "\(id)")]
    scene.session.userInfo = ["kept": .integer(id)]
    DraftModel(scene).draft = "draft \(id)"
    try await host.background(scene)
    return scene.session.persistentIdentifier
  }

  /// What is stored of a session beside its nodes and values.
  package struct StoredScene: Codable {
    package struct Activity: Codable {
      package let title: String?
      package let userInfo: [String: PropertyListValue]
    }

    package let activity: Activity?
    package let userInfo: [String: PropertyListValue]
    package let isRestorable: Bool
    package let closedAt: Date?
  }

  package func storedScene(_ identifier: String) throws -> StoredScene? {
    try launch.storedRecords()?[identifier]?.state?.decode(
      StoredScene.self, forKey: "@scene")
  }

  /// What is stored of a scene; nil if that is nothing but its name.
  package func bytes(of identifier: String) -> [UInt8]? {
    guard let stored = try? launch.storedRecords(), let scene = try? storedScene(identifier),
      scene.isRestorable
    else { return nil }
    let nodes = stored.elements.filter { $0.path.hasPrefix(identifier + "/") }.map {
      "\($0.path) \((try? $0.value) ?? "")"
    }
    let lists = [scene.activity?.userInfo ?? [:], scene.userInfo].map { list in
      list.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    }
    return Array("\(nodes) \(lists)".utf8)
  }

  /// The stored value of a node in a scene.
  package func storedValue(of scene: RestorableScene) throws -> String? {
    try launch.storedRecords()?["\(scene.session.persistentIdentifier)/root"]?.value
  }
}

extension SceneHost {
  /// Saves all scenes; returns what it has said of those that had said that they have changed.
  @discardableResult
  package func saveChangedScenes(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [SceneSession: PreservationReport] {
    var changed = connectedScenes.filter(\.needsSave)
    let report = try await keeper.save([])
    if changed.isEmpty, report.writtenByteCount > 0 { changed = connectedScenes }
    var reports: [SceneSession: PreservationReport] = [:]
    for scene in changed {
      reports[scene.session] = scene.session.isRestorable ? report : try await save(scene)
    }
    return reports
  }
}

extension SceneHost {
  package func retrySkippedNodes(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(RestorationError) {
    try await keeper.retrySkippedNodes()
  }
}

extension UserActivity {
  /// The product.
  package var id: Int? { userInfo["id"]?.integerValue }
}

/// A part of a scene that has a value.
@MainActor
package final class DraftModel: @MainActor SceneMember {
  package let scene: RestorableScene
  @SceneStorage("draft") package var draft = ""
  @SceneStorage("tags") package var tags: [String: [Int]]?

  package init(_ scene: RestorableScene) {
    self.scene = scene
  }
}
