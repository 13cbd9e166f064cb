/// One window of the app while it is open.
///
/// ``SceneHost`` makes it and lets it go; its ``SceneSession`` stays.
public final class RestorableScene {
  /// The session, which stays when the scene is gone.
  public let session: SceneSession

  /// How far the scene is from the user.
  public internal(set) var activationState: ActivationState = .unattached

  /// What the user is doing in the scene, for its delegate to return from
  /// ``SceneDelegate/stateRestorationActivity(for:)``.
  ///
  /// While the activity needs saving, the scene needs saving, too.
  public var userActivity: UserActivity? {
    didSet {
      userActivity?.needsSaveChanged = { [signal = engine.signal] in signal.tell() }
      if userActivity?.needsSave == true { engine.signal.tell() }
    }
  }

  /// Follows the scene; kept alive until it disconnects.
  public internal(set) var delegate: (any SceneDelegate)?

  /// Who adds to which activity.
  let responders = ActivityResponders()

  /// Whether the scene has changed since its last save.
  ///
  /// A value of ``SceneStorage`` sets it, and so does a change of a property that
  /// ``track(_:)`` reads. Set it yourself after any other change. A save clears it.
  public var needsSave: Bool {
    get { changes.isSet }
    set {
      changes.isSet = newValue
      if newValue { engine.signal.tell() }
    }
  }

  /// What happened to the scene's nodes when it connected; nil before.
  ///
  /// A failure says why the stored state could not be read. The scene starts
  /// afresh then, and the next save sets the stored state aside.
  public internal(set) var restoration: Result<RestorationReport, RestorationError>?

  /// Whether the scene is saved and restored now, and if not, why.
  public var restorationStatus: RestorationStatus { engine.status }

  let engine: StateEngine
  /// Whether the interaction state was restored.
  var hasInteractionState = false

  let changes = ChangeFlag()
  var tracked: [TrackedReading] = []

  let values = ValueStore(ofScene: true)

  init(_ session: SceneSession, engine: StateEngine) {
    self.session = session
    self.engine = engine
    engine.setValues(values)
    values.listenToChanges { [changes, signal = engine.signal] in
      changes.isSet = true
      signal.tell()
    }
  }

  /// Leaves out an activity that has expired, and hands out the stored values.
  func takeContent() {
    session.dropActivity(expiredAt: engine.settings.now())
    values.take(session.content.storage)
  }

  /// Makes an object of this scene known, so that its nodes can refer to it.
  ///
  /// As ``StateKeeper/registerObject(_:restorationIdentifier:)``. An object that is
  /// registered with the host's keeper is known in all scenes, and saved with each
  /// scene that refers to it.
  ///
  /// - Parameters:
  ///   - object: The object; not kept alive.
  ///   - identifier: Its name in the scene.
  public func registerObject(
    _ object: any RestorableObject, restorationIdentifier identifier: String
  ) {
    engine.objects.register(object, identifier: identifier)
  }

  /// Restores a node that came after the restore of the scene, from the state that is
  /// kept for it.
  ///
  /// As ``StateKeeper/restore(late:below:)``; a delegate that is a
  /// ``StateDelegate`` takes part.
  ///
  /// - Parameters:
  ///   - node: The node, with its identifier.
  ///   - parent: The node that contains or presents it; nil for a root.
  /// - Returns: What happened to the node and all below it.
  /// - Throws: Nothing now; later versions may throw ``RestorationError``.
  /// - Complexity: O(*n*) in what is restored.
  @discardableResult
  public func restore(
    late node: any RestorableNode, below parent: (any RestorableNode)? = nil
  ) async throws(RestorationError) -> RestorationReport {
    try await engine.restore(late: node, below: parent) { delegate as? any StateDelegate }
  }

  /// Gives up the states that are kept beside, or in place of, the state of a node that is back.
  ///
  /// As ``StateKeeper/discardKeptState(of:)``.
  ///
  /// - Parameter node: The node.
  public func discardKeptState(of node: any RestorableNode) async {
    await engine.discardKeptState(of: node)
  }

  /// Lets a part of the interface add to an activity whenever the scene is saved.
  ///
  /// A save empties the user info of an activity that has responders before it asks
  /// them. All responders of one activity add to the same user info.
  ///
  /// - Parameters:
  ///   - activity: The activity; nil takes the responder away. An activity
  ///     whose last responder is taken away is invalidated.
  ///   - responder: The part that adds to it; not kept alive.
  public func setActivity(_ activity: UserActivity?, of responder: any UserActivityResponder) {
    responders.set(activity, of: responder)
  }
}

@available(*, unavailable, message: "a scene belongs to the actor of its host")
extension RestorableScene: Sendable {}
