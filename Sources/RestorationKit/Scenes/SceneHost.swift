internal import ArchiveCodec
public import RestorationFoundation

/// The windows of an app: opens them, brings them back, and lets them go.
///
/// All windows are in the state of the host's keeper. A host belongs to the actor of the keeper.
///
///     let host = SceneHost(keeper)
///     host.register(SceneConfiguration { NoteWindow() })
///     try await host.launch()
///     await host.restoreScenes()
public final class SceneHost {
  /// Takes part in connecting; the host works without it, and does not keep it alive.
  public weak var delegate: (any SceneHostDelegate)?

  /// The types of activities that may be stored.
  public var declaredActivityTypes: Set<String> = []

  /// How many windows that were closed can be opened again; the one that was closed first goes first.
  ///
  /// Set it before the launch, which lets go what is more or too old.
  public var closedSceneCount = 0

  /// How long a window can be opened again after it was closed, in seconds; by default a day.
  ///
  /// A window that was closed in the future, by a clock that was set back, stays.
  public var closedSceneAge: TimeInterval = 24 * 3600

  /// The sessions whose windows come back, the one that was at the front last first.
  public var openSessions: [SceneSession] {
    // Not `ordered(by:)`, which takes longer (benchmark: start of a host).
    sessions.values.filter(\.state.isOpen).sorted { $0.node.content.turn > $1.node.content.turn }
  }

  /// The sessions whose windows were closed and can be opened again, the one that was closed last first.
  public var closedSessions: [SceneSession] {
    sessions.values.filter(\.state.isClosed).ordered { left, right in
      let (leftDate, rightDate) = (left.closedAt ?? .distantPast, right.closedAt ?? .distantPast)
      return (leftDate, left.node.content.turn) > (rightDate, right.node.content.turn)
    }
  }

  /// The scenes that are connected, in the order of ``openSessions``.
  public var connectedScenes: [RestorableScene] { openSessions.compactMap(\.scene) }

  /// Whether the last run crashed or was killed: it did not say that it was about to end; known after ``launch()``,
  /// and with a locked key when that is there.
  public private(set) var followsCrash = false

  /// The windows that are stored and cannot be read, by their identifiers; they stay stored.
  public private(set) var unreadSessions: [String: RestorationError] = .init()

  package let keeper: StateKeeper
  private let launches = TurnQueue()
  var sessions: [String: SceneSession] = .init()
  /// Keeps the scenes that are connected alive.
  var scenes: [SceneSession: RestorableScene] = .init()
  private var configurations: [SceneConfiguration] = []

  /// Creates the host of a keeper's windows.
  ///
  /// - Parameter keeper: The keeper, which has one host at most. The host keeps it alive.
  public init(_ keeper: StateKeeper) {
    self.keeper = keeper
    keeper.settings.host = self
  }

  /// Registers how the windows of a role are made.
  ///
  /// - Parameter configuration: The configuration; it takes the place of one with the same role and name.
  public func register(_ configuration: SceneConfiguration) {
    configurations.removeAll {
      $0.role == configuration.role && $0.name == configuration.name
    }
    configurations.append(configuration)
  }

  /// Reads the sessions that are stored, and makes nothing.
  ///
  /// A keeper that has not restored yet restores first, into the roots of its autosave: restore your own
  /// roots before. A window that is not restorable is discarded, as are those that were closed too long ago;
  /// the delegate is told of all in one call. After the keeper has put another state back, launch again.
  ///
  /// If the key is locked, there are no sessions until ``protectedDataDidBecomeAvailable()``.
  ///
  /// - Returns: What the keeper has restored; nil if it had before.
  /// - Throws: ``RestorationError`` as a restore of the keeper does; `inUse` if another instance has the
  ///   state. When the sessions are read, as ``discard(_:)-([SceneSession])``.
  @discardableResult
  public func launch() async throws(RestorationError) -> RestorationReport? {
    let report = try await launches.run { () async throws(RestorationError) in
      try await readSessions()
    }
    try await discard(overBound + openSessions.filter { !$0.isRestorable && $0.state == .stored })
    return report
  }

  private func readSessions() async throws(RestorationError) -> RestorationReport? {
    if keeper.settings.last != nil, keeper.autosave != nil { keeper.settings.keptHost = self }
    unreadSessions = .init()
    var report: RestorationReport?
    if keeper.document == nil {
      let restored = try await keeper.restore { keeper.autosave?.roots() ?? [] }
      if case .inUse(let process) = restored.outcome {
        throw RestorationError(ArchiveError(.locked, subject: process))
      }
      report = restored
    }
    for (identifier, node) in try await keeper.storedScenes(besides: Set(sessions.keys)) {
      do throws(RestorationError) { sessions[identifier] = SceneSession(try node.get()) } catch {
        unreadSessions[identifier] = error
      }
    }
    // Those that were opened while the key was locked stay at the front.
    for scene in connectedScenes.reversed() { moveToFront(scene.session) }
    followsCrash = keeper.known.followsCrash
    return report
  }

  /// Whether the key was locked when the sessions were to be read; then no stored file is changed.
  public var isLocked: Bool { keeper.isLocked }

  /// Reads the sessions that were locked, and saves what could not be; call the method when the key may be there.
  ///
  /// The sessions join ``openSessions`` behind those that were opened meanwhile; ``restoreScenes()`` connects them.
  ///
  /// - Throws: As ``launch()``. A key that is still locked is no error.
  public func protectedDataDidBecomeAvailable() async throws(RestorationError) {
    try await launch()
    keeper.autosave?.turns.change()
  }

  /// Forgets the windows of a state of which the keeper knows no more; those that are connected stay.
  ///
  /// - Returns: The windows that nobody connects now.
  @discardableResult
  func forgetStored() -> Set<String> {
    defer { sessions = sessions.filter { $0.value.scene != nil } }
    return Set(sessions.filter { [.stored, .closed].contains($1.state) }.keys)
  }

  /// Connects the sessions that were open, unless the delegate does not want one.
  ///
  /// - Returns: Why sessions could not be connected, if they could not.
  @discardableResult
  public func restoreScenes() async -> [SceneSession: RestorationError] {
    var failures: [SceneSession: RestorationError] = .init()
    for session in openSessions where session.scene == nil {
      // The session may have been closed while others connected.
      guard session.state == .stored, delegate?.host(self, shouldRestore: session) ?? true
      else { continue }
      do throws(RestorationError) { _ = try await connect(session, nil, toFront: false) } catch {
        failures[session] = error
      }
    }
    delegate?.hostDidFinishRestoringScenes(self)
    return failures
  }

  // MARK: Connecting

  /// Opens a new window.
  ///
  /// - Parameters:
  ///   - role: The role of the window.
  ///   - configurationName: The name of its configuration; nil for the first one of the role.
  ///   - activity: What the window is opened for.
  /// - Returns: The scene.
  /// - Throws: ``RestorationError`` with `noConfiguration` or `noDelegate`.
  @discardableResult
  public func open(
    _ role: String = SceneConfiguration.windowApplication, configurationName: String? = nil,
    activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    try await connect(SceneSession(role, configurationName: configurationName), activity: activity)
  }

  /// Shows a value in the window that already shows an equal one, or else in a new one.
  ///
  /// - Parameters:
  ///   - value: The value, which is stored with the window.
  ///   - role: The role of the window.
  ///   - configurationName: The name of the configuration of windows for such values; any one if nil.
  /// - Returns: The scene.
  /// - Throws: ``RestorationError`` as ``connect(_:activity:)``; with `unsupportedValue` if the value cannot be
  ///   encoded.
  @discardableResult
  public func open<Value: Hashable & Codable>(
    showing value: Value, _ role: String = SceneConfiguration.windowApplication,
    configurationName: String? = nil
  ) async throws(RestorationError) -> RestorableScene {
    let shown = openSessions.first { session in
      session.role == role && session.windowValue(Value.self) == value
        && (configurationName ?? session.configurationName) == session.configurationName
    }
    if let shown { return try await connect(shown) }
    let session = SceneSession(role, configurationName: configurationName)
    try session.setWindowValue(value)
    return try await connect(session)
  }

  /// Connects a session, or brings its scene to the front.
  ///
  /// - Parameters:
  ///   - session: One of ``openSessions``.
  ///   - activity: What the user wants to go on with.
  /// - Returns: The scene.
  /// - Throws: ``RestorationError`` with `noConfiguration` or `noDelegate`.
  @discardableResult
  public func connect(
    _ session: SceneSession, activity: UserActivity? = nil
  ) async throws(RestorationError) -> RestorableScene {
    try await connect(session, activity, toFront: true)
  }

  /// A second call while the first one reads waits for the scene of that one.
  func connect(
    _ session: SceneSession, _ activity: UserActivity?, toFront: Bool
  ) async throws(RestorationError) -> RestorableScene {
    try await session.turns.run { () async throws(RestorationError) in
      try await connectNow(session, activity, toFront: toFront)
    }
  }

  private func connectNow(
    _ session: SceneSession, _ activity: UserActivity?, toFront: Bool
  ) async throws(RestorationError) -> RestorableScene {
    if let scene = session.scene {
      if toFront { moveToFront(session) }
      scene.activate(with: activity)
      return scene
    }
    guard session.state == .new || sessions[session.persistentIdentifier] === session,
      !session.isLeaving, session.go(on: .connect)
    else {
      throw RestorationError(
        .notConnected, "The session is not open. Use one of the host's openSessions.")
    }
    let options = SceneConnectionOptions(
      userActivities: activity.map { [$0] } ?? [], followsCrash: followsCrash)
    let isStored = session.state == .connecting
    let scene: RestorableScene
    do throws(RestorationError) {
      let configuration = try chosenConfiguration(for: session, options)
      scene = RestorableScene(session, keeper, try await newDelegate(configuration))
      if session.state == .opening { session.isRestorable = configuration.isRestorable }
      session.node.content.configurationName = configuration.name
      scene.noteRestorable()
      session.node.content.dropActivity(expiredAt: keeper.settings.now())
      try await restore(scene, options)
    } catch {
      session.failure = error
      session.go(on: .fail)
      throw error
    }
    if toFront { moveToFront(session) }
    scene.activate(with: nil)
    if !isStored || activity != nil { scene.needsSave = true }
    return scene
  }

  /// - Throws: Why the window was not shown, as what is stored of it cannot be read now.
  private func restore(
    _ scene: RestorableScene, _ options: SceneConnectionOptions
  ) async throws(RestorationError) {
    let session = scene.session
    let report = try await keeper.restore(session.node) {
      guard session.go(on: .appear) else { return }
      (session.scene, scenes[session]) = (scene, scene)
      sessions[session.persistentIdentifier] = session
      scene.show(options)
    } restored: { report in
      guard session.scene === scene else { return }
      scene.restoration = report
      scene.restoreInteractionState()
    }
    // The session may have been discarded meanwhile.
    guard session.scene === scene else {
      throw RestorationError(
        .notConnected, "The window was not made: \(report.outcome.reason)")
    }
    session.failure = nil
  }

  func moveToFront(_ session: SceneSession) {
    let others = sessions.values.filter { $0 !== session }.map(\.node.content.turn)
    let last = min(others.max() ?? 0, .max - 1)
    if session.node.content.turn <= last { session.node.content.turn = last + 1 }
  }

  private func chosenConfiguration(
    for session: SceneSession, _ options: SceneConnectionOptions
  ) throws(RestorationError) -> SceneConfiguration {
    let (role, name) = (session.role, session.configurationName)
    let registered =
      configurations.first { $0.role == role && $0.name == name }
      ?? configurations.first { name == nil && $0.role == role }
    let asksDelegate = registered == nil || session.state == .opening
    let own =
      asksDelegate
      ? delegate?.host(self, configurationForConnecting: session, options: options) : nil
    guard let chosen = own ?? registered else {
      throw RestorationError(
        .noConfiguration,
        "No configuration is registered for the role “\(role)”"
          + (name.map { " and the name “\($0)”" } ?? "") + ". Register one with the host.")
    }
    guard chosen.role == role else {
      throw RestorationError(
        .noConfiguration,
        "The configuration is for the role “\(chosen.role)”,"
          + " and the session for “\(role)”.")
    }
    return chosen
  }

  private func newDelegate(
    _ configuration: SceneConfiguration
  ) async throws(RestorationError) -> any SceneDelegate {
    let delegate: any SceneDelegate
    do { delegate = try await configuration.makeDelegate() } catch {
      throw RestorationError(.noDelegate, "The scene's delegate could not be made: \(error.reason)")
    }
    guard !scenes.values.contains(where: { $0.delegate === delegate }) else {
      throw RestorationError(
        .noDelegate, "The delegate follows another scene. Make a new one for every scene.")
    }
    return delegate
  }
}

@available(*, unavailable, message: "a host belongs to the actor of its scenes")
extension SceneHost: Sendable {}
