/// Opens windows, and brings them to the front.
extension SceneHost {
  /// Opens a new scene.
  ///
  /// - Parameters:
  ///   - role: What it is for.
  ///   - configurationName: The configuration; the first of the role if nil.
  ///   - activity: What the user wants to do in it.
  /// - Returns: The scene, which is active. It comes back once it has been saved;
  ///   ``RestorableScene/needsSave`` is true from the start.
  /// - Throws: ``RestorationError`` with `noConfiguration` or `noDelegate`; then
  ///   there is no new session.
  @discardableResult
  public func open(
    _ role: SceneRole = .windowApplication, configurationName: String? = nil,
    activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    guard let configuration = configuration(of: role, named: configurationName) else {
      throw .noConfiguration(role, configurationName)
    }
    return try await open(SceneSession(configuration), activity: activity)
  }

  /// Shows a value in the scene that already shows an equal one, or else in a new scene.
  ///
  /// - Parameters:
  ///   - value: The value. It is stored with the scene.
  ///   - role: What the scene is for.
  ///   - configurationName: The configuration of scenes for such values.
  /// - Returns: The scene, which is active.
  /// - Throws: ``RestorationError`` with `noConfiguration`, `archive`, or
  ///   `unsupportedValue` if the value cannot be encoded.
  @discardableResult
  public func open<Value: Hashable & Codable>(
    showing value: Value, _ role: SceneRole = .windowApplication, configurationName: String? = nil
  ) async throws(RestorationError) -> RestorableScene {
    let shown = openSessions.first { session in
      session.role == role
        && (configurationName == nil || session.configurationName == configurationName)
        && session.windowValue(Value.self) == value
    }
    if let shown { return try await connect(shown) }
    guard let configuration = configuration(of: role, named: configurationName) else {
      throw .noConfiguration(role, configurationName)
    }
    let session = SceneSession(configuration)
    try session.setWindowValue(value)
    return try await open(session)
  }

  /// Hands an activity that came in to the scene that was used last, connected or not, or to
  /// a new scene if there is none.
  ///
  /// Where several windows show different things, only the app knows the right one; then call
  /// ``connect(_:activity:)`` with its session.
  ///
  /// - Parameter activity: The activity that came in.
  /// - Returns: The scene that has it now.
  /// - Throws: As ``connect(_:activity:)`` and ``open(_:configurationName:activity:)``.
  @discardableResult
  public func continueActivity(_ activity: UserActivity) async throws(RestorationError)
    -> RestorableScene
  {
    if let last = openSessions.first { return try await connect(last, activity: activity) }
    return try await open(activity: activity)
  }

  /// Opens a scene again that was closed, as it was then.
  ///
  /// - Parameters:
  ///   - session: One of ``closedSessions``.
  ///   - activity: What the user wants to do in it.
  /// - Returns: The scene, which is active.
  /// - Throws: As ``connect(_:activity:)``; the session then stays closed.
  ///   ``RestorationError`` with `notConnected` if it is not closed, or gone.
  @discardableResult
  public func reopen(
    _ session: SceneSession, activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    guard let row = sessions[session], row.session === session, row.state.closedAt != nil else {
      throw RestorationError(
        .notConnected, "The session is not closed. Use one of the host's closedSessions.")
    }
    sessions.change(session, .connect)
    return try await connect(session, activity, toFront: true)
  }

  /// Connects a session that is new.
  func open(
    _ session: SceneSession, activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    sessions.connect(session, engine(ofScene: session.persistentIdentifier))
    return try await connect(session, activity, toFront: true)
  }
}
