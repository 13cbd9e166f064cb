public import RestorationFoundation

/// What is known of a window, connected or not.
public final class SceneSession {
  /// The name of the window for as long as it is stored.
  public var persistentIdentifier: String { node.identifier }

  /// The role of the window.
  public var role: String { node.content.role }

  /// The name of the configuration that makes the window; nil for the first one of the role.
  public var configurationName: String? { node.content.configurationName }

  /// The scene of the window while it is connected.
  public internal(set) weak var scene: RestorableScene?

  /// What lists of windows show.
  public var title: String? { node.content.activity?.title }

  /// Why the window could not be connected when that was tried last; nil if it could.
  public internal(set) var failure: RestorationError?

  /// The activity that was stored last; a copy, which does not change the session.
  public var stateRestorationActivity: UserActivity? {
    get { node.content.activity.map { UserActivity($0) } }
    set { node.content.activity = newValue?.content }
  }

  /// Values of the app that stay with the session; the next save stores them.
  public var userInfo: [String: PropertyListValue] {
    get { node.content.userInfo }
    set { node.content.userInfo = newValue }
  }

  /// Whether the window comes back in the next launch.
  ///
  /// Set it to false for a window that should leave nothing behind: the next save removes what is stored
  /// of the window but the name of the session, which the next launch discards. From the start it is
  /// that of the ``SceneConfiguration/isRestorable``.
  public var isRestorable: Bool {
    get { node.content.isRestorable }
    set {
      node.content.isRestorable = newValue
      scene?.noteRestorable()
    }
  }

  /// When the window was closed; nil for one that is open.
  public var closedAt: Date? { node.content.closedAt }

  let node: SceneNode
  /// The calls that connect, disconnect or close the window, one after the other.
  let turns = TurnQueue()
  /// Whether the window is being discarded, so that no save asks it.
  var isLeaving = false
  private(set) var state: SessionState

  /// Creates the session of a window that is stored.
  init(_ node: SceneNode) {
    self.node = node
    state = node.content.closedAt == nil ? .stored : .closed
  }

  /// Goes on after an event; false if nothing changes.
  @discardableResult
  func go(on event: SessionState.Event) -> Bool {
    guard let next = state.after(event) else { return false }
    state = next
    if next == .connected, closedAt != nil { node.content.closedAt = nil }
    return true
  }

  init(_ role: String, configurationName: String?) {
    let content = SceneContent(role: role, configurationName: configurationName)
    node = SceneNode(UUID().uuidString.lowercased(), content)
    state = .new
  }
}

extension SceneSession: Hashable {
  /// Whether two sessions are of the same window.
  public static func == (left: SceneSession, right: SceneSession) -> Bool {
    left.persistentIdentifier == right.persistentIdentifier
  }

  /// Hashes the name of the window.
  public func hash(into hasher: inout Hasher) { hasher.combine(persistentIdentifier) }
}

@available(*, unavailable, message: "a session belongs to the actor of its host")
extension SceneSession: Sendable {}

/// A window that is connected.
public final class RestorableScene {
  /// The session of the window.
  public let session: SceneSession

  /// Where the window is on its way to the front and back.
  public private(set) var activationState = ActivationState.unattached

  /// Follows the window; nil when the scene is not connected any more.
  public private(set) var delegate: (any SceneDelegate)?

  /// What became of the restore of the window; nil as long as it is under way.
  public internal(set) var restoration: RestorationReport?

  /// Whether the scene has changed since its last save.
  ///
  /// Set it after a change of which nothing that is saved says so: the next save asks the delegate for the activity.
  public var needsSave: Bool {
    get { isMarked || keeper.hasChanged(session.node) }
    set {
      isMarked = newValue
      if newValue { session.node.invalidateRestorableState() }
    }
  }

  /// Whether the app has said that the scene has changed, and whether a save has asked the delegate for the activity:
  /// until then nobody knows who says in the window that he has changed.
  private(set) var (isMarked, isAsked) = (false, false)

  /// What the user is doing in the window, for its delegate to return from
  /// ``SceneDelegate/stateRestorationActivity(for:)``.
  ///
  /// When the activity needs saving, the scene needs saving, too.
  public var userActivity: UserActivity? {
    didSet {
      userActivity?.needsSaveChanged = { [weak self] in self?.needsSave = true }
      if userActivity?.needsSave == true { needsSave = true }
    }
  }

  let keeper: StateKeeper
  private let responders = ActivityResponders()

  init(_ session: SceneSession, _ keeper: StateKeeper, _ delegate: any SceneDelegate) {
    (self.session, self.keeper, self.delegate) = (session, keeper, delegate)
    session.node.delegate = delegate as? any StateDelegate
  }

  /// Restores a node that came after the window, as the keeper does.
  ///
  /// - Parameters:
  ///   - node: The node.
  ///   - parent: The node that contains or presents the node; nil for a root of the window.
  /// - Returns: What happened to the node and all below it.
  /// - Throws: As the keeper's method.
  @discardableResult
  public func restore(
    late node: any RestorableNode, below parent: (any RestorableNode)? = nil
  ) async throws(RestorationError) -> RestorationReport {
    try await keeper.restore(late: node, below: parent ?? session.node)
  }

  /// Lets a responder say what an activity has.
  ///
  /// - Parameters:
  ///   - activity: The activity; nil for none any more.
  ///   - responder: The responder, which is not kept alive.
  public func setActivity(_ activity: UserActivity?, of responder: any UserActivityResponder) {
    responders.set(activity, of: responder)
  }

  // MARK: Coming and going

  func show(_ options: SceneConnectionOptions) {
    activationState = .background
    delegate?.scene(self, willConnectTo: session, options: options)
    session.node.roots = { [weak self] in
      self.flatMap { scene in scene.delegate?.restorationRoots(for: scene) } ?? []
    }
    enterForeground()
  }

  /// Says whether values of the window may be stored while the actor is busy.
  func noteRestorable() {
    values.table.note(session.persistentIdentifier, isRestorable: session.isRestorable)
  }

  func restoreInteractionState() {
    guard let activity = session.stateRestorationActivity else { return }
    delegate?.scene(self, restoreInteractionStateWith: activity)
  }

  private func enterForeground() {
    activationState = .foregroundInactive
    delegate?.sceneWillEnterForeground(self)
  }

  func activate(with activity: UserActivity?) {
    if activationState == .background { enterForeground() }
    if let activity {
      delegate?.scene(self, continue: activity)
      needsSave = true
    }
    guard activationState == .foregroundInactive else { return }
    activationState = .foregroundActive
    delegate?.sceneDidBecomeActive(self)
  }

  func enterBackground() {
    if activationState == .foregroundActive {
      activationState = .foregroundInactive
      delegate?.sceneWillResignActive(self)
    }
    if activationState == .foregroundInactive {
      activationState = .background
      delegate?.sceneDidEnterBackground(self)
    }
  }

  func leave() {
    activationState = .unattached
    delegate?.sceneDidDisconnect(self)
    (delegate, session.node.roots, session.scene) = (nil, nil, nil)
  }

  // MARK: Saving

  /// Whether something in the window says that it has changed since it was asked.
  var hasChanged: Bool { needsSave || keeper.hasChanges }

  /// Asks for the activity, which belongs to what a save stores of the window.
  func prepareSave() {
    guard let delegate, session.isRestorable else { return }
    (isMarked, isAsked) = (false, true)
    let node = session.node
    (node.isPrepared, node.activityProblem) = (true, nil)
    defer { node.isPrepared = false }
    node.content.activity = updatedActivity(delegate)
    keeper.giveBack([node])
  }

  private func updatedActivity(_ delegate: any SceneDelegate) -> UserActivity.Content? {
    guard let activity = delegate.stateRestorationActivity(for: self) else { return nil }
    activity.delegate?.userActivityWillSave(activity)
    let responders = responders.responders(of: activity)
    if !responders.isEmpty { activity.userInfo = .init() }
    for responder in responders { responder.updateUserActivityState(activity) }
    delegate.scene(self, didUpdate: activity)
    activity.needsSave = false
    let type = activity.activityType
    guard activity.isValid, keeper.settings.host?.declaredActivityTypes.contains(type) == true
    else {
      session.node.activityProblem = .activityNotStored(
        type,
        activity.isValid
          ? "its type is not declared. Add it to the host's declaredActivityTypes."
          : "it was invalidated. Return nil for no activity.")
      return nil
    }
    let missing = activity.requiredUserInfoKeys.subtracting(activity.userInfo.keys)
    if !missing.isEmpty { session.node.activityProblem = .requiredKeysMissing(missing.sorted()) }
    return activity.content.reducedToRequiredKeys
  }
}

@available(*, unavailable, message: "a scene belongs to the actor of its host")
extension RestorableScene: Sendable {}
