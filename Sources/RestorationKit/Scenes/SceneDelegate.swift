/// Follows one scene through its life; the scene keeps it alive.
///
/// All methods have defaults that do nothing. A scene's delegate that is also a
/// ``StateDelegate`` takes part in saving and restoring the scene's nodes, as a
/// keeper's delegate does, but has no gates. <doc:working-with-scenes> has the order of the calls.
public protocol SceneDelegate: AnyObject {
  /// Builds the interface of a scene that connects.
  ///
  /// ``SceneConnectionOptions/userActivities`` say what the user wants now, and
  /// ``SceneSession/stateRestorationActivity`` where the user was. Prefer the first;
  /// ``SceneConnectionOptions/activity(restoring:)`` does so.
  ///
  /// - Parameters:
  ///   - scene: The new scene.
  ///   - session: Its session, with the stored activity and values.
  ///   - options: Why it connects.
  func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions)

  /// The roots of the scene's trees of nodes; none by default.
  ///
  /// They are saved with the scene. They are asked for in every save, but for one of another
  /// scene alone, and when the scene has connected; then they are restored, as the roots
  /// that are given to ``StateKeeper/restore(into:)``.
  ///
  /// - Parameter scene: The scene.
  /// - Returns: The roots, which exist already.
  func restorationRoots(for scene: RestorableScene) -> [any RestorableNode]

  /// What the user is doing in the scene; nil by default.
  ///
  /// Nil clears the stored activity: there is nothing to come back to.
  ///
  /// - Parameter scene: The scene that is saved.
  /// - Returns: The activity, of which a copy is stored.
  func stateRestorationActivity(for scene: RestorableScene) -> UserActivity?

  /// Adds to the activity after all others have, before a copy of it is stored.
  ///
  /// - Parameters:
  ///   - scene: The scene that is saved.
  ///   - userActivity: The activity whose copy will be stored.
  func scene(_ scene: RestorableScene, didUpdate userActivity: UserActivity)

  /// Brings back state that needs the interface, such as the focus.
  ///
  /// Called once if there is an activity: after the scene has connected and before it
  /// is active.
  ///
  /// - Parameters:
  ///   - scene: The scene.
  ///   - userActivity: The activity that was stored last.
  func scene(_ scene: RestorableScene, restoreInteractionStateWith userActivity: UserActivity)

  /// Takes an activity that came in for a scene that is connected.
  ///
  /// - Parameters:
  ///   - scene: The scene.
  ///   - userActivity: What the user wants to go on with.
  func scene(_ scene: RestorableScene, continue userActivity: UserActivity)

  /// The scene will be seen.
  func sceneWillEnterForeground(_ scene: RestorableScene)

  /// The scene takes input.
  func sceneDidBecomeActive(_ scene: RestorableScene)

  /// The scene will not take input any more.
  func sceneWillResignActive(_ scene: RestorableScene)

  /// The scene is not seen any more; it is saved after this.
  func sceneDidEnterBackground(_ scene: RestorableScene)

  /// The scene is gone; its session may connect again.
  func sceneDidDisconnect(_ scene: RestorableScene)
}

extension SceneDelegate {
  /// Does nothing.
  public func scene(
    _ scene: RestorableScene, willConnectTo session: SceneSession, options: SceneConnectionOptions
  ) {}

  /// None.
  public func restorationRoots(for scene: RestorableScene) -> [any RestorableNode] { [] }

  /// None.
  public func stateRestorationActivity(for scene: RestorableScene) -> UserActivity? { nil }

  /// Does nothing.
  public func scene(_ scene: RestorableScene, didUpdate userActivity: UserActivity) {}

  /// Does nothing.
  public func scene(
    _ scene: RestorableScene, restoreInteractionStateWith userActivity: UserActivity
  ) {}

  /// Does nothing.
  public func scene(_ scene: RestorableScene, continue userActivity: UserActivity) {}

  /// Does nothing.
  public func sceneWillEnterForeground(_ scene: RestorableScene) {}

  /// Does nothing.
  public func sceneDidBecomeActive(_ scene: RestorableScene) {}

  /// Does nothing.
  public func sceneWillResignActive(_ scene: RestorableScene) {}

  /// Does nothing.
  public func sceneDidEnterBackground(_ scene: RestorableScene) {}

  /// Does nothing.
  public func sceneDidDisconnect(_ scene: RestorableScene) {}
}
