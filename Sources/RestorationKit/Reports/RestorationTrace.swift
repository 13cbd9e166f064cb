/// One call that the library made to the app, for tests and people who look.
///
/// A keeper tells of the calls that a save or a restore makes, and a host of those
/// about its scenes. One closure can take both.
public struct RestorationTrace: Hashable, Codable, Sendable {
  /// What was called; named as in the app.
  public enum Call: String, Hashable, Codable, Sendable {
    // MARK: In a save

    case shouldSaveApplicationState, willEncodeRestorableState, encodeRestorableState

    // MARK: In a restore

    case shouldRestoreApplicationState
    /// The delegate's rename hook.
    case currentClassName
    /// A restoration class, or a closure that stands for one.
    case restorationClass
    /// The delegate's `node(at:coder:)`.
    case delegate
    case storyboard
    case loadViewIfNeeded, decodeRestorableState, layOutRestoredInterface
    case restoreStateAfterLayout, didDecodeRestorableState, applicationFinishedRestoringState

    // MARK: By a host

    case configurationForConnecting, shouldRestore, willConnectTo, restorationRoots
    case sceneStateDidBecomeAvailable, restoreInteractionState, `continue`
    case sceneWillEnterForeground, sceneDidBecomeActive
    case sceneWillResignActive, sceneDidEnterBackground, sceneDidDisconnect
    case stateRestorationActivity, userActivityWillSave, updateUserActivityState, didUpdate
    case hostDidFinishRestoringScenes, didDiscardSceneSessions
  }

  /// What was called.
  public let call: Call

  /// Of which session, as its ``SceneSession/persistentIdentifier``; nil for a state
  /// that belongs to no scene, and for what is about all of them.
  public internal(set) var session: String?

  /// On what; empty for a delegate.
  public internal(set) var path = RestorationPath()
}

extension RestorationTrace: CustomStringConvertible {
  /// The call, then the session and the path if there are any.
  public var description: String {
    [call.rawValue, session, path.count == 0 ? nil : path.description]
      .compactMap(\.self).joined(separator: " ")
  }
}
