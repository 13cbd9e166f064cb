extension SceneHost {
  /// Opens a new scene.
  ///
  /// - Parameters:
  ///   - role: What it is for.
  ///   - configurationName: The configuration; the first of the role if nil.
  ///   - activity: What the user wants to do in it.
  /// - Returns: The scene, which is active.
  /// - Throws: ``RestorationError`` with `noConfiguration`, or `archive`.
  @discardableResult
  public func open(
    _ role: SceneRole = .windowApplication, configurationName: String? = nil,
    activity: UserActivity? = nil
  ) async throws(RestorationError) -> Scene {
    guard let configuration = defaultConfiguration(role, configurationName) else {
      throw RestorationError(
        .noConfiguration, "No configuration is registered for the role “\(role.rawValue)”.")
    }
    let session = addSession(configuration)
    let scene = try await connect(session, activity: activity)
    try await writeIndex()
    return scene
  }

  /// Connects a session to a new scene, with the state that was stored.
  ///
  /// The calls: `willConnectTo`, `sceneWillEnterForeground`, the nodes are
  /// restored, `restoreInteractionStateWith` if there is an activity, and
  /// `sceneDidBecomeActive`. A connected session comes to the front instead.
  ///
  /// - Parameters:
  ///   - session: One of ``openSessions``.
  ///   - activity: What the user wants to do in it.
  /// - Returns: The scene, which is active.
  /// - Throws: ``RestorationError`` with `noConfiguration`. A state that cannot
  ///   be read is a problem in the report of the next save, and the scene
  ///   connects without it.
  @discardableResult
  public func connect(
    _ session: SceneSession, activity: UserActivity? = nil
  ) async throws(RestorationError) -> Scene {
    // A second call while the first one reads waits for the scene of that one.
    while let underWay = connections[session.persistentIdentifier] { await underWay.end() }
    if let scene = session.scene {
      activate(scene, with: activity)
      return scene
    }
    let underWay = RestoreUnderWay()
    connections[session.persistentIdentifier] = underWay
    defer {
      connections[session.persistentIdentifier] = nil
      underWay.finish()
    }
    let options = SceneConnectionOptions(
      userActivities: [activity].compactMap(\.self), restoreReason: restoreReason)
    let configuration = try chosenConfiguration(for: session, options)
    let parts = configuration.restoration[restoreReason] ?? .all
    let changes = session.isChanged ? session.content : nil
    let connection = SceneConnection(restoresNodes: parts.contains(.nodes)) { content in
      var content = changes ?? content ?? session.content ?? SceneContent()
      if !parts.contains(.activity) { content.activity = nil }
      if !parts.contains(.storage) { content.storage = [:] }
      if content.activity?.isExpired(at: self.keeper.now()) == true { content.activity = nil }
      return self.begin(session, content, configuration, options)
    }
    let keeper = keeper(of: session)
    keeper.delegate = connection
    do {
      connection.report = try await keeper.restore {
        connection.scene.map { $0.delegate?.restorationRoots(for: $0) ?? [] } ?? []
      }
      if connection.report?.outcome == .locked { session.content = nil }
    } catch {
      session.readingFailure = error.description
    }
    keeper.delegate = nil
    let scene = connection.begin(with: nil)
    finish(scene)
    return scene
  }

  private func begin(
    _ session: SceneSession, _ content: SceneContent, _ configuration: SceneConfiguration,
    _ options: SceneConnectionOptions
  ) -> Scene {
    session.content = content
    let scene = Scene(session, storage: content.storage)
    scene.delegate = configuration.makeDelegate()
    setScene(scene, of: session)
    moveToFront(session)
    scene.activationState = .background
    trace?("willConnectTo")
    scene.delegate?.scene(scene, willConnectTo: session, options: options)
    trace?("sceneWillEnterForeground")
    scene.activationState = .foregroundInactive
    scene.delegate?.sceneWillEnterForeground(scene)
    return scene
  }

  private func finish(_ scene: Scene) {
    if let activity = scene.session.stateRestorationActivity {
      trace?("restoreInteractionState")
      scene.delegate?.scene(scene, restoreInteractionStateWith: activity)
    }
    becomeActive(scene)
  }

  private func becomeActive(_ scene: Scene) {
    scene.activationState = .foregroundActive
    trace?("sceneDidBecomeActive")
    scene.delegate?.sceneDidBecomeActive(scene)
  }

  /// Brings a connected scene to the front.
  func activate(_ scene: Scene, with activity: UserActivity?) {
    moveToFront(scene.session)
    if scene.activationState == .background {
      trace?("sceneWillEnterForeground")
      scene.activationState = .foregroundInactive
      scene.delegate?.sceneWillEnterForeground(scene)
    }
    if let activity {
      trace?("continue")
      scene.delegate?.scene(scene, continue: activity)
    }
    if scene.activationState != .foregroundActive { becomeActive(scene) }
  }
}

/// The one who takes part in restoring a scene's nodes: it connects the scene
/// between reading its state and making its nodes.
final class SceneConnection: StateKeeperDelegate {
  private let restoresNodes: Bool
  private let connect: (SceneContent?) -> Scene
  private(set) var scene: Scene?
  var report: RestorationReport?

  static let contentKey = "scene"

  init(restoresNodes: Bool, _ connect: @escaping (SceneContent?) -> Scene) {
    self.restoresNodes = restoresNodes
    self.connect = connect
  }

  /// The scene, connected now if nothing was stored.
  func begin(with content: SceneContent?) -> Scene {
    if let scene { return scene }
    let made = connect(content)
    scene = made
    return made
  }

  func shouldRestoreApplicationState(with coder: StateDecoder) -> Bool {
    var content: SceneContent?
    do {
      content = try coder.decodeIfPresent(SceneContent.self, forKey: Self.contentKey)
    } catch {
      let scene = begin(with: nil)
      scene.session.readingFailure = "\(error)"
      return restoresNodes
    }
    _ = begin(with: content)
    return restoresNodes
  }

  func shouldSaveApplicationState(with coder: StateEncoder) -> Bool { true }
}
