/// One call that the library made to the app, for tests and for debugging.
///
/// A keeper tells of the calls that a save or a restore makes, and a host tells of the
/// calls about its scenes. One closure can take both.
public struct RestorationTrace: Hashable, Codable, Sendable {
  /// The hook that was called, named as in the app.
  public enum Call: String, Hashable, Codable, Sendable {
    // MARK: In a save

    /// The delegate's ``StateDelegate/shouldSaveApplicationState(with:)``.
    case shouldSaveApplicationState
    /// The delegate's ``StateDelegate/willEncodeRestorableState(with:)``.
    case willEncodeRestorableState
    /// The hook of a node, a view or an object that writes its state.
    case encodeRestorableState

    /// Nothing was called: the use of a ``Restored`` value had a problem since the last save.
    /// The path ends in the value's key, if it has one; ``Restoration/problems`` has the text.
    case valueProblem

    // MARK: In a restore

    /// The delegate's ``StateDelegate/shouldRestoreApplicationState(with:)``.
    case shouldRestoreApplicationState
    /// The delegate's rename hook.
    case currentClassName
    /// A restoration class, or a closure that stands for one.
    case restorationClass
    /// The delegate's `node(at:coder:)`.
    case delegate
    /// A factory of a ``Storyboard``.
    case storyboard
    /// A node's ``RestorableNode/loadViewIfNeeded()``.
    case loadViewIfNeeded
    /// The hook of a node, a view or an object that reads its state.
    case decodeRestorableState
    /// The delegate's ``StateDelegate/layOutRestoredInterface()``.
    case layOutRestoredInterface
    /// The hook that is called after layout.
    case restoreStateAfterLayout
    /// The delegate's ``StateDelegate/didDecodeRestorableState(with:)``.
    case didDecodeRestorableState
    /// The hook that is called last, on all restored objects.
    case applicationFinishedRestoringState

    // MARK: By a host

    /// The host's delegate is asked for the configuration of a session.
    case configurationForConnecting
    /// The host's delegate is asked whether a session is to be restored.
    case shouldRestore
    /// A scene's delegate is told that its scene connects.
    case willConnectTo
    /// A scene's delegate is asked for the nodes of its scene.
    case restorationRoots
    /// A scene's delegate is told that a state that was locked can be read now.
    case sceneStateDidBecomeAvailable
    /// A scene's delegate gets the activity that was stored.
    case restoreInteractionState
    /// A scene's delegate gets an activity to continue.
    case `continue`
    /// A scene's delegate is told that its scene comes to the front.
    case sceneWillEnterForeground
    /// A scene's delegate is told that its scene is active.
    case sceneDidBecomeActive
    /// A scene's delegate is told that its scene is about to be inactive.
    case sceneWillResignActive
    /// A scene's delegate is told that its scene is in the background.
    case sceneDidEnterBackground
    /// A scene's delegate is told that its scene is gone.
    case sceneDidDisconnect
    /// A scene's delegate is asked for the activity to store.
    case stateRestorationActivity
    /// An activity's delegate is told that the activity is about to be saved.
    case userActivityWillSave
    /// A responder is asked to bring its activity up to date.
    case updateUserActivityState
    /// A scene's delegate is told that an activity is up to date.
    case didUpdate
    /// The host's delegate is told that the restore of all scenes has ended.
    case hostDidFinishRestoringScenes
    /// The host's delegate is told which sessions were discarded.
    case didDiscardSceneSessions
  }

  /// The hook that was called.
  public let call: Call

  /// The session of the scene, as its ``SceneSession/persistentIdentifier``; nil for a
  /// state that belongs to no scene, and for a call about all scenes.
  public internal(set) var session: String?

  /// The path of the object that was called; empty for a delegate.
  public internal(set) var path = RestorationPath()
}

extension RestorationTrace: CustomStringConvertible {
  /// The call, then the session and the path if there are any.
  public var description: String {
    [call.rawValue, session, path.count == 0 ? nil : path.description]
      .compactMap(\.self).joined(separator: " ")
  }
}
