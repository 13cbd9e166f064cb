package import RestorationKit

/// A scene's delegate whose every answer can be set.
@MainActor
package final class TestSceneDelegate: @MainActor SceneDelegate {
  package var connected: [(session: SceneSession, options: SceneConnectionOptions)] = []
  package var activity: UserActivity?
  package var roots: [any RestorableNode] = []
  package var interactions: [UserActivity] = []
  package var continued: [UserActivity] = []
  package var onUpdate: ((UserActivity) -> Void)?
  package var onConnect: ((Scene) -> Void)?
  package var becameAvailable = 0

  package init() {}

  package func scene(
    _ scene: Scene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {
    connected.append((session, options))
    onConnect?(scene)
  }

  package func restorationRoots(for scene: Scene) -> [any RestorableNode] { roots }
  package func stateRestorationActivity(for scene: Scene) -> UserActivity? { activity }
  package func scene(_ scene: Scene, didUpdate userActivity: UserActivity) {
    onUpdate?(userActivity)
  }

  package func scene(_ scene: Scene, restoreInteractionStateWith userActivity: UserActivity) {
    interactions.append(userActivity)
  }

  package func sceneStateDidBecomeAvailable(_ scene: Scene) {
    becameAvailable += 1
  }

  package func scene(_ scene: Scene, continue userActivity: UserActivity) {
    continued.append(userActivity)
  }
}

@MainActor
package final class TestHostDelegate: @MainActor SceneHostDelegate {
  package var discarded: [[String]] = []
  package var configuration: SceneConfiguration?
  package var skipped: Set<String> = []
  package var finishedCount = 0

  package init() {}

  package func host(_ host: SceneHost, shouldRestore session: SceneSession) -> Bool {
    !skipped.contains(session.persistentIdentifier)
  }

  package func hostDidFinishRestoringScenes(_ host: SceneHost) {
    finishedCount += 1
  }

  package func host(
    _ host: SceneHost, configurationForConnecting session: SceneSession,
    options: SceneConnectionOptions
  ) -> SceneConfiguration? { configuration }

  package func host(_ host: SceneHost, didDiscardSceneSessions sessions: [SceneSession]) {
    discarded.append(sessions.map(\.persistentIdentifier))
  }
}

/// Adds one value to an activity.
@MainActor
package final class TestResponder: @MainActor UserActivityResponder {
  private let values: [String: PropertyListValue]

  package init(_ values: [String: PropertyListValue]) {
    self.values = values
  }

  package func updateUserActivityState(_ activity: UserActivity) {
    activity.addUserInfoEntries(from: values)
  }
}
