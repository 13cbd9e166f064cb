package import RestorationKit

/// A scene's delegate whose every answer can be set, and that writes down what
/// is called.
@MainActor
package final class TestSceneDelegate: @MainActor SceneDelegate {
  package var connected: [(session: SceneSession, options: SceneConnectionOptions)] = []
  package var activity: UserActivity?
  package var roots: [any RestorableNode] = []
  package var interactions: [UserActivity] = []
  package var continued: [UserActivity] = []
  package var onUpdate: ((UserActivity) -> Void)?
  package var onConnect: ((RestorableScene) -> Void)?
  /// Told of every call that hands over a scene.
  package var onCall: ((String, RestorableScene) -> Void)?
  private let calls: Trace

  /// - Parameter calls: Where calls are written down.
  package init(_ calls: Trace = Trace()) {
    self.calls = calls
  }

  /// One that shows a node.
  package convenience init(root: TestNode) {
    self.init()
    roots = [root]
  }

  private func note(_ call: String, _ scene: RestorableScene, _ handed: String?...) {
    calls.add("\(call) \(calls.number(of: scene.session))", handed)
    onCall?(call, scene)
  }

  package func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    connected.append((session, options))
    note(
      "willConnectTo", scene,
      session.persistentIdentifier == scene.session.persistentIdentifier ? nil : "another session",
      session.stateRestorationActivity.map { "stored \($0.summary)" },
      options.userActivities.isEmpty ? nil : "for \(options.userActivities.map(\.summary))")
    onConnect?(scene)
  }

  package func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] {
    note("restorationRoots", scene)
    return roots
  }

  package func stateRestorationActivity(for scene: RestorableScene) -> UserActivity? {
    note("stateRestorationActivity", scene)
    return activity
  }

  package func scene(_ scene: RestorableScene, didUpdate userActivity: UserActivity) {
    note("didUpdate", scene, userActivity.summary)
    onUpdate?(userActivity)
  }

  package func scene(
    _ scene: RestorableScene, restoreInteractionStateWith userActivity: UserActivity
  ) {
    note("restoreInteractionState", scene, userActivity.summary)
    interactions.append(userActivity)
  }

  package func scene(_ scene: RestorableScene, continue userActivity: UserActivity) {
    note("continue", scene, userActivity.summary)
    continued.append(userActivity)
  }

  package func sceneWillEnterForeground(_ scene: RestorableScene) {
    note("sceneWillEnterForeground", scene)
  }

  package func sceneDidBecomeActive(_ scene: RestorableScene) {
    note("sceneDidBecomeActive", scene)
  }
  package func sceneWillResignActive(_ scene: RestorableScene) {
    note("sceneWillResignActive", scene)
  }
  package func sceneDidEnterBackground(_ scene: RestorableScene) {
    note("sceneDidEnterBackground", scene)
  }
  package func sceneDidDisconnect(_ scene: RestorableScene) { note("sceneDidDisconnect", scene) }
}

@MainActor
extension RestorableScene {
  /// The first node that its delegate shows.
  package var testRoot: TestNode? {
    (delegate as? TestSceneDelegate)?.roots.first as? TestNode
  }
}

/// A host's delegate whose every answer can be set, and that writes down what is
/// called.
@MainActor
package final class TestHostDelegate: @MainActor SceneHostDelegate {
  package var discarded: [[String]] = []
  package var configuration: SceneConfiguration?
  package var skipped: Set<String> = []
  package var finishedCount = 0
  private let calls: Trace

  /// - Parameter calls: Where calls are written down.
  package init(_ calls: Trace = Trace()) {
    self.calls = calls
  }

  package func host(_ host: SceneHost, shouldRestore session: SceneSession) -> Bool {
    calls.add("shouldRestore \(calls.number(of: session))")
    return !skipped.contains(session.persistentIdentifier)
  }

  package func hostDidFinishRestoringScenes(_ host: SceneHost) {
    calls.add("hostDidFinishRestoringScenes")
    finishedCount += 1
  }

  package func host(
    _ host: SceneHost, configurationForConnecting session: SceneSession,
    options: SceneConnectionOptions
  ) -> SceneConfiguration? {
    calls.add(
      "configurationForConnecting \(calls.number(of: session))",
      [options.userActivities.isEmpty ? nil : "for \(options.userActivities.map(\.summary))"])
    return configuration
  }

  package func host(_ host: SceneHost, didDiscardSceneSessions sessions: [SceneSession]) {
    calls.add("didDiscardSceneSessions \(sessions.map { calls.number(of: $0) })")
    discarded.append(sessions.map(\.persistentIdentifier))
  }
}

/// Adds one value to an activity, and writes down what it had before.
@MainActor
package final class TestResponder: @MainActor UserActivityResponder {
  private let values: [String: PropertyListValue]
  private let calls: Trace

  /// - Parameters:
  ///   - values: What it adds.
  ///   - calls: Where calls are written down.
  package init(_ values: [String: PropertyListValue], _ calls: Trace = Trace()) {
    self.values = values
    self.calls = calls
  }

  package func updateUserActivityState(_ activity: UserActivity) {
    calls.add("updateUserActivityState, \(activity.summary)")
    activity.addUserInfoEntries(from: values)
  }
}

/// An activity's delegate that adds one value, and writes down what it had
/// before.
@MainActor
package final class TestActivityOwner: @MainActor UserActivityDelegate {
  private let values: [String: PropertyListValue]
  private let calls: Trace

  /// - Parameters:
  ///   - values: What it adds.
  ///   - calls: Where calls are written down.
  package init(_ values: [String: PropertyListValue] = [:], _ calls: Trace = Trace()) {
    self.values = values
    self.calls = calls
  }

  package func userActivityWillSave(_ activity: UserActivity) {
    calls.add("userActivityWillSave, \(activity.summary)")
    activity.addUserInfoEntries(from: values)
  }
}

extension UserActivity {
  /// Its title, and the keys of its user info.
  fileprivate var summary: String {
    "\(title ?? activityType) \(userInfo.keys.sorted())"
  }
}
